import ArgumentParser
import BelfryCore
import BelfryStore

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show all alarms: what rings first, then what comes next.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open()
    let cards = try context.overview(store).sorted(by: AlarmOutput.order)
    let output = AlarmOutput(store: store, style: context.style)
    if common.json {
      let alarms = try store.alarms(cards)
      return output.print(
        .array(cards.compactMap { card in alarms[card.id].map { output.json($0, card.status) } }))
    }
    if cards.isEmpty {
      Console.line("No alarms yet. Add one:")
      Console.line("  belfry add \"Rent reminder\" --weekly mon,fri --at 09:00")
      return
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(cards.count * 128)
    for (index, card) in cards.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: "\n")) }
      bytes.append(contentsOf: output.card(card).utf8)
    }
    Console.write(bytes)
  }
}
