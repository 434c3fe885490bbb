import Foundation
import Glibc

/// A server on the loopback interface, with all its files in a folder of the sandbox.
public protocol Server: Sendable {
  /// The processes of the server.
  var process: ServerProcess { get }
}

extension Server {
  /// The port on the loopback interface.
  public var port: Int { process.port }
  /// The path of the log file.
  public var log: String { process.log }
  /// Stops the server and its processes, except for ssh sessions, which end with their clients. The port then refuses
  /// connections.
  public func stop() { process.stop() }
}

/// The processes of a server, in their own process group.
///
/// They end with `stop()`, or when the sandbox is removed or the tests end.
public struct ServerProcess: Sendable {
  /// The port on the loopback interface.
  public let port: Int
  /// The path of the log file.
  public let log: String
  private let group: pid_t

  struct StartFailure: Error, CustomStringConvertible {
    let description: String
  }

  /// Starts a server on a free port, and waits until it listens.
  ///
  /// - Parameters:
  ///   - folder: the folder of the server, which must exist.
  ///   - ready: the text that the server logs when it listens.
  ///   - command: returns the shell commands that run the server in the foreground on a port.
  init(
    _ sandbox: Sandbox, folder: String, ready: String, command: (Int) throws -> String
  ) async throws {
    let (script, log) = (folder + "/run", folder + "/log")
    let tests = ProcessInfo.processInfo.processIdentifier
    for _ in 0..<5 {
      // Below the kernel's ephemeral ports. The server ends if the port is in use.
      let port = Int.random(in: 10_000..<32_768)
      let commands = try command(port)
      let body = """
        {
          while [ -d '\(sandbox.root)' ] && kill -0 \(tests); do sleep 0.2; done
          kill -KILL 0
        } 2>/dev/null &
        \(commands)
        echo "ended with $?"
        kill -KILL 0
        """
      try sandbox.write(body, to: script)
      let start = try await sandbox.run(
        "/bin/sh",
        ["-c", ": >'\(log)'; setsid sh '\(script)' </dev/null >>'\(log)' 2>&1 & echo $!"])
      guard let group = pid_t(start.out.trimmingCharacters(in: .whitespacesAndNewlines)) else {
        throw StartFailure(description: start.err)
      }
      let deadline = ContinuousClock.now + .seconds(60)
      while ContinuousClock.now < deadline {
        let said = try sandbox.read(log)
        if said.contains(ready) {
          (self.port, self.log, self.group) = (port, log, group)
          return
        }
        if said.contains("ended with ") { break }
        try await Task.sleep(for: .milliseconds(5))
      }
      kill(-group, SIGKILL)
    }
    throw StartFailure(description: try sandbox.read(log))
  }

  func stop() { kill(-group, SIGKILL) }
}

// MARK: ssh

/// An OpenSSH server with a host key, and a key and a configuration for its clients.
public struct SSHServer: Server {
  /// The processes of the server.
  public let process: ServerProcess
  /// The user name of the clients: the user who runs the tests.
  public let user: String
  private let folder: String

  /// The path of the clients' private key. The public key is in the same folder.
  public var key: String { folder + "/key" }
  /// The path of the public keys that the server accepts.
  public var authorizedKeys: String { folder + "/authorized_keys" }
  /// The path of the clients' known hosts, which contain only the server.
  public var knownHosts: String { folder + "/known_hosts" }
  /// The path of the clients' configuration, with the host `bells`. Clients need it as an option, because OpenSSH takes
  /// `~/.ssh` from the user database, not from HOME.
  public var configuration: String { folder + "/config" }
  /// The value for `GIT_SSH_COMMAND` and `core.sshCommand`.
  public var command: String { "ssh -F '\(configuration)'" }

  /// The URL of a repository, by its absolute path.
  public func url(_ path: String) -> String { "ssh://\(user)@127.0.0.1:\(port)\(path)" }
  /// The URL of a repository with the alias in the configuration, by its absolute path.
  public func alias(_ path: String) -> String { "bells:\(path)" }

  /// Starts the server, and waits until it listens.
  public init(_ sandbox: Sandbox) async throws {
    let folder = sandbox.root + "/ssh"
    let make = """
      set -e
      mkdir '\(folder)'
      cd '\(folder)'
      for key in host key; do ssh-keygen -q -t ed25519 -N '' -C belfry -f $key; done
      cp key.pub authorized_keys
      id -un
      """
    let user = try await sandbox.run("/bin/sh", ["-c", make]).out
      .trimmingCharacters(in: .whitespacesAndNewlines)
    process = try await ServerProcess(sandbox, folder: folder, ready: "Server listening on") {
      try sandbox.write(
        """
        ListenAddress 127.0.0.1:\($0)
        HostKey \(folder)/host
        AuthorizedKeysFile \(folder)/authorized_keys
        AuthenticationMethods publickey
        PermitRootLogin prohibit-password
        StrictModes no
        UsePAM no
        PidFile none
        LogLevel VERBOSE
        SetEnv HOME=\(sandbox.home) GIT_CONFIG_NOSYSTEM=1
        """, to: folder + "/sshd_config")
      let host = try sandbox.read(folder + "/host.pub")
      try sandbox.write("[127.0.0.1]:\($0) \(host)", to: folder + "/known_hosts")
      try sandbox.write(
        """
        Host bells
          HostName 127.0.0.1
          Port \($0)
          User \(user)
        Host *
          IdentityFile \(folder)/key
          IdentitiesOnly yes
          IdentityAgent none
          UserKnownHostsFile \(folder)/known_hosts
          GlobalKnownHostsFile none
          BatchMode yes
        """, to: folder + "/config")
      // A server that runs as root needs this folder, which the machine's own server creates when it starts.
      return """
        [ "$(id -u)" != 0 ] || mkdir -p -m 755 /run/sshd
        /usr/sbin/sshd -D -e -f '\(folder)/sshd_config'
        """
    }
    (self.user, self.folder) = (user, folder)
  }
}

// MARK: https

/// An nginx server for git's CGI program, with TLS and a password.
///
/// It serves two hosts on one port: 127.0.0.1, and 127.0.0.2, to which `/moved` redirects.
public struct HTTPSServer: Server {
  /// The processes of the server.
  public let process: ServerProcess
  /// The user name of the clients.
  public let user = "ringer"
  /// The password of the clients.
  public let password = "open sesame"
  private let folder: String

  /// The path of the certificate of the authority that signed the server's certificate.
  public var authority: String { folder + "/authority.pem" }
  /// The path of the log of requests, with a line for each: method, path, status and `[Authorization]`.
  public var requests: String { folder + "/requests" }
  /// The path of the log of requests to 127.0.0.2.
  public var otherRequests: String { folder + "/other-requests" }

  /// The URL of a repository in the sandbox's root, by its name.
  public func url(_ name: String) -> String { "https://127.0.0.1:\(port)/\(name)" }
  /// The URL that redirects to the same repository on the other host.
  public func moved(_ name: String) -> String { url("moved/" + name) }

  /// Starts the server, and waits until it listens.
  public init(_ sandbox: Sandbox) async throws {
    let folder = sandbox.root + "/https"
    let certificate = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    let make = """
      set -e
      mkdir '\(folder)'
      cd '\(folder)'
      \(certificate) -subj '/CN=Belfry tests' -keyout authority.key -out authority.pem
      \(certificate) -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1,IP:127.0.0.2 \\
        -CA authority.pem -CAkey authority.key -keyout key.pem -out certificate.pem
      """
    _ = try await sandbox.run("/bin/sh", ["-c", make])
    try sandbox.write("\(user):{PLAIN}\(password)\n", to: folder + "/users")
    try sandbox.write(
      """
      auth_basic bells;
      auth_basic_user_file \(folder)/users;
      fastcgi_pass unix:\(folder)/cgi;
      fastcgi_param SCRIPT_FILENAME /usr/lib/git-core/git-http-backend;
      fastcgi_param GIT_PROJECT_ROOT \(sandbox.root);
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param GIT_CONFIG_NOSYSTEM 1;
      fastcgi_param HOME \(sandbox.home);
      fastcgi_param PATH_INFO $uri;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param REMOTE_USER $remote_user;
      fastcgi_param REMOTE_ADDR $remote_addr;
      """, to: folder + "/repositories")
    process = try await ServerProcess(sandbox, folder: folder, ready: "start worker process ") {
      try sandbox.write(
        """
        user root;
        daemon off;
        pid \(folder)/pid;
        error_log stderr notice;
        events {}
        http {
          log_format request '$request_method $request_uri $status [$http_authorization]';
          client_body_temp_path \(folder)/body;
          proxy_temp_path \(folder)/proxy;
          fastcgi_temp_path \(folder)/fastcgi;
          uwsgi_temp_path \(folder)/uwsgi;
          scgi_temp_path \(folder)/scgi;
          client_max_body_size 0;
          ssl_certificate \(folder)/certificate.pem;
          ssl_certificate_key \(folder)/key.pem;
          server {
            listen 127.0.0.1:\($0) ssl;
            access_log \(folder)/requests request;
            location / { include \(folder)/repositories; }
            location /moved/ { rewrite ^/moved(/.*) https://127.0.0.2:\($0)$1 permanent; }
          }
          server {
            listen 127.0.0.2:\($0) ssl;
            access_log \(folder)/other-requests request;
            location / { include \(folder)/repositories; }
          }
        }
        """, to: folder + "/nginx.conf")
      return """
        cd '\(folder)'
        rm -f cgi
        /usr/sbin/fcgiwrap -f -s 'unix:\(folder)/cgi' &
        while kill -0 $! && ! [ -S cgi ]; do sleep 0.1; done
        [ -S cgi ] && /usr/sbin/nginx -e stderr -p '\(folder)' -c '\(folder)/nginx.conf'
        """
    }
    self.folder = folder
  }
}

// MARK: git

/// A `git daemon` that accepts pushes without authentication.
public struct GitServer: Server {
  /// The processes of the server.
  public let process: ServerProcess

  /// The URL of a repository in the sandbox's root, by its name.
  public func url(_ name: String) -> String { "git://127.0.0.1:\(port)/\(name)" }

  /// Starts the server, and waits until it listens.
  public init(_ sandbox: Sandbox) async throws {
    let folder = sandbox.root + "/git"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    process = try await ServerProcess(sandbox, folder: folder, ready: "Ready to rumble") {
      """
      git daemon --verbose --listen=127.0.0.1 --port=\($0) --reuseaddr --export-all \\
        --enable=receive-pack --base-path='\(sandbox.root)'
      """
    }
  }
}

// MARK: No response

/// A server that accepts and logs connections but never sends a response.
public struct SilentServer: Server {
  /// The processes of the server.
  public let process: ServerProcess

  /// The URL of a repository, by its absolute path.
  public func url(_ scheme: String, _ path: String) -> String {
    "\(scheme)://\(scheme == "ssh" ? "bells@" : "")127.0.0.1:\(port)\(path)"
  }

  /// Starts the server, and waits until it listens.
  public init(_ sandbox: Sandbox) async throws {
    let folder = sandbox.root + "/silent"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let program = """
      import socket, sys
      server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
      print("listening", flush=True)
      held = []
      while True:
        held.append(server.accept())
        print("accepted", flush=True)
      """
    try sandbox.write(program, to: folder + "/silent.py")
    process = try await ServerProcess(sandbox, folder: folder, ready: "listening") {
      "/usr/bin/python3 '\(folder)/silent.py' \($0)"
    }
  }
}
