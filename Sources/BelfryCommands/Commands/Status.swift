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
    discussion: """
      Uses no network: the state of the remotes is that of the last sync.

      With --format, print one line for a status bar or a prompt instead: what rings, was missed, is pending or snoozed, \
      or else what rings next. With --follow, print a line on each change. Configurations are in the article \
      "Status bars and prompts" of the manual.

        belfry status --format waybar --follow
        belfry status --format tmux --width 30
        belfry status --format prompt          # empty if nothing needs you
      """)

  @Option(
    help: "Print one line, in the form of a bar or prompt.")
  var format: StatusLineFormat?

  @Flag(help: "With --format: print a line on each change, until stopped.")
  var follow = false

  @Option(help: "With --format: the maximum width in columns (default: 40).")
  var width: Int?

  @Flag(help: "With --format: show the time until the next alarm.")
  var relative = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    if try writeLine(context) { return }
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

  /// Prints the line of `--format`. Returns false without this option.
  private func writeLine(_ context: CommandContext) throws -> Bool {
    guard let format else {
      if follow || relative || width != nil {
        throw CommandError(
          .usage, "--follow, --width and --relative need --format.",
          hint: "For example: belfry status --format plain --follow")
      }
      return false
    }
    if common.json, format != .json {
      throw CommandError(
        .usage, "--format \(format.rawValue) and --json cannot be combined.",
        hint: "Leave one of them out.")
    }
    let width = width ?? StatusLine.defaultWidth
    guard StatusLine.widths.contains(width) else {
      throw CommandError(
        .usage, "--width is \(width), which is not possible.", hint: "Give a number from 10 to 500."
      )
    }
    let output = StatusLineOutput(context, format, width: width, isRelative: relative)
    try follow ? output.follow() : output.write()
    return true
  }

  private func count(_ number: Int, _ word: String) -> String {
    "\(number) \(word)\(number == 1 ? "" : "s")"
  }
}
