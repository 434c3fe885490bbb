import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct DeviceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device", abstract: "Show and change this device's name, kind and owner.",
    discussion: """
      'belfry status' lists all devices.

        belfry device --name Watch --kind watch
        belfry device --owner Jen     # a cascade's step 'person Jen' rings here
        belfry device show tablet     # when it was last heard of, and its steps
        belfry device adopt Watch     # this device replaces a Watch that is gone
      """, subcommands: [DeviceShow.self, DeviceAdopt.self])

  @Option(help: "The name of this device.")
  var name: String?

  @Option(
    help: ArgumentHelp(
      "The kind: \(Device.Kind.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "kind"))
  var kind: String?

  @Option(help: ArgumentHelp("The owner; '' removes the owner.", valueName: "person"))
  var owner: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let name = try self.name.map {
      try CascadeText.plain($0, longest: DeviceRecord.longestName, "--name")
    }
    let owner = try self.owner.map {
      $0.isEmpty ? "" : try CascadeText.plain($0, longest: CascadePerson.longestName, "--owner")
    }
    let kind = try self.kind.map { text in
      guard let kind = Device.Kind(rawValue: text.lowercased()) else {
        throw CommandError(
          .usage, "'\(Printable.text(text))' is not a kind of device.",
          hint: "The kinds: \(Device.Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      return kind
    }
    let context = try common.context(root)
    let isReading = name == nil && kind == nil && owner == nil
    let store = try context.open(isReading ? .reading : .creating)
    let device: Device
    if isReading {
      device = store.devices.own
    } else {
      device = try store.devices.describe { device in
        if let name { device.name = name }
        if let kind { device.kind = kind }
        if let owner { device.owner = owner.isEmpty ? nil : owner }
      }
    }
    if name != nil,
      store.devices.current().contains(where: {
        $0.id != device.id && $0.name.lowercased() == device.name.lowercased()
      })
    {
      CommandDiagnostic.warn(
        "another device is also named \(Printable.text(device.name)).",
        hints: ["Give one of them another name: belfry device --name NAME"])
    }
    if common.json { return try Console.write(DeviceDocument(device)) }
    Console.line("This device is \(Printable.text(device.name)) (\(device.id.short)).")
    Console.line("  kind   \(device.kind?.rawValue ?? "not set: --kind")")
    Console.line("  owner  \(device.owner.map { Printable.text($0) } ?? "not set: --owner")")
    Console.line("  calls  \(device.calls ? "places calls" : "places no calls: belfry calls")")
  }
}
