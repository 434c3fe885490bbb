import ArgumentParser
import BelfryDocuments
import BelfryScheduler
import BelfryTerminal

struct ServiceInstall: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Start the scheduler now and at every login.",
    discussion: """
      A user service runs while you are logged in. With --linger it runs from boot on, also while nobody is logged in, \
      as on a server.

      --wake wakes the machine from sleep for alarms. systemd 254 and later allow this for users who are logged in.
      With an earlier version: sudo setcap cap_wake_alarm+ep PATH-OF-BELFRY

      --sandbox restricts the daemon and its hooks (no new privileges, fewer system calls). In the sandbox, hooks that \
      use sudo or a setgid mail program fail, and so does the setcap above.
      """)

  @Flag(help: "Run a tick every minute from a systemd timer, without a daemon.")
  var timer = false

  @Flag(help: "Wake the machine from sleep for alarms.")
  var wake = false

  @Flag(help: "Run the daemon and its hooks in a systemd sandbox.")
  var sandbox = false

  @Flag(inversion: .prefixedNo, help: "Keep it running while you are logged out (default: ask).")
  var linger: Bool?

  @Flag(
    name: [.customShort("n"), .long], help: "Show the units and the crontab line; install nothing.")
  var dryRun = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Service

  func run() async throws {
    let context = try common.context(parent.root)
    var installation = try ServiceInstallation(
      context, timer ? .timer : .daemon, wakes: wake, isSandboxed: sandbox)
    installation.lingering = linger
    if dryRun { return try show(installation.units) }
    let result = try await installation.run()
    if !common.json { installation.report(result) }
    let lingers = try await installation.setLingering(result)
    if common.json {
      try Console.write(
        ServiceInstallDocument(
          installed: result.method.rawValue, form: installation.units.form.rawValue,
          cronRuns: result.cronRuns, lingers: lingers))
    }
    try installation.expectCron(result)
  }

  private func show(_ units: ServiceUnits) throws {
    if common.json {
      return try Console.write(
        ServiceUnitsDocument(
          units: Dictionary(uniqueKeysWithValues: units.files.map { ($0.name, $0.text) }),
          crontab: units.crontab))
    }
    for (name, text) in units.files {
      Console.line("# \(name)")
      Console.write(text)
      Console.line("")
    }
    Console.line("# the crontab line, without systemd")
    Console.line(units.crontab)
  }
}
