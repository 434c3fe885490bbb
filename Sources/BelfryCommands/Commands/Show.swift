import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct Show: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show all details of alarms.",
    discussion: """
        belfry show rent
        belfry show rent pills
        belfry show +home
      """)

  @Argument(help: "The alarms, or +tag, a state or due:week.", completion: .selections)
  var words: [String]

  @OptionGroup var pager: PagerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(.reading)
    let selection = try context.explaining {
      try context.selector(of: store).selectAny(words, readingOnly: true)
    }
    let alarms = try selection.ids.compactMap { try store.alarm($0) }
    let scheduler = context.checkScheduler(of: store)
    let cards = try alarms.map { try Card($0, scheduler, in: store, context) }
    if common.json {
      return selection.isBulk
        ? try Console.write(cards.map(\.document)) : try Console.write(cards[0].document)
    }
    pager.start(context, root)
    for (index, card) in cards.enumerated() {
      Console.write((index == 0 ? "" : "\n") + card.text)
    }
  }
}

/// All that is shown of one alarm.
private struct Card {
  let text: String
  let document: AlarmDocument

  init(
    _ alarm: Alarm, _ scheduler: SchedulerState, in store: Store, _ context: CommandContext
  ) throws {
    let status = try store.status(alarm)
    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, alarm, status))
    let actions = ActionCheck(context, store)
    actions?.warn(about: alarm)
    document = output.document(alarm, status, actions: actions, scheduler: scheduler)
    let upcoming = store.timeline(alarm).upcoming(after: context.storeContext.now)
      .prefix(1 + AlarmDetails.laterOccurrences)
    text = AlarmDetails(output, names: store.deviceNames()).text(
      alarm, status,
      later: alarm.enabled ? upcoming.filter { $0.civil != status.next?.civil } : [],
      lastDone: AlarmDetails.lastDone(store.history.log(of: alarm.id)))
  }
}
