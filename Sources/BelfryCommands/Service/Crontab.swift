import BelfryScheduler
import BelfryTerminal
import Subprocess

/// The crontab of the user, with the line that runs a tick every minute.
struct Crontab {
  private let environment: CommandEnvironment

  init(_ environment: CommandEnvironment) { self.environment = environment }

  /// True if the crontab has Belfry's line; false if the crontab cannot be read.
  var isInstalled: Bool {
    get async {
      let lines = (try? await lines()) ?? []
      return lines.contains { !$0.hasPrefix("#") && $0.hasSuffix(ServiceUnits.mark) }
    }
  }

  /// Removes Belfry's line. Returns false if there is none.
  ///
  /// - Throws: `CrontabError` if the crontab cannot be read or written.
  func remove() async throws -> Bool {
    let known = try await lines() ?? []
    guard known.contains(where: { $0.hasSuffix(ServiceUnits.mark) }) else { return false }
    try await write(known.filter { !$0.hasSuffix(ServiceUnits.mark) })
    return true
  }

  /// Adds Belfry's line, or replaces it.
  ///
  /// - Throws: `CommandError` if the crontab cannot be read or written, or the program `crontab` is not installed.
  func install(_ line: String) async throws {
    do {
      guard let known = try await lines() else { throw CrontabError.unavailable }
      try await write(known.filter { !$0.hasSuffix(ServiceUnits.mark) } + [line])
    } catch let error as CrontabError {
      let hint =
        switch error {
        case .unreadable: "Add this line yourself with 'crontab -e': \(line)"
        case .unavailable:
          "Keep 'nohup belfry daemon >daemon.log 2>&1 &' running, or run this every minute: \(line.dropFirst(10))"
        }
      throw CommandError(error, hint: hint)
    }
  }

  /// The advice to remove the line without Belfry.
  static let removalByHand =
    "If it has a line that ends in '\(ServiceUnits.mark)', remove the line yourself: crontab -e"

  /// The maximum size of a crontab, in bytes.
  private static let maxSize = 1 << 20

  /// Returns the lines of the user's crontab; nil if the program `crontab` is not installed.
  ///
  /// - Throws: `CrontabError` if the crontab cannot be read. It may have lines of the user, so it must not be
  ///   replaced.
  private func lines() async throws -> [String]? {
    guard environment.hasProgram("crontab") else { return nil }
    let outcome = await TimedProcess.run(
      .name("crontab"), ["-l"], variables: ["LC_ALL": "C"], seconds: 30,
      limit: Crontab.maxSize)
    let reason: String
    switch outcome {
    case .ended(0, let output, _):
      if let text = String(validating: output, as: UTF8.self) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
      }
      reason = "it is not UTF-8"
    case .ended(1, _, let error) where error.contains("no crontab"): return []
    case .ended(let status, _, let error):
      reason = error.split(separator: "\n").first.map(String.init) ?? "exit status \(status)"
    case .timedOut: reason = "'crontab -l' timed out after 30 s"
    case .failed(let message): reason = message
    }
    throw CrontabError.unreadable(reason: reason)
  }

  private func write(_ lines: [String]) async throws {
    let outcome = await TimedProcess.run(
      .name("crontab"), ["-"], input: Array((lines.joined(separator: "\n") + "\n").utf8),
      seconds: 60)
    if case .ended(0, _, _) = outcome { return }
    throw CrontabError.unavailable
  }
}

/// The reason that the crontab was not changed.
enum CrontabError: Error {
  /// The crontab cannot be read, so it must not be replaced.
  case unreadable(reason: String)
  /// The user cannot install a crontab.
  case unavailable
}

extension CommandError {
  /// Creates the error for a crontab.
  ///
  /// - Parameter removed: the parts of the service that were removed before.
  init(_ error: CrontabError, removed: [String] = [], hint: String) {
    let message =
      switch error {
      case .unreadable(let reason):
        "your crontab cannot be read, so it was not changed: \(Printable.text(reason))."
      case .unavailable: "neither systemd nor cron is available for your user."
      }
    let units = removed.isEmpty ? "" : "\(removed.joined(separator: ", ")) removed, but "
    self.init(.failed, units + message, hint: hint, source: error)
  }
}
