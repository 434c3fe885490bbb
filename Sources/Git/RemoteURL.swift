/// Where a remote is, checked by grammar before git sees it: no option in disguise (`-oProxyCommand=…`), and no
/// transport that runs commands (`ext::`).
///
/// | form | example |
/// |---|---|
/// | a path | `/mnt/share/belfry.git` |
/// | `file` | `file:///mnt/share/belfry.git` |
/// | `ssh` | `ssh://you@server:2222/srv/belfry.git` |
/// | the same, short; the host may be an alias of `~/.ssh/config` | `you@server:belfry.git` |
/// | `https`, `http` | `https://example.org/belfry.git` |
/// | `git` | `git://server/belfry.git` |
public struct RemoteURL: Hashable, Sendable {
  public enum Transport: Hashable, Sendable {
    case path, ssh, http, git
  }

  public let text: String
  public let transport: Transport
  /// Nil for a path.
  public let host: String?
  public let user: String?
  public let port: String?

  /// Throws when the text is none of those forms.
  public init(_ text: String) throws(Failure) {
    self.text = text
    guard !text.isEmpty, text.utf8.count <= 2048 else {
      throw Failure("it is empty, or longer than 2,048 bytes")
    }
    guard
      !text.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F })
        || text.hasPrefix("/")
    else { throw Failure("it holds a space or a control character") }
    guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
      throw Failure("it holds a control character")
    }
    let place: Place
    if text.hasPrefix("/") {
      place = Place(transport: .path)
    } else if let (scheme, rest) = RemoteURL.split(text) {
      place = try RemoteURL.parse(scheme, rest)
    } else {
      place = try RemoteURL.short(text)
    }
    (transport, host, user, port) = (place.transport, place.host, place.user, place.port)
  }

  private struct Place {
    var transport: Transport
    var host: String?
    var user: String?
    var port: String?
  }

  /// Why a text is no remote's place.
  public struct Failure: Error, Hashable, Sendable {
    public let reason: String

    init(_ reason: String) {
      self.reason = reason
    }
  }

  /// The text as git's settings for one address name it: with the user, without a password.
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

  private static func parse(_ scheme: String, _ rest: Substring) throws(Failure) -> Place {
    var place: Place
    switch scheme {
    case "file":
      guard rest.hasPrefix("/") else {
        throw Failure("a file:// URL has three slashes and an absolute path")
      }
      return Place(transport: .path)
    case "ssh", "git+ssh", "ssh+git": place = Place(transport: .ssh)
    case "https", "http": place = Place(transport: .http)
    case "git": place = Place(transport: .git)
    default: throw Failure("'\(scheme)' is no way to a repository")
    }
    guard let slash = rest.firstIndex(of: "/"), rest[slash...] != "/" else {
      throw Failure("it names no repository on that host")
    }
    if rest[slash...].dropFirst().hasPrefix("-") { throw Failure("its path begins with '-'") }
    let authority = rest[..<slash]
    let at = authority.lastIndex(of: "@")
    if let at {
      if place.transport == .git { throw Failure("git:// knows no user") }
      let user = authority[..<at].prefix { $0 != ":" }
      try check(user: user)
      place.user = String(user)
    }
    var host = authority[(at.map { authority.index(after: $0) } ?? authority.startIndex)...]
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { throw Failure("its host has no end") }
      place.port = try port(host[host.index(after: end)...])
      host = host[host.index(after: host.startIndex)..<end]
      guard !host.isEmpty, host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
        throw Failure("its host is no address")
      }
    } else {
      if let colon = host.firstIndex(of: ":") {
        place.port = try port(host[colon...])
        host = host[..<colon]
      }
      try check(host: host)
    }
    place.host = String(host)
    return place
  }

  /// `user@host:path`.
  private static func short(_ text: String) throws(Failure) -> Place {
    guard let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") else {
      throw Failure("it is neither an absolute path nor a URL")
    }
    let path = text[text.index(after: colon)...]
    if path.hasPrefix(":") { throw Failure("'\(text[..<colon])::' is no way to a repository") }
    guard !path.isEmpty, !path.hasPrefix("-") else { throw Failure("it names no repository") }
    var place = Place(transport: .ssh)
    var host = text[..<colon]
    if let at = host.lastIndex(of: "@") {
      try check(user: host[..<at])
      place.user = String(host[..<at])
      host = host[host.index(after: at)...]
    }
    try check(host: host)
    place.host = String(host)
    return place
  }

  private static func check(user: some StringProtocol) throws(Failure) {
    guard let first = user.first, first != "-", user.allSatisfy(isWord) else {
      throw Failure("its user's name is none")
    }
  }

  private static func check(host: some StringProtocol) throws(Failure) {
    guard let first = host.first, first != "-", host.utf8.count <= 253, host.allSatisfy(isWord)
    else { throw Failure("its host's name is none") }
  }

  /// The number behind a colon; nil when there is none.
  private static func port(_ text: Substring) throws(Failure) -> String? {
    if text.isEmpty { return nil }
    guard text.first == ":", let number = Int(text.dropFirst()), (1...65_535).contains(number)
    else { throw Failure("its port is no number from 1 to 65535") }
    return String(number)
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "._-+%".contains(character))
  }
}
