import BelfryCore
import BelfryStore

/// The part of `belfry doctor` that looks for devices that are silent, replaced or not yet adopted.
struct DeviceCheck {
  private let store: Store

  init(_ store: Store) {
    self.store = store
  }

  func diagnoses() -> [Diagnosis] {
    let silent = store.silentDevices()
    let reported = Set(silent.map(\.device.id))
    return silent.map { silent in
      let warning = SilentDeviceWarning(silent, store)
      return Diagnosis("devices", .problem, warning.message, remedy: warning.remedy)
    }
      + store.adoptable().filter { !reported.contains($0.id) }.map(unadopted)
      + returned
  }

  private func name(_ device: Device) -> String {
    "\(Printable.text(device.name)) (\(device.id.short))"
  }

  private func unadopted(_ device: Device) -> Diagnosis {
    Diagnosis(
      "devices", .note,
      "\(name(device)) has not been heard of since this device was added; no alarm that is on names it.",
      remedy: "If this device has taken its place: belfry device adopt \(device.id.short)")
  }

  /// The devices that were replaced and are back: both ring, as nobody can tell which is right.
  private var returned: [Diagnosis] {
    let devices = store.devices().devices
    return store.presence.returned.sorted { $0.key < $1.key }.compactMap { old, new in
      guard let device = devices.first(where: { $0.id == old }) else { return nil }
      let successor = devices.first { $0.id == new }.map(name) ?? new.short
      return Diagnosis(
        "devices", .problem,
        "\(name(device)) was replaced by \(successor), and has been heard of since.",
        remedy:
          "Give one of them another name with 'belfry device --name', and see which alarms are for it."
      )
    }
  }
}
