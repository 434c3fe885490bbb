import ArgumentParser
import BelfryCore
import BelfryStore

struct BackupRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Take one out of the list.",
    usage: "belfry backup ALARM remove WHO [--yes]")

  @Argument(help: "The alarm.")
  var alarm: String

  @Argument(help: "Its number in the list, its name, or a telephone number.")
  var who: String

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BackupCommand

  func run() throws {
    let editing = try BackupEditing(alarm, common, parent.root)
    let plan = editing.plan(of: try editing.alarm)
    let target = plan.targets[try editing.target(who, in: plan)]
    let label = Printable.text(target.label(editing.names))
    if !yes, Style.canAsk {
      Console.prompt("Remove \(label) from the backups of \(editing.title)?")
      guard Console.confirmed() else {
        throw CommandError(.failed, "nothing was removed.", hint: "Answer y to remove it.")
      }
    }
    let (alarm, _) = try editing.change("\(label) removed") { plan in
      plan.targets.removeAll { $0.key == target.key }
    }
    editing.tell("Removed \(label).", alarm)
  }
}

struct BackupMove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Give one another place in the list.",
    usage: "belfry backup ALARM move N M")

  @Argument(help: "The alarm.")
  var alarm: String

  @Argument(help: ArgumentHelp("Its place now; the first is 1.", valueName: "n"))
  var from: Int

  @Argument(help: ArgumentHelp("Its place then.", valueName: "m"))
  var to: Int

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BackupCommand

  func run() throws {
    let editing = try BackupEditing(alarm, common, parent.root)
    let (alarm, hasChanged) = try editing.change("\(from) moved to \(to)") { plan in
      for place in [from, to] where !plan.targets.indices.contains(place - 1) {
        throw CommandError(
          .usage, "there is no place \(place) in the list of \(editing.title).",
          hint: plan.targets.isEmpty
            ? "It is empty: belfry backup \(editing.card.id.short) add"
            : "There are \(plan.targets.count): belfry backup \(editing.card.id.short) list")
      }
      plan.targets.insert(plan.targets.remove(at: from - 1), at: to - 1)
    }
    editing.tell(hasChanged ? "Moved." : "Nothing has changed.", alarm)
  }
}
