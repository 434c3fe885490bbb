import Foundation

/// A web server of calendars, with the faults of real ones.
///
/// `/NAME` is the file in the folder `calendars`, with an entity tag. A first part of the path changes the response: see
/// the program.
public struct CalendarServer: Server {
  /// The processes of the server.
  public let process: ServerProcess
  private let folder: String
  private let scheme: String

  /// The path of the certificate authority of a server with TLS, for `CURL_CA_BUNDLE`.
  public var authority: String { folder + "/certificate.pem" }

  /// The URL of a path.
  public func url(_ path: String) -> String { "\(scheme)://127.0.0.1:\(port)/\(path)" }

  /// The lines of the log that contain a text.
  public func requests(_ text: String) throws -> [Substring] {
    try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("GET ") && $0.contains(text) }
  }

  /// Starts the server, and waits until it listens.
  public init(_ sandbox: Sandbox, tls: Bool = false) async throws {
    let folder = sandbox.root + "/calendar-server"
    try FileManager.default.createDirectory(
      atPath: sandbox.root + "/calendars", withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if tls {
      let make = """
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 \
          -subj /CN=calendars -addext subjectAltName=IP:127.0.0.1 \
          -keyout '\(folder)/key.pem' -out '\(folder)/certificate.pem' 2>&1
        """
      _ = try await sandbox.run("/bin/sh", ["-c", make])
    }
    try sandbox.write(CalendarServer.program, to: folder + "/server.py")
    process = try await ServerProcess(sandbox, folder: folder, ready: "listening") {
      "/usr/bin/python3 -u '\(folder)/server.py' \($0) '\(sandbox.root)/calendars' \(tls ? "'\(folder)'" : "")"
    }
    (self.folder, scheme) = (folder, tls ? "https" : "http")
  }

  private static let program = """
    import base64, gzip, hashlib, http.server, os, ssl, sys, time
    port, root = int(sys.argv[1]), sys.argv[2]

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def log_message(self, *_): pass
        def answer(self, status, body=b"", length=None, **headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = length is not None
        def do_GET(self):
            tag = self.headers.get("If-None-Match")
            print("GET", self.path, "tag", tag, "since", self.headers.get("If-Modified-Since"),
                  "authorization", self.headers.get("Authorization"), flush=True)
            parts = self.path.split("?")[0].strip("/").split("/")
            kind = parts[0] if len(parts) > 1 else ""
            if kind == "status": return self.answer(int(parts[1]))
            if kind == "moved":
                return self.answer(301, Location="/" + "/".join(parts[1:]))
            if kind == "local": return self.answer(302, Location="file:///etc/hostname")
            if kind == "loop": return self.answer(302, Location=self.path)
            if kind == "page":
                return self.answer(200, b"<!DOCTYPE html><html>Please log in</html>", Content_Type="text/html")
            if kind == "slow": time.sleep(30)
            if kind == "huge":
                self.send_response(200)
                self.end_headers()
                try:
                    for _ in range(40): self.wfile.write(b"BEGIN:VCALENDAR" + b" " * (1 << 20))
                except OSError: pass
                self.close_connection = True
                return
            if kind == "private":
                wanted = "Basic " + base64.b64encode(b"me:a \\"secret\\"").decode()
                if self.headers.get("Authorization") != wanted:
                    return self.answer(401, WWW_Authenticate="Basic")
            try:
                body = open(os.path.join(root, parts[-1]), "rb").read()
            except OSError:
                return self.answer(404)
            own = '"%s"' % hashlib.md5(body).hexdigest()
            if kind == "hostile": own = '"a"\\r\\n X-Evil: b'
            if kind == "dated":
                stamp = self.date_time_string(os.stat(os.path.join(root, parts[-1])).st_mtime)
                if self.headers.get("If-Modified-Since") == stamp: return self.answer(304)
                return self.answer(200, body, Last_Modified=stamp)
            if tag == own: return self.answer(304, ETag=own)
            if kind == "truncated": return self.answer(200, body[:-20], length=len(body), ETag=own)
            if kind == "cut": return self.answer(200, body[:-20], ETag=own)
            if kind == "gzip":
                return self.answer(200, gzip.compress(body), ETag=own, Content_Encoding="gzip")
            self.answer(200, body, ETag=own, Content_Type="text/calendar")

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[3] + "/certificate.pem", sys.argv[3] + "/key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print("listening", flush=True)
    server.serve_forever()
    """
}
