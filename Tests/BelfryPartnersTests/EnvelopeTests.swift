import BelfryCore
import Crypto
import Foundation
import Testing

@testable import BelfryPartners

@Suite struct EnvelopeTests {
  /// Vectors of RFC 9180 for DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM: the first encryption of
  /// the modes `psk` and `auth`.
  struct Vector: Sendable {
    let mode: UInt8
    let recipient: String
    var sender: String?
    var psk: (key: String, id: String)?
    let ephemeral: String
    let encapsulated: String
    let sharedSecret: String
    let key: String
    let nonce: String
    let ciphertext: String

    static let info = "4f6465206f6e2061204772656369616e2055726e"
    static let aad = "436f756e742d30"
    static let plaintext = "4265617574792069732074727574682c20747275746820626561757479"

    static let psk = Vector(
      mode: 1, recipient: "dd70766222d5a88e72c247bd8ad9c28ea49125ee463a63902cc6db68c34f76a6",
      psk: (
        "0247fd33b913760fa1fa51e1892d9f307fbe65eb171e8132c2af18555a738b82",
        "456e6e796e20447572696e206172616e204d6f726961"
      ),
      ephemeral: "5171dce7db66a978110f345b97bfbdd836338c368d1b819bc125daffd90703db",
      encapsulated:
        "04a3cd1fd41bb0915973a14325a6c7612b336630e6c2fd3f3ae5a311bfe950d493155f446f3fc4a45d439073e998624fca9490ac7eca4c312271d8720f8e6d7a74",
      sharedSecret: "aeb4e12a4b956e80588b330a6105a9158b580382427a40dc7c480472dfa346a7",
      key: "2a3c038fe08ade60865e1ff54064471a20dcb4ef90bb692fff3d036f68c03b24",
      nonce: "2b272740b827c1e16070c32f",
      ciphertext:
        "1552f6db424acdef53728dbfab35b85266681af9f9c42fa60e30cc858da8eb1fe05437fea881290cdeaad317d0"
    )

    static let auth = Vector(
      mode: 2, recipient: "d9f10996a02cd6c9dbda1d1f225f18f781ea3c893b8c2a6cb2e266e59f3cd9a9",
      sender: "6e7b14befe49443dc501def1cc2f0f293d9c5cfa045a23e9a2e0e7703b42705d",
      ephemeral: "7a6cb29fab4e249d1796f95645288a6504d2167c7ff463bc447ab6022462af42",
      encapsulated:
        "04a7aeac79fda402674ef247c12d6f5fdfd21498d896b67ff04ec181382d4516b7662be32b4a2ae817c2d57104ecb6fcaa527438939810612d1b3d0af36ffc66ce",
      sharedSecret: "4b6e403bf494c60342caaa46b3738ee0423892720751607338034b0a067cc1db",
      key: "640064834667025be3ce7abf1eb42ccc0dea2db9782b9823519f474e054524e7",
      nonce: "29240057274f71e55bfcca28",
      ciphertext:
        "59b9890aabf94c1d502c39d8d356989ab0880ed43e984255db7b32a8d7b0ad5beba799a4ec326a0ddca3dd5e5d"
    )
  }

  @Test("The library opens the vectors of RFC 9180", arguments: [Vector.psk, Vector.auth])
  func vectorsOpen(_ vector: Vector) throws {
    let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: Data(hex: vector.recipient))
    let (info, encapsulated) = (Data(hex: Vector.info), Data(hex: vector.encapsulated))
    var recipient: HPKE.Recipient
    if let sender = vector.sender {
      let theirs = try P256.KeyAgreement.PrivateKey(rawRepresentation: Data(hex: sender))
      recipient = try HPKE.Recipient(
        privateKey: key, ciphersuite: Envelope.suite, info: info, encapsulatedKey: encapsulated,
        authenticatedBy: theirs.publicKey)
    } else {
      let psk = try #require(vector.psk)
      recipient = try HPKE.Recipient(
        privateKey: key, ciphersuite: Envelope.suite, info: info, encapsulatedKey: encapsulated,
        presharedKey: SymmetricKey(data: Data(hex: psk.key)),
        presharedKeyIdentifier: Data(hex: psk.id))
    }
    let opened = try recipient.open(
      Data(hex: vector.ciphertext), authenticating: Data(hex: Vector.aad))
    #expect(opened == Data(hex: Vector.plaintext))
  }

  /// The library accepts no ephemeral key, so this test implements sealing from the text of the RFC: the keys, nonces
  /// and ciphertexts equal those of the vectors, and it opens the library's envelopes.
  @Test(
    "The reference implementation seals the vectors of RFC 9180 and opens the library's envelopes",
    arguments: [Vector.psk, .auth])
  func vectorsSeal(_ vector: Vector) throws {
    let recipient = try P256.KeyAgreement.PrivateKey(rawRepresentation: Data(hex: vector.recipient))
    let ephemeral = try P256.KeyAgreement.PrivateKey(rawRepresentation: Data(hex: vector.ephemeral))
    #expect(ephemeral.publicKey.x963Representation == Data(hex: vector.encapsulated))
    let sender = try vector.sender.map {
      try P256.KeyAgreement.PrivateKey(rawRepresentation: Data(hex: $0))
    }
    let psk = vector.psk.map { (key: Data(hex: $0.key), id: Data(hex: $0.id)) }
    var secrets = try ephemeral.sharedSecretFromKeyAgreement(with: recipient.publicKey).bytes
    if let sender {
      secrets += try sender.sharedSecretFromKeyAgreement(with: recipient.publicKey).bytes
    }
    let schedule = RFC9180.schedule(
      mode: vector.mode, secrets: secrets, encapsulated: Data(hex: vector.encapsulated),
      recipient: recipient.publicKey, sender: sender?.publicKey, info: Data(hex: Vector.info),
      psk: psk)
    #expect(schedule.sharedSecret == Data(hex: vector.sharedSecret))
    #expect(schedule.key == Data(hex: vector.key))
    #expect(schedule.nonce == Data(hex: vector.nonce))
    let box = try AES.GCM.seal(
      Data(hex: Vector.plaintext), using: SymmetricKey(data: schedule.key),
      nonce: AES.GCM.Nonce(data: schedule.nonce), authenticating: Data(hex: Vector.aad))
    #expect(box.ciphertext + box.tag == Data(hex: vector.ciphertext))
  }

  @Test("An envelope of Belfry is opened by the reference implementation of RFC 9180")
  func anEnvelopeOpensByHand() throws {
    let (own, theirs) = (P256.KeyAgreement.PrivateKey(), P256.KeyAgreement.PrivateKey())
    let envelope = try Envelope(
      sealing: Array("hello".utf8), for: theirs.publicKey, .authenticated(own), context: "here",
      place: "there")
    let encapsulated = Data(envelope.bytes[1..<66])
    let ephemeral = try P256.KeyAgreement.PublicKey(x963Representation: encapsulated)
    let secrets =
      try theirs.sharedSecretFromKeyAgreement(with: ephemeral).bytes
      + theirs.sharedSecretFromKeyAgreement(with: own.publicKey).bytes
    let schedule = RFC9180.schedule(
      mode: 2, secrets: secrets, encapsulated: encapsulated, recipient: theirs.publicKey,
      sender: own.publicKey, info: Data("here".utf8), psk: nil)
    let sealed = Data(envelope.bytes[66...])
    let box = try AES.GCM.SealedBox(
      nonce: AES.GCM.Nonce(data: schedule.nonce), ciphertext: sealed.dropLast(16),
      tag: sealed.suffix(16))
    let padded = try AES.GCM.open(
      box, using: SymmetricKey(data: schedule.key), authenticating: Data("there".utf8))
    #expect(padded.count == 1024)
    #expect(padded.prefix(6) == Data("hello".utf8) + [0x80])
    #expect(padded.dropFirst(6).allSatisfy { $0 == 0 })
  }

  @Test("Messages of all kinds have the same few sizes")
  func sizesTellLittle() throws {
    let (own, theirs) = (P256.KeyAgreement.PrivateKey(), P256.KeyAgreement.PrivateKey())
    func size(_ count: Int) throws -> Int {
      try Envelope(
        sealing: [UInt8](repeating: 65, count: count), for: theirs.publicKey, .authenticated(own),
        context: "c", place: "p"
      ).bytes.count
    }
    #expect(try Set([0, 1, 20, 500, 1023].map(size)) == [1106])
    #expect(try size(1024) == 2130)
    #expect(try size(4095) == 4178)
    #expect(try size(4096) == 8274)
    #expect(try size(8192) == Envelope.largest && size(40_959) == Envelope.largest)
    #expect(throws: Envelope.TooLong.self) { try size(40_960) }
  }

  @Test("No nonce repeats, even after a backup of the keys is restored")
  func noncesNeverRepeat() async throws {
    let pair = try await Pair()
    let cascade = try pair.chris.partner
    var seen: Set<[UInt8]> = []
    let message = PartnerMessage.confirmed.encoded(sent: pair.chris.now)
    for _ in 0..<2000 {
      // The same state, message and name, repeatedly.
      let restored = try #require(PartnershipRecord.decode(PartnershipRecord.encode(cascade)))
      let bytes = try #require(restored.channel).seal(message, place: "same").bytes
      // The encapsulated key determines the nonce and its key.
      #expect(seen.insert(Array(bytes[1..<66])).inserted)
    }
  }
}

/// RFC 9180's key schedule for this suite, implemented from the text.
enum RFC9180 {
  private static let kem = Data("KEM".utf8) + [0x00, 0x10]
  private static let suite = Data("HPKE".utf8) + [0x00, 0x10, 0x00, 0x01, 0x00, 0x02]

  private static func extract(_ suite: Data, salt: Data, _ label: String, _ input: Data) -> Data {
    let labeled = Data("HPKE-v1".utf8) + suite + Data(label.utf8) + input
    return Data(
      HKDF<SHA256>.extract(inputKeyMaterial: SymmetricKey(data: labeled), salt: salt))
  }

  private static func expand(
    _ suite: Data, _ key: Data, _ label: String, _ info: Data, _ length: Int
  ) -> Data {
    let labeled =
      Data([UInt8(length >> 8), UInt8(length & 255)]) + Data("HPKE-v1".utf8) + suite
      + Data(label.utf8) + info
    return HKDF<SHA256>.expand(
      pseudoRandomKey: SymmetricKey(data: key), info: labeled, outputByteCount: length
    ).withUnsafeBytes { Data($0) }
  }

  static func schedule(
    mode: UInt8, secrets: Data, encapsulated: Data, recipient: P256.KeyAgreement.PublicKey,
    sender: P256.KeyAgreement.PublicKey?, info: Data, psk: (key: Data, id: Data)?
  ) -> (sharedSecret: Data, key: Data, nonce: Data) {
    let context =
      encapsulated + recipient.x963Representation + (sender?.x963Representation ?? Data())
    let shared = expand(
      kem, extract(kem, salt: Data(), "eae_prk", secrets), "shared_secret", context, 32)
    let schedule =
      Data([mode]) + extract(suite, salt: Data(), "psk_id_hash", psk?.id ?? Data())
      + extract(suite, salt: Data(), "info_hash", info)
    let secret = extract(suite, salt: shared, "secret", psk?.key ?? Data())
    return (
      shared, expand(suite, secret, "key", schedule, 32),
      expand(suite, secret, "base_nonce", schedule, 12)
    )
  }
}

extension SharedSecret {
  fileprivate var bytes: Data { withUnsafeBytes { Data($0) } }
}

extension Data {
  fileprivate init(hex: String) {
    let digits = Array(hex.utf8)
    self.init(
      stride(from: 0, to: digits.count, by: 2).map {
        UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)!
      })
  }
}
