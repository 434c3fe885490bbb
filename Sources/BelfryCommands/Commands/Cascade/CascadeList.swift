import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct CascadeList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Show an alarm's cascade.")

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  func run() throws {
    let editing = try CascadeEditing(alarm, common, parent.root, .reading)
    let alarm = try editing.alarm
    if common.json { return try Console.write(editing.text(alarm).document) }
    Console.write(editing.text(alarm).list)
    editing.warn(alarm)
  }
}

struct CascadePreview: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview", abstract: "Show when each step rings if nobody responds.")

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  func run() throws {
    let editing = try CascadeEditing(alarm, common, parent.root, .reading)
    let alarm = try editing.alarm
    let timeline = editing.store.timeline(alarm)
    let text = editing.text(alarm)
    let now = editing.context.storeContext.now
    let status = try editing.store.status(alarm)
    let current = status.current.map { timeline.occurrence($0) }
    let isOpen = status.state == .ringing || status.state == .snoozed
    if !alarm.enabled, !common.json {
      CommandDiagnostic.warn(
        "\(editing.title) is disabled and does not ring.",
        hints: ["Enable it: belfry enable \(alarm.id.short)"])
    }
    guard let next = isOpen ? current : timeline.next(after: now) else {
      throw CommandError(
        .notPossible, "\(editing.title) has no further occurrence.",
        hint: "Give it a time in the future: belfry help edit")
    }
    if common.json {
      return try Console.write(
        text.previewDocuments(of: next, in: timeline.zone))
    }
    Console.write(text.page(of: next, in: timeline.zone))
    editing.warn(alarm)
  }
}
