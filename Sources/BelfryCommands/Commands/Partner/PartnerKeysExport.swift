import ArgumentParser
import BelfryPartners
import BelfryTerminal
import Glibc

struct PartnerKeysExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Print the keys. Keep them secret: they act as you.")

  @Argument(help: "The partner (default: all).", completion: .partners)
  var partner: String?

  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @ParentCommand var parent: PartnerKeys

  func run() throws {
    let root = parent.parent.root
    let session = try PartnerSession(CommandContext(store: store ?? root.store), .reading)
    let partners =
      try partner.map { [try session.find($0)] } ?? session.partners.filter { $0.phase == .active }
    guard partners.allSatisfy({ $0.phase == .active }), !partners.isEmpty else {
      throw CommandError(
        .notPossible, "there are no keys to export.", hint: "See 'belfry partner'.")
    }
    // A file that the output is redirected to becomes private.
    var status = stat()
    if fstat(STDOUT_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      _ = fchmod(STDOUT_FILENO, 0o600)
    }
    if isatty(STDOUT_FILENO) == 1 {
      throw CommandError(
        .usage, "keys are not shown on a terminal.",
        hint: "Pipe them: belfry partner keys export | ssh HOST belfry partner keys import")
    }
    Console.write(PartnerStore.exported(partners))
  }
}
