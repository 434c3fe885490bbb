import ArgumentParser

struct Service: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "service",
    abstract: "Install, remove and check the background service.",
    discussion: """
      Alarms ring only while the scheduler runs. With systemd it is a user service with the daemon, or with --timer a \
      timer that runs a tick every minute; without systemd, a line in your crontab.

        belfry service install
        belfry service status
      """,
    subcommands: [ServiceInstall.self, ServiceUninstall.self, ServiceStatus.self],
    defaultSubcommand: ServiceStatus.self)

  @ParentCommand var root: Belfry
}
