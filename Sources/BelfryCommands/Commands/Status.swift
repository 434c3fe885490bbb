import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the state of the branch, the remotes and devices.",
    discussion: "Uses no network: the state of the remotes is that of the last sync.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(.reading)
    let status = try StoreStatus(of: store)
    context.warnings.warn(about: status.problems)
    let watched = WatchedRemotesFile(store).read()
    if common.json {
      return try Console.write(
        StatusDocument(status, watched: watched, zones: context.storeContext.zones))
    }
    let now = context.storeContext.now
    func ago(_ moment: Instant) -> String {
      Span.ago(now.seconds(since: moment))
    }
    Console.line(
      "On \(status.branch.map { "branch \(Printable.text($0))" } ?? "no branch") at \(status.head?.short ?? "no commit") in \(Printable.text(store.path))."
    )
    switch status.operation {
    case .none: break
    case .merge: Console.line("A git merge is unfinished.")
    case .rebase: Console.line("A git rebase is unfinished.")
    case .other: Console.line("A git operation is unfinished.")
    }
    if status.handEdits > 0 {
      Console.line("\(count(status.handEdits, "record")) edited by hand and not imported yet.")
    }
    if status.left > 0 {
      Console.line(
        "\(count(status.left, "device")) pushed changes here; the next tick or sync merges them.")
    }
    Console.line(status.lastSync.map { "Last synced \(ago($0))." } ?? "Never synced.")
    if status.remotes.isEmpty {
      Console.line("The store has no remotes. To add one: belfry remote add origin URL")
    }
    for remote in status.remotes {
      let state =
        remote.counts.map { counts in
          counts == (0, 0)
            ? "up to date"
            : "\(count(counts.ahead, "commit")) to push, \(counts.behind) to merge"
        } ?? "never synced"
      let watch = watched.map {
        $0.contains(remote.remote.name)
          ? "; watched, so changes arrive at once" : "; synced at intervals"
      }
      Console.line(
        "  \(Printable.text(remote.remote.name))  \(RemoteURLInput.shown(remote.remote.url)): \(state)\(watch ?? "")"
      )
    }
    Console.line("Devices:")
    for item in status.devices {
      let activity =
        item.lastActivity.map { "last active \(ago($0))" }
        ?? "added \(ago(item.device.created)), no activity yet"
      let replacement = item.successor.map { successor in
        item.isReplaced
          ? "; replaced by \(successor.short)"
          : "; \(successor.short) rings in its place: run 'belfry device adopt \(item.device.id.short)' there"
      }
      Console.line(
        "  \(Printable.text(item.device.name))\(item.isHere ? " (this device)" : "") \(item.device.id.short): \(activity)\(replacement ?? "")"
      )
    }
  }

  private func count(_ number: Int, _ word: String) -> String {
    "\(number) \(word)\(number == 1 ? "" : "s")"
  }
}
