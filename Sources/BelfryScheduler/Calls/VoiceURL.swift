/// The URL of an HTTP voice API. It is validated before the token is sent to it.
///
/// The form is `https://host[:port]/path`. `http` is valid only for this machine: `localhost`, 127.0.0.0/8 and `[::1]`.
public struct VoiceURL: Hashable, Sendable {
  /// The URL as it was given.
  public let text: String

  /// The reason why a text is not a valid URL.
  public struct Failure: Error, Hashable, Sendable {
    /// The reason, as a clause: `it is not a URL`.
    public let reason: String

    init(_ reason: String) {
      self.reason = reason
    }
  }

  /// Creates a URL from a text.
  ///
  /// - Throws: `Failure` if the text is not a valid URL.
  public init(_ text: String) throws(Failure) {
    guard (1...2048).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("\""),
      !text.contains("\\")
    else { throw Failure("it contains spaces, quotation marks or backslashes, or is too long") }
    guard let separator = text.firstRange(of: "://") else { throw Failure("it is not a URL") }
    let scheme = text[..<separator.lowerBound].lowercased()
    guard ["https", "http"].contains(scheme) else {
      throw Failure("it does not start with https://")
    }
    let authority = text[separator.upperBound...].prefix { !"/?#".contains($0) }
    guard !authority.contains("@") else {
      throw Failure("it contains a user or a password; use --account and --token-file for them")
    }
    let host = try VoiceURL.host(authority)
    guard scheme == "https" || VoiceURL.isLoopback(host) else {
      throw Failure("without https:// the token is sent unencrypted")
    }
    self.text = text
  }

  /// Returns the host of an authority, in lower case, without its port.
  private static func host(_ authority: Substring) throws(Failure) -> String {
    var host = authority
    var port: Substring?
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      host = authority[...end]
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { throw Failure("its host is not valid") }
      if !rest.isEmpty { port = rest.dropFirst() }
      guard host.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
      else { throw Failure("its host is not valid") }
    } else {
      if let colon = authority.firstIndex(of: ":") {
        host = authority[..<colon]
        port = authority[authority.index(after: colon)...]
      }
      guard host.utf8.count <= 253, host.first?.isLetter ?? false || host.first?.isNumber ?? false,
        host.allSatisfy({ $0.isLetter || $0.isNumber || "._-".contains($0) })
      else { throw Failure("its host is not valid") }
    }
    if let port {
      guard let number = UInt16(port), number > 0 else {
        throw Failure("its port is not a number from 1 to 65535")
      }
    }
    return host.lowercased()
  }

  /// Returns true for a loopback host. Names are not resolved.
  private static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let octets = host.split(separator: ".", omittingEmptySubsequences: false)
    return octets.count == 4 && octets[0] == "127"
      && octets.allSatisfy { UInt8($0) != nil && $0.allSatisfy(\.isNumber) }
  }
}
