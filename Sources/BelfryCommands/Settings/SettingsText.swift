import BelfryCore
import BelfryScheduler
import BelfryTerminal

/// The settings as text.
enum SettingsText {
  /// Returns the page of all settings, with the state of notifications and sync.
  ///
  /// - Parameter remotes: the remotes of the store; empty if it does not sync.
  static func page(
    _ settings: Settings, reach: HookDelivery.Reach, remotes: [String], version: String,
    style: Style
  ) -> String {
    var text = style.paint("Settings", .bold) + "\n"
    func section(_ name: String, _ shown: [Setting]) {
      text += "\n" + style.paint(name, .faint) + "\n"
      for setting in shown {
        let value = settings[keyPath: setting.value]
        text += row(setting.name, value.description, note: note(setting, value), style)
      }
    }
    section("all devices", Setting.allCases.filter { !$0.isLocal })
    section("this device", Setting.allCases.filter(\.isLocal))
    text += row(
      "notifications", ReachText.isReachable(reach) ? "on" : "OFF", note: ReachText.text(reach),
      style)
    text += row(
      "sync", remotes.isEmpty ? "off" : "on",
      note: remotes.isEmpty
        ? "Nothing is copied to other devices: belfry remote add origin URL"
        : remotes.joined(separator: ", "), style)
    return text + row("version", version, note: nil, style)
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

  private static func row(_ name: String, _ value: String, note: String?, _ style: Style) -> String
  {
    var line = "  " + name
    line += String(repeating: " ", count: max(1, valueColumn - line.count))
    var text = line + style.fit(value, indent: line.count) + "\n"
    if let note {
      for line in TextWidth.wrapped(Printable.text(note), to: (style.width ?? 80) - 4) {
        text += "    " + style.paint(line, .faint) + "\n"
      }
    }
    return text
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
