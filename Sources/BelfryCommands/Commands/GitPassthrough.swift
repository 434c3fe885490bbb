import ArgumentParser
import Git
import Glibc

struct GitPassthrough: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "git", abstract: "Run git in the store.",
    discussion: """
        belfry git -- log --stat
        belfry git -- diff HEAD~1
      """)

  @Argument(parsing: .captureForPassthrough, help: "The arguments of git.")
  var arguments: [String] = []

  @ParentCommand var root: Belfry

  func run() throws {
    if arguments.first == "--help" || arguments.first == "-h" { throw CleanExit.helpRequest(self) }
    let store = try CommandContext(store: root.store).open(.writing, welcome: false)
    for name in GitCommand.repositoryVariables { unsetenv(name) }
    let argv =
      ["git", "-C", store.path]
      + (arguments.first == "--" ? Array(arguments.dropFirst()) : arguments)
    signal(SIGPIPE, SIG_DFL)
    var pointers = argv.map { strdup($0) } + [nil]
    execvp("git", &pointers)
    throw CommandError(
      .failed, "git could not be started.", hint: "Install it: apt-get install git")
  }
}
