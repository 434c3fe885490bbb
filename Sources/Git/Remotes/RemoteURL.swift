/// The URL or path of a remote, validated before git sees it: it is neither an option in disguise
/// (`-oProxyCommand=…`) nor a transport that runs commands (`ext::`).
///
/// | form | example |
/// |---|---|
/// | path | `/mnt/share/belfry.git` |
/// | `file` | `file:///mnt/share/belfry.git` |
/// | `ssh` | `ssh://you@server:2222/srv/belfry.git` |
/// | short `ssh`; the host may be an alias of `~/.ssh/config` | `you@server:belfry.git`, `you@[::1]:belfry.git`, `[server:2222]:belfry.git` |
/// | `https`, `http` | `https://example.org/belfry.git` |
/// | `git` | `git://server/belfry.git` |
public struct RemoteURL: Hashable, Sendable {
  /// The protocol of a remote.
  public enum Transport: Hashable, Sendable {
    case path, ssh, http, git
  }

  /// The text as the user wrote it, credentials included.
  public let text: String
  /// The protocol.
  public let transport: Transport
  /// The host; nil for a path.
  public let host: String?
  /// The user; nil if there is none.
  public let user: String?
  /// The port; nil if there is none.
  public let port: String?

  /// Parses a URL.
  ///
  /// - Throws: `Failure` if the text has none of the supported forms.
  public init(_ text: String) throws(Failure) {
    self.text = text
    guard !text.isEmpty, text.utf8.count <= 2048 else {
      throw Failure("it is empty or longer than 2,048 bytes")
    }
    guard
      !text.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F })
        || text.hasPrefix("/")
    else { throw Failure("it contains a space or a control character") }
    guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
      throw Failure("it contains a control character")
    }
    let parts: Components
    if text.hasPrefix("/") {
      parts = Components(transport: .path)
    } else if let (scheme, rest) = RemoteURL.split(text) {
      parts = try RemoteURL.parse(scheme, rest)
    } else {
      parts = try RemoteURL.short(text)
    }
    (transport, host, user, port) = (parts.transport, parts.host, parts.user, parts.port)
  }

  private struct Components {
    var transport: Transport
    var host: String?
    var user: String?
    var port: String?
  }

  /// The reason that a text is not a URL of a remote.
  public struct Failure: Error, Hashable, Sendable {
    /// The reason as a clause about the text: `it has no path`.
    public let reason: String

    init(_ reason: String) {
      self.reason = reason
    }
  }

  /// The text in the form of git's per-URL settings: with the user, without the password.
  var settingsAddress: String {
    guard let (scheme, rest) = RemoteURL.split(text) else { return text }
    let authority = rest.prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":")
    else { return text }
    return "\(scheme)://\(rest[..<colon])\(rest[at...])"
  }

  // MARK: Grammar

  private static func split(_ text: String) -> (scheme: String, rest: Substring)? {
    guard let end = text.firstRange(of: "://") else { return nil }
    return (text[..<end.lowerBound].lowercased(), text[end.upperBound...])
  }

  private static func parse(_ scheme: String, _ rest: Substring) throws(Failure) -> Components {
    var parts: Components
    switch scheme {
    case "file":
      guard rest.hasPrefix("/") else {
        throw Failure("a file:// URL needs three slashes and an absolute path")
      }
      return Components(transport: .path)
    case "ssh", "git+ssh", "ssh+git": parts = Components(transport: .ssh)
    case "https", "http": parts = Components(transport: .http)
    case "git": parts = Components(transport: .git)
    default: throw Failure("the scheme '\(scheme)' is not supported")
    }
    guard let slash = rest.firstIndex(of: "/"), rest[slash...] != "/" else {
      throw Failure("it has no path to a repository")
    }
    if rest[slash...].dropFirst().hasPrefix("-") { throw Failure("its path starts with '-'") }
    let authority = rest[..<slash]
    let at = authority.lastIndex(of: "@")
    if let at {
      if parts.transport == .git { throw Failure("a git:// URL cannot have a user") }
      let user = authority[..<at].prefix { $0 != ":" }
      try check(user: user)
      parts.user = String(user)
    }
    var host = authority[(at.map { authority.index(after: $0) } ?? authority.startIndex)...]
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { throw Failure("its host has no closing ']'") }
      parts.port = try port(host[host.index(after: end)...])
      host = host[host.index(after: host.startIndex)..<end]
      try check(address: host)
    } else {
      if let colon = host.firstIndex(of: ":") {
        parts.port = try port(host[colon...])
        host = host[..<colon]
      }
      try check(host: host)
    }
    parts.host = String(host)
    return parts
  }

  /// Parses `user@host:path`.
  private static func short(_ text: String) throws(Failure) -> Components {
    if let parts = try bracketed(text) { return parts }
    guard let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") else {
      throw Failure("it is neither an absolute path nor a URL")
    }
    let path = text[text.index(after: colon)...]
    if path.hasPrefix(":") { throw Failure("the transport '\(text[..<colon])::' is not supported") }
    guard !path.isEmpty, !path.hasPrefix("-") else { throw Failure("it has no valid path") }
    var parts = Components(transport: .ssh)
    var host = text[..<colon]
    if let at = host.lastIndex(of: "@") {
      try check(user: host[..<at])
      parts.user = String(host[..<at])
      host = host[host.index(after: at)...]
    }
    try check(host: host)
    parts.host = String(host)
    return parts
  }

  /// Parses `user@[::1]:path` and `[host:port]:path`; returns nil without brackets.
  private static func bracketed(_ text: String) throws(Failure) -> Components? {
    var parts = Components(transport: .ssh)
    var rest = text[...]
    if let at = text.firstRange(of: "@[") {
      try check(user: text[..<at.lowerBound])
      parts.user = String(text[..<at.lowerBound])
      rest = text[text.index(after: at.lowerBound)...]
    }
    guard rest.hasPrefix("[") else { return nil }
    guard let end = rest.firstRange(of: "]:") else { throw Failure("its host has no closing ']'") }
    let path = rest[end.upperBound...]
    guard !path.isEmpty, !path.hasPrefix("-") else { throw Failure("it has no valid path") }
    let host = rest[rest.index(after: rest.startIndex)..<end.lowerBound]
    if host.filter({ $0 == ":" }).count > 1 {
      try check(address: host)
      parts.host = String(host)
    } else {
      let name = host.prefix { $0 != ":" }
      try check(host: name)
      parts.host = String(name)
      parts.port = try port(host[name.endIndex...])
    }
    return parts
  }

  private static func check(address: Substring) throws(Failure) {
    guard !address.isEmpty, address.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
      throw Failure("its host is not an IPv6 address")
    }
  }

  private static func check(user: some StringProtocol) throws(Failure) {
    guard let first = user.first, first != "-", user.allSatisfy(isNameCharacter) else {
      throw Failure("its user name is not valid")
    }
  }

  private static func check(host: some StringProtocol) throws(Failure) {
    guard let first = host.first, first != "-", host.utf8.count <= 253,
      host.allSatisfy(isNameCharacter)
    else { throw Failure("its host name is not valid") }
  }

  /// Parses `:PORT`. Returns nil for empty text, and for a colon alone, which git accepts, too.
  private static func port(_ text: Substring) throws(Failure) -> String? {
    if text.isEmpty || text == ":" { return nil }
    guard text.first == ":", let number = Int(text.dropFirst()), (1...65_535).contains(number)
    else { throw Failure("its port is not a number from 1 to 65535") }
    return String(number)
  }

  private static func isNameCharacter(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "._-+%".contains(character))
  }
}
