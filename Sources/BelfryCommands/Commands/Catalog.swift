import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct Catalog: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalog",
    abstract: "Show every part of the terminal output, in every state.",
    discussion: "Uses sample alarms and a fixed clock; reads nothing from the store.",
    shouldDisplay: false)

  @Option(help: "The width in columns, 40 to 200 (default: that of the terminal).")
  var width: Int?

  @Option(help: "Colors: auto, always or never (default: auto).")
  var color: ColorChoice?

  @Flag(help: "Print the names of the parts as one JSON document.")
  var json = false

  @ParentCommand var root: Belfry

  func validate() throws {
    if let width, !(40...200).contains(width) { throw ValidationError("--width is 40 to 200.") }
  }

  func run() throws {
    let terminal = Style(CommandEnvironment.processVariables(), color: color ?? root.color ?? .auto)
    let style = Style(
      isColored: terminal.isColored, width: width ?? terminal.width ?? 80,
      timeFormat: terminal.timeFormat)
    let parts = CatalogParts(style).all
    if json {
      return try Console.write(parts.map { CatalogPartDocument(name: $0.name) })
    }
    for part in parts {
      Console.line("== \(part.name)")
      Console.write(part.text)
      Console.line("")
    }
  }
}
