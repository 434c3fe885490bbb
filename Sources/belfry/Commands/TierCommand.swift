import ArgumentParser
import BelfryCore
import BelfryStore

struct TierCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tier", abstract: "Show or switch the tier: free, plus or premium.",
    discussion: """
      free     two alarms; stopping one is doing it
      plus     any number of alarms; what is stopped stays pending, and asks again, until it is done
      premium  all of plus; and partners, who may set each other alarms

      The tier is shared by all devices. Back to free completes everything pending.
      """)

  @Argument(help: "The tier to switch to.")
  var tier: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open()
    guard let tier else { return show(try context.settings(store).tier, completed: [], context) }
    guard let wanted = Settings.Tier(rawValue: tier.lowercased()) else {
      throw CommandError(
        .usage, "there is no tier '\(Printable.text(tier))'.",
        hint: "There are free, plus and premium.")
    }
    show(wanted, completed: try store.set(.tier, to: .word(wanted.rawValue)), context)
  }

  private func show(
    _ tier: Settings.Tier, completed: [(alarm: Alarm, occurrence: CivilDateTime)],
    _ context: CommandContext
  ) {
    if common.json {
      return Console.write(
        JSON.object(omittingNil: [
          "tier": .string(tier.rawValue),
          "alarmLimit": tier.alarmLimit.map { .integer(Int64($0)) },
          "confirmsCompletion": .bool(tier.confirmsCompletion),
          "completed": completed.isEmpty
            ? nil
            : .array(
              completed.map {
                .object(["alarm": JSON($0.alarm.id), "occurrence": JSON($0.occurrence)])
              }),
        ]).document)
    }
    let limit = tier.alarmLimit.map { "at most \($0) alarms" } ?? "any number of alarms"
    let stop = tier.confirmsCompletion ? "what is stopped stays pending" : "stopping is doing"
    Console.line("The tier is \(tier.rawValue): \(limit), \(stop).")
    SettingsText.tell(completed)
  }
}
