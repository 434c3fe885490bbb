import BelfryCore
import BelfryStore
import BelfryTerminal

/// A directory of the devices, by name and by identifier prefix.
struct DeviceDirectory {
  let devices: [Device]
  /// The offline devices that another device has replaced.
  ///
  /// Their names find the replacing device. Only their identifiers still find them.
  let succeeded: Set<Identifier>

  init(_ store: Store) {
    devices = store.devices.all().devices
    succeeded = Set(store.devices.presence.standIns.keys)
  }

  /// Returns the device that a text names.
  ///
  /// - Throws: `CommandError` if no device matches, or several.
  func find(_ text: String) throws -> Identifier {
    let matches = matches(text)
    if matches.count == 1 { return matches[0].id }
    let all = devices.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    let list = (matches.isEmpty ? all : matches)
      .map { "\(Printable.text($0.name)) (\($0.id.short))" }.joined(separator: ", ")
    throw CommandError(
      .usage,
      matches.isEmpty
        ? "there is no device '\(Printable.text(text))'."
        : "several devices are called '\(Printable.text(text))'.",
      hint: "Devices: \(list).")
  }

  /// Returns the devices with a name, preferring those that were not replaced, or else those with an identifier prefix.
  private func matches(_ text: String) -> [Device] {
    let wanted = text.lowercased()
    let named = devices.filter { $0.name.lowercased() == wanted }
    if named.isEmpty {
      return wanted.isEmpty ? [] : devices.filter { $0.id.text.hasPrefix(wanted) }
    }
    let current = named.filter { !succeeded.contains($0.id) }
    return current.isEmpty ? named : current
  }
}
