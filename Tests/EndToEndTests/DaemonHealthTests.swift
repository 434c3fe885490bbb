import Foundation
import Glibc
import TestSupport
import Testing

/// Detection of a daemon that hangs, by systemd and by commands.
@Suite struct DaemonHealthTests {
  @Test("The event loop reports to the service manager that it is ready, alive and stopping")
  func notifications() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let path = sandbox.root + "/notify"
    let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
    }
    try #require(bound == 0)
    async let daemon = sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        \(sandbox.waitFor)
        '\(Sandbox.binary)' daemon 2>'\(sandbox.root)/daemon.log' & daemon=$!
        wait_for [ -e '\(sandbox.root)/enough' ]
        kill $daemon
        wait $daemon
        """,
      ],
      environment: [
        "NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000", "TZ": "UTC", "BELFRY_DEVICE": "laptop",
      ])
    // Read continuously like the service manager: the socket buffers ten messages and drops further ones.
    var messages: [String] = []
    let deadline = ContinuousClock.now + .seconds(90)
    while !messages.contains("STOPPING=1"), ContinuousClock.now < deadline {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else {
        try await Task.sleep(for: .milliseconds(20))
        continue
      }
      messages.append(String(decoding: buffer.prefix(count), as: UTF8.self))
      // Nothing is due, so only the watchdog wakes the event loop.
      if messages.count(where: { $0 == "WATCHDOG=1" }) == 3 {
        try Data().write(to: URL(filePath: sandbox.root + "/enough"))
      }
    }
    let output = try await daemon
    #expect(output.status == 0, "\(output.err)\(sandbox.daemonLog)")
    #expect(messages.first == "READY=1\nSTATUS=Watching \(sandbox.store)", "\(messages)")
    #expect(messages.contains("STOPPING=1"), "\(messages)")
    #expect(messages.count { $0 == "WATCHDOG=1" } >= 3, "\(messages)")
  }

  @Test("Status, doctor and list report a suspended daemon")
  func suspended() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let belfry = "'\(Sandbox.binary)'"
    let output = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        \(sandbox.waitFor)
        \(belfry) daemon 2>'\(sandbox.root)/daemon.log' & daemon=$!
        wait_for grep -q watching '\(sandbox.root)/daemon.log'
        \(belfry) service status >/dev/null; echo "status $?"
        kill -STOP $daemon
        \(belfry) service status 2>&1; echo "status $?"
        \(belfry) doctor | grep -A 3 '^tick'
        # As if it had promised to be back by then.
        touch -d '1 hour ago' '\(sandbox.store)/.git/belfry/daemon.lock'
        \(belfry) list 2>&1
        kill -CONT $daemon
        \(belfry) list 2>&1
        \(belfry) service status >/dev/null; echo "status $?"
        kill $daemon
        wait $daemon
        """,
      ], environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop", "XDG_RUNTIME_DIR": sandbox.root])
    let parts = output.out.components(separatedBy: "status ")
    try #require(parts.count == 4, "\(output.out)\(output.err)")
    #expect(parts[1].hasPrefix("0\n"))
    #expect(parts[1].contains("the daemon does not respond"), "\(parts[1])")
    #expect(parts[2].hasPrefix("4\n"))
    #expect(parts[2].contains("PROBLEM  The daemon does not respond"), "\(parts[2])")
    #expect(parts[2].contains("warning: the daemon does not respond"), "\(parts[2])")
    #expect(parts[2].components(separatedBy: "warning: the daemon").count == 2, "\(parts[2])")
    #expect(parts[3].hasPrefix("0\n"))
  }

  @Test("An idle daemon does not wake before the next event")
  func idle() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let output = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        \(sandbox.waitFor)
        '\(Sandbox.binary)' daemon 2>'\(sandbox.root)/daemon.log' & daemon=$!
        wait_for grep -q watching '\(sandbox.root)/daemon.log'
        count() { cat /proc/$daemon/task/*/status | awk '/^voluntary_ctxt/ { n += $2 } END { print n }'; }
        # At first it has commands to run; a timer of a second would be in every one of these.
        for i in $(seq 15); do
          before=$(count)
          sleep 2
          wakes=$(($(count) - before))
          [ "$wakes" = 0 ] && break
        done
        echo "$wakes"
        kill $daemon
        wait $daemon
        """,
      ], environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop"])
    let wakes = Int(output.out.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(wakes == 0, "\(output.out)\(output.err)\(sandbox.daemonLog)")
  }
}
