import Logging
import Synchronization
import Testing

@testable import BelfryCommands

/// The lines of the daemon's log.
@Suite struct DaemonLogHandlerTests {
  private func lines(
    time: String?, level: Logger.Level, _ message: Logger.Message
  ) -> [String] {
    final class Lines: Sendable {
      let all = Mutex<[String]>([])
    }
    let lines = Lines()
    let logger = Logger(label: "test") { _ in
      DaemonLogHandler(time: time, write: { line in lines.all.withLock { $0.append(line) } })
    }
    logger.log(level: level, message)
    return lines.all.withLock { $0 }
  }

  @Test func anEventIsALineWithATime() {
    #expect(
      lines(time: "2026-11-20T22:41:00Z", level: .info, "stopped.")
        == ["2026-11-20T22:41:00Z belfry: stopped."])
  }

  @Test func theJournalAddsItsOwnTime() {
    #expect(lines(time: nil, level: .notice, "stopped.") == ["belfry: stopped."])
  }

  @Test func onlyTheFirstLineOfAWarningNamesTheLevel() {
    #expect(
      lines(time: "now", level: .warning, "not delivered: Tea:\n  a\n  b") == [
        "now belfry: warning: not delivered: Tea:", "now belfry:   a", "now belfry:   b",
      ])
  }

  @Test func detailsForDevelopersAreLeftOut() {
    #expect(lines(time: nil, level: .debug, "detail").isEmpty)
  }
}
