import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct CascadeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cascade",
    abstract: "Escalate an unanswered alarm to other devices and people.",
    discussion: """
      An alarm rings on its first device. If nobody responds, the cascade continues with its next step every two \
      minutes: another device, a person or a phone call. Stop or Done on any device ends the cascade. Snooze silences \
      all devices, and the same step rings again afterwards.

        belfry cascade on standup          # this device rings first
        belfry cascade add standup device Watch
        belfry cascade add standup person Jen
        belfry cascade add standup phone 5551234567 --message "Room 412."
        belfry cascade add standup phone-tasks  # the task on a phone rings here
        belfry cascade preview standup
        belfry cascade move standup 3 1
        belfry cascade remove standup Watch
        belfry cascade test standup        # ring on every step now
        belfry cascade status              # which steps would ring tonight

      Every device holds the store and rings by itself. A device that cannot learn whether the alarm was stopped \
      rings. So each of them needs 'belfry service install' and a shared remote.
      """,
    subcommands: [
      CascadeOn.self, CascadeOff.self, CascadeAdd.self, CascadeRemove.self, CascadeMove.self,
      CascadeList.self, CascadePreview.self, CascadeTest.self, CascadeStatus.self,
      CascadeContact.self,
    ], defaultSubcommand: CascadeList.self)

  @ParentCommand var root: Belfry
}

/// The alarm of a `cascade` command, with its store and the names of its devices.
struct CascadeEditing {
  let context: CommandContext
  let store: Store
  let summary: AlarmSummary
  let devices: [Device]
  let names: [Identifier: String]
  let json: Bool

  init(
    _ alarm: String, _ common: CommonOptions, _ root: Belfry, _ use: StoreUse = .writing
  ) throws {
    context = try common.context(root)
    store = try context.open(use)
    summary = try context.find(alarm, in: store)
    devices = store.devices.all().devices
    names = devices.names
    json = common.json
  }

  var title: String { Printable.text(summary.title) }

  func text(_ alarm: Alarm) -> CascadeText {
    CascadeText(
      alarm, names: names, devices: devices, times: context.times,
      zoneName: store.devices.cascadeZoneName(of: alarm))
  }

  var alarm: Alarm {
    get throws {
      guard let alarm = try store.alarm(summary.id) else {
        throw StoreError.noSuchAlarm(summary.title)
      }
      return alarm
    }
  }

  /// Returns the alarm's plan. Without a first device, this device becomes the first if the alarm rings here.
  func plan(of alarm: Alarm) -> Cascade.Plan { alarm.cascadePlan(on: store.device) }

  /// Changes the plan in one commit.
  ///
  /// - Parameters:
  ///   - edit: the change, for the log entry.
  ///   - parts: the parts that the user has set, also to the values that they have already.
  /// - Returns: the alarm after the change; `hasChanged` is false if nothing changed.
  @discardableResult
  func change(
    _ edit: LogPayload.CascadeEdit, stating parts: Set<Cascade.Part> = [],
    _ body: @escaping (inout Cascade.Plan) throws -> Void
  ) throws -> (alarm: Alarm, hasChanged: Bool) {
    let action = EditAlarms.cascade(of: summary.id, edit, stating: parts, in: store, body)
    guard let change = try context.explaining({ try action.perform(in: store) }).first else {
      throw StoreError.noSuchAlarm(summary.title)
    }
    return (change.alarm, !change.fields.isEmpty)
  }

  /// Prints the cascade after a change, with warnings.
  func show(_ message: String, _ alarm: Alarm) throws {
    if json { return try Console.write(text(alarm).document) }
    Console.line(message)
    Console.write(text(alarm).list)
    if let status = try? store.status(alarm), status.state == .ringing || status.state == .snoozed {
      Console.line("The occurrence that rings now continues with the cascade it started with.")
    }
    warn(alarm)
  }

  /// Warns about everything that would keep the cascade from working.
  func warn(_ alarm: Alarm) {
    guard let plan = alarm.cascade?.plan else { return }
    if !plan.isOn, !plan.targets.isEmpty {
      CommandDiagnostic.warn(
        "the cascade is off.", hints: ["Turn it on: belfry cascade on \(alarm.id.short)"])
    }
    if plan.calls, !devices.contains(where: \.calls) {
      CommandDiagnostic.warn(
        "no device of this store can place calls.",
        hints: ["Set up a call provider on a device that is always on: belfry calls --help"])
    }
    if plan.isOn, plan.usesPhoneTasks, store.devices.phonePublishers.isEmpty {
      CommandDiagnostic.warn(
        "no device of this store publishes tasks for a phone, so that step does not ring.",
        hints: ["Set it up: belfry phone setup"])
    }
    if plan.isActive, plan.targets != [.phoneTasks], !store.sync.hasRemote {
      CommandDiagnostic.warn(
        "this store has no remote, so no other device learns of the cascade.",
        hints: ["Add one: belfry remote add origin URL"])
    }
  }

  /// Returns the index of the target that a step number, a name or a phone number names.
  func target(_ text: String, in plan: Cascade.Plan) throws -> Int {
    if let number = Int(text), text.count < 4 {
      guard plan.targets.indices.contains(number - 1) else {
        throw CommandError(
          .usage, "\(title) has no step \(number).",
          hint:
            "Its cascade has \(plan.targets.count) steps: belfry cascade list \(summary.id.short)")
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
      case .phoneTasks:
        wanted == CascadeAdd.Kind.phoneTasks.rawValue
          || wanted == plan.targets[index].label(names)
      }
    }
    guard matches.count == 1, let match = matches.first else {
      let list = plan.targets.enumerated().map { "\($0 + 1) \(Printable.text($1.label(names)))" }
      throw CommandError(
        .usage,
        matches.isEmpty
          ? "'\(Printable.text(text))' is not in the cascade of \(title)."
          : "'\(Printable.text(text))' is ambiguous in the cascade of \(title).",
        hint: list.isEmpty ? "It has no steps." : "Its steps: \(list.joined(separator: ", ")).")
    }
    return match
  }
}
