import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

struct TierCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tier", abstract: "Show or switch the tier: free, plus or premium.",
    discussion: """
      free     two alarms; a stopped occurrence is done
      plus     any number of alarms; a stopped occurrence is pending, with follow-ups, until it is done
      premium  everything in plus, and partners, who can set each other alarms

      The tier applies to all devices. Switching to free marks all pending occurrences as done.
      """)

  @Argument(
    help: "The tier to switch to.",
    completion: .list(Settings.Tier.allCases.map(\.rawValue)))
  var tier: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    guard let tier else { return try show(context.currentSettings().tier, completed: [], context) }
    guard let wanted = Settings.Tier(rawValue: tier.lowercased()) else {
      throw CommandError(
        .usage, "there is no tier '\(Printable.text(tier))'.",
        hint: "The tiers: free, plus and premium.")
    }
    let store = try context.open(.creating)
    let change = try ChangeSetting(.tier, to: .word(wanted.rawValue)).perform(in: store)
    try show(wanted, completed: change.completed, context)
  }

  private func show(
    _ tier: Settings.Tier, completed: [(alarm: Alarm, occurrence: CivilDateTime)],
    _ context: CommandContext
  ) throws {
    if common.json {
      return try Console.write(TierDocument(tier, completed: completed))
    }
    let limit = tier.alarmLimit.map { "at most \($0) alarms" } ?? "any number of alarms"
    let state = tier.confirmsCompletion ? "pending" : "done"
    Console.line("The tier is \(tier.rawValue): \(limit), a stopped occurrence is \(state).")
    SettingsText.printCompleted(completed, context.times)
  }
}
