import CLinux
import Files
import Glibc
import Subprocess
import SystemPackage

/// A shell on the host of an ssh remote, which the user's ssh runs without any prompt.
public struct RemoteShell: Sendable {
  /// The reason for the end of a shell.
  public enum End: Hashable, Sendable {
    /// ssh could not connect, or has lost the connection.
    case disconnected
    /// The program on the host has exited.
    case exited
    /// The receiver wants no more lines.
    case stopped
  }

  /// The maximum length of a line in bytes. The rest of a longer line is discarded.
  public static let maxLineLength = 256
  /// The exit status of ssh after an error of its own.
  private static let sshFailure: Int32 = 255
  /// The time in seconds in which ssh has to connect.
  private static let connectTimeout = 20

  private let command: String
  private let arguments: [String]
  private let connection: SharedSSHConnection?

  /// Prepares a shell on a remote's host.
  ///
  /// - Parameters:
  ///   - url: The URL of the remote.
  ///   - repository: The folder of the repository, whose configuration may set `core.sshCommand`.
  ///   - connections: The user's ssh connections.
  /// - Returns: Nil if the remote is not reached through OpenSSH.
  public init?(to url: RemoteURL, in repository: String, connections: SSHConnections) async {
    guard url.transport == .ssh, let host = url.host else { return nil }
    connection = await connections.connection(for: [url], in: repository)
    if let connection {
      command = connection.command
    } else {
      guard let command = await connections.command(in: repository) else { return nil }
      let options = ["ClearAllForwardings=yes"] + SharedSSHConnection.checkOptions
      self.command = "exec \(command) \(options.map { "-o \($0)" }.joined(separator: " "))"
    }
    arguments =
      ["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=\(RemoteShell.connectTimeout)"]
      + (url.port.map { ["-p", $0] } ?? []) + [url.user.map { "\($0)@\(host)" } ?? host, "sh"]
  }

  /// Connects, runs a script, and receives its output until it ends or the task is canceled.
  ///
  /// The script's standard input reaches its end when the connection or this process ends.
  ///
  /// - Parameters:
  ///   - script: The script, in the syntax of `sh` and at most 32 KiB long.
  ///   - firstTimeout: The time in seconds in which the first output has to arrive.
  ///   - timeout: The time in seconds between two outputs after which the connection counts as lost.
  ///   - receive: Receives each line. Returns false to end the script.
  /// - Throws: An error if the process cannot be started.
  public func run(
    _ script: String, firstTimeout: Int, timeout: Int,
    receive: @escaping @Sendable ([UInt8]) -> Bool
  ) async throws -> End {
    try Descriptors.ensure()
    let activity = LastActivity()
    let end = try await withThrowingTaskGroup(of: End?.self) { group in
      group.addTask { try await receiveLines(of: script, activity, receive) }
      group.addTask {
        await activity.waitUntilIdle(for: firstTimeout)
        if activity.isRecorded { await activity.waitUntilIdle(for: timeout) }
        return nil
      }
      let first = try await group.next() ?? nil
      group.cancelAll()
      return first
    }
    // A shared connection that does not respond must not delay the next attempt.
    if end == nil, !Task.isCancelled { connection?.abandon() }
    return end ?? .disconnected
  }

  private struct Stopped: Error {}

  private func receiveLines(
    of script: String, _ activity: LastActivity, _ receive: @Sendable ([UInt8]) -> Bool
  ) async throws -> End {
    let (input, lifeline) = try RemoteShell.pipe(containing: script)
    // The pipe stays open as long as this process lives.
    defer { try? lifeline.close() }
    do {
      let result = try await Subprocess.run(
        configuration, input: .fileDescriptor(input, closeAfterSpawningProcess: true),
        output: .sequence, error: .discarded
      ) { execution in
        var line: [UInt8] = []
        for try await buffer in execution.standardOutput {
          activity.record()
          let bytes = buffer.withUnsafeBytes { Array($0) }
          for byte in bytes {
            if byte == UInt8(ascii: "\n") {
              guard receive(line) else { throw Stopped() }
              line = []
            } else if line.count < RemoteShell.maxLineLength {
              line.append(byte)
            }
          }
        }
      }
      return result.terminationStatus.shellStatus == RemoteShell.sshFailure
        ? .disconnected : .exited
    } catch is Stopped {
      return .stopped
    }
  }

  /// The process: ssh in its own session, so that it cannot prompt on the terminal.
  private var configuration: Configuration {
    var options = PlatformOptions()
    options.createSession = true
    options.teardownSequence = [
      .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
    ]
    return Configuration(
      executable: .path("/bin/sh"),
      arguments: Arguments(["-c", "\(command) \"$@\"", "sh"] + arguments),
      environment: .inherit.updating([
        "LC_ALL": "C", "SSH_ASKPASS_REQUIRE": "never", "SSH_ASKPASS": nil,
      ]), platformOptions: options)
  }

  /// Returns a pipe that contains a text, and its writing end.
  private static func pipe(
    containing text: String
  ) throws -> (reading: FileDescriptor, writing: FileDescriptor) {
    var ends: [Int32] = [0, 0]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw FileError("make", "a pipe") }
    let (reading, writing) = (FileDescriptor(rawValue: ends[0]), FileDescriptor(rawValue: ends[1]))
    do {
      // The pipe has room for it.
      try writing.writeAll(text.utf8)
    } catch {
      try? reading.close()
      try? writing.close()
      throw error
    }
    return (reading, writing)
  }
}
