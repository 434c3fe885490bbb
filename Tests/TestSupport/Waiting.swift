import Foundation

/// The failure of a wait that has reached its deadline.
public struct WaitTimeout: Error, CustomStringConvertible {
  /// The condition that did not become true, and what else is known.
  public let description: String

  init(_ condition: String, after seconds: Int = WaitTimeout.seconds) {
    description = "timed out after \(seconds) s: \(condition)"
  }

  /// The time after which a wait fails. A busy machine can take a hundred times as long as an idle one.
  static let seconds = 180
}

/// Waits until a condition is true.
///
/// - Parameter name: the name of the condition, for the error.
/// - Throws: `WaitTimeout` after three minutes.
public func waitUntil(_ name: String, _ condition: () async throws -> Bool) async throws {
  let end = ContinuousClock.now + .seconds(WaitTimeout.seconds)
  while try await !condition() {
    if ContinuousClock.now > end { throw WaitTimeout(name) }
    try await Task.sleep(for: .milliseconds(20))
  }
}

extension Sandbox {
  /// The shell function `wait_for COMMAND…` for scripts, which waits until a command or a function succeeds.
  ///
  /// After three minutes it returns 1. From then on, the other waits in this sandbox end at once, so that a script soon
  /// ends what it has started, and `run` throws `WaitTimeout`. The command is tried every 0.1 seconds, or as often as
  /// the variable `wait_pause` says.
  public var waitFor: String {
    // The time since the start of the machine cannot be set, and reading it starts no process.
    """
    wait_for() {
      read -r wait_now _ </proc/uptime
      wait_end=$((${wait_now%.*} + \(WaitTimeout.seconds)))
      until "$@" >/dev/null 2>&1; do
        read -r wait_now _ </proc/uptime
        if [ "${wait_now%.*}" -ge "$wait_end" ]; then
          echo "$*" >>'\(timeouts)'
          return 1
        fi
        [ ! -e '\(timeouts)' ] || return 1
        sleep "${wait_pause:-0.1}"
      done
    }

    """
  }

  /// The file with the conditions for which scripts have waited in vain.
  private var timeouts: String { root + "/timeouts" }

  /// Throws if a script has waited in vain.
  func checkWaits(_ output: Output) throws {
    guard let conditions = try? read(timeouts) else { return }
    throw WaitTimeout("\(conditions)\(output.out)\(output.err)\(daemonLog)")
  }
}

extension Sandbox {
  /// Returns the result of an operation that runs a program in this sandbox's home.
  ///
  /// - Parameter name: the program and its arguments, for the error.
  /// - Throws: `WaitTimeout` after ten minutes. Then all processes of the home are killed, and the error names them.
  func withDeadline<Result: Sendable>(
    for name: String, _ operation: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let seconds = 600
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await operation() }
      group.addTask {
        try await Task.sleep(for: .seconds(seconds))
        return nil
      }
      defer { group.cancelAll() }
      if let result = try await group.next() ?? nil { return result }
      let processes = ProcessTable.kill(with: "HOME=\(home)\0", in: .environment)
      throw WaitTimeout(
        "the end of \(name)\nprocesses:\n\(processes.joined(separator: "\n"))", after: seconds)
    }
  }
}
