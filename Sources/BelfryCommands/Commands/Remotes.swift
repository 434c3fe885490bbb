import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Git

struct RemoteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remote", abstract: "Add, list and remove the remotes of the store.",
    subcommands: [RemoteAdd.self, RemoteList.self, RemoteRemove.self],
    defaultSubcommand: RemoteList.self)

  @ParentCommand var root: Belfry
}

struct RemoteAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a remote.",
    discussion: """
      The URL is a path, ssh://you@host/path, you@host:path, https://host/path, git://host/path or file:///path. The \
      host may be an alias of ~/.ssh/config. Keys, credentials and certificates are those of your ssh and git. Keep \
      passwords and tokens in a credential helper, not in the URL.

      If there is no repository at a path, such as one on a USB disk, --create creates it. On a terminal the command asks.

        belfry remote add origin /media/usb/belfry.git --create
        belfry remote add origin you@server:belfry.git
      """)

  @Argument(help: "The name, such as origin.", completion: .text)
  var name: String

  @Argument(help: "The path or URL.", completion: .directory)
  var url: String

  @Flag(help: "Create a bare repository if there is none at the path.")
  var create = false

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
    let store = try context.open(.creating)
    let remote = Remote(name: name, url: RemoteURLInput.absolute(url))
    if MailboxURL.isMailbox(remote.url, store) {
      throw CommandError(
        .usage,
        "\(RemoteURLInput.shown(remote.url)) is the mailbox of a partner, who could read your whole store there.",
        hint: "Create a separate repository for the store: git init --bare")
    }
    let isCreated = try createRepository(of: remote, store)
    try store.sync.addRemote(remote)
    RemoteURLInput.warnOfCredentials(remote)
    if common.json {
      try Console.write(RemoteDocument(remote, isCreated: isCreated))
    } else {
      if isCreated { Console.line("Created the repository \(RemoteURLInput.shown(remote.url)).") }
      Console.line(
        "Added the remote \(name): \(RemoteURLInput.shown(remote.url)). To sync: belfry sync")
    }
  }
}

extension RemoteAdd {
  /// Creates the repository of a remote at a path if there is none, and the user wants it.
  private func createRepository(of remote: Remote, _ store: Store) throws -> Bool {
    if try store.sync.remotes().contains(where: { $0.name == name }) {
      throw StoreError.remoteExists(name)
    }
    guard let repository = RemoteRepository(remote) else {
      if create, (try? RemoteURL(remote.url)) != nil {
        throw CommandError(
          .usage, "--create needs a path on this machine.",
          hint: "Create it on the host: git init --bare -b main PATH")
      }
      return false
    }
    return try repository.create(isWanted: create, canAsk: Style.canAsk && !common.json)
  }
}

struct RemoteList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the remotes.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: RemoteCommand

  func run() throws {
    let remotes = try common.context(parent.root).open(.reading).sync.remotes()
    if common.json {
      return try Console.write(remotes.map(RemoteDocument.init))
    }
    if remotes.isEmpty {
      Console.line("The store has no remotes. To add one: belfry remote add origin URL")
    }
    for remote in remotes {
      Console.line("\(Printable.text(remote.name))  \(RemoteURLInput.shown(remote.url))")
    }
  }
}

struct RemoteRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a remote; synced alarms stay.")

  @Argument(help: "The name of the remote.", completion: .remotes)
  var name: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: RemoteCommand

  func run() throws {
    try common.context(parent.root).open(.writing).sync.removeRemote(name)
    if common.json {
      try Console.write(RemovedRemoteDocument(name: name))
    } else {
      Console.line("Removed the remote \(Printable.text(name)).")
    }
  }
}

/// The path or URL of a remote, as the user types it.
enum RemoteURLInput {
  /// Returns the URL for output, with credentials masked.
  static func shown(_ url: String) -> String { Printable.text(URLMask.masked(url: url)) }

  /// Warns if the URL contains a password or a token, because git stores it in plain text.
  static func warnOfCredentials(_ remote: Remote) {
    guard URLMask.holdsCredentials(remote.url) else { return }
    let name = Printable.text(remote.name)
    CommandDiagnostic.warn(
      "the URL of \(name) contains a password or a token, which is kept in plain text in .git/config.",
      hints: [credentialHint(remote)])
  }

  /// Returns the hint that explains how to remove the credentials from a remote's URL.
  static func credentialHint(_ remote: Remote) -> String {
    "Store it in a credential helper (git help credentials), then: belfry git -- remote set-url \(Printable.text(remote.name)) \(Printable.text(URLMask.stripped(url: remote.url)))"
  }

  /// Returns the absolute form of a relative path, because git resolves it in the store. URLs are returned unchanged.
  static func absolute(_ text: String) -> String {
    if text.contains("://") || text.hasPrefix("/") || text.hasPrefix("-") || text.isEmpty {
      return text
    }
    // In `host:path` the colon is before any slash.
    let head = text.prefix { $0 != "/" }
    if head.contains(":") { return text }
    return CommandEnvironment.absolute(text)
  }
}
