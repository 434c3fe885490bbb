import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore

struct Catalog: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show every part of the terminal's look, in every state.",
    discussion: "With made-up alarms and a made-up clock: nothing is read from the store.")

  @Option(help: "Columns: 40 to 200 (default: the terminal's).")
  var width: Int?

  @Flag(inversion: .prefixedNo, help: "Colours, or none (default: as the terminal wants).")
  var colour: Bool?

  @Flag(help: "Print the names of the parts as one JSON document.")
  var json = false

  func validate() throws {
    if let width, !(40...200).contains(width) { throw ValidationError("--width is 40 to 200.") }
  }

  func run() throws {
    let terminal = Style(CommandContext.environment())
    let style = Style(
      isColoured: colour ?? terminal.isColoured, width: width ?? terminal.width ?? 80)
    let parts = CatalogParts(style).all
    if json {
      return Console.write(JSON.array(parts.map { .string($0.name) }).document)
    }
    for part in parts {
      Console.line("== \(part.name)")
      Console.write(part.text)
      Console.line("")
    }
  }
}
