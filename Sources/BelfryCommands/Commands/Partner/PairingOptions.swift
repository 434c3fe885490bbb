import ArgumentParser

/// The options that `partner invite` and `partner accept` share.
struct PairingOptions: ParsableArguments {
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("Your name, as the partner sees it.", valueName: "name"))
  var ownName: String?

  @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
  var yes = false

  @Flag(help: "Do not wait for the other side; 'belfry partner' shows the status.")
  var noWait = false
}
