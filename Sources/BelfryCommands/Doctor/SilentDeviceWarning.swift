import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The warning about an offline device that alarms name.
struct SilentDeviceWarning {
  private let silent: StoreDevices.SilentDevice
  private let store: Store

  init(_ silent: StoreDevices.SilentDevice, _ store: Store) {
    self.silent = silent
    self.store = store
  }

  /// Writes the warnings of a store to standard error.
  ///
  /// - Parameter alarms: the alarms to consider; nil for all.
  static func print(_ store: Store, about alarms: Set<Identifier>? = nil) {
    for silent in store.devices.silent() {
      if let alarms, !silent.alarms.contains(where: { alarms.contains($0.id) }) { continue }
      let warning = SilentDeviceWarning(silent, store)
      CommandDiagnostic.warn("\(warning.message)", hints: [warning.remedy])
    }
  }

  private var name: String { "\(Printable.text(silent.device.name)) (\(silent.device.id.short))" }

  /// The message, such as `laptop (k7q2m4ab) has sent no heartbeat for 2 days, so Pills rings here.`
  var message: String {
    let age = max(0, store.context.now.seconds(since: silent.lastHeard))
    let titles = silent.alarms.prefix(2).map { Printable.text($0.title) }
    let more = silent.alarms.count - titles.count
    let list =
      more > 0
      ? "\(titles.joined(separator: ", ")) and \(more) more" : titles.joined(separator: " and ")
    let verb = silent.alarms.count == 1 ? "rings" : "ring"
    return "\(name) has sent no heartbeat for \(Span.length(age)), so \(list) \(verb) here."
  }

  /// The advice to the user.
  var remedy: String {
    let id = silent.device.id.short
    return silent.standIn == store.device
      ? "If this device replaces it: belfry device adopt \(id)"
      : "If it is gone for good: belfry device adopt \(id), or name others with 'belfry edit --on'."
  }
}
