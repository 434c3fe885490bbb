import ArgumentParser
import BelfryCore
import BelfryStore

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Say who rings when the first device stays silent, one after the other.",
    usage: "belfry backup ALARM VERB …\n       belfry backup status",
    discussion: """
      The first device rings at the alarm's time. If nobody stops it, the first backup rings two minutes later, then \
      the next. Stop or Done on any device ends it for all; Snooze silences all, and the same one rings again.

        belfry backup standup on          # this device rings first
        belfry backup standup add device Watch
        belfry backup standup add person Jen
        belfry backup standup add phone 5551234567 --message "Room 412."
        belfry backup standup preview
        belfry backup standup move 3 1
        belfry backup standup remove Watch
        belfry backup standup test        # ring on all of them now
        belfry backup status              # who would really ring tonight

      Every backup holds the store and rings by itself: when it cannot learn whether somebody has stopped the alarm, \
      it rings. So each of them needs 'belfry service install', and a remote that all sync with.
      """,
    subcommands: [
      BackupOn.self, BackupOff.self, BackupAdd.self, BackupRemove.self, BackupMove.self,
      BackupList.self, BackupPreview.self, BackupTest.self, BackupStatus.self, BackupPlace.self,
    ])

  @ParentCommand var root: Belfry

  /// The words after `backup` in the order that the parser knows: `rent add phone 555` is `add phone rent 555`, and `rent`
  /// alone `list rent`.
  static func arranged(_ arguments: [String]) throws -> [String] {
    var start = 0
    // `--store DIR` may stand before the verb.
    while start < arguments.count, arguments[start].hasPrefix("-") {
      start += arguments[start] == "--store" ? 2 : 1
    }
    guard start < arguments.count, arguments[start] == "backup" else { return arguments }
    var words = Array(arguments[(start + 1)...])
    let verbs = configuration.subcommands.map { $0._commandName }
    guard let alarm = words.first, !alarm.hasPrefix("-") else { return arguments }
    guard words.count > 1, !words[1].hasPrefix("-") else {
      return verbs.contains(alarm) ? arguments : arguments[...start] + ["list"] + words
    }
    if !verbs.contains(words[1]) {
      if verbs.contains(alarm) { return arguments }
      let shown = verbs.filter { $0 != "place" }
      throw CommandError(
        .usage, "'\(Printable.text(words[1]))' is nothing to do with backups.",
        hint: "There are: \(shown.joined(separator: ", ")).")
    }
    words.removeFirst()
    let kinds = BackupAdd.configuration.subcommands.map { $0._commandName }
    let depth = words[0] == "add" && words.count > 1 && kinds.contains(words[1]) ? 2 : 1
    if words[0] == "add", depth == 1, let kind = words.dropFirst().first, !kind.hasPrefix("-") {
      throw CommandError(
        .usage, "'\(Printable.text(kind))' is no kind of backup.",
        hint: "Add a device, a person or a phone: belfry backup \(Printable.text(alarm)) add")
    }
    words.insert(alarm, at: depth)
    return Array(arguments[...start]) + words
  }
}

/// What the verbs of `backup` share: an alarm, its list, and the names of who is in it.
struct BackupEditing {
  let context: CommandContext
  let store: Store
  let card: Card
  let devices: [Device]
  let names: [Identifier: String]
  let json: Bool

  init(_ alarm: String, _ common: CommonOptions, _ root: Belfry) throws {
    context = try common.context(root)
    store = try context.open()
    card = try context.find(alarm, in: store)
    devices = store.devices().devices
    names = devices.names
    json = common.json
  }

  var title: String { Printable.text(card.title) }

  func text(_ alarm: Alarm) -> BackupText {
    BackupText(
      alarm, names: names, devices: devices, zoneName: store.cascadeZoneName(of: alarm))
  }

  var alarm: Alarm {
    get throws {
      guard let alarm = try store.alarm(card.id) else { throw StoreError.noSuchAlarm(card.title) }
      return alarm
    }
  }

  /// The list of the alarm, to begin with: it is at home where it is made, if it rings there.
  func plan(of alarm: Alarm) -> Backup.Plan {
    var plan = alarm.backup?.plan ?? Backup.Plan()
    if plan.primary == nil {
      let wanted = alarm.delivery.devices
      plan.primary =
        wanted.isEmpty || wanted.contains(store.device) ? store.device : wanted.sorted().first
    }
    return plan
  }

  /// Changes the list, as one commit; returns the alarm then, and whether anything has changed.
  ///
  /// - Parameter words: what the log says of it.
  @discardableResult
  func change(
    _ words: String, _ body: (inout Backup.Plan) throws -> Void
  ) throws -> (alarm: Alarm, hasChanged: Bool) {
    let (alarm, fields) = try store.update(card.id) { before in
      var plan = self.plan(of: before)
      try body(&plan)
      var after = before
      if before.backup?.plan != plan {
        var backup = before.backup ?? Backup()
        backup.plan = plan
        after.backup = backup
      }
      let isMoved = before.backup?.plan.primary != plan.primary
      if before.zone == .floating, isMoved || before.cascadeZone == nil {
        after.cascadeZone = plan.primary.flatMap { store.zoneName(of: $0) }
      }
      return try store.edited(before, after, words: "backup: \(words)")
    }
    return (alarm, !fields.isEmpty)
  }

  /// Shows the list after a change, and what keeps it from working.
  func tell(_ words: String, _ alarm: Alarm) {
    if json { return Console.write(text(alarm).json.document) }
    Console.line(words)
    Console.write(text(alarm).list)
    if let status = try? store.status(alarm), status.state == .ringing || status.state == .snoozed {
      Console.line("What rings now goes on by the list as it stood when it came due.")
    }
    warn(alarm)
  }

  /// Says at once what would be noticed first at night.
  func warn(_ alarm: Alarm) {
    guard let plan = alarm.backup?.plan else { return }
    if !plan.isOn, !plan.targets.isEmpty {
      Console.error("It is off: belfry backup \(alarm.id.short) on")
    }
    if plan.calls, !devices.contains(where: \.calls) {
      Console.error("belfry: warning: no device of this store can place calls yet.")
      Console.error("Set up a provider on one that is always on: belfry calls --help")
    }
    if plan.isActive, !store.hasRemote {
      Console.error("belfry: warning: this store has no remote, so no other device hears of it.")
      Console.error("Add one: belfry remote add origin URL")
    }
  }

  /// A target of the list that a person means: its number, its name, or a telephone number.
  func target(_ text: String, in plan: Backup.Plan) throws -> Int {
    if let number = Int(text), text.count < 4 {
      guard plan.targets.indices.contains(number - 1) else {
        throw CommandError(
          .usage, "there is no backup \(number).", hint: "There are \(plan.targets.count).")
      }
      return number - 1
    }
    let names = names
    let wanted = text.lowercased()
    let phone = try? PhoneNumber(text)
    let matches = plan.targets.indices.filter { index in
      switch plan.targets[index] {
      case .phone(let number, _): number == phone
      case .person(let person):
        person.name.lowercased() == wanted
          || plan.targets[index].label(names).lowercased() == wanted
      case .device(let id): (names[id] ?? "").lowercased() == wanted || id.text.hasPrefix(wanted)
      }
    }
    guard matches.count == 1, let match = matches.first else {
      let list = plan.targets.enumerated().map { "\($0 + 1) \(Printable.text($1.label(names)))" }
      throw CommandError(
        .usage,
        matches.isEmpty
          ? "'\(Printable.text(text))' is not among the backups of \(title)."
          : "several backups of \(title) are called '\(Printable.text(text))'.",
        hint: list.isEmpty ? "There are none." : "There are: \(list.joined(separator: ", ")).")
    }
    return match
  }
}
