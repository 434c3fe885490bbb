import ArgumentParser
import BelfryStore
import Git
import Glibc

struct Hooks: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let plain git join records, check them, and look at the clock.",
    discussion: """
      Without them Belfry mends afterwards what a plain 'git pull' could not merge. With them git merges records as a \
      sync does, refuses to commit one that is not valid, and lets Belfry look at the clock after a pull, merge, \
      checkout, commit or rebase. Hooks that are there already are called first, and stay.
      """,
    subcommands: [HooksInstall.self, HooksUninstall.self, HooksStatus.self, HooksCheck.self],
    defaultSubcommand: HooksStatus.self)

  @ParentCommand var root: Belfry
}

extension CommandContext {
  /// The hooks of a store's git.
  fileprivate func gitHooks(_ store: Store) throws -> GitHooks {
    guard let command = executable else {
      throw CommandError(.failed, "the binary's own place is not known.", hint: "Mount /proc.")
    }
    return try GitHooks(store, command: command, shipped: shippedHooks.map { $0 + "/git" })
  }
}

/// What was done with each hook, as lines or `[{hook, result}]`.
private func tell(_ outcomes: [(name: String, words: String)], asJSON: Bool) {
  if asJSON {
    let list = outcomes.map {
      JSON.object(["hook": .string($0.name), "result": .string($0.words)])
    }
    return Console.write(JSON.array(list).document)
  }
  for outcome in outcomes { Console.line("\(outcome.name): \(outcome.words)") }
}

struct HooksInstall: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Put the hooks and the merge driver into the store's git.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Hooks

  func run() throws {
    let context = try common.context(parent.root)
    let outcomes = try context.gitHooks(context.open()).install()
    tell([("merge driver", "installed")] + outcomes, asJSON: common.json)
  }
}

struct HooksUninstall: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uninstall", abstract: "Take them away again, and nothing else.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Hooks

  func run() throws {
    let context = try common.context(parent.root)
    let outcomes = try context.gitHooks(context.open()).uninstall()
    tell([("merge driver", "removed")] + outcomes, asJSON: common.json)
  }
}

struct HooksStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show which of them are there.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Hooks

  func run() throws {
    let context = try common.context(parent.root)
    let hooks = try context.gitHooks(context.open())
    var outcomes = [("merge driver", try hooks.hasDriver() ? "installed" : "missing")]
    for name in GitHooks.names {
      let state = try hooks.state(of: name)
      let words =
        switch state {
        case .missing, .installed: state.rawValue
        case .changed: "changed by somebody"
        case .other: "not Belfry's"
        }
      outcomes.append((name, words + (hooks.isChained(name) ? ", after the one before it" : "")))
    }
    tell(outcomes.map { (name: $0.0, words: $0.1) }, asJSON: common.json)
    if !common.json, outcomes.contains(where: { $0.1 == "missing" }) {
      Console.line("Put them there with 'belfry hooks install'.")
    }
  }
}

/// What the hook pre-commit calls.
struct HooksCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check the records that git is about to commit.",
    discussion:
      "The exit status is 1 when one is not valid. git calls it by itself before a commit.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Hooks

  func run() async throws {
    let context = try common.context(parent.root)
    // In a hook git says where the repository is; the store's own place may be another.
    let path = parent.root.store == nil ? CommandContext.absolute(".") : context.storePath
    let problems = try await StagedRecords.problems(in: path)
    if common.json {
      let list = problems.map {
        JSON.object(["path": .string($0.path), "reason": .string($0.error.words)])
      }
      Console.write(JSON.array(list).document)
    }
    for problem in problems {
      Console.error(
        "belfry: \(Printable.text(problem.path)) is not valid: \(Printable.text(problem.error.words))."
      )
    }
    if problems.isEmpty { return }
    Console.error("Correct it and stage it again, or commit with --no-verify.")
    throw ExitCode(CommandError.Code.failed.rawValue)
  }
}

/// What git calls to merge two versions of a record.
struct MergeDriverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge-driver", abstract: "Join two versions of a record, for git.",
    discussion: "git calls it by itself, once 'belfry hooks install' has been said.")

  @Argument(help: "The file of the common ancestor (%O).") var base: String
  @Argument(help: "The file of our version (%A); the result is written there.") var ours: String
  @Argument(help: "The file of the other version (%B).") var theirs: String
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
      in: CommandContext.absolute("."), at: context.storeContext.now)
    for problem in outcome.problems {
      Console.error(
        "belfry: warning: one side of \(Printable.text(path)) is not valid and was left out: \(Printable.text(problem.words))."
      )
    }
    try DurableFile.write(
      outcome.bytes, to: ours, temporary: "\(ours).belfry", syncing: false)
    for decision in outcome.decisions { Console.error("belfry: \(decision.sentence([:]))") }
  }
}
