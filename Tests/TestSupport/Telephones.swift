import Foundation

/// The called side of a SIP call, played by sipp, which measures the received audio.
public struct Telephone: Server {
  /// The processes of the server.
  public let process: ServerProcess
  private let folder: String
  private let sandbox: Sandbox

  /// The reaction of the telephone to a call.
  public enum Behavior: String, Sendable {
    case answers, busy
    /// The number does not exist.
    case unknown
  }

  /// The audio that the telephone received.
  public struct Heard: Sendable {
    /// The duration in seconds.
    public let seconds: Double
    /// The fraction of samples that are not silent.
    public let loud: Double
  }

  /// Starts the server, and waits until it listens.
  public init(_ sandbox: Sandbox, _ behavior: Behavior = .answers) async throws {
    self.sandbox = sandbox
    let folder = sandbox.root + "/telephone-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try sandbox.write(Telephone.script, to: folder + "/telephone.py")
    self.folder = folder
    process = try await ServerProcess(sandbox, folder: folder, ready: "at the telephone") { port in
      "cd '\(folder)' && exec python3 telephone.py \(port) \(behavior.rawValue) '\(folder)/heard'"
    }
  }

  /// Returns the received audio after the call, or nil if there was no call.
  public func heard() async throws -> Heard? {
    for _ in 0..<400 {
      if let text = try? sandbox.read(folder + "/heard"), text.hasSuffix("\n") {
        let words = text.split(separator: " ").compactMap {
          Double($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return words.count == 2 ? Heard(seconds: words[0], loud: words[1]) : nil
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    return nil
  }

  private static let script = #"""
    import os, socket, subprocess, sys, time
    port, manner, result = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    media = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    media.bind(("127.0.0.1", 0))
    HEADERS = """[last_Via:]
    [last_From:]
    [last_To:];tag=[pid]belfry[call_number]
    [last_Call-ID:]
    [last_CSeq:]
    Contact: <sip:[local_ip]:[local_port];transport=[transport]>
    """.replace("    ", "")
    def send(line, more="Content-Length: 0\n\n", head=HEADERS, options=""):
        return f"<send{options}><![CDATA[\n{line}\n{head}{more}]]></send>\n"
    SDP = f"""Content-Type: application/sdp
    Content-Length: [len]

    v=0
    o=user1 53655765 2353687637 IN IP4 127.0.0.1
    s=-
    c=IN IP4 127.0.0.1
    t=0 0
    m=audio {media.getsockname()[1]} RTP/AVP 0
    a=rtpmap:0 PCMU/8000
    """.replace("    ", "")
    steps = '<recv request="INVITE" crlf="true"></recv>\n'
    if manner == "answers":
        steps += send("SIP/2.0 180 Ringing") + '<pause milliseconds="300"/>\n'
        steps += send("SIP/2.0 200 OK", SDP, options=' retrans="500"')
        steps += '<recv request="ACK" crlf="true"></recv>\n<recv request="BYE" timeout="120000"></recv>\n'
        steps += send("SIP/2.0 200 OK", head=HEADERS.replace(";tag=[pid]belfry[call_number]", ""))
    else:
        line = "SIP/2.0 486 Busy Here" if manner == "busy" else "SIP/2.0 404 Not Found"
        steps += send(line) + '<recv request="ACK" crlf="true"></recv>\n'
    with open("scenario.xml", "w") as file:
        file.write(f'<?xml version="1.0" encoding="ISO-8859-1" ?>\n<scenario name="{manner}">\n{steps}</scenario>\n')
    sipp = subprocess.Popen(
        ["sipp", "-sf", "scenario.xml", "-i", "127.0.0.1", "-p", str(port), "-m", "1", "-nostdin", "-timeout", "300"],
        stdin=subprocess.DEVNULL, stdout=open("sipp.log", "w"), stderr=subprocess.STDOUT)
    wanted = f":{port:04X} "
    while sipp.poll() is None and not any(wanted in line for line in open("/proc/net/udp")):
        time.sleep(0.02)
    print("at the telephone", flush=True)
    def sample(byte):
        byte = ~byte & 255
        value = (((byte & 15) << 3) + 132 << ((byte >> 4) & 7)) - 132
        return -value if byte & 128 else value
    SAMPLES = [sample(byte) for byte in range(256)]
    total = loud = 0
    media.settimeout(0.5)
    while True:
        try:
            packet = media.recv(2048)[12:]
            total += len(packet)
            loud += sum(abs(SAMPLES[byte]) > 500 for byte in packet)
        except TimeoutError:
            if sipp.poll() is not None:
                break
    with open(result, "w") as file:
        file.write(f"{total / 8000:.2f} {loud / max(1, total):.3f}\n")
    """#
}

/// An HTTP voice API in Twilio's form, with a configured answer to each request.
public struct VoiceAPI: Server {
  /// The processes of the server.
  public let process: ServerProcess
  private let folder: String
  private let sandbox: Sandbox

  /// The URL of the server.
  public var url: String { "http://127.0.0.1:\(port)/2010-04-01/Accounts/AC1/Calls.json" }

  /// - Parameters:
  ///   - answers: the answer to each request for a call: an HTTP status, `timeout`, or for an accepted call its
  ///     final state `answered`, `busy`, `no-answer` or `ringing`.
  ///   - token: the accepted password.
  public init(
    _ sandbox: Sandbox, answers: [String], token: String = "secret token"
  ) async throws {
    self.sandbox = sandbox
    let folder = sandbox.root + "/api-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try sandbox.write(VoiceAPI.script, to: folder + "/api.py")
    try sandbox.write(token, to: folder + "/token")
    self.folder = folder
    process = try await ServerProcess(sandbox, folder: folder, ready: "taking calls") { port in
      "cd '\(folder)' && exec python3 api.py \(port) \(answers.joined(separator: " "))"
    }
  }

  /// The received requests, each with `user`, `password`, `path` and the fields of its form.
  public var requests: [[String: String]] {
    let text = (try? sandbox.read(folder + "/requests")) ?? ""
    return text.split(separator: "\n").compactMap {
      try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String]
    }
  }

  private static let script = #"""
    import base64, json, sys, time
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from urllib.parse import parse_qs
    answers, ends = sys.argv[2:], []
    token = open("token").read()
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_): pass
        def answer(self, status, body):
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        def login(self):
            kind, _, word = self.headers.get("Authorization", "").partition(" ")
            user, _, password = base64.b64decode(word).decode().partition(":")
            return user, password
        def do_POST(self):
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            user, password = self.login()
            fields = {key: values[0] for key, values in parse_qs(form).items()}
            with open("requests", "a") as file:
                file.write(json.dumps({"user": user, "password": password, "path": self.path, **fields}) + "\n")
            if (user, password) != ("AC1", token):
                return self.answer(401, {"message": "Authenticate"})
            if "Status" in fields:
                return self.answer(200, {"status": fields["Status"]})
            what = answers.pop(0) if answers else "answered"
            if what == "timeout":
                time.sleep(60)
            if what.isdigit():
                return self.answer(int(what), {"message": "told to"})
            ends.append(what)
            self.answer(201, {"sid": f"CA{len(ends)}", "status": "queued"})
        def do_GET(self):
            if self.login() != ("AC1", token):
                return self.answer(401, {"message": "Authenticate"})
            number = int(self.path.rsplit("CA", 1)[1].split(".")[0])
            end = ends[number - 1]
            self.answer(200, {"sid": f"CA{number}", "status": "in-progress" if end == "answered" else end})
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("taking calls", flush=True)
    server.serve_forever()
    """#
}
