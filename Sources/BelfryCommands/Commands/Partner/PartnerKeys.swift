import ArgumentParser

struct PartnerKeys: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Copy the keys of your partners to another device of yours.",
    discussion: """
      Alarms from partners reach all your devices through your own sync. With the keys, a device also checks the \
      mailbox itself and can send requests. That helps if the first device is often off.

        belfry partner keys export | ssh desktop belfry partner keys import
      """,
    subcommands: [PartnerKeysExport.self, PartnerKeysImport.self])

  @ParentCommand var parent: PartnerCommand
}
