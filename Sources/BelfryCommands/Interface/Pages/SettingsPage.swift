import BelfryCore
import BelfryStore
import BelfryTerminal
import BelfryUI

/// The settings. A setting that is on or off changes when it is opened, and any other one asks for its value.
struct SettingsPage {
  private let source: PageSource

  init(_ source: PageSource) { self.source = source }

  /// - Parameter findings: The channels of this device; nil if they are not known yet.
  func lines(_ findings: DeviceHealth.Findings?) -> [PageLine] {
    let settings = source.settings
    let remotes = ((try? source.store.sync.remotes()) ?? []).map {
      "\($0.name): \(RemoteURLInput.shown($0.url))"
    }
    var lines: [PageLine] = []
    for section in SettingsText.sections(
      settings, reach: findings?.reach, remotes: remotes, version: BuildVersion.number)
    {
      if !lines.isEmpty { lines.append(PageLine("")) }
      lines.append(source.heading(section.heading.capitalizedFirst))
      for row in section.rows {
        let texts = SettingsText.lines(row, source.style)
        lines.append(line(row, texts[0], settings))
        lines += texts.dropFirst().map { PageLine($0) }
      }
    }
    return lines
  }

  private func line(_ row: SettingsText.Row, _ text: String, _ settings: Settings) -> PageLine {
    guard let setting = row.setting else { return PageLine(text) }
    let change = ["settings", "set", setting.name]
    if case .flag(let isOn) = settings[keyPath: setting.value] {
      return PageLine(text, command: change + [isOn ? "off" : "on"])
    }
    return PageLine(
      text,
      edit: PageLine.Edit(
        label: setting.name, hint: "It takes \(setting.expected).",
        verb: change.joined(separator: " "), value: row.value))
  }
}
