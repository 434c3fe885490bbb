import ArgumentParser

/// What commands take that show something that moves.
struct MotionOptions: ParsableArguments {
  @Flag(help: "Let nothing move on the screen.")
  var noAnimation = false
}

/// What every command takes.
struct CommonOptions: ParsableArguments {
  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @Flag(help: "Print one JSON document.")
  var json = false

  /// `--store` may stand before the verb, too.
  func context(_ root: Belfry) throws -> CommandContext {
    var context = try CommandContext(store: store ?? root.store)
    context.isQuiet = json
    return context
  }
}
