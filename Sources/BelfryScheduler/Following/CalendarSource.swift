import BelfryStore
import Git

/// The place of a calendar that is followed.
public enum CalendarSource: Hashable, Sendable {
  /// An http or https URL without credentials.
  case url(String)
  /// A file, by its absolute path.
  case file(String)
  /// A vdir, by its absolute path: a folder with one file for each event, as vdirsyncer, khal and Radicale have it.
  case folder(String)

  /// A user name and a password.
  public struct Credentials: Hashable, Sendable {
    /// The user name.
    public var user: String
    /// The password; nil if it is not known yet.
    public var password: String?

    /// Creates credentials.
    public init(user: String, password: String? = nil) {
      self.user = user
      self.password = password
    }
  }

  /// The reason why a text names no calendar.
  public enum Failure: Error, Hashable {
    /// Calendars are not fetched by this protocol.
    case scheme(String)
    /// The URL has no host, or contains spaces or control characters.
    case invalidURL
    /// There is nothing at the path.
    case missing(String)
  }

  /// The maximum length of a URL, in bytes.
  private static let maxLength = 8_192

  /// The path of a file or folder; nil for a URL.
  public var path: String? {
    switch self {
    case .url: nil
    case .file(let path), .folder(let path): path
    }
  }

  /// Parses a URL (http, https, webcal, file) or an absolute path.
  ///
  /// - Returns: The source, and the credentials in a URL; nil without any.
  public static func parse(
    _ text: String
  ) throws(Failure) -> (source: CalendarSource, credentials: Credentials?) {
    guard let separator = text.firstRange(of: "://"), !text.hasPrefix("/") else {
      return (try CalendarSource.existing(text), nil)
    }
    let scheme = text[..<separator.lowerBound].lowercased()
    let rest = text[separator.upperBound...]
    switch scheme {
    case "file":
      let path = rest.drop { $0 != "/" }
      return (try existing(decoded(path) ?? String(path)), nil)
    case "http": return try parse("http", rest)
    // A webcal URL is an instruction to follow. Servers of today redirect http to https.
    case "https", "webcal", "webcals": return try parse("https", rest)
    default: throw .scheme(scheme)
    }
  }

  private static func parse(
    _ scheme: String, _ rest: Substring
  ) throws(Failure) -> (source: CalendarSource, credentials: Credentials?) {
    let address = rest.prefix { $0 != "#" }
    let authority = address.prefix { $0 != "/" && $0 != "?" }
    let sign = authority.lastIndex(of: "@")
    let host = sign.map { authority[authority.index(after: $0)...] } ?? authority
    let path = address[authority.endIndex...]
    guard !host.isEmpty, host.first != ":", address.utf8.count <= maxLength,
      address.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
    else { throw .invalidURL }
    let source = CalendarSource.url("\(scheme)://\(host)\(path)")
    guard let sign else { return (source, nil) }
    let parts = authority[..<sign].split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let user = decoded(parts[0]), !user.isEmpty else { return (source, nil) }
    return (source, Credentials(user: user, password: parts.dropFirst().first.flatMap(decoded)))
  }

  private static func existing(_ path: String) throws(Failure) -> CalendarSource {
    guard let isFolder = CalendarFiles.isFolder(path) else { throw .missing(path) }
    return isFolder ? .folder(path) : .file(path)
  }

  /// Returns the paths of the vdirs in a folder that has no items itself.
  public static func collections(in path: String) -> [String] {
    guard let names = try? CalendarFiles.names(in: path),
      !names.contains(where: CalendarFiles.isItem)
    else { return [] }
    return names.filter { !$0.hasPrefix(".") }.sorted().map { "\(path)/\($0)" }.filter { folder in
      guard CalendarFiles.isFolder(folder) == true else { return false }
      return (try? CalendarFiles.names(in: folder))?.contains(where: CalendarFiles.isItem) ?? false
    }
  }

  /// Returns a text without percent encoding; nil if that is not valid.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    let result = String(validating: bytes, as: UTF8.self)
    return result.flatMap { $0.unicodeScalars.contains { $0.value < 0x20 } ? nil : $0 }
  }

  /// The source as text for people and logs. The path of a URL is often the secret of a private calendar, so that only
  /// its last part is in it.
  public var shown: String {
    guard case .url(let url) = self else { return path ?? "" }
    let plain = url.prefix { $0 != "?" }
    let parts = plain.split(separator: "/", omittingEmptySubsequences: true)
    guard parts.count > 2 else { return String(plain) }
    let start = "\(parts[0])//\(parts[1])"
    return parts.count == 3 ? "\(start)/\(parts[2])" : "\(start)/…/\(parts[parts.count - 1])"
  }

  /// The name of the calendar if it gives itself none.
  public var defaultName: String {
    func stem(_ name: Substring) -> String {
      String(name.lowercased().hasSuffix(".ics") ? name.dropLast(4) : name)
    }
    switch self {
    case .file(let path), .folder(let path):
      return stem(path.split(separator: "/").last ?? "calendar")
    case .url(let url):
      let parts = url.prefix { $0 != "?" }.split(separator: "/")
      let host = parts.count > 1 ? parts[1].prefix { $0 != ":" } : "calendar"
      let last = parts.count > 2 ? stem(parts[parts.count - 1]) : ""
      let general = ["", "basic", "calendar", "feed", "ical", "ics", "export", "index", "public"]
      return general.contains(last.lowercased()) ? String(host) : last
    }
  }
}
