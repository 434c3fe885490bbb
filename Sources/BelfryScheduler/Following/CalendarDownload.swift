import BelfryExchange
import BelfryStore
import Glibc
import Subprocess

/// The fetch of a calendar over http or https with curl.
///
/// The URL, the credentials and the headers reach curl on standard input, because other users can list the arguments of
/// processes. A secure URL is never followed to an insecure one, and no URL to another protocol.
struct CalendarDownload {
  private let url: String
  private let credentials: CalendarSource.Credentials?
  private let state: CalendarSubscription.State
  private let timeout: Int

  /// The default timeout, in seconds.
  static let defaultTimeout = 60
  /// The timeout of a connection, in seconds.
  private static let connectTimeout = 15

  /// Creates the fetch of a URL.
  ///
  /// - Parameters:
  ///   - state: The state after the last fetch, with the version that need not be sent again.
  ///   - timeout: The timeout, in seconds.
  init(
    _ url: String, _ credentials: CalendarSource.Credentials?, _ state: CalendarSubscription.State,
    timeout: Int = CalendarDownload.defaultTimeout
  ) {
    self.url = url
    self.credentials = credentials
    self.state = state
    self.timeout = timeout
  }

  /// The response of a server.
  enum Response: Sendable {
    /// The calendar is the one of the last fetch.
    case unchanged
    /// The calendar, with its version.
    case document([UInt8], entityTag: String?, lastModified: String?)
  }

  /// Fetches the calendar.
  ///
  /// - Throws: `CalendarFailure`.
  func run() async throws(CalendarFailure) -> Response {
    let outcome = await TimedProcess.run(
      .name("curl"), ["-q", "-sS", "-K", "-"], input: Array(configuration.utf8),
      seconds: timeout + 5, limit: CalendarDocument.largest + 1)
    switch outcome {
    case .ended(0, let body, let error): return try response(body, String(error))
    case .ended(127, _, _): throw CalendarDownload.missingCurl
    case .ended(let status, _, let error): throw CalendarDownload.failure(status, error)
    case .timedOut: throw CalendarFailure("the server did not answer within \(timeout) s", .network)
    case .failed(let reason):
      if reason.contains("exceeded the limit") { throw .tooLarge }
      throw access("/usr/bin/curl", X_OK) == 0
        ? CalendarFailure(reason) : CalendarDownload.missingCurl
    }
  }

  private static let missingCurl = CalendarFailure("curl is not installed")

  // MARK: Request

  /// The line of the result on standard error, behind curl's messages.
  private static let mark = "belfry-response: "

  private var configuration: String {
    let secure = url.hasPrefix("https:")
    var lines = [
      setting("url", address), "location", "max-redirs = 5", "globoff", "compressed",
      setting("proto", secure ? "=https" : "=http,https"),
      setting("proto-redir", secure ? "=https" : "=http,https"),
      "max-time = \(timeout)", "connect-timeout = \(min(timeout, CalendarDownload.connectTimeout))",
      "max-filesize = \(CalendarDocument.largest)", setting("user-agent", "Belfry"),
      setting("header", "Accept: text/calendar, */*;q=0.1"),
      // The headers of the last response come last, because a server can write anything into them.
      setting(
        "write-out",
        "%{stderr}\n\(CalendarDownload.mark)%{http_code}\t%header{last-modified}\t%header{etag}\n"),
    ]
    if let credentials, let password = credentials.password {
      lines.append(setting("user", "\(credentials.user):\(password)"))
    } else {
      lines.append("netrc-optional")
    }
    if let tag = state.entityTag { lines.append(setting("header", "If-None-Match: \(tag)")) }
    if let time = state.lastModified {
      lines.append(setting("header", "If-Modified-Since: \(time)"))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The URL, with a user name whose password is in `~/.netrc`.
  private var address: String {
    guard let credentials, credentials.password == nil, let start = url.firstRange(of: "://") else {
      return url
    }
    let user = credentials.user.utf8.map { byte -> String in
      let isPlain =
        byte < 0x80
        && (Unicode.Scalar(byte).properties.isAlphabetic || (0x30...0x39).contains(byte))
      return isPlain
        ? String(Unicode.Scalar(byte))
        : "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
    }.joined()
    return "\(url[..<start.upperBound])\(user)@\(url[start.upperBound...])"
  }

  /// Returns a line of a curl configuration.
  private func setting(_ name: String, _ value: String) -> String {
    let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n").replacing("\r", with: "").replacing("\t", with: "\\t")
    return "\(name) = \"\(escaped)\""
  }

  // MARK: Response

  private func response(_ body: [UInt8], _ error: String) throws(CalendarFailure) -> Response {
    let line = error.split(separator: "\n").last { $0.hasPrefix(CalendarDownload.mark) }
    let parts = (line ?? "").dropFirst(CalendarDownload.mark.count)
      .split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard let status = parts.first.flatMap({ Int($0) }) else {
      throw CalendarFailure("curl is older than version 7.84")
    }
    switch status {
    case 200: break
    case 304 where state.entityTag != nil || state.lastModified != nil: return .unchanged
    case 401, 403, 407:
      throw CalendarFailure("the server refuses access (status \(status))", .denied)
    case 404, 410: throw CalendarFailure("the server has no such calendar (status \(status))")
    case 300..<400: throw CalendarFailure("the server redirects to nowhere (status \(status))")
    default: throw CalendarFailure("the server answered with status \(status)", .network)
    }
    if body.count > CalendarDocument.largest { throw .tooLarge }
    return .document(
      body, entityTag: parts.dropFirst(2).first.flatMap(CalendarDownload.entityTag),
      lastModified: parts.dropFirst().first.flatMap(CalendarDownload.date))
  }

  /// Returns a valid entity tag (RFC 9110, 8.8.3); nil for any other text, which a header of Belfry must not contain.
  static func entityTag(_ text: String) -> String? {
    let tag = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
    guard tag.utf8.count <= 512, tag.utf8.count > 1, tag.first == "\"", tag.last == "\"",
      tag.dropFirst().dropLast().utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 })
    else { return nil }
    return text
  }

  /// Returns a date as servers write it; nil for any other text.
  static func date(_ text: String) -> String? {
    let isDate = text.utf8.allSatisfy { byte in
      byte == 0x20 || byte == 0x2C || byte == 0x3A || (0x30...0x39).contains(byte)
        || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
    return (20...40).contains(text.utf8.count) && isDate ? text : nil
  }

  /// Returns the failure of a curl that ended with a status. Its messages contain no path of a URL.
  static func failure(_ status: Int32, _ error: String) -> CalendarFailure {
    switch status {
    case 1: return CalendarFailure("the server redirects to a protocol that is not allowed")
    case 47: return CalendarFailure("the server redirects too often")
    case 63: return .tooLarge
    case 28: return CalendarFailure("the server did not answer in time", .network)
    case 18: return CalendarFailure("the connection ended before the calendar did", .network)
    default: break
    }
    let line = error.split(separator: "\n").first { $0.hasPrefix("curl: (") } ?? ""
    let message = line.drop { $0 != ")" }.dropFirst().drop { $0 == " " }
    // curl explains some messages in further sentences.
    let sentence =
      message.split(separator: ". ").first.map(String.init) ?? "curl ended with \(status)"
    // The time differs each time: the same failure would be reported as a new one.
    return CalendarFailure(sentence.replacing(/\ after [0-9]+ ms/, with: ""), .network)
  }
}
