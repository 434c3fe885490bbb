import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

struct DeviceAdopt: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt", abstract: "Replace a device that is gone with this one.",
    usage: "belfry device adopt NAME|ID [--force]",
    discussion: """
      A device that was restored from a backup or reinstalled has a new id, but alarms still name the old one. This \
      command puts this device in place of the old one in every alarm and every cascade. 'belfry undo' reverts it.

        belfry device adopt laptop
      """)

  @Argument(
    help: "The device that is gone: its name or an id prefix (see 'belfry status').",
    completion: .devices)
  var device: String

  @Flag(help: "Replace the device even if it may still be in use.")
  var force = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: DeviceCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open(.writing)
    let presence = store.devices.presence
    let old = try find(store, presence)
    if !force { try expectSilent(old, store, presence) }
    let adoption = try store.devices.adopt(old)
    if common.json { return try Console.write(AdoptionDocument(adoption, store)) }
    let own = Printable.text(store.devices.own.name)
    Console.line(
      "\(own) (\(store.device.short)) replaces \(name(old)): \(count(adoption.alarms.count))."
    )
    for alarm in adoption.alarms { Console.line("  \(Printable.text(alarm.title))") }
  }

  private func name(_ device: Device) -> String {
    "\(Printable.text(device.name)) (\(device.id.short))"
  }

  private func count(_ alarms: Int) -> String {
    switch alarms {
    case 0: "no alarm named it"
    case 1: "1 alarm named it"
    default: "\(alarms) alarms named it"
    }
  }

  /// Returns the device that the argument names.
  ///
  /// If several devices have this name, those that are alive or already replaced are ignored, if another remains.
  ///
  /// - Throws: `CommandError` if the argument names no other device, or several.
  private func find(_ store: Store, _ presence: DevicePresence) throws -> Device {
    let others = store.devices.all().devices.filter { $0.id != store.device }
    let wanted = device.lowercased()
    var matches = others.filter { $0.name.lowercased() == wanted }
    if matches.isEmpty, !wanted.isEmpty {
      matches = others.filter { $0.id.text.hasPrefix(wanted) }
    } else if matches.count > 1 {
      let open = matches.filter {
        !presence.isAlive($0.id) && presence.replacements[$0.id] == nil
      }
      if !open.isEmpty { matches = open }
    }
    if matches.count == 1 { return matches[0] }
    if matches.isEmpty {
      let list = others.sorted { ($0.name, $0.id) < ($1.name, $1.id) }.map(name)
      throw CommandError(
        .usage, "there is no other device '\(Printable.text(device))'.",
        hint: list.isEmpty
          ? "This store has no other device."
          : "The other devices: \(list.joined(separator: ", ")).")
    }
    let list = matches.sorted { $0.id < $1.id }.map {
      "\($0.id.short) (\(lastHeard($0, store, presence)))"
    }
    throw CommandError(
      .usage, "several other devices are named '\(Printable.text(device))'.",
      hint: "Use an id: \(list.joined(separator: ", ")).")
  }

  private func lastHeard(_ device: Device, _ store: Store, _ presence: DevicePresence) -> String {
    let last = presence.lastHeard[device.id] ?? device.created
    return "last heard of \(Span.ago(store.context.now.seconds(since: last)))"
  }

  /// Rejects a device that is known to be alive: alarms would no longer ring there.
  ///
  /// - Throws: `CommandError` if the device is alive.
  private func expectSilent(_ old: Device, _ store: Store, _ presence: DevicePresence) throws {
    guard presence.isAlive(old.id) else { return }
    let command = "belfry device adopt \(old.id.short) --force"
    throw CommandError(
      .notPossible, "\(name(old)) may still be in use: it was \(lastHeard(old, store, presence)).",
      hint: "If it is gone for good: \(command)")
  }
}
