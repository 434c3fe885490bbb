import ArgumentParser
import BelfryTerminal

extension ColorChoice: ExpressibleByArgument {}

/// The option of commands that show an animation.
struct MotionOptions: ParsableArguments {
  @Flag(help: "Disable animations.")
  var noAnimation = false
}

/// The option of commands whose output can be long.
struct PagerOptions: ParsableArguments {
  @Flag(help: "Do not show long output in a pager.")
  var noPager = false

  /// Shows the output from now on in a pager if it is longer than the screen. `--no-pager` is also accepted before the
  /// verb. Call it behind everything that asks the user, such as the welcome pages.
  func start(_ context: CommandContext, _ root: Belfry) {
    if noPager || root.noPager || context.isQuiet { return }
    if Style.isDumb(context.environment["TERM"]) { return }
    Console.page { context.pager }
  }
}

/// The options of commands that ask before they change something.
struct ConfirmationOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
  var yes = false

  @Flag(name: [.customShort("n"), .long], help: "Show what would change; change nothing.")
  var dryRun = false
}

/// The options that every command has.
struct CommonOptions: ParsableArguments {
  @Option(
    help: "The store's folder (default: BELFRY_STORE, else the data folder).",
    completion: .directory)
  var store: String?

  @Flag(help: "Print one JSON document.")
  var json = false

  @Option(help: "Colors: auto, always or never (default: auto).")
  var color: ColorChoice?

  /// Returns the context. `--store` and `--color` are also accepted before the verb.
  func context(_ root: Belfry) throws -> CommandContext {
    let color = color ?? root.color ?? .auto
    Console.colorErrors(color)
    var context = try CommandContext(store: store ?? root.store, color: color)
    context.isQuiet = json
    return context
  }
}
