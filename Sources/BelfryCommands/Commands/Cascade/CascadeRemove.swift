import ArgumentParser
import BelfryCore
import BelfryStore
import BelfryTerminal

struct CascadeRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a step from a cascade.")

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @Argument(help: "The step: its number, its name or its phone number.")
  var step: String

  @OptionGroup var confirmation: ConfirmationOptions

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  func run() throws {
    let editing = try CascadeEditing(alarm, common, parent.root)
    let plan = editing.plan(of: try editing.alarm)
    let target = plan.targets[try editing.target(step, in: plan)]
    let label = Printable.text(target.label(editing.names))
    let left = plan.targets.count - 1
    let rest =
      left == 0
      ? "No other step is left." : "\(left == 1 ? "One step is" : "\(left) steps are") left."
    let change = "remove \(label) from the cascade of \(editing.title)"
    if confirmation.dryRun {
      if common.json { return try editing.show("", editing.alarm) }
      return Console.line("Would \(change). \(rest)")
    }
    try Confirmation(isGiven: confirmation.yes, json: common.json).require(
      "\(change.capitalizedFirst)? \(rest)", change: change)
    let (alarm, _) = try editing.change(.removed(target.loggable)) { plan in
      plan.targets.removeAll { $0.key == target.key }
    }
    try editing.show("Removed \(label).", alarm)
  }
}

struct CascadeMove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move a step of a cascade.")

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @Argument(help: ArgumentHelp("The step's number now; the first is 1.", valueName: "from"))
  var from: Int

  @Argument(help: ArgumentHelp("The step's number afterwards.", valueName: "to"))
  var to: Int

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  func run() throws {
    let editing = try CascadeEditing(alarm, common, parent.root)
    let (alarm, hasChanged) = try editing.change(.moved(from: from, to: to)) { plan in
      for place in [from, to] where !plan.targets.indices.contains(place - 1) {
        throw CommandError(
          .usage, "the cascade of \(editing.title) has no step \(place).",
          hint: plan.targets.isEmpty
            ? "It is empty: belfry cascade add \(editing.summary.id.short)"
            : "It has \(plan.targets.count) steps: belfry cascade list \(editing.summary.id.short)")
      }
      plan.targets.insert(plan.targets.remove(at: from - 1), at: to - 1)
    }
    try editing.show(hasChanged ? "Moved." : "Nothing changed.", alarm)
  }
}
