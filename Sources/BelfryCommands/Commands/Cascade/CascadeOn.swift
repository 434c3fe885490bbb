import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

struct CascadeOn: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "on", abstract: "Turn an alarm's cascade on.")

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @Option(
    help: ArgumentHelp("The time between two steps, 5s to 1h (default: 2m).", valueName: "time"))
  var every: String?

  @Option(
    help: ArgumentHelp(
      "The device that rings first (default: this one).",
      valueName: "device"))
  var first: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  func run() throws {
    let interval = try every.map { text in
      guard let seconds = Input.seconds(text), Cascade.intervals.contains(seconds) else {
        throw CommandError(
          .usage, "--every: '\(Printable.text(text))' is not a time from 5s to 1h.",
          hint: "For example: 90s or 2m.")
      }
      return seconds
    }
    let editing = try CascadeEditing(alarm, common, parent.root)
    let primary = try first.map { try DeviceDirectory(editing.store).find($0) }
    var parts: Set<Cascade.Part> = [.on]
    if interval != nil { parts.insert(.every) }
    if primary != nil { parts.insert(.primary) }
    let (alarm, _) = try editing.change(.on, stating: parts) { plan in
      plan.isOn = true
      if let interval { plan.interval = interval }
      if let primary {
        guard plan.step(of: primary) == nil else {
          throw CommandError(
            .usage, "\(editing.names[primary] ?? primary.short) is a later step of this cascade.",
            hint: "Remove it first: belfry cascade remove \(editing.summary.id.short) STEP")
        }
        plan.primary = primary
      }
    }
    try editing.show("The cascade of \(editing.title) is on.", alarm)
  }
}

struct CascadeOff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "off", abstract: "Turn an alarm's cascade off and keep its steps.")

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  func run() throws {
    let editing = try CascadeEditing(alarm, common, parent.root)
    let known = try editing.alarm
    let isOn = known.cascade?.plan.isOn == true
    // An alarm without a cascade has nothing to turn off.
    let alarm =
      known.cascade == nil
      ? known : try editing.change(.off, stating: [.on], { $0.isOn = false }).alarm
    if common.json { return try Console.write(editing.text(alarm).document) }
    guard isOn else {
      return Console.line("The cascade of \(editing.title) is already off.")
    }
    Console.line(
      "The cascade of \(editing.title) is off. An occurrence that rings now continues until it is stopped."
    )
  }
}
