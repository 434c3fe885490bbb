import ArgumentParser
import BelfryCore
import BelfryStore
import Git

struct RemoteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remote", abstract: "Add, list and remove the places to sync with.",
    subcommands: [RemoteAdd.self, RemoteList.self, RemoteRemove.self],
    defaultSubcommand: RemoteList.self)

  @ParentCommand var root: Belfry
}

struct RemoteAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a remote.",
    discussion: """
      A path, or a URL: ssh://you@host/path, https://host/path, git://host/path, file:///path. you@host:path is ssh
      too; the host may be an alias of ~/.ssh/config. Keys, credentials and certificates are those of ssh and git.
      """)

  @Argument(help: "What it is called: origin.")
  var name: String

  @Argument(help: "Where it is.")
  var url: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: RemoteCommand

  func run() throws {
    let context = try common.context(parent.root)
    guard name.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]{0,63}/) != nil, !name.hasSuffix(".lock"),
      !name.contains("..")
    else {
      throw CommandError(
        .usage, "'\(Printable.text(name))' cannot be a remote's name.",
        hint: "Use letters, digits, '.', '_' and '-'.")
    }
    let store = try context.open()
    let remote = Remote(name: name, url: RemotePlace.absolute(url))
    if MailboxPlace.isMailbox(remote.url, store) {
      throw CommandError(
        .usage,
        "\(RemotePlace.shown(remote.url)) is the mailbox of a partner, who could read all of your store there.",
        hint: "Make a repository of its own for the store: git init --bare")
    }
    try store.addRemote(remote)
    if common.json {
      Console.write(JSON.object(["name": .string(name), "url": .string(remote.url)]).document)
    } else {
      Console.line(
        "Added the remote \(name): \(RemotePlace.shown(remote.url)). Sync with 'belfry sync'.")
    }
  }
}

struct RemoteList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the remotes.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: RemoteCommand

  func run() throws {
    let remotes = try common.context(parent.root).open().remotes()
    if common.json {
      let list = remotes.map { JSON.object(["name": .string($0.name), "url": .string($0.url)]) }
      return Console.write(JSON.array(list).document)
    }
    if remotes.isEmpty { Console.line("No remotes. Add one with 'belfry remote add origin URL'.") }
    for remote in remotes {
      Console.line("\(Printable.text(remote.name))  \(RemotePlace.shown(remote.url))")
    }
  }
}

struct RemoteRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a remote; what was synced stays.")

  @Argument(help: "Its name.")
  var name: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: RemoteCommand

  func run() throws {
    try common.context(parent.root).open().removeRemote(name)
    if common.json {
      Console.write(JSON.object(["name": .string(name)]).document)
    } else {
      Console.line("Removed the remote \(Printable.text(name)).")
    }
  }
}

/// Where a remote is, as a person types it.
enum RemotePlace {
  /// The place as a person may see it, without a password.
  static func shown(_ url: String) -> String {
    Printable.text((try? RemoteURL(url))?.shown ?? url)
  }

  /// A path becomes absolute, as the store is elsewhere; anything with a scheme or a host stays.
  static func absolute(_ text: String) -> String {
    if text.contains("://") || text.hasPrefix("/") || text.hasPrefix("-") || text.isEmpty {
      return text
    }
    // `host:path` has its colon before any slash.
    let head = text.prefix { $0 != "/" }
    if head.contains(":") { return text }
    return CommandContext.absolute(text)
  }
}
