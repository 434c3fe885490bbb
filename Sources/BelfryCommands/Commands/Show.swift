import ArgumentParser
import BelfryCore
import BelfryStore
import BelfryTerminal

struct Show: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show all details of an alarm.")

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @OptionGroup var pager: PagerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(.reading)
    let summary = try context.find(self.alarm, in: store)
    pager.start(context, root)
    guard let alarm = try store.alarm(summary.id) else { throw StoreError.noSuchAlarm(self.alarm) }
    let status = try store.status(alarm)
    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, alarm, status))
    let actions = ActionCheck(context, store)
    actions?.warn(about: alarm)
    let scheduler = context.checkScheduler(of: store)
    if common.json {
      return try Console.write(
        output.document(alarm, status, actions: actions, scheduler: scheduler))
    }
    let upcoming = store.timeline(alarm).upcoming(after: context.storeContext.now)
      .prefix(1 + AlarmDetails.laterOccurrences)
    Console.write(
      AlarmDetails(output, names: store.deviceNames()).text(
        alarm, status,
        later: alarm.enabled ? upcoming.filter { $0.civil != status.next?.civil } : [],
        lastDone: AlarmDetails.lastDone(store.history.log(of: alarm.id))))
  }
}
