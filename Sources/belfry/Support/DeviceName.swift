import BelfryCore
import BelfryStore

/// The devices that a person can name: by what they are called, or by the start of an identifier.
struct DeviceDirectory {
  let devices: [Device]
  /// The silent devices whose place another has: an identifier finds them, their name finds the other.
  let succeeded: Set<Identifier>

  init(_ store: Store) {
    devices = store.devices().devices
    succeeded = Set(store.presence.standIns.keys)
  }

  /// Returns the only device that a text names. Throws `CommandError` when there is none, or several.
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
      hint: "There are: \(list).")
  }

  /// The devices of a name, without those that another has the place of; else those whose identifiers begin with it.
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
