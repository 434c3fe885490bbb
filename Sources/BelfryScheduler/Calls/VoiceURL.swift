/// The address of an HTTP voice API, checked before a token is ever sent there.
///
/// `https://host[:port]/path`. Without TLS only this machine is taken: `localhost`, 127.0.0.0/8 and `[::1]`.
public struct VoiceURL: Hashable, Sendable {
  public let text: String

  /// Why a text is no such address.
  public struct Failure: Error, Hashable, Sendable {
    public let reason: String

    init(_ reason: String) {
      self.reason = reason
    }
  }

  public init(_ text: String) throws(Failure) {
    guard (1...2048).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("\""),
      !text.contains("\\")
    else { throw Failure("it holds spaces, quotation marks or backslashes, or is too long") }
    guard let separator = text.firstRange(of: "://") else { throw Failure("it is no URL") }
    let scheme = text[..<separator.lowerBound].lowercased()
    guard ["https", "http"].contains(scheme) else {
      throw Failure("it does not begin with https://")
    }
    let authority = text[separator.upperBound...].prefix { !"/?#".contains($0) }
    guard !authority.contains("@") else {
      throw Failure("it holds a user or a password, which --account and --token-file are for")
    }
    let host = try VoiceURL.host(authority)
    guard scheme == "https" || VoiceURL.isLoopback(host) else {
      throw Failure("without https:// the token could be read on its way")
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
      guard rest.isEmpty || rest.hasPrefix(":") else { throw Failure("its host is none") }
      if !rest.isEmpty { port = rest.dropFirst() }
      guard host.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
      else { throw Failure("its host is none") }
    } else {
      if let colon = authority.firstIndex(of: ":") {
        host = authority[..<colon]
        port = authority[authority.index(after: colon)...]
      }
      guard host.utf8.count <= 253, host.first?.isLetter ?? false || host.first?.isNumber ?? false,
        host.allSatisfy({ $0.isLetter || $0.isNumber || "._-".contains($0) })
      else { throw Failure("its host is none") }
    }
    if let port {
      guard let number = UInt16(port), number > 0 else {
        throw Failure("its port is no number from 1 to 65535")
      }
    }
    return host.lowercased()
  }

  /// Returns true for a host that is this machine by its very name.
  private static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let octets = host.split(separator: ".", omittingEmptySubsequences: false)
    return octets.count == 4 && octets[0] == "127"
      && octets.allSatisfy { UInt8($0) != nil && $0.allSatisfy(\.isNumber) }
  }
}
