import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryPartners
import BelfryStore
import BelfryTerminal

struct PartnerLimitsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "limits", abstract: "Show or set what a partner may request.",
    discussion: """
      A request beyond the limits is refused, and the partner learns the reason. The quiet hours also apply when an \
      accepted alarm comes due: it rings when they end. The limits hold on all your devices after the next sync.
      """)

  @Argument(help: "The partner.", completion: .partners)
  var partner: String

  @Option(
    help: ArgumentHelp("Requests accepted, and rings, per day: 0 to 200.", valueName: "n"))
  var perDay: Int?

  @Option(help: ArgumentHelp("Characters of a message: 1 to 1000.", valueName: "n"))
  var length: Int?

  @Option(help: ArgumentHelp("How far ahead: 12h, 31d, up to 366d.", valueName: "time"))
  var ahead: String?

  @Option(help: ArgumentHelp("Hours without rings: 23:00-06:00, or off.", valueName: "hours"))
  var quiet: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws {
    let session = try PartnerSession(common, parent.root)
    let partner = try session.find(self.partner)
    let limited = try session.change(partner.id) { partner in
      try apply(to: &partner.limits)
      return partner
    }
    // The quiet hours also apply to the alarms that are already set, on all devices.
    try QuietHoursUpdate(session.store, to: limited.limits.quiet).apply(
      to: limited.received.filter { !$0.isOver }.compactMap(\.alarm))
    try session.show(limited, json: common.json)
  }

  /// Changes the limits that the options name.
  private func apply(to limits: inout PartnerLimits) throws {
    if let perDay {
      guard PartnerLimits.perDays.contains(perDay) else {
        throw CommandError(
          .usage, "--per-day is from 0 to 200.",
          hint: "To refuse all requests: belfry partner mute")
      }
      limits.perDay = perDay
    }
    if let length {
      guard PartnerLimits.lengths.contains(length) else {
        throw CommandError(.usage, "--length is from 1 to 1000.", hint: "Nothing was changed.")
      }
      limits.longest = length
    }
    if let ahead {
      guard let seconds = Input.seconds(ahead), PartnerLimits.reaches.contains(seconds) else {
        throw CommandError(
          .usage, "--ahead: '\(Printable.text(ahead))' is not a length of time up to 366 days.",
          hint: "Write it as 12h or 31d.")
      }
      limits.ahead = seconds
    }
    if let quiet {
      if quiet.lowercased() == "off" {
        limits.quiet = nil
      } else if let hours = Input.quietHours(quiet) {
        limits.quiet = hours
      } else {
        throw CommandError(
          .usage, "--quiet: '\(Printable.text(quiet))' is not a range of hours.",
          hint: "Write it as 23:00-06:00, or off.")
      }
    }
  }
}
