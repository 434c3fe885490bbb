import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal
import Files

struct CascadeAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a device, a person, a phone number or tasks.",
    usage: """
      belfry cascade add ALARM
             belfry cascade add ALARM device NAME
             belfry cascade add ALARM person NAME [--address URL] [--gadget TEXT]
             belfry cascade add ALARM phone NUMBER [--message TEXT]
             belfry cascade add ALARM phone-tasks
      """,
    discussion: """
      Without a kind, the command lists everything that can be added.

      A device has this store. A person who owns such a device ('belfry device --owner NAME', on that device) is alerted \
      there. Other people get a message at an address: the hook 'person' sends it, and the shipped one posts to https:// \
      addresses in ntfy's format. A phone number is called: ten digits are a North American number, others start with + \
      and the country code. The call says that it is an automated backup alarm, from whose device and for which alarm, and \
      then the message. With phone-tasks, the task on a phone rings as this step, instead of at the alarm's time. The phone \
      rings by itself, also offline: it falls silent with its next sync.

        belfry cascade add standup device Watch
        belfry cascade add standup person Jen
        belfry cascade add standup person Sam --address https://ntfy.sh/sam
        belfry cascade add standup phone 5551234567 --message "Room 412."
        belfry cascade add standup phone-tasks
      """)

  /// The kinds of target.
  enum Kind: String, ExpressibleByArgument, CaseIterable {
    case device, person, phone
    /// The task of the occurrence on a phone.
    case phoneTasks = "phone-tasks"
  }

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @Argument(
    help: "device, person, phone or phone-tasks.",
    completion: .list(["device", "person", "phone", "phone-tasks"]))
  var kind: Kind?

  @Argument(
    help: "The device, by its name or the start of its id; the person; or the number.",
    completion: .cascadeTargets)
  var target: String?

  @Option(
    help: ArgumentHelp("The address that messages to a person are sent to.", valueName: "url"))
  var address: String?

  @Option(help: ArgumentHelp("The person's device, such as iPhone.", valueName: "text"))
  var gadget: String?

  @Option(help: ArgumentHelp("A text that the call adds.", valueName: "text"))
  var message: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  func validate() throws {
    if kind == .phoneTasks {
      if let target { throw ValidationError("phone-tasks takes no name, but got '\(target)'.") }
    } else if let kind {
      guard target != nil else {
        throw ValidationError(
          "Name the \(kind.rawValue): belfry cascade add ALARM \(kind.rawValue) …")
      }
    }
    if kind != .person, address != nil || gadget != nil {
      throw ValidationError("--address and --gadget are for a person.")
    }
    if kind != .phone, message != nil { throw ValidationError("--message is for a phone number.") }
  }

  func run() throws {
    switch (kind, target) {
    case (.device?, let name?):
      let editing = try CascadeEditing(alarm, common, parent.root)
      try editing.add(.device(try DeviceDirectory(editing.store).find(name)))
    case (.person?, let name?): try addPerson(name)
    case (.phone?, let number?):
      let number = try CascadeText.phone(number)
      let message = try message.map {
        try CascadeText.plain($0, longest: CascadeTarget.longestMessage, "--message")
      }
      let editing = try CascadeEditing(alarm, common, parent.root)
      try editing.add(.phone(number, message: message))
      editing.hintAtOwners()
    case (.phoneTasks?, _): try CascadeEditing(alarm, common, parent.root).add(.phoneTasks)
    case (nil, _), (_, nil): try showChoices()
    }
  }

  private func addPerson(_ name: String) throws {
    let name = try CascadeText.plain(name, longest: CascadePerson.longestName, "the name")
    let gadget = try gadget.map {
      try CascadeText.plain($0, longest: CascadePerson.longestName, "--gadget")
    }
    let address = try address.map {
      try CascadeText.plain($0, longest: CascadePerson.longestAddress, "--address")
    }
    let editing = try CascadeEditing(alarm, common, parent.root)
    if let address, !address.hasPrefix("https://"), editing.context.ownHook("person") == nil {
      throw CommandError(
        .usage, "--address: the shipped hook posts only to addresses that begin with https://.",
        hint: "Others need your own hook 'person': see 'Channels and hooks' in the manual.")
    }
    if let address {
      return try editing.add(
        .person(CascadePerson(name: name, address: address, gadget: gadget)))
    }
    let owned = editing.devices.filter { $0.owner?.lowercased() == name.lowercased() }
      .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    let plan = editing.plan(of: try editing.alarm)
    guard let device = owned.first(where: { plan.step(of: $0.id) == nil }) ?? owned.first else {
      throw CommandError(
        .usage, "\(Printable.text(name)) owns no device of this store, and --address is missing.",
        hint:
          "On their device run: belfry device --owner \(ShellWord.quoted(Printable.text(name))). Or give an --address."
      )
    }
    try editing.add(
      .person(
        CascadePerson(name: device.owner ?? name, device: device.id, gadget: gadget)))
  }

  /// Lists everything that can be added.
  private func showChoices() throws {
    let editing = try CascadeEditing(alarm, common, parent.root)
    let plan = editing.plan(of: try editing.alarm)
    let succeeded = DeviceDirectory(editing.store).succeeded
    let free = editing.devices.filter {
      $0.id != plan.primary && plan.step(of: $0.id) == nil && !succeeded.contains($0.id)
    }
    .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    let owner = editing.devices.first { $0.id == plan.primary }?.owner
    let own = free.filter { $0.owner == nil || $0.owner == owner }
    let others = free.filter { device in !own.contains(device) }
    let hasTasks = !editing.store.devices.phonePublishers.isEmpty && !plan.usesPhoneTasks
    if common.json {
      return try Console.write(
        CascadeChoicesDocument(
          devices: own.map(DeviceDocument.init), people: others.map(DeviceDocument.init),
          phoneTasks: hasTasks))
    }
    let command = "belfry cascade add \(editing.summary.id.short)"
    Console.line("You can add to the cascade of \(editing.title):")
    for device in own {
      let kind = device.kind.map { " (\($0.rawValue))" } ?? ""
      Console.line("  \(command) device \(ShellWord.quoted(Printable.text(device.name)))\(kind)")
    }
    for device in others {
      Console.line(
        "  \(command) person \(ShellWord.quoted(Printable.text(device.owner ?? "")))  (\(Printable.text(device.name)))"
      )
    }
    if free.isEmpty {
      Console.line(
        editing.devices.count > 1
          ? "  All other devices of this store are in the cascade."
          : "  No other device has this store: belfry help clone")
    }
    Console.line("  \(command) person NAME --address https://ntfy.sh/…  (sends a message)")
    Console.line("  \(command) phone NUMBER  (places a call)")
    if hasTasks { Console.line("  \(command) phone-tasks  (rings from the task on the phone)") }
  }
}

extension CascadeEditing {
  /// Prints how to name the owner of the devices on which calls are about an unanswered alarm. A call names its source.
  fileprivate func hintAtOwners() {
    let succeeded = DeviceDirectory(store).succeeded
    let nameless = devices.filter { $0.owner == nil && !succeeded.contains($0.id) }
      .map { Printable.text($0.name) }.sorted()
    if nameless.isEmpty { return }
    Console.error(
      "hint: A call names the owner of the device that did not respond. \(nameless.joined(separator: ", ")) \(nameless.count == 1 ? "has" : "have") none. On each: belfry device --owner NAME"
    )
  }

  /// Appends a target. The first one turns the cascade on.
  func add(_ target: CascadeTarget) throws {
    let isFirst = try (alarm.cascade?.plan ?? Cascade.Plan()) == Cascade.Plan()
    let label = Printable.text(target.label(names))
    let presence = store.devices.presence
    let list = "See it: belfry cascade list \(summary.id.short)"
    let (alarm, _) = try change(.added(target.loggable)) { plan in
      if let device = target.device,
        let old = ([plan.primary] + plan.targets.map(\.device)).compactMap({ $0 })
          .first(where: { presence.standIns[$0] == device })
      {
        throw CommandError(
          .usage,
          "\(label) is already in the cascade of \(title), as the replacement of \(old.short).",
          hint:
            "To replace \(old.short) permanently, run on \(label): belfry device adopt \(old.short)"
        )
      }
      if let device = target.device, device == plan.primary {
        throw CommandError(
          .usage, "\(label) rings first for \(title), so it cannot be a later step.",
          hint: "Choose another first device: belfry cascade on \(summary.id.short) --first DEVICE")
      }
      if plan.targets.contains(where: { $0.key == target.key }) {
        throw CommandError(.usage, "\(label) is already in the cascade of \(title).", hint: list)
      }
      if let device = target.device, plan.step(of: device) != nil {
        throw CommandError(
          .usage, "this device is already in the cascade of \(title).", hint: list)
      }
      guard plan.targets.count < Cascade.maxTargets else {
        throw CommandError(
          .usage, "the cascade of \(title) already has \(Cascade.maxTargets) steps, the maximum.",
          hint: "Remove one first: belfry cascade remove \(summary.id.short) STEP")
      }
      plan.targets.append(target)
      if isFirst { plan.isOn = true }
    }
    try show("Added \(label)\(isFirst ? "; the cascade is on now" : "").", alarm)
  }
}
