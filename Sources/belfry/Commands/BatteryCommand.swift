import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore

struct BatteryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "battery",
    abstract: "Tell whether this machine's battery lasts until the alarms of the next 24 hours.",
    discussion: """
      With what is left, how fast it drains and how that is known, and a small plot: what was recorded, and the line \
      ahead.

        belfry battery
        belfry battery predict --level 34 --drain 8 --hours 6
      """,
    subcommands: [BatteryStatus.self, BatteryPredict.self], defaultSubcommand: BatteryStatus.self)

  @ParentCommand var root: Belfry
}

struct BatteryStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Tell how the battery stands, and how long it lasts.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BatteryCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open()
    let text = BatteryText(
      now: context.storeContext.now, zones: context.storeContext.zones, context.style)
    switch context.battery {
    case .none: report(absent: "This machine has no battery.")
    case .silent:
      report(
        absent: "Neither the kernel nor UPower tells of a battery: see 'belfry doctor'.")
    case .found(let standing):
      let alarms = try near(store, context)
      if common.json {
        Console.write(text.json(standing, alarms).document)
      } else {
        Console.write(text.page(standing, alarms))
      }
    }
  }

  private func report(absent words: String) {
    if common.json {
      Console.write(JSON.object(["present": false, "reason": .string(words)]).document)
    } else {
      Console.line(words)
    }
  }

  /// What rings here in the next 24 hours, the first first.
  private func near(_ store: Store, _ context: CommandContext) throws -> [BatteryText.Near] {
    let now = context.storeContext.now
    return try context.overview(store).compactMap { summary in
      guard let comes = summary.status.comes, comes.at > now,
        comes.at <= now.adding(seconds: BatteryWarnings.horizon),
        let alarm = try store.alarm(summary.id), store.ringsHere(alarm)
      else { return nil }
      return BatteryText.Near(alarm: summary.id, title: summary.title, comes: comes)
    }.sorted { ($0.comes.at, $0.title) < ($1.comes.at, $1.title) }
  }
}

struct BatteryPredict: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "predict", abstract: "Reckon what will be left of a battery, by a linear drain.",
    discussion: """
      Above 20% is safe, above 5% a warning, and 5% or less critical; on a charger it is safe. What is left is shown \
      rounded down. The drain may be left out where it is not known: then nothing is predicted.
      """)

  @Option(help: ArgumentHelp("What is left now, 0 to 100.", valueName: "percent"))
  var level: Double

  @Option(help: ArgumentHelp("How much it drains in an hour.", valueName: "percent"))
  var drain: Double?

  @Option(help: ArgumentHelp("From now until the alarm.", valueName: "hours"))
  var hours: Double

  @Flag(help: "It is on a charger.")
  var charging = false

  @Flag(help: "Print one JSON document.")
  var json = false

  func validate() throws {
    guard (0...100).contains(level) else { throw ValidationError("--level is 0 to 100.") }
    if let drain, !drain.isFinite { throw ValidationError("--drain is a number.") }
    guard hours.isFinite else { throw ValidationError("--hours is a number.") }
  }

  func run() {
    let prediction = BatteryPrediction(
      level: level, drain: drain, hours: hours, isCharging: charging)
    if json {
      return Console.write(
        JSON.object(omittingNil: [
          "predicted": prediction.predicted.map { .integer(Int64($0)) },
          "risk": .string(prediction.risk.rawValue),
          "unknown": prediction.unknown.map { .string($0.rawValue) },
        ]).document)
    }
    switch (prediction.unknown, prediction.predicted) {
    case (.drain?, _):
      Console.line("safe: how fast it drains is not known, so nothing is predicted.")
    case (.time?, _): Console.line("safe: that time has passed, so nothing is predicted.")
    case (nil, let predicted?) where !charging:
      Console.line("\(prediction.risk.rawValue): \(predicted)% will be left.")
    default: Console.line("safe: it is charging.")
    }
  }
}
