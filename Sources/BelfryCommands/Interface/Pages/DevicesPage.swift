import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import BelfryUI

/// The devices with their presence, the state of sync, and what this device rings until tomorrow noon.
///
/// ```
/// Devices (3)
///   laptop   this device, the scheduler runs; battery 82 %, charging
///   tablet   reachable, heard 12 min ago; step 1 of Pills
///   watch    silent since Tue 3 Nov 2026, 09:00; step 2 of Pills; owner Jen
/// ```
struct DevicesPage {
  private let source: PageSource
  private let findings: DeviceHealth.Findings?
  private let scheduler: SchedulerState
  private var store: Store { source.store }
  private var style: Style { source.style }

  /// - Parameter findings: The channels, sound and battery; nil if they are not known yet.
  init(_ source: PageSource, _ findings: DeviceHealth.Findings?) {
    self.source = source
    self.findings = findings
    scheduler = SchedulerState(source.store)
  }

  func lines() throws -> [PageLine] {
    let text = DeviceText(store, scheduler, source.times)
    let cascades = try DeviceText.cascades(in: store)
    let tonight = try RingingOutlook(source, text.names, cascades)
    return devices(text, cascades) + [PageLine("")] + sync + [PageLine("")] + rings(tonight) + [
      PageLine("")
    ]
      + delivery
  }

  // MARK: The devices

  /// Returns a line or more for each device, this one first.
  ///
  /// - Parameters:
  ///   - text: The texts about the devices.
  ///   - cascades: The alarms with a cascade that is on.
  private func devices(_ text: DeviceText, _ cascades: [Alarm]) -> [PageLine] {
    let width = min(
      DevicesPage.maxName, text.devices.map { TextWidth.of(Printable.text($0.name)) }.max() ?? 0)
    let indent = width + 4
    var lines = [source.heading("Devices (\(text.devices.count))")]
    for device in text.devices {
      let isHere = device.id == store.device
      let (state, color) = text.state(device)
      var facts = [state]
      if isHere, let battery = findings?.battery { facts.append("battery \(battery)") }
      if let clock = text.clock(device) { facts.append(clock) }
      facts += text.roles(device, in: cascades)
      if device.calls { facts.append("places calls") }
      if device.phone != nil { facts.append("publishes tasks for a phone") }
      if let owner = device.owner { facts.append("owner \(Printable.text(owner))") }
      if let kind = device.kind?.rawValue, kind != device.name.lowercased() { facts.append(kind) }
      if let zone = device.zone, !source.times.isLocal(zone) { facts.append(Printable.text(zone)) }
      let title = TextWidth.padded(
        TextWidth.cut(Printable.text(device.name), to: width), to: width)
      let rows = TextWidth.wrapped(
        facts.joined(separator: "; "), to: max(12, source.columns - indent))
      let first = rows.first ?? ""
      let shown =
        first.hasPrefix(state)
        ? style.paint(state, color) + first.dropFirst(state.count) : style.paint(first, color)
      lines.append(
        PageLine(
          "  " + style.paint(title, .bold) + "  " + shown,
          command: ["device", "show", device.id.text]))
      lines += rows.dropFirst().map { PageLine(String(repeating: " ", count: indent) + $0) }
    }
    return lines
  }

  /// The maximum width of a name.
  private static let maxName = 20

  // MARK: Sync

  private var sync: [PageLine] {
    var lines = [source.heading("Sync")]
    guard let remotes = try? store.sync.remotes(), !remotes.isEmpty else {
      return lines
        + source.wrapped("No remote, so nothing is copied: belfry remote add origin URL", .faint)
    }
    let last = store.sync.last.map { "last \(Span.ago(source.now.seconds(since: $0)))" }
    for remote in remotes {
      let waiting = store.sync.waiting(for: remote.name)
      let state = waiting.map { $0 == 0 ? "up to date" : "\($0) to push" } ?? "never synced"
      lines += source.wrapped(
        "\(remote.name): \(state); \(last ?? "never synced here"); \(RemoteURLInput.shown(remote.url))"
      )
    }
    return lines
  }

  // MARK: Tonight

  private func rings(_ outlook: RingingOutlook) -> [PageLine] {
    let end = "until tomorrow \(source.times.time(RingingOutlook.end))"
    var lines = [source.heading("Rings on this device \(end) (\(outlook.here.count))")]
    lines += outlook.here.isEmpty ? source.wrapped("Nothing.", .faint) : table(outlook.here)
    if !outlook.elsewhere.isEmpty {
      lines += [PageLine(""), source.heading("Does not ring here (\(outlook.elsewhere.count))")]
      lines += table(outlook.elsewhere)
    }
    if outlook.more > 0 { lines += source.wrapped("and \(outlook.more) or more later", .faint) }
    return lines
  }

  private func table(_ items: [RingingOutlook.Item]) -> [PageLine] {
    let times = items.map { source.times.relative($0.at) }
    let titles = items.map { Printable.text($0.title) }
    let timeWidth = times.map(TextWidth.of).max() ?? 0
    let room = max(12, source.columns - timeWidth - 4)
    let titleWidth = min(titles.map(TextWidth.of).max() ?? 0, room * 2 / 5)
    return zip(items, zip(times, titles)).flatMap { item, texts -> [PageLine] in
      let head = "  " + TextWidth.padded(texts.0, to: timeWidth) + "  "
      let command = ["why", item.alarm.text]
      guard let note = item.note else {
        return [PageLine(head + TextWidth.cut(texts.1, to: room), command: command)]
      }
      let title = TextWidth.padded(TextWidth.cut(texts.1, to: titleWidth), to: titleWidth)
      let indent = timeWidth + titleWidth + 6
      let notes = TextWidth.wrapped(
        Printable.text(note), to: max(12, source.columns - indent))
      let space = String(repeating: " ", count: indent)
      return notes.enumerated().map { index, text in
        let shown = style.paint(text, .faint)
        return index == 0
          ? PageLine("\(head)\(title)  \(shown)", command: command) : PageLine(space + shown)
      }
    }
  }

  // MARK: Delivery

  /// The channels, and the reasons why alarms may not be seen or heard here.
  private var delivery: [PageLine] {
    // What works says nothing beside the channels.
    var checks = ChannelCheck.hooks(source.context.hooks()).filter { $0.level != .fine }
    if let findings {
      checks =
        ChannelCheck.notifications(findings.reach) + ChannelCheck.sound(findings.sound) + checks
    }
    var lines = [source.heading("Delivery")]
    if findings == nil { lines += source.wrapped("Checking notifications and sound …", .faint) }
    if let problem = CommandWarnings.problem(of: scheduler) {
      lines += mark(
        "x", problem.message.capitalizedFirst + (problem.remedy.map { " \($0)" } ?? ""), .red)
    }
    for check in checks {
      let text = check.message + (check.remedy.map { " \($0)" } ?? "")
      switch check.level {
      case .fine, .mended: lines += mark("✓", text, .green)
      case .note: lines += mark("!", text, .yellow)
      case .problem: lines += mark("x", text, .red)
      }
    }
    return lines
  }

  private func mark(_ sign: String, _ text: String, _ color: Style.Color) -> [PageLine] {
    let rows = TextWidth.wrapped(Printable.text(text), to: max(12, source.columns - 4))
    return rows.enumerated().map { index, row in
      PageLine((index == 0 ? "  " + style.paint(sign, color) + " " : "    ") + row)
    }
  }
}
