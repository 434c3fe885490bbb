import BelfryCore
import BelfryScheduler

/// The settings as a page.
enum SettingsText {
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
    switch reach {
    case .reachable(let words, _):
      text += row("notifications", "on", note: words, style)
    case .unreachable(let words):
      text += row("notifications", "OFF", note: words, style)
    }
    text += row(
      "sync", remotes.isEmpty ? "off" : "on",
      note: remotes.isEmpty
        ? "Nothing is copied to other devices: belfry remote add origin URL"
        : remotes.joined(separator: ", "), style)
    return text + row("version", version, note: nil, style)
  }

  /// Says what a downgrade has completed.
  static func tell(_ completed: [(alarm: Alarm, occurrence: CivilDateTime)]) {
    for item in completed {
      Console.line(
        "Completed by itself: \(Printable.text(item.alarm.title)), \(item.occurrence.spoken).")
    }
  }

  /// How far to the right values stand, in columns.
  private static let column = 21

  private static func row(_ name: String, _ value: String, note: String?, _ style: Style) -> String
  {
    var line = "  " + name
    line += String(repeating: " ", count: max(1, column - line.count))
    var text = line + style.fit(value, indent: line.count) + "\n"
    if let note {
      for words in TextWidth.wrapped(Printable.text(note), to: (style.width ?? 80) - 4) {
        text += "    " + style.paint(words, .faint) + "\n"
      }
    }
    return text
  }

  /// What a value means, where it needs saying.
  static func note(_ setting: Setting, _ value: Setting.Value) -> String? {
    switch (setting, value) {
    case (.fixedZone, .flag(true)):
      "New alarms fire at the time set in the time zone where they were made."
    case (.fixedZone, .flag(false)): "New alarms adjust to wherever you are."
    case (.slideToStop, .flag(true)): "What rings is stopped by holding a key for three seconds."
    case (.snoozeEnabled, .flag(false)): "Nothing can be snoozed."
    case (.followUps, .plan(let plan)) where plan == .none: "What is stopped never asks again."
    case (.skipBreaksStreak, .flag(true)): "A skipped occurrence ends a streak."
    default: nil
    }
  }
}
