/// The removal of credentials from URLs, and from text that contains URLs, before it reaches people, other programs,
/// logs or partners.
///
/// | input | masked |
/// |---|---|
/// | `https://user:token@host/x.git`, `https://token@host/x.git` | `https://***@host/x.git` |
/// | `https://host/x.git?token=t` | `https://host/x.git?***` |
/// | `ssh://user:password@host/x.git` | `ssh://user:***@host/x.git` |
/// | `ssh://user@host/x.git`, `user@host:x.git`, `/srv/x.git` | unchanged |
///
/// Text that only resembles a URL is masked, too, because a rejected URL may still contain a password.
public enum URLMask {
  /// The text in place of a masked secret.
  public static let mark = "***"

  /// Returns a text with the credentials of all URLs masked. A URL ends at white space.
  public static func masked(_ text: String) -> String {
    guard text.contains("://") else { return text }
    var result = ""
    var rest = Substring(text)
    while let separator = rest.firstRange(of: "://") {
      let start = schemeStart(in: rest[..<separator.lowerBound])
      let body = rest[separator.upperBound...]
      var end = body.firstIndex(where: \.isWhitespace) ?? body.endIndex
      if let next = body[..<end].firstRange(of: "://") {
        let nextStart = schemeStart(in: body[..<next.lowerBound])
        if nextStart > body.startIndex { end = nextStart }
      }
      result += rest[..<start]
      result += render(rest[start..<separator.lowerBound], body[..<end], isWhole: false, mark: mark)
      rest = body[end...]
    }
    return result + rest
  }

  /// Returns the text of one URL, valid or not, with its credentials masked.
  public static func masked(url text: String) -> String { render(text, mark: mark) }

  /// Returns the text of one URL without its credentials.
  public static func stripped(url text: String) -> String { render(text, mark: "") }

  /// Returns true if a URL may contain a secret.
  public static func holdsCredentials(_ url: String) -> Bool { masked(url: url) != url }

  // MARK: Parts

  private static func render(_ text: String, mark: String) -> String {
    guard !text.hasPrefix("/"), let separator = text.firstRange(of: "://") else { return text }
    return render(
      text[..<separator.lowerBound], text[separator.upperBound...], isWhole: true, mark: mark)
  }

  /// Returns a URL with its credentials replaced by `mark`.
  ///
  /// - Parameters:
  ///   - scheme: The scheme, without `://`.
  ///   - body: The text after `://`.
  ///   - isWhole: True if the body is the URL only, without a closing quotation mark or punctuation.
  ///   - mark: The replacement; empty to remove the credentials.
  private static func render(
    _ scheme: Substring, _ body: Substring, isWhole: Bool, mark: String
  ) -> String {
    let isSSH = ["ssh", "git+ssh", "ssh+git"].contains(scheme.lowercased())
    let authority = body.prefix { $0 != "/" }
    var result = "\(scheme)://"
    var rest = body
    // A password may contain an unencoded slash. The authority then doesn't look like a host.
    let at =
      authority.lastIndex(of: "@")
      ?? (isHost(authority) || scheme == "file" ? nil : body.lastIndex(of: "@"))
    if let at {
      let user = body[..<at].prefix { $0 != ":" }
      let hasPassword = user.endIndex < at
      if isSSH, !user.isEmpty {
        result += user
        if hasPassword, !mark.isEmpty { result += ":\(mark)" }
        result += "@"
      } else if !mark.isEmpty {
        result += "\(mark)@"
      }
      rest = body[body.index(after: at)...]
    } else if isWhole, let colon = authority.firstIndex(of: ":"), !isHost(authority) {
      // The text is `https://user:password`, truncated before its host.
      return result + authority[...colon] + mark
    }
    guard !isSSH, scheme != "file", let masked = query(in: rest, mark: mark) else {
      return result + rest
    }
    return result + masked
  }

  /// Returns the text with its query masked, or nil if it has none.
  private static func query(in text: Substring, mark: String) -> String? {
    guard let question = text.firstIndex(of: "?") else { return nil }
    let query = text[text.index(after: question)...]
    // In a hint, `belfry://pair?…` is a placeholder for a link.
    if query.isEmpty || query.hasPrefix("…") { return nil }
    return mark.isEmpty ? String(text[..<question]) : "\(text[...question])\(mark)"
  }

  /// Returns true for `host`, `host:port`, `[address]` and empty text, with or without trailing punctuation.
  private static func isHost(_ authority: Substring) -> Bool {
    if authority.hasPrefix("[") { return true }
    let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return true }
    let port = parts[1].prefix { $0.isASCII && $0.isNumber }
    return parts[1][port.endIndex...].allSatisfy { $0.isPunctuation || $0.isSymbol }
  }

  private static func schemeStart(in text: Substring) -> Substring.Index {
    text.lastIndex { !isSchemePart($0) }.map(text.index(after:)) ?? text.startIndex
  }

  private static func isSchemePart(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "+-.".contains(character))
  }
}

extension RemoteURL {
  /// The text without credentials, for people and other programs.
  public var shown: String { URLMask.masked(url: text) }

  /// True if the URL may contain a secret.
  public var holdsCredentials: Bool { URLMask.holdsCredentials(text) }

  /// Returns a text, such as an error of git, with this URL's password and the credentials of all URLs masked.
  public func masked(_ text: String) -> String {
    var text = text
    for password in passwords { text = text.replacing(password, with: URLMask.mark) }
    return URLMask.masked(text)
  }

  /// The password as written and as decoded. A password shorter than four characters is omitted, because it could be
  /// part of a word.
  private var passwords: [String] {
    guard let separator = text.firstRange(of: "://") else { return [] }
    let authority = text[separator.upperBound...].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return [] }
    let parts = authority[..<at].split(separator: ":", maxSplits: 1)
    // Except in ssh, a name without a password may be a token.
    guard let secret = transport == .http ? parts.last : parts.dropFirst().first else { return [] }
    return [String(secret), RemoteURL.decoded(secret)].filter { $0.count >= 4 }
  }

  /// Decodes percent-encoding (RFC 3986).
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"),
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
