import ArgumentParser
import BelfryCore
import BelfryStore

struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Fetch, merge and push, so that all devices have the same.")

  @Argument(help: "The remote (default: origin, or the only one).")
  var remote: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try common.context(root)
    let store = try context.open(welcome: false)
    let result = try await Watchdog.limit(seconds: 600) { try await store.sync(remote) }
    result.tell()
    try tell(result, store)
    await context.upkeep(store)
  }

  private func tell(_ result: SyncResult, _ store: Store) throws {
    if common.json { return Console.write(result.json.document) }
    if result.fetched == 0, result.pushed == 0 { return Console.line("Everything is up to date.") }
    Console.line(
      "Synced: \(result.fetched) commits fetched, \(result.pushed) pushed, \(result.merged) records merged."
    )
    let names = store.deviceNames()
    for decision in result.decisions {
      let by = decision.keptBy.flatMap { names[$0] }.map { " of \(Printable.text($0))" } ?? ""
      Console.line(
        "  \(Printable.text(decision.title)), \(decision.field): kept \"\(Printable.text(decision.kept))\"\(by) over \"\(Printable.text(decision.discarded))\"."
      )
    }
  }
}

struct Clone: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make this device's store from a remote, with an identity of its own.")

  @Argument(help: "The remote: a repository's path, or a file:// URL.")
  var url: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    guard try Store.isFree(context.storePath) else {
      throw CommandError(
        .failed, "there is something at \(Printable.text(context.storePath)) already.",
        hint:
          "Name another place with --store; to join a remote, 'belfry remote add' and 'belfry sync'."
      )
    }
    let (store, result) = try Store.clone(
      RemoteURL.absolute(url), to: context.storePath, context: context.storeContext)
    result.tell()
    let count = try context.overview(store).count
    if common.json {
      return Console.write(
        JSON.object([
          "store": .string(store.path), "device": JSON(store.device),
          "alarms": .integer(Int64(count)),
        ]).document)
    }
    Console.line(
      "Cloned \(count) alarm\(count == 1 ? "" : "s") to \(Printable.text(store.path)); this device is called \(Printable.text(context.storeContext.deviceName))."
    )
  }
}

extension SyncResult {
  /// `{fetched, pushed, merged, decisions}`
  var json: JSON {
    .object([
      "fetched": .integer(Int64(fetched)), "pushed": .integer(Int64(pushed)),
      "merged": .integer(Int64(merged)),
      "decisions": .array(
        decisions.map { decision in
          .object(omittingNil: [
            "alarm": JSON(decision.alarm), "title": .string(decision.title),
            "field": .string(decision.field), "kept": .string(decision.kept),
            "discarded": .string(decision.discarded), "keptBy": decision.keptBy.map { JSON($0) },
            "discardedBy": decision.discardedBy.map { JSON($0) },
          ])
        }),
    ])
  }

  /// Tells on standard error what of the remote was left out.
  func tell() {
    for refusal in refusals {
      Console.error(
        "belfry: warning: left out of the sync: \(Printable.text(refusal.path)): \(Printable.text(refusal.reason))."
      )
    }
  }
}
