import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal
import Files
import Git

struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Show the copies of the store, and what they lack; or make one.",
    discussion: """
      With a folder, the store is copied to it, and each sync keeps the copy up to date: it becomes a remote. Copies are \
      the remotes and the last JSON document of 'belfry export'. Uses no network: the state of the remotes is that of \
      the last sync. A copy on the disk of the store is no backup.

        belfry backup
        belfry backup /media/usb/belfry
      """)

  @Argument(help: "The folder of a copy, such as one on a USB disk.", completion: .directory)
  var place: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try common.context(root)
    let store = try context.open(place == nil ? .reading : .writing)
    if let place {
      let (remote, isNew) = try await BackupCopy(at: place, of: store, context).make()
      if !common.json {
        let name = isNew ? "as the new remote \(remote.name)" : "the remote \(remote.name)"
        Console.line("Copied the store to \(RemoteURLInput.shown(remote.url)), \(name).\n")
      }
    }
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
