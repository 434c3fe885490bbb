import ArgumentParser
import BelfryTerminal
import Glibc

struct CompletionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion",
    abstract: "Print the completion script of a shell.",
    discussion: """
      The packages install these scripts. For the current shell only:

        source <(belfry completion bash)
        source <(belfry completion zsh)
        belfry completion fish | source
      """)

  @Argument(
    help: "bash, zsh or fish (default: that of SHELL).",
    completion: .list(CompletionShell.allCases.map(\.rawValue)))
  var shell: String?

  func run() throws {
    let path = getenv("SHELL").map { String(cString: $0) } ?? ""
    let name = shell ?? path.split(separator: "/").last.map(String.init) ?? ""
    guard let known = CompletionShell(rawValue: name) else {
      let names = CompletionShell.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandError(
        .usage,
        name.isEmpty
          ? "the shell is missing." : "there are no completions for '\(Printable.text(name))'.",
        hint: "Name one of \(names).")
    }
    let script = Belfry.completionScript(for: known)
    Console.write(script.hasSuffix("\n") ? script : script + "\n")
  }
}
