import ArgumentParser

struct PartnerMute: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mute", abstract: "Refuse a partner's requests; keep the alarms already set.",
    discussion: """
      Requests are refused, and the partner is notified of that. Replies are dropped and never shown. Receipts for \
      your own requests still arrive. This holds on all your devices after the next sync.
      """)

  @Argument(help: "The partner.", completion: .partners)
  var partner: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws { try PartnerMuting.set(true, partner, common, parent.root) }
}
