import BelfryCore
import BelfryScheduler
import BelfryTerminal

/// The settings as text.
enum SettingsText {
  /// A value of the page.
  struct Row {
    let name: String
    let value: String
    let note: String?
    /// The setting; nil for a value that is none.
    var setting: Setting?
  }

  /// The values under a heading.
  struct Section {
    let heading: String
    let rows: [Row]
  }

  /// Returns the values of the page.
  ///
  /// - Parameters:
  ///   - reach: the channel that shows notifications; nil if it is not known yet.
  ///   - remotes: the remotes of the store; empty if it does not sync.
  static func sections(
    _ settings: Settings, reach: HookDelivery.Reach?, remotes: [String], version: String
  ) -> [Section] {
    func rows(_ shown: [Setting]) -> [Row] {
      shown.map { setting in
        let value = settings[keyPath: setting.value]
        return Row(
          name: setting.name, value: value.description, note: note(setting, value),
          setting: setting)
      }
    }
    let state = reach.map { ReachText.isReachable($0) ? "on" : "OFF" }
    return [
      Section(heading: "all devices", rows: rows(Setting.allCases.filter { !$0.isLocal })),
      Section(
        heading: "this device",
        rows: rows(Setting.allCases.filter(\.isLocal)) + [
          Row(name: "notifications", value: state ?? "checking …", note: reach.map(ReachText.text)),
          Row(
            name: "sync", value: remotes.isEmpty ? "off" : "on",
            note: remotes.isEmpty
              ? "Nothing is copied to other devices: belfry remote add origin URL"
              : remotes.joined(separator: ", ")),
          Row(name: "version", value: version, note: nil),
        ]),
    ]
  }

  /// Returns the page of all settings, with the state of notifications and sync.
  ///
  /// - Parameter remotes: the remotes of the store; empty if it does not sync.
  static func page(
    _ settings: Settings, reach: HookDelivery.Reach, remotes: [String], version: String,
    style: Style
  ) -> String {
    var lines = [style.paint("Settings", .bold)]
    for section in sections(settings, reach: reach, remotes: remotes, version: version) {
      lines += ["", style.paint(section.heading, .faint)]
      lines += section.rows.flatMap { SettingsText.lines($0, style) }
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// Prints the pending occurrences that a change of the tier has completed.
  static func printCompleted(
    _ completed: [(alarm: Alarm, occurrence: CivilDateTime)], _ times: TimeText
  ) {
    for item in completed {
      Console.line(
        "Completed automatically: \(Printable.text(item.alarm.title)), \(times.full(item.occurrence))."
      )
    }
  }

  /// The column at which values start.
  private static let valueColumn = 21

  /// Returns the line of a value, and the lines of its note.
  static func lines(_ row: Row, _ style: Style) -> [String] {
    var line = "  " + row.name
    line += String(repeating: " ", count: max(1, valueColumn - line.count))
    let notes = row.note.map { TextWidth.wrapped(Printable.text($0), to: (style.width ?? 80) - 4) }
    return [line + style.fit(row.value, indent: line.count)]
      + (notes ?? []).map { "    " + style.paint($0, .faint) }
  }

  /// Returns an explanation of a setting's value, or nil if it needs none.
  static func note(_ setting: Setting, _ value: Setting.Value) -> String? {
    switch (setting, value) {
    case (.fixedZone, .flag(true)):
      "New alarms fire at the time set in the time zone where they were made."
    case (.fixedZone, .flag(false)): "New alarms adjust to wherever you are."
    case (.slideToStop, .flag(true)): "Hold a key for three seconds to stop an alarm."
    case (.openScreen, .flag(true)):
      "The firing screen opens in tmux, and in a terminal window on the desktop."
    case (.terminalNotices, .flag(false)):
      "Terminals show notifications as text, without one on the desktop."
    case (.unmuteSound, .flag(true)): "Alarms unmute the sound output and raise its volume."
    case (.snoozeEnabled, .flag(false)): "Alarms cannot be snoozed."
    case (.followUps, .plan(let plan)) where plan == .none: "Stopped alarms send no follow-ups."
    case (.skipBreaksStreak, .flag(true)): "A skipped occurrence ends a streak."
    case (.defaultTime, .word("now")):
      "An alarm without a time rings at the time of day at which you add it."
    default: nil
    }
  }
}
