import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal
import Files
import Git

struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Show the copies of the store, and what they lack.",
    discussion: """
      Copies are the remotes and the last JSON document of 'belfry export'. Uses no network: the state of the remotes is \
      that of the last sync. A copy on the disk of the store is no backup.

        belfry backup
        belfry backup --json
      """)

  @Argument(help: .hidden)
  var place: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    if let place {
      throw CommandError(
        .usage, "backup shows the copies of the store, and makes none.",
        hint:
          "To keep a copy there: belfry remote add backup \(ShellWord.quoted(place)) --create, then belfry sync"
      )
    }
    let context = try common.context(root)
    let store = try context.open(.reading)
    let backup = try StoreBackup(of: store)
    if common.json {
      return try Console.write(
        BackupDocument(
          backup, zones: context.storeContext.zones, shown: { URLMask.masked(url: $0) }))
    }
    Console.write(
      BackupText(
        backup, tier: try context.settings(store).tier, times: context.times,
        style: context.style, quoted: ShellWord.quoted, shown: RemoteURLInput.shown
      ).text)
  }
}
