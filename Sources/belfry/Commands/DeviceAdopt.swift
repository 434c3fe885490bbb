import ArgumentParser
import BelfryCore
import BelfryStore

struct DeviceAdopt: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt", abstract: "Take over the place of a device that is gone.",
    usage: "belfry device adopt NAME|ID [--force]",
    discussion: """
      For a device that was restored from a backup or set up anew: it has a new identity, and alarms name the old one. \
      Every alarm and every cascade names this device instead, and nothing waits for the old one any more. \
      'belfry undo' takes it back.

        belfry device adopt laptop
      """)

  @Argument(
    help:
      "The device that is gone, by its name or the start of its identifier: see 'belfry status'.")
  var device: String

  @Flag(help: "Also one that has been heard of.")
  var force = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: DeviceCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open()
    let presence = store.presence
    let old = try find(store, presence)
    if !force { try expectSilent(old, store, presence) }
    let adoption = try store.adopt(old)
    if common.json { return Console.write(json(adoption, store).document) }
    let own = Printable.text(store.ownDevice.name)
    Console.line(
      "\(own) (\(store.device.short)) has the place of \(name(old)): \(count(adoption.alarms.count))."
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

  /// Returns the device that is meant: of several with one name the only silent one that is not replaced yet.
  private func find(_ store: Store, _ presence: DevicePresence) throws -> Device {
    let others = store.devices().devices.filter { $0.id != store.device }
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
          ? "This store knows only this device." : "There are: \(list.joined(separator: ", ")).")
    }
    let list = matches.sorted { $0.id < $1.id }.map {
      "\($0.id.short) (\(heard($0, store, presence)))"
    }
    throw CommandError(
      .usage, "several other devices are called '\(Printable.text(device))'.",
      hint: "Name one by its identifier: \(list.joined(separator: ", ")).")
  }

  private func heard(_ device: Device, _ store: Store, _ presence: DevicePresence) -> String {
    let last = presence.lastHeard[device.id] ?? device.created
    return "last heard of \(Span.length(max(0, store.context.now.seconds(since: last)))) ago"
  }

  /// Refuses a device that may ring still, as nothing would be for it any more.
  private func expectSilent(_ old: Device, _ store: Store, _ presence: DevicePresence) throws {
    guard presence.isAlive(old.id) else { return }
    let command = "belfry device adopt \(old.id.short) --force"
    throw CommandError(
      .notPossible, "\(name(old)) may still be in use: it was \(heard(old, store, presence)).",
      hint: "If it is gone for good: \(command)")
  }

  /// `{id, name, replaces, alarms: [{id, title}]}`
  private func json(_ adoption: Store.Adoption, _ store: Store) -> JSON {
    .object([
      "id": JSON(store.device), "name": .string(store.ownDevice.name),
      "replaces": JSON(adoption.old.id),
      "alarms": .array(
        adoption.alarms.map { .object(["id": JSON($0.id), "title": .string($0.title)]) }),
    ])
  }
}
