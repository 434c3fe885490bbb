import ArgumentParser
import BelfryDocuments
import BelfryPartners
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct PartnerKeysImport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Import keys from standard input.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerKeys

  func run() throws {
    let session = try PartnerSession(common, parent.parent.root, .creating)
    try session.requireTier()
    var bytes: [UInt8] = []
    while bytes.count < 1 << 20, let line = readLine(strippingNewline: false) { bytes += line.utf8 }
    guard let partners = PartnerStore.imported(bytes) else {
      throw CommandError(
        .usage, "standard input does not hold valid keys.",
        hint: "Pass the output of 'belfry partner keys export'.")
    }
    var imported: [String] = []
    if session.partners.contains(where: { known in
      partners.contains { $0.id == known.id && $0.isInviter != known.isInviter }
    }) {
      throw CommandError(
        .usage, "these keys belong to one of your partners, not to you.",
        hint: "Import keys only from another device of yours.")
    }
    try session.partnerStore.change { known in
      for partner in partners where !known.contains(where: { $0.id == partner.id }) {
        known.append(partner)
        imported.append(partner.name)
      }
    }
    _ = session.store.pokeDaemon()
    if common.json {
      try Console.write(ImportedKeysDocument(partners: imported))
    } else {
      let names = imported.map { Printable.text($0) }.joined(separator: ", ")
      Console.line(
        imported.isEmpty
          ? "The keys are already on this device."
          : "Imported the keys to \(names). Next: belfry partner sync")
    }
    if !session.store.sync.hasRemote {
      CommandDiagnostic.warn(
        "this store does not sync with the one that the keys come from.",
        hints: [
          "Responses and recalled requests there do not reach this device. See 'belfry help remote'."
        ])
    }
  }
}
