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
    let actions = ActionCheck(context, store)
    for alarm in alarms { actions?.warn(about: alarm) }
    let scheduler = context.checkScheduler(of: store)
    let cards = try alarms.map { try AlarmCard($0, in: store, context, context.style) }
    if common.json {
      let documents = cards.map {
        $0.output.document($0.alarm, $0.status, actions: actions, scheduler: scheduler)
      }
      if selection.isBulk { return try Console.write(documents) }
      guard let document = documents.first else { throw StoreError.noSuchAlarm(words[0]) }
      return try Console.write(document)
    }
    pager.start(context, root)
    let names = store.deviceNames()
    for (index, card) in cards.enumerated() {
      let lastDone = AlarmDetails.lastDone(store.history.log(of: card.alarm.id))
      Console.write((index == 0 ? "" : "\n") + card.text(names, in: store, lastDone: lastDone))
    }
  }
}

/// The details of one alarm, as `show` prints them.
struct AlarmCard {
  let alarm: Alarm
  let status: AlarmStatus
  let output: AlarmOutput

  init(_ alarm: Alarm, in store: Store, _ context: CommandContext, _ style: Style) throws {
    self.alarm = alarm
    status = try store.status(alarm)
    output = AlarmOutput(
      store: store, style: style,
      batteryWarnings: BatteryWarnings(context, store, alarm, status))
  }

  var summary: AlarmSummary { AlarmSummary(alarm, status: status) }

  /// Returns all details.
  ///
  /// - Parameters:
  ///   - names: The names of the devices.
  ///   - lastDone: The time at which an occurrence was done last; nil for never.
  ///   - statistics: The statistics of the alarm, for its streaks; nil to leave them out. They need the whole log.
  ///   - count: The number of dates after the next one.
  func text(
    _ names: [Identifier: String], in store: Store, lastDone: Instant?,
    _ statistics: Statistics? = nil,
    later count: Int = AlarmDetails.laterOccurrences, hasFile: Bool = true
  ) -> String {
    let upcoming = store.timeline(alarm).upcoming(after: store.context.now).prefix(1 + count)
    return AlarmDetails(output, names: names).text(
      alarm, status,
      later: alarm.enabled ? upcoming.filter { $0.civil != status.next?.civil } : [],
      lastDone: lastDone,
      statistics: statistics,
      calendars: SubscriptionFolder(store).all().filter { $0.alarms.contains(alarm.id) }
        .map(\.name),
      hasFile: hasFile)
  }
}
