import BelfryCore
import BelfryStore
import Crypto
import FoundationEssentials

/// The part of a partnership that belongs to the user and not to a device: the limits, and the end of the partnership.
///
/// It is a value of `settings.json` in the store, so that it reaches the user's other devices, where the last change
/// wins. It is sealed with a key that only devices with the keys of the partnership can derive.
struct SharedPartnerState: Hashable {
  var limits: PartnerLimits
  /// True if the user or the partner has ended the partnership.
  var isEnded: Bool

  init(_ partner: Partnership) {
    limits = partner.limits
    // A partnership with a successor goes on with other keys.
    isEnded = partner.phase == .ended && partner.successor == nil
  }

  /// The beginning of the key of each partnership's value.
  static let prefix = SettingsFile.sealedPrefix

  /// Returns the key of a partnership's value.
  static func key(_ partner: Identifier) -> String { prefix + partner.text }

  /// Returns the state that a value holds; nil if this device does not have the keys, or the value was damaged.
  init?(_ value: JSON?, with partner: Partnership) {
    guard let bytes = value?.string.flatMap(Base64URL.decode),
      let key = SharedPartnerState.sealingKey(partner),
      // Every failure means that this device cannot use the value.
      let box = try? AES.GCM.SealedBox(combined: bytes),
      let text = try? AES.GCM.open(box, using: key, authenticating: Array(partner.id.text.utf8)),
      let json = try? JSON(parsing: Array(text))
    else { return nil }
    limits = PartnershipRecord.limits(json["limits"])
    isEnded = json["ended"]?.bool ?? false
  }

  /// Returns the sealed value; nil if the keys are missing.
  ///
  /// - Parameter partner: a version of the partnership that has the keys.
  func value(with partner: Partnership) throws -> JSON? {
    guard let key = SharedPartnerState.sealingKey(partner) else { return nil }
    let text = JSON.object(omittingNil: [
      "limits": PartnershipRecord.encode(limits), "ended": isEnded ? true : nil,
    ]).line
    let box = try AES.GCM.seal(
      Array(text.utf8), using: key, authenticating: Array(partner.id.text.utf8))
    return box.combined.map { .string(Base64URL.encode(Array($0))) }
  }

  private static func sealingKey(_ partner: Partnership) -> SymmetricKey? {
    partner.handshake.privateKey.map {
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: SymmetricKey(data: $0), info: Data("belfry partner state".utf8),
        outputByteCount: 32)
    }
  }
}

extension Partnership {
  /// Returns the partnership with the state that the user's devices share.
  func applying(_ values: [String: JSON]) -> Partnership {
    guard phase == .active,
      let state = SharedPartnerState(values[SharedPartnerState.key(id)], with: self)
    else { return self }
    var partner = self
    partner.limits = state.limits
    if state.isEnded { partner.deleteKeys() }
    return partner
  }
}
