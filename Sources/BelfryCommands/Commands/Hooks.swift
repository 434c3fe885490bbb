import ArgumentParser
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Glibc

struct Hooks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hooks",
    abstract: "Install git hooks and the merge driver in the store.",
    discussion: """
      With them, plain git merges records as a sync does, refuses to commit invalid records, and notifies the daemon \
      or runs a tick after a pull, merge, checkout, commit or rebase. Without them, the next belfry command resolves \
      the conflicts of a plain 'git pull'. Hooks of your own are kept and run first.
      """,
    subcommands: [HooksInstall.self, HooksUninstall.self, HooksStatus.self, HooksCheck.self],
    defaultSubcommand: HooksStatus.self)

  @ParentCommand var root: Belfry
}

extension CommandContext {
  /// Returns the git hooks of a store.
  ///
  /// - Throws: `CommandError` if the path of the binary is unknown, or several repositories share their hooks.
  fileprivate func gitHooks(_ store: Store) throws -> GitHooks {
    guard let command = environment.executable else {
      throw CommandError(
        .failed, "the path of the belfry binary is unknown.", hint: "Check that /proc is mounted.")
    }
    return try GitHooks(
      store, command: command, shipped: environment.shippedHooks.map { $0 + "/git" })
  }
}

/// Prints the result for each hook, as lines or as a document.
private func show(_ results: [(hook: String, result: String)], asJSON: Bool) throws {
  if asJSON {
    return try Console.write(results.map { HookDocument(hook: $0.hook, result: $0.result) })
  }
  for (hook, result) in results { Console.line("\(hook): \(result)") }
}

struct HooksInstall: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Install the git hooks and the merge driver.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Hooks

  func run() throws {
    let context = try common.context(parent.root)
    let results = try context.gitHooks(context.open(.writing)).install()
    try show([("merge driver", "installed")] + results, asJSON: common.json)
  }
}

struct HooksUninstall: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uninstall", abstract: "Remove the git hooks and the merge driver.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Hooks

  func run() throws {
    let context = try common.context(parent.root)
    let results = try context.gitHooks(context.open(.writing)).uninstall()
    try show([("merge driver", "removed")] + results, asJSON: common.json)
  }
}

struct HooksStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show which hooks are installed.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Hooks

  func run() throws {
    let context = try common.context(parent.root)
    let hooks = try context.gitHooks(context.open(.reading))
    var results = [
      (hook: "merge driver", result: try hooks.hasDriver() ? "installed" : "missing")
    ]
    for name in GitHooks.names {
      let state = try hooks.state(of: name)
      let result =
        switch state {
        case .missing, .installed: state.rawValue
        case .changed: "modified"
        case .other: "not Belfry's"
        }
      results.append((name, result + (hooks.isChained(name) ? ", runs after your own hook" : "")))
    }
    try show(results, asJSON: common.json)
    if !common.json, results.contains(where: { $0.result == "missing" }) {
      Console.line("To install them: belfry hooks install")
    }
  }
}

/// The command that the hook pre-commit runs.
struct HooksCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check the records that git is about to commit.",
    discussion:
      "The exit status is 1 if a record is not valid. The hook pre-commit runs this command.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Hooks

  func run() async throws {
    let context = try common.context(parent.root)
    // git runs hooks in the work tree that commits, which may be another clone than the default store.
    let path = parent.root.store == nil ? CommandEnvironment.absolute(".") : context.storePath
    let problems = try await StagedRecords.problems(in: path)
    if common.json {
      try Console.write(
        problems.map { InvalidRecordDocument(path: $0.path, reason: $0.error.text) })
    }
    for (number, problem) in problems.enumerated() {
      CommandDiagnostic(
        isError: true,
        message:
          "\(Printable.text(problem.path)) is not valid: \(Printable.text(problem.error.text)).",
        hints: number < problems.count - 1
          ? [] : ["Correct the file and stage it again, or commit with --no-verify."]
      ).print()
    }
    if problems.isEmpty { return }
    throw ExitCode(CommandError.Kind.failed.rawValue)
  }
}

/// The command that git runs to merge two versions of a record.
struct MergeDriverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge-driver", abstract: "Merge two versions of a record, for git.",
    discussion: "git runs this command after 'belfry hooks install'.", shouldDisplay: false)

  @Argument(help: "The file with the common ancestor (%O).") var base: String
  @Argument(help: "The file with our version (%A), which gets the result.") var ours: String
  @Argument(help: "The file with the other version (%B).") var theirs: String
  @Argument(help: "The record's path in the store (%P).") var path: String

  @ParentCommand var root: Belfry

  func run() throws {
    let context = try CommandContext(store: root.store)
    func read(_ file: String) throws -> [UInt8] {
      guard let content = try DurableFile.read(file, limit: 64 << 20) else {
        throw FileError("read", file, number: ENOENT)
      }
      return content.bytes
    }
    let outcome = try MergeDriver.join(
      path: path, base: try? read(base), ours: try read(ours), theirs: try read(theirs),
      in: CommandEnvironment.absolute("."), at: context.storeContext.now)
    for problem in outcome.problems {
      CommandDiagnostic.warn(
        "one side of \(Printable.text(path)) is not valid and was left out: \(Printable.text(problem.text))."
      )
    }
    try DurableFile.write(
      outcome.bytes, to: ours, temporary: "\(ours).belfry", syncing: false)
    for decision in outcome.decisions {
      Console.error("belfry: \(decision.sentence([:], context.times))")
    }
  }
}
