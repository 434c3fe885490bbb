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
      Keep passwords and tokens in a credential helper, not in the URL.
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
    let remote = Remote(name: name, url: RemoteURLInput.absolute(url))
    if MailboxURL.isMailbox(remote.url, store) {
      throw CommandError(
        .usage,
        "\(RemoteURLInput.shown(remote.url)) is the mailbox of a partner, who could read all of your store there.",
        hint: "Make a repository of its own for the store: git init --bare")
    }
    try store.addRemote(remote)
    RemoteURLInput.warnOfCredentials(remote)
    if common.json {
      Console.write(remote.json.document)
    } else {
      Console.line(
        "Added the remote \(name): \(RemoteURLInput.shown(remote.url)). Sync with 'belfry sync'.")
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
      return Console.write(JSON.array(remotes.map(\.json)).document)
    }
    if remotes.isEmpty { Console.line("No remotes. Add one with 'belfry remote add origin URL'.") }
    for remote in remotes {
      Console.line("\(Printable.text(remote.name))  \(RemoteURLInput.shown(remote.url))")
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

extension Remote {
  /// `{name, url}`, without credentials.
  fileprivate var json: JSON {
    .object(["name": .string(name), "url": .string(URLMask.masked(url: url))])
  }
}

/// Where a remote is, as a person types it.
enum RemoteURLInput {
  /// The place as a person may see it, without credentials.
  static func shown(_ url: String) -> String { Printable.text(URLMask.masked(url: url)) }

  /// Warns where a URL holds a password or a token, which git keeps as it is.
  static func warnOfCredentials(_ remote: Remote) {
    guard URLMask.holdsCredentials(remote.url) else { return }
    let name = Printable.text(remote.name)
    Console.error(
      "belfry: warning: the URL of \(name) holds a password or a token, which is kept in plain text in .git/config."
    )
    Console.error(credentialHint(remote))
  }

  /// Says how credentials are kept out of a remote's URL.
  static func credentialHint(_ remote: Remote) -> String {
    "Give it to a credential helper (git help credentials), then: belfry git -- remote set-url \(Printable.text(remote.name)) \(Printable.text(URLMask.stripped(url: remote.url)))"
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
