import ArgumentParser
import BelfryDocuments
import BelfryPartners
import BelfryStore
import BelfryTerminal

struct PartnerSync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Exchange messages with the mailboxes now.",
    discussion: "The daemon does this once a minute. 'belfry sync' does it, too.")

  /// Sends news as notifications. The daemon sets this flag, as nobody reads its terminal.
  @Flag(help: .hidden)
  var notify = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let session = try PartnerSession(common, parent.root)
    let report = try await Watchdog.limit { try await session.round() }
    let text = PartnerText(session.context)
    if !notify { session.context.warnings.warn(aboutPartnersOf: session.store) }
    if common.json {
      try Console.write(
        PartnerNewsDocument(news: report.news.flatMap(text.lines), waiting: report.waiting))
    } else {
      text.show(report.news)
      if !notify { try FormerPartnerAlarms(session).ask() }
      if report.news.isEmpty, report.failures.isEmpty, !notify {
        Console.line("No news from your partners.")
      }
      if report.waiting > 0 {
        Console.line(
          "\(report.waiting) more messages are waiting. To process them: belfry partner sync")
      }
    }
    if notify { await PartnerNotifications(session).send(report.news) }
    await session.context.maintain(session.store)
    guard let failure = report.failures.first else { return }
    for other in report.failures.dropFirst() {
      CommandError(partnerMailbox: other.error).report()
    }
    throw CommandError(partnerMailbox: failure.error)
  }
}
