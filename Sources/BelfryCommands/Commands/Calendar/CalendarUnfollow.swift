import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct CalendarUnfollow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unfollow", abstract: "Stop following a calendar, and delete its alarms.",
    discussion: """
        belfry calendar unfollow team
        belfry calendar unfollow team --keep

      The alarms of the calendar are deleted on all devices, except for those that you have edited and those of \
      another calendar that this device follows. Their history stays. With --keep, all alarms stay.
      """)

  @Argument(help: "The calendar.", completion: .followedCalendars)
  var name: String

  @Flag(help: "Keep the alarms.")
  var keep = false

  @OptionGroup var confirmation: ConfirmationOptions

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CalendarCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open(.writing)
    let folder = SubscriptionFolder(store)
    let subscription = try CalendarCommand.followed(name, in: store)
    let others = folder.all().filter { $0.name != subscription.name }
      .reduce(into: Set<Identifier>()) { $0.formUnion($1.alarms) }
    let action = WithdrawAlarms(
      keep ? [] : subscription.alarms.subtracting(others).sorted())
    let preview = try action.preview(in: store)
    let shown = Printable.text(subscription.name)
    let change = "stop following \(shown)\(consequence(preview.deleted.count))"
    let document = SubscriptionDocument(subscription, zones: context.storeContext.zones)
    if confirmation.dryRun {
      if common.json { return try Console.write(document) }
      return Console.line("Would \(change).")
    }
    if !preview.deleted.isEmpty {
      try Confirmation(isGiven: confirmation.yes, json: common.json).require(
        "\(change.capitalizedFirst)?", change: change,
        alternative: "To keep its alarms: --keep")
    }
    // A refresh that runs must not import the calendar afterwards.
    let lock = try folder.lock(subscription.name, timeout: CalendarRefreshCommand.lockTimeout)
    defer { withExtendedLifetime(lock) {} }
    // The alarms first: a run that is killed can be repeated.
    try folder.addFormerAlarms(preview.deleted.map(\.id))
    let (deleted, edited) = try action.perform(in: store)
    try folder.remove(subscription.name)
    store.pokeDaemon()
    if common.json { return try Console.write(document) }
    let kept =
      edited.isEmpty ? "" : "; kept \(CalendarUnfollow.count(edited.count)) that you edited"
    Console.line(
      "Stopped following \(shown)\(deleted.isEmpty ? "" : "; deleted \(CalendarUnfollow.count(deleted.count))")\(kept)."
    )
  }

  private func consequence(_ count: Int) -> String {
    count == 0 ? "" : " and delete \(CalendarUnfollow.count(count)) on all devices"
  }

  private static func count(_ number: Int) -> String { "\(number) alarm\(number == 1 ? "" : "s")" }
}
