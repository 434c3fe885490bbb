import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryScheduler
import BelfryTerminal

/// The delivery options of `add` and `edit`.
struct DeliveryOptions: ParsableArguments {
  @Flag(
    inversion: .prefixedNo,
    help: "Ring until answered. Without it, an alarm that nobody answers is missed after 30m.")
  var persistent: Bool?

  @Flag(
    inversion: .prefixedNo,
    help:
      "After a stop, ring again at each follow-up until 'done', and never count as done by itself.")
  var strict: Bool?

  @Option(
    help: ArgumentHelp(
      "Follow-ups after a stop: 30m,1h,90m, or none, or default.", valueName: "times"))
  var followUps: String?

  @Option(
    help: ArgumentHelp("A sound's name, or default; see 'belfry sounds'.", valueName: "name"),
    completion: .sounds)
  var sound: String?

  @Option(
    help: ArgumentHelp(
      "Silent advance warnings: 7d,1d, or none.", valueName: "times"))
  var warn: String?

  // A value can start with a hyphen: --on -server.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The devices that ring: laptop,server; +phone,-server to change some; or all.",
      valueName: "devices"),
    completion: .deviceList)
  var on: String?

  /// Moves the unit of `--warn 1 week` from the words of the schedule to the option.
  mutating func takeUnit(from words: inout [String]) {
    guard let warn, !warn.isEmpty, warn.allSatisfy(\.isNumber) else { return }
    for index in [words.indices.last, words.indices.first].compactMap(\.self)
    where words[index].allSatisfy(\.isLetter) && Input.isLength("\(warn) \(words[index])") {
      self.warn = "\(warn) \(words.remove(at: index))"
      return
    }
  }

  /// Moves `remind 1 day before` from the words of the schedule to the option.
  mutating func takeWarnings(from words: inout [String]) {
    let parts = words.flatMap { $0.split(separator: " ").map(String.init) }
    guard let found = Input.warnings(in: parts) else { return }
    let lengths = found.lengths.map { "\($0 / 60)m" }
    warn = ([warn].compactMap(\.self) + lengths).joined(separator: ",")
    words = found.words
  }

  /// Moves `--on 2026-12-03,2027-01-14`, which names dates and no devices, to the schedule.
  mutating func moveDates(to schedule: inout ScheduleOptions) throws {
    guard let on, !on.isEmpty, on.split(separator: ",").allSatisfy({ CivilDate(String($0)) != nil })
    else {
      return
    }
    guard schedule.once == nil else {
      throw ValidationError("--on and --once cannot both name dates.")
    }
    (schedule.once, self.on) = (on, nil)
  }

  @Option(
    name: .customLong("run"),
    help: ArgumentHelp("An action to run when it fires; or none.", valueName: "name"),
    completion: .actions)
  var runAction: String?

  @Option(
    help: ArgumentHelp("An action to run when it is done; or none.", valueName: "name"),
    completion: .actions)
  var runDone: String?

  /// True if any option is given.
  var isGiven: Bool {
    persistent != nil || strict != nil || followUps != nil || sound != nil || warn != nil
      || on != nil || runAction != nil || runDone != nil
  }

  /// Prints a warning if the tier ignores one of the options.
  func warn(_ tier: Settings.Tier) {
    guard !tier.confirmsCompletion, strict == true || followUps != nil else { return }
    CommandDiagnostic.warn(
      "on the tier free, Stop means Done, so no alarm asks or rings again.",
      hints: ["Change the tier: belfry tier plus"])
  }

  /// Returns the action that an option names; nil for `none`.
  private static func action(_ text: String, of option: String) throws -> ActionName? {
    if text == "none" { return nil }
    guard let name = ActionName(text) else {
      throw CommandError(
        .usage, "\(option): '\(Printable.text(text))' is not the name of an action.",
        hint:
          "Name an executable in the folder 'actions' of Belfry's configuration, without its folder; or none."
      )
    }
    return name
  }

  /// Returns the devices of a list such as `laptop, server`, or of changes such as `+server,-laptop`.
  private static func devices(
    _ list: String, _ earlier: Set<Identifier>, in directory: DeviceDirectory
  ) throws -> Set<Identifier> {
    let hasAnd = directory.devices.contains { $0.name.contains(" and ") }
    let elements = (hasAnd ? list : list.replacing(" and ", with: ",")).split(separator: ",")
      .map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
    guard elements.allSatisfy({ $0.hasPrefix("+") || $0.hasPrefix("-") }) else {
      return Set(try elements.map(directory.find))
    }
    var devices = earlier
    for element in elements {
      let device = try directory.find(String(element.dropFirst()))
      if element.hasPrefix("+") { devices.insert(device) } else { devices.remove(device) }
    }
    guard !devices.isEmpty else {
      throw CommandError(
        .usage, "--on: no device would be left.", hint: "For all devices, write --on all.")
    }
    return devices
  }

  /// Returns the delivery settings with the options applied.
  ///
  /// - Parameters:
  ///   - earlier: the settings to change.
  ///   - devices: the devices of the store; nil to check only the syntax of `--on`.
  /// - Throws: `CommandError` if a value is not valid.
  func changed(
    _ earlier: Alarm.Delivery, devices: DeviceDirectory? = nil
  ) throws -> Alarm.Delivery {
    var delivery = earlier
    if let persistent { delivery.persistent = persistent }
    if let strict { delivery.strict = strict }
    if let followUps {
      let plan =
        followUps == "none"
        ? FollowUpPlan.none : Input.seconds(ofList: followUps).flatMap { FollowUpPlan($0) }
      guard followUps == "default" || plan != nil else {
        throw CommandError(
          .usage, "--follow-ups: '\(Printable.text(followUps))' is not a list of times.",
          hint:
            "Write ascending times from 1m to 1w, such as 30m,1h,90m; or none; or default."
        )
      }
      delivery.followUps = plan
    }
    if let sound {
      guard sound == "default" || Sound.isKnown(sound) else {
        throw CommandError(
          .usage, "there is no sound '\(Printable.text(sound))'.",
          hint: "Choose one of \(Sound.all.map(\.name).joined(separator: ", ")), none, default.")
      }
      delivery.sound = sound == "default" ? nil : sound
    }
    if let warn {
      let plan = Input.seconds(ofList: warn).flatMap { WarningPlan($0.sorted(by: >)) }
      let numbers = warn.split { $0 == "," || $0 == " " }.map(String.init)
      if plan != nil, let bare = numbers.first, numbers.allSatisfy({ Int($0) != nil }) {
        throw CommandError(
          .usage, "--warn: '\(bare)' has no unit.",
          hint: "Write \(bare)d for days, or \(bare)m for minutes.")
      }
      guard warn == "none" || plan != nil else {
        throw CommandError(
          .usage, "--warn: '\(Printable.text(warn))' is not a list of times.",
          hint:
            "Write up to \(WarningPlan.maxCount) different times from 1m to 366d, such as 7d,1d; or none."
        )
      }
      delivery.warnings = plan
    }
    if let on, on.split(separator: ",").isEmpty {
      throw CommandError(
        .usage, "--on: no device is named.", hint: "Name devices, separated by commas, or all."
      )
    }
    if let on, let devices {
      delivery.devices =
        on == "all" ? [] : try DeliveryOptions.devices(on, earlier.devices, in: devices)
    }
    if let runAction { delivery.run = try DeliveryOptions.action(runAction, of: "--run") }
    if let runDone { delivery.runDone = try DeliveryOptions.action(runDone, of: "--run-done") }
    return delivery
  }
}
