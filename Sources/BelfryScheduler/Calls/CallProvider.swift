import BelfryCore
import BelfryStore
import Files
import Git
import Glibc

/// The call provider of this device, in `calls.json` in the configuration folder. Only its owner can read the file.
///
/// `{provider: "sip", server, user, password?, transport?}` or `{provider: "http", url, account, token, from}`.
public enum CallProvider: Hashable, Sendable {
  /// A SIP server or gateway, used with baresip and espeak-ng.
  case sip(server: String, user: String, password: String?, transport: Transport)
  /// An HTTP voice API that is compatible with Twilio's.
  case http(url: String, account: String, token: String, from: PhoneNumber)

  /// The transport protocol of SIP.
  public enum Transport: String, CaseIterable, Sendable {
    /// UDP, TCP, or TLS.
    case udp, tcp, tls
  }

  /// The maximum size of the file, in bytes.
  private static let maxSize = 64 << 10

  /// Returns the provider in a file; nil if there is no file.
  ///
  /// - Throws: `RecordError` if the content is not valid, or `FileError` if the file cannot be read.
  public static func read(_ path: String) throws -> CallProvider? {
    guard let file = try DurableFile.read(path, limit: maxSize) else { return nil }
    guard let json = try? JSON(parsing: file.bytes), let provider = CallProvider(json) else {
      throw RecordError("it contains no valid call provider")
    }
    return provider
  }

  /// Writes a provider to a file that only its owner can read; nil removes the file.
  ///
  /// - Throws: `FileError`.
  public static func write(_ provider: CallProvider?, to path: String) throws {
    guard let provider else {
      guard unlink(path) == 0 || errno == ENOENT else { throw FileError("remove", path) }
      return
    }
    try DurableFile.makeFolder(DurableFile.parent(of: path), mode: 0o700)
    try DurableFile.write(
      provider.json.document, to: path, temporary: "\(path).new-\(getpid())", mode: 0o600)
  }

  /// Returns the mode of a file that other users can access; nil if the file is private or missing.
  public static func exposure(of path: String) -> mode_t? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
    return status.st_mode & 0o777
  }

  /// Restricts a file to its owner.
  ///
  /// - Throws: `FileError`.
  public static func restrict(_ path: String) throws {
    guard chmod(path, 0o600) == 0 else { throw FileError("restrict access to", path) }
  }

  private init?(_ json: JSON) {
    func text(_ key: String) -> String? {
      guard let text = json[key]?.string, (1...2048).contains(text.utf8.count),
        !text.unicodeScalars.contains(where: AlarmText.isControl)
      else { return nil }
      return text
    }
    switch json["provider"]?.string {
    case "sip":
      guard let server = text("server"), let user = text("user") else { return nil }
      self = .sip(
        server: server, user: user, password: text("password"),
        transport: text("transport").flatMap { Transport(rawValue: $0) } ?? .udp)
    case "http":
      guard let url = text("url"), let account = text("account"), let token = text("token"),
        let from = text("from").flatMap({ try? PhoneNumber($0) })
      else { return nil }
      self = .http(url: url, account: account, token: token, from: from)
    default: return nil
    }
  }

  private var json: JSON {
    switch self {
    case .sip(let server, let user, let password, let transport):
      .object(omittingNil: [
        "provider": "sip", "server": .string(server), "user": .string(user),
        "password": password.map { .string($0) }, "transport": .string(transport.rawValue),
      ])
    case .http(let url, let account, let token, let from):
      .object([
        "provider": "http", "url": .string(url), "account": .string(account),
        "token": .string(token), "from": .string(from.e164),
      ])
    }
  }

  /// A description without secrets: `SIP through sip.example.org as belfry`.
  public var text: String {
    switch self {
    case .sip(let server, let user, _, let transport):
      "SIP through \(server) as \(user) (\(transport.rawValue))"
    case .http(let url, let account, _, let from):
      "\(URLMask.masked(url: url)) as \(account), from \(from.shown)"
    }
  }

  /// The environment variables for the hook `call`.
  public var variables: [String: String] {
    switch self {
    case .sip(let server, let user, let password, let transport):
      [
        "BELFRY_CALL_PROVIDER": "sip", "BELFRY_SIP_SERVER": server, "BELFRY_SIP_USER": user,
        "BELFRY_SIP_PASSWORD": password ?? "", "BELFRY_SIP_TRANSPORT": transport.rawValue,
      ]
    case .http(let url, let account, let token, let from):
      [
        "BELFRY_CALL_PROVIDER": "http", "BELFRY_CALL_URL": url, "BELFRY_CALL_ACCOUNT": account,
        "BELFRY_CALL_TOKEN": token, "BELFRY_CALL_FROM": from.e164,
      ]
    }
  }
}
