import BelfryCore
import BelfryStore
import BelfryTerminal

/// The part of `belfry doctor` that finds offline devices, and replaced ones that are back or not yet adopted.
struct DeviceCheck {
  private let store: Store

  init(_ store: Store) {
    self.store = store
  }

  func diagnoses() -> [Diagnosis] {
    let silent = store.devices.silent()
    let reported = Set(silent.map(\.device.id))
    return silent.map { silent in
      let warning = SilentDeviceWarning(silent, store)
      return Diagnosis("devices", .problem, warning.message, remedy: warning.remedy)
    }
      + store.devices.adoptable().filter { !reported.contains($0.id) }.map(unadopted)
      + returned
  }

  private func name(_ device: Device) -> String {
    "\(Printable.text(device.name)) (\(device.id.short))"
  }

  private func unadopted(_ device: Device) -> Diagnosis {
    Diagnosis(
      "devices", .note,
      "\(name(device)) has sent no heartbeat since this device was added; no enabled alarm names it.",
      remedy: "If this device replaces it: belfry device adopt \(device.id.short)")
  }

  /// The findings about replaced devices that are back. Both devices ring, as either may be the right one.
  private var returned: [Diagnosis] {
    let devices = store.devices.all().devices
    return store.devices.presence.returned.sorted { $0.key < $1.key }.compactMap { old, new in
      guard let device = devices.first(where: { $0.id == old }) else { return nil }
      let successor = devices.first { $0.id == new }.map(name) ?? new.short
      return Diagnosis(
        "devices", .problem,
        "\(name(device)) was replaced by \(successor), but has been online since.",
        remedy:
          "Give one of them another name with 'belfry device --name', and check which alarms name it."
      )
    }
  }
}
