import ArgumentParser

struct PartnerUnmute: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unmute", abstract: "Accept a muted partner's requests again.")

  @Argument(help: "The partner.", completion: .partners)
  var partner: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws { try PartnerMuting.set(false, partner, common, parent.root) }
}
