import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryInput
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Git

struct SettingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings", abstract: "Show and change the settings.",
    discussion: """
        belfry settings
        belfry settings set snooze 10m
        belfry settings set followUps 15m,45m,2h
        belfry settings unset followUps

      Settings under 'all devices' are synced; settings under 'this device' are local.
      """,
    subcommands: [SettingsShow.self, SettingsGet.self, SettingsSet.self, SettingsUnset.self],
    defaultSubcommand: SettingsShow.self)

  @ParentCommand var root: Belfry

  /// Returns the setting with a name.
  ///
  /// - Throws: `CommandError` if there is none.
  static func setting(_ name: String) throws -> Setting {
    guard let setting = Setting(named: name) else {
      throw CommandError(
        .usage, "there is no setting '\(Printable.text(name))'.",
        hint: "The settings: \(Setting.allCases.map(\.name).joined(separator: ", ")).")
    }
    return setting
  }
}

struct SettingsShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show all settings, and how notifications are shown.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: SettingsCommand

  func run() throws {
    let context = try common.context(parent.root)
    let settings = try context.currentSettings()
    let hooks = context.hooks()
    let reach = Blocking.run { await hooks.reach() }
    let remotes = try context.existing?.sync.remotes() ?? []
    if common.json {
      return try Console.write(
        SettingsDocument(
          settings,
          notifications: SettingsDocument.Notifications(
            reachable: ReachText.isReachable(reach), detail: ReachText.text(reach)),
          remotes: remotes.map(\.name)))
    }
    Console.write(
      SettingsText.page(
        settings, reach: reach,
        remotes: remotes.map { "\($0.name): \(URLMask.masked(url: $0.url))" },
        version: BuildVersion.number, style: context.style))
  }
}

struct SettingsGet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print the value of a setting.")

  @Argument(help: "The setting, such as snooze.", completion: .settings)
  var name: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: SettingsCommand

  func run() throws {
    let setting = try SettingsCommand.setting(name)
    let context = try common.context(parent.root)
    let value = try context.currentSettings()[keyPath: setting.value]
    if common.json {
      try Console.write(SettingsDocument(setting, value))
    } else {
      Console.line(value.description)
    }
  }
}

struct SettingsSet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change a setting.")

  @Argument(help: "The setting, such as snooze.", completion: .settings)
  var name: String

  @Argument(help: "The value, such as on, off, 10m or 30m,1h,90m.", completion: .settingValues)
  var value: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: SettingsCommand

  func run() throws {
    let setting = try SettingsCommand.setting(name)
    let known = setting != .sound || Sound.isKnown(value)
    guard known, let value = Input.value(of: setting, value) else {
      throw CommandError(
        .usage, "'\(Printable.text(value))' is not a value of \(setting.name).",
        hint: "It takes \(setting.expected).")
    }
    try change(setting, to: value, common.context(parent.root), json: common.json)
  }
}

struct SettingsUnset: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unset", abstract: "Reset a setting to its default.")

  @Argument(help: "The setting.", completion: .settings)
  var name: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: SettingsCommand

  func run() throws {
    try change(
      SettingsCommand.setting(name), to: nil, common.context(parent.root), json: common.json)
  }
}

private func change(
  _ setting: Setting, to value: Setting.Value?, _ context: CommandContext, json: Bool
) throws {
  var completed: [(alarm: Alarm, occurrence: CivilDateTime)] = []
  if setting.isLocal {
    guard let file = context.deviceSettings else {
      throw CommandError(
        .failed, "HOME is not set, so this device's settings cannot be stored.",
        hint: "Set HOME or XDG_CONFIG_HOME.")
    }
    try file.set(setting, to: value)
  } else {
    completed = try ChangeSetting(setting, to: value).perform(in: context.open(.creating)).completed
  }
  let now = value ?? Settings()[keyPath: setting.value]
  if json { return try Console.write(SettingsDocument(setting, now)) }
  let scope = setting.isLocal ? "on this device" : "on all devices after their next sync"
  Console.line("Set \(setting.name) to \(now) \(scope).")
  if let note = SettingsText.note(setting, now) { Console.line(note) }
  if setting == .sound, case .word(let name) = now { SoundPreview(context).play(name) }
  SettingsText.printCompleted(completed, context.times)
}
