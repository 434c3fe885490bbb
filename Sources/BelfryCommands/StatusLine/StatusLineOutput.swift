import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Glibc

extension StatusLineFormat: ExpressibleByArgument {}

/// The output of `status --format`: a line about a store, once or on each change.
struct StatusLineOutput {
  private let context: CommandContext
  private let format: StatusLineFormat
  private let width: Int
  private let isRelative: Bool
  private let opened = ElapsedTime()

  init(_ context: CommandContext, _ format: StatusLineFormat, width: Int, isRelative: Bool) {
    self.context = context
    self.format = format
    self.width = width
    self.isRelative = isRelative
  }

  /// The state of the store at one moment, and its line.
  private struct Reading {
    let store: Store?
    let attention: AttentionReading
    let line: StatusLine
    let text: String
  }

  /// Prints the line. A store that is missing or cannot be read is part of the line, because bars hide errors.
  func write() throws {
    Console.write(try read(context, wasPresent: isNamed).text + "\n")
  }

  /// True if the user has named the path of the store. A missing store is then a problem; otherwise it comes with the first
  /// alarm.
  private var isNamed: Bool { !context.environment.isDefaultStore }

  private func read(_ context: CommandContext, wasPresent: Bool) throws -> Reading {
    let store: Store?
    let attention: AttentionReading
    do {
      store = try Store.existing(context.storePath, context: context.storeContext)
      attention = AttentionReading(store, wasPresent: wasPresent)
    } catch {
      store = nil
      attention = AttentionReading(unreadable: ())
    }
    let line = StatusLine(
      attention.summary, context.times, width: width, isRelative: isRelative)
    return Reading(
      store: store, attention: attention, line: line, text: try text(line, context))
  }

  private func text(_ line: StatusLine, _ context: CommandContext) throws -> String {
    guard format == .json else { return format.text(line) }
    let document = StatusLineDocument(
      line.summary, text: line.text, state: line.state.rawValue, zones: context.storeContext.zones)
    return try DocumentEncoder.json(document).line
  }

  // MARK: Following

  /// The number of looks at a missing store after a change on the way to it, and the time between two of them in
  /// milliseconds. A new store is complete some time after its folder appears.
  private static let looks = 20
  private static let lookInterval: Int64 = 250

  /// Prints the line now and on each change, until the reader or the process ends.
  func follow() throws {
    let watch = try StatusWatch(path: context.storePath, output: STDOUT_FILENO)
    var wasPresent = isNamed
    var shown: String?
    var looks = 0
    while true {
      let present = presentContext
      var reading = try read(present, wasPresent: wasPresent)
      // A change before the watch began may have been missed.
      if try watch.watch(reading.store) { reading = try read(present, wasPresent: wasPresent) }
      if reading.store != nil { (wasPresent, looks) = (true, 0) }
      if reading.text != shown {
        Console.write(reading.text + "\n")
        shown = reading.text
      }
      var wake: StatusWatch.Wake
      repeat {
        wake = watch.wait(until: deadline(reading, watch, looks: looks))
      } while wake == .scheduler && !schedulerHasChanged(reading)
      if wake == .closed { return }
      if reading.store == nil { looks = looks == 0 ? StatusLineOutput.looks : max(1, looks) - 1 }
    }
  }

  /// The context of this moment, with the present time zone.
  private var presentContext: CommandContext {
    var present = context.refreshed(after: opened)
    present.storeContext.zones = ZoneLibrary(variable: context.environment["TZ"])
    return present
  }

  /// The time between two looks at a store whose changes the kernel does not report, or that cannot be read, in seconds.
  private static let retryInterval: Int64 = 30

  /// Returns the time on the system's clock at which the line may change by itself; nil for never.
  private func deadline(_ reading: Reading, _ watch: StatusWatch, looks: Int) -> Instant? {
    let now = CommandEnvironment.systemNow
    var times: [Instant] = []
    if reading.attention.summary.problem == .storeUnreadable || !watch.seesAllChanges {
      times.append(now.adding(seconds: StatusLineOutput.retryInterval))
    }
    guard let store = reading.store else {
      if looks > 0 {
        times.append(Instant(milliseconds: now.milliseconds + StatusLineOutput.lookInterval))
      }
      return times.min()
    }
    let end = reading.line.validUntil
    if end < .distantFuture {
      times.append(Instant(milliseconds: end.milliseconds + context.clockOffset))
    }
    // The daemon updates its promise with each heartbeat.
    if reading.attention.daemon != nil, let promise = DaemonHandle(store).deadline {
      times.append(promise > now ? promise : now.adding(seconds: 60))
    }
    return times.min()
  }

  private func schedulerHasChanged(_ reading: Reading) -> Bool {
    guard let store = reading.store, reading.attention.scheduler?.isRunning == true else {
      return true
    }
    return DaemonHandle(store).process != reading.attention.daemon
  }
}
