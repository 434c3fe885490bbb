import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct BatteryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "battery",
    abstract: "Predict whether the battery lasts until your alarms.",
    discussion: """
      Shows the level, the drain and how it was measured, a prediction for each alarm of the next 24 hours, and a plot \
      of the recorded and the predicted level.

        belfry battery
        belfry battery predict --level 34 --drain 8 --hours 6
      """,
    subcommands: [BatteryStatus.self, BatteryPredict.self], defaultSubcommand: BatteryStatus.self)

  @ParentCommand var root: Belfry
}

struct BatteryStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the battery level and a prediction for each alarm.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BatteryCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open(.reading)
    let text = BatteryText(
      now: context.storeContext.now, zones: context.storeContext.zones, context.style)
    switch context.battery {
    case .none: try report(absent: "This machine has no battery.")
    case .silent:
      try report(
        absent: "Neither the kernel nor UPower reports a battery. See 'belfry doctor'.")
    case .found(let standing):
      let alarms = try upcoming(store, context)
      if common.json {
        try Console.write(text.document(standing, alarms))
      } else {
        Console.write(text.page(standing, alarms))
      }
    }
  }

  private func report(absent reason: String) throws {
    if common.json {
      try Console.write(NoBatteryDocument(reason: reason))
    } else {
      Console.line(reason)
    }
  }

  /// Returns the alarms that ring on this device in the next 24 hours, the earliest first.
  private func upcoming(_ store: Store, _ context: CommandContext) throws -> [BatteryText.Near] {
    let now = context.storeContext.now
    return try context.overview(store).compactMap { summary in
      guard let next = summary.status.nextRinging, next.at > now,
        next.at <= now.adding(seconds: BatteryWarnings.horizon),
        let alarm = try store.alarm(summary.id), store.ringsHere(alarm)
      else { return nil }
      return BatteryText.Near(alarm: summary.id, title: summary.title, nextRinging: next)
    }.sorted { ($0.nextRinging.at, $0.title) < ($1.nextRinging.at, $1.title) }
  }
}

struct BatteryPredict: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "predict", abstract: "Predict a battery level from a linear drain.",
    discussion: """
      The predicted level is rounded down. More than 20% is safe, 20% or less a warning, and 5% or less critical. A \
      battery on a charger is safe. Without --drain, the risk is unknown.
      """)

  @Option(help: ArgumentHelp("The level now, 0 to 100.", valueName: "percent"))
  var level: Double

  @Option(help: ArgumentHelp("The drain per hour.", valueName: "percent"))
  var drain: Double?

  @Option(help: ArgumentHelp("The time from now until the alarm.", valueName: "hours"))
  var hours: Double

  @Flag(help: "The battery is on a charger.")
  var charging = false

  @Flag(help: "Print one JSON document.")
  var json = false

  func validate() throws {
    guard (0...100).contains(level) else { throw ValidationError("--level is 0 to 100.") }
    if let drain, !drain.isFinite { throw ValidationError("--drain is a number.") }
    guard hours.isFinite else { throw ValidationError("--hours is a number.") }
  }

  func run() throws {
    let prediction = BatteryPrediction(
      level: level, drain: drain, hours: hours, isCharging: charging)
    if json {
      return try Console.write(BatteryPredictionDocument(prediction))
    }
    switch (prediction.unknown, prediction.predicted) {
    case (.drain?, _):
      Console.line("unknown: the drain is unknown, so nothing is predicted.")
    case (.time?, _): Console.line("unknown: that time has passed, so nothing is predicted.")
    case (nil, let predicted?) where !charging:
      Console.line("\(prediction.risk.rawValue): \(predicted)% will be left.")
    default: Console.line("safe: it is charging.")
    }
  }
}
