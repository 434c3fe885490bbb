import ArgumentParser
import BelfryCore
import BelfryStore

struct BackupOn: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "on", abstract: "Let the backups of an alarm ring.",
    usage: "belfry backup ALARM on [--every 2m] [--first DEVICE]")

  @Argument(help: "The alarm.")
  var alarm: String

  @Option(
    help: ArgumentHelp("Between one and the next, 5s to 1h (default: 2m).", valueName: "time"))
  var every: String?

  @Option(
    help: ArgumentHelp(
      "The device that rings first, and that calls speak of (default: this one).",
      valueName: "device"))
  var first: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BackupCommand

  func run() throws {
    let interval = try every.map { text in
      guard let seconds = Span.parse(text), Backup.intervals.contains(seconds) else {
        throw CommandError(
          .usage, "--every: '\(Printable.text(text))' is no time from 5s to 1h.",
          hint: "Write it as 90s or 2m.")
      }
      return seconds
    }
    let editing = try BackupEditing(alarm, common, parent.root)
    let primary = try first.map { try DeviceDirectory(editing.store).find($0) }
    let (alarm, _) = try editing.change("on") { plan in
      plan.isOn = true
      if let interval { plan.interval = interval }
      if let primary {
        guard plan.step(of: primary) == nil else {
          throw CommandError(
            .usage, "\(editing.names[primary] ?? primary.short) is one of the backups.",
            hint: "Remove it first: belfry backup \(editing.card.id.short) remove")
        }
        plan.primary = primary
      }
    }
    editing.tell("Backup of \(editing.title) is on.", alarm)
  }
}

struct BackupOff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "off", abstract: "Let the backups of an alarm be silent; the list stays.",
    usage: "belfry backup ALARM off")

  @Argument(help: "The alarm.")
  var alarm: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BackupCommand

  func run() throws {
    let editing = try BackupEditing(alarm, common, parent.root)
    guard try editing.alarm.backup?.plan.isOn == true else {
      if common.json { return Console.write(editing.text(try editing.alarm).json.document) }
      return Console.line("Nothing has changed: backup of \(editing.title) is off already.")
    }
    let (alarm, _) = try editing.change("off") { $0.isOn = false }
    if common.json { return Console.write(editing.text(alarm).json.document) }
    Console.line(
      "Backup of \(editing.title) is off; what rings already goes on until it is stopped.")
  }
}
