import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryTerminal

struct PartnerRename: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Change a partner's name on this device.")

  @Argument(help: "The partner.", completion: .partners)
  var partner: String

  @Argument(help: "The new name.", completion: .text)
  var name: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws {
    let session = try PartnerSession(common, parent.root)
    let partner = try session.find(self.partner)
    guard let name = PartnerOrigin.name(self.name) else {
      throw CommandError(
        .usage, "'\(Printable.text(self.name))' is not a valid name.",
        hint: PartnerOrigin.nameRule)
    }
    try PartnerNames.check(name, besides: partner.id, session)
    let renamed = try session.change(partner.id) { partner in
      partner.name = name
      return partner
    }
    try session.show(renamed, json: common.json)
  }
}
