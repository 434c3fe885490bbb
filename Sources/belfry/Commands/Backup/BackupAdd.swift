import ArgumentParser
import BelfryCore
import BelfryStore

struct BackupAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a device, a person or a telephone number to the list.",
    usage: "belfry backup ALARM add device|person|phone …",
    subcommands: [
      BackupAddDevice.self, BackupAddPerson.self, BackupAddPhone.self, BackupAddChoice.self,
    ], defaultSubcommand: BackupAddChoice.self)

  @ParentCommand var backup: BackupCommand
}

extension BackupEditing {
  /// Adds a target at the end. The first of all switches the backup on.
  func add(_ target: BackupTarget) throws {
    let isFirst = try (alarm.backup?.plan ?? Backup.Plan()) == Backup.Plan()
    let label = Printable.text(target.label(names))
    let presence = store.presence
    let (alarm, _) = try change("\(label) added") { plan in
      if let device = target.device,
        let old = ([plan.primary] + plan.targets.map(\.device)).compactMap({ $0 })
          .first(where: { presence.standIns[$0] == device })
      {
        throw CommandError(
          .usage, "\(label) has a place in the list of \(title) already: that of \(old.short).",
          hint: "Make it its own, on \(label): belfry device adopt \(old.short)")
      }
      if let device = target.device, device == plan.primary {
        throw CommandError(
          .usage, "\(label) is where \(title) rings first: it is no backup of itself.",
          hint: "Let another ring first: belfry backup \(card.id.short) on --first DEVICE")
      }
      if plan.targets.contains(where: { $0.key == target.key }) {
        throw CommandError(
          .usage, "\(label) is in the list of \(title) already.",
          hint: "See it: belfry backup \(card.id.short) list")
      }
      if let device = target.device, plan.step(of: device) != nil {
        throw CommandError(
          .usage, "that device is in the list of \(title) already.",
          hint: "See it: belfry backup \(card.id.short) list")
      }
      guard plan.targets.count < Backup.most else {
        throw CommandError(
          .usage, "\(title) has \(Backup.most) backups, and more are not possible.",
          hint: "Remove one first.")
      }
      plan.targets.append(target)
      if isFirst { plan.isOn = true }
    }
    tell("Added \(label)\(isFirst ? "; backup is on now" : "").", alarm)
  }
}

/// What can be added.
struct BackupAddChoice: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "choice", abstract: "Show what can be added.", shouldDisplay: false)

  @Argument(help: "The alarm.")
  var alarm: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BackupAdd

  func run() throws {
    let editing = try BackupEditing(alarm, common, parent.backup.root)
    let plan = editing.plan(of: try editing.alarm)
    let succeeded = DeviceDirectory(editing.store).succeeded
    let free = editing.devices.filter {
      $0.id != plan.primary && plan.step(of: $0.id) == nil && !succeeded.contains($0.id)
    }
    .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    let own = free.filter { $0.owner == nil || $0.owner == owner(plan, editing.devices) }
    let others = free.filter { device in !own.contains(device) }
    if common.json {
      return Console.write(
        JSON.object([
          "devices": .array(own.map(BackupText.json)),
          "people": .array(others.map(BackupText.json)),
          "phone": true,
        ]).document)
    }
    Console.line("What can ring for \(editing.title) when the first device stays silent:")
    for device in own {
      let kind = device.kind.map { " (\($0.rawValue))" } ?? ""
      Console.line("  add device \(BackupText.quoted(device.name))\(kind)")
    }
    for device in others {
      Console.line(
        "  add person \(BackupText.quoted(device.owner ?? ""))  (\(Printable.text(device.name)))")
    }
    if free.isEmpty {
      Console.line(
        editing.devices.count > 1
          ? "  All other devices of this store are in the list."
          : "  No other device has this store yet: belfry help clone")
    }
    Console.line("  add person NAME --address https://ntfy.sh/…  (sent word)")
    Console.line("  add phone NUMBER  (call phone number)")
  }

  private func owner(_ plan: Backup.Plan, _ devices: [Device]) -> String? {
    devices.first { $0.id == plan.primary }?.owner
  }
}

struct BackupAddDevice: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device", abstract: "Add a device that has this store.",
    usage: "belfry backup ALARM add device NAME")

  @Argument(help: "The alarm.")
  var alarm: String

  @Argument(help: "The device, by its name or the start of its identifier: see 'belfry status'.")
  var name: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BackupAdd

  func run() throws {
    let editing = try BackupEditing(alarm, common, parent.backup.root)
    try editing.add(.device(try DeviceDirectory(editing.store).find(name)))
  }
}

struct BackupAddPerson: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "person", abstract: "Add somebody else, by their device or an address.",
    usage: "belfry backup ALARM add person NAME [--address URL] [--gadget WORDS]",
    discussion: """
      Whose device has this store, and says so with 'belfry device --owner NAME', is rung on it. Others are sent word \
      at an address: the hook 'person' gets it, and the shipped one posts to https:// addresses as ntfy has them.

        belfry backup standup add person Jen
        belfry backup standup add person Sam --address https://ntfy.sh/sam
      """)

  @Argument(help: "The alarm.")
  var alarm: String

  @Argument(help: "Who it is.")
  var name: String

  @Option(help: ArgumentHelp("Where word is sent to.", valueName: "address"))
  var address: String?

  @Option(help: ArgumentHelp("What rings there, in words: iPhone.", valueName: "words"))
  var gadget: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BackupAdd

  func run() throws {
    let name = try BackupText.plain(name, longest: BackupPerson.longestName, "the name")
    let gadget = try gadget.map {
      try BackupText.plain($0, longest: BackupPerson.longestName, "--gadget")
    }
    let address = try address.map {
      try BackupText.plain($0, longest: BackupPerson.longestAddress, "--address")
    }
    let editing = try BackupEditing(alarm, common, parent.backup.root)
    if let address, !address.hasPrefix("https://"), editing.context.ownHook("person") == nil {
      throw CommandError(
        .usage,
        "--address: the shipped hook sends word to addresses that begin with https:// only.",
        hint: "Write a hook of your own for others, 'person': see the README.")
    }
    let owned = editing.devices.filter { $0.owner?.lowercased() == name.lowercased() }
      .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    if let address {
      return try editing.add(
        .person(BackupPerson(name: name, address: address, gadget: gadget)))
    }
    let plan = editing.plan(of: try editing.alarm)
    guard let device = owned.first(where: { plan.step(of: $0.id) == nil }) ?? owned.first else {
      throw CommandError(
        .usage, "no device of this store is \(Printable.text(name))'s, and there is no address.",
        hint: "On theirs: belfry device --owner \(BackupText.quoted(name)); or name an --address.")
    }
    try editing.add(
      .person(
        BackupPerson(name: device.owner ?? name, device: device.id, gadget: gadget)))
  }
}

struct BackupAddPhone: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "phone", abstract: "Add a telephone number that is called.",
    usage: "belfry backup ALARM add phone NUMBER [--message TEXT]",
    discussion: """
      Ten digits are a number of North America; others begin with + and the country's code. Whoever answers hears \
      that it is an automated backup alarm, of whose device, what is due, and the message.
      """)

  @Argument(help: "The alarm.")
  var alarm: String

  @Argument(help: "The number, as people write it.")
  var number: String

  @Option(help: ArgumentHelp("What is said besides.", valueName: "text"))
  var message: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BackupAdd

  func run() throws {
    let number = try BackupText.phone(number)
    let message = try message.map {
      try BackupText.plain($0, longest: BackupTarget.longestMessage, "--message")
    }
    let editing = try BackupEditing(alarm, common, parent.backup.root)
    try editing.add(.phone(number, message: message))
  }
}
