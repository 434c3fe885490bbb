import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct DeviceShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show what is known about a device.",
    discussion: """
      Shows when the device was last heard of, its clock, its steps in cascades, and its latest actions.

        belfry device show           # this device
        belfry device show tablet
      """)

  @Argument(
    help: "The name of the device or the start of its id (default: this device).",
    completion: .devices)
  var device: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: DeviceCommand

  /// The number of latest actions.
  private static let maxEntries = 8
  /// The number of log entries that are searched for them.
  private static let searched = 5_000

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open(.reading)
    let text = DeviceText(store, SchedulerState(store), context.times)
    let device = try find(text, store)
    if common.json {
      return try Console.write(
        DeviceDocument(
          device, reachable: text.isReachable(device),
          lastHeard: text.lastHeard(device).map { context.storeContext.zones.text($0) },
          clockAhead: text.clockAhead(device)))
    }
    let style = context.style
    Console.line(
      style.paint("\(Printable.text(device.name)) (\(device.id.short))", .bold))
    let state = text.state(device)
    var rows: [(String, String)] = [
      ("state", style.paint(state.text, state.color)),
      ("added", context.times.full(device.created)),
    ]
    if let kind = device.kind { rows.append(("kind", kind.rawValue)) }
    if let owner = device.owner { rows.append(("owner", Printable.text(owner))) }
    if let zone = device.zone { rows.append(("zone", Printable.text(zone))) }
    if let clock = text.clock(device) { rows.append(("clock", clock)) }
    if device.calls { rows.append(("calls", "places calls")) }
    if let phone = device.phone { rows.append(("phone", "tasks in \(Printable.text(phone))")) }
    for role in text.roles(device, in: try DeviceText.cascades(in: store)) {
      rows.append(("cascade", role))
    }
    for (name, value) in rows {
      Console.line("  " + style.paint(TextWidth.padded(name, to: 9), .faint) + value)
    }
    let entries = store.history.log().lazy.prefix(DeviceShow.searched)
      .filter { $0.device == device.id }
    let log = LogText(store, context)
    let lines = Array(LogLines(NewestFirst(entries)).prefix(DeviceShow.maxEntries))
    var last: CivilDate?
    for line in lines {
      if let day = log.day(line), day != last {
        Console.write("\n" + TimeText.text { log.append(heading: day, to: &$0) })
        last = day
      }
      Console.write(log.row(line) + "\n")
    }
  }

  /// Returns the device that the argument names.
  ///
  /// - Throws: `CommandError` if it names none, or several.
  private func find(_ text: DeviceText, _ store: Store) throws -> Device {
    guard let device else { return store.devices.own }
    let wanted = device.lowercased()
    var matches = text.devices.filter { $0.name.lowercased() == wanted }
    if matches.isEmpty, !wanted.isEmpty {
      matches = text.devices.filter { $0.id.text.hasPrefix(wanted) }
    }
    if matches.count == 1 { return matches[0] }
    let list = (matches.isEmpty ? text.devices : matches)
      .map { "\(Printable.text($0.name)) (\($0.id.short))" }.joined(separator: ", ")
    throw CommandError(
      .usage,
      matches.isEmpty
        ? "there is no device '\(Printable.text(device))'."
        : "several devices are named '\(Printable.text(device))'.",
      hint: matches.isEmpty ? "The devices: \(list)." : "Use an id: \(list).")
  }
}
