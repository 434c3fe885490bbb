import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryStore

struct PartnerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "partner",
    abstract: "Set alarms on a partner's devices, and have them set on yours, sealed end to end.",
    discussion: """
      A git remote that both can reach, the mailbox, carries sealed envelopes. It is not your store's remote: make an \
      empty repository of its own, which both may push to.

        belfry partner invite --remote ssh://you@host/srv/mailbox.git    # shows a QR code and a link
        belfry partner accept 'belfry://pair?…'                          # on the partner's side
        belfry partner send Alex "Wake up from your nap ❤️" --at 16:45
        belfry partner send Alex "Bins out" --at 19:00 --repeat weekly thu
        belfry partner recall 3kq7                                       # take one back
        belfry partner log                                               # both directions
        belfry partner limits Alex --per-day 5 --quiet 22:00-07:00
        belfry partner reply nap "On my way"
        belfry partner remove Alex

      What comes rings like any alarm, titled From Alex, and goes by words of its message, too; 'belfry done' on it \
      is ❤️ Got it, which Alex hears of. The daemon looks into the mailbox once a minute; without one, 'belfry sync' \
      does.
      """,
    subcommands: [
      PartnerList.self, PartnerInvite.self, PartnerAccept.self, PartnerConfirm.self,
      PartnerSend.self, PartnerRecall.self, PartnerReply.self, PartnerLog.self,
      PartnerLimitsCommand.self, PartnerMute.self, PartnerUnmute.self, PartnerRename.self,
      PartnerRemove.self, PartnerKeys.self, PartnerSync.self,
    ], defaultSubcommand: PartnerList.self)

  @ParentCommand var root: Belfry
}

struct PartnerList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Show the partners, and how each stands.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws {
    let place = try PartnerSession(common, parent.root)
    let text = PartnerText(place.context)
    let partners = place.partners.filter { $0.phase != .ended }
    if common.json {
      return Console.write(JSON.array(partners.map(text.json)).document)
    }
    if partners.isEmpty {
      Console.line("You have no partners. Invite somebody: belfry partner invite --remote URL")
      Console.line("More: belfry help partner")
      return
    }
    for (index, partner) in partners.enumerated() {
      if index > 0 { Console.write("\n") }
      for line in text.lines(partner) { Console.line(line) }
    }
  }
}

struct PartnerSync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Look into the mailboxes now: take what came, send what waits.",
    discussion: "The daemon does it once a minute, and 'belfry sync' does it, too.")

  /// Tells people who are not looking at this terminal: for the daemon.
  @Flag(help: .hidden)
  var notify = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let place = try PartnerSession(common.context(parent.root), creates: false)
    let report = try await Watchdog.limit { try await place.round() }
    let text = PartnerText(place.context)
    if common.json {
      Console.write(
        JSON.object([
          "news": .array(report.news.flatMap(text.lines).map { .string($0) }),
          "waiting": .integer(Int64(report.waiting)),
        ]).document)
    } else {
      text.tell(report.news)
      if report.news.isEmpty, report.failures.isEmpty, !notify { Console.line("Nothing is new.") }
      if report.waiting > 0 {
        Console.line("\(report.waiting) more wait: belfry partner sync")
      }
    }
    if notify { await PartnerNotifications(place).tell(report.news) }
    await place.context.upkeep(place.store)
    guard let failure = report.failures.first else { return }
    for other in report.failures.dropFirst() {
      Console.error("belfry: \(CommandError(partnerMailbox: other.error).message)")
    }
    throw CommandError(partnerMailbox: failure.error)
  }
}

struct PartnerLimitsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "limits", abstract: "Show or set what a partner may ask.",
    discussion: """
      What goes beyond is refused, and the partner is told why. The quiet hours also hold when an alarm that was taken \
      is to ring: it waits until they end.
      """)

  @Argument(help: "The partner.")
  var partner: String

  @Option(
    help: ArgumentHelp("Requests taken, and rings, on one day, 0 to 200.", valueName: "n"))
  var perDay: Int?

  @Option(help: ArgumentHelp("Characters of a message, 1 to 1000.", valueName: "n"))
  var length: Int?

  @Option(help: ArgumentHelp("How far ahead: 12h, 31d, up to 366d.", valueName: "time"))
  var ahead: String?

  @Option(help: ArgumentHelp("When nothing may ring: 23:00-06:00, or off.", valueName: "hours"))
  var quiet: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws {
    let place = try PartnerSession(common, parent.root)
    let partner = try place.find(self.partner)
    let limited = try place.change(partner.id) { partner in
      try apply(to: &partner.limits)
      return partner
    }
    // What is set already keeps them, too, on all devices.
    try place.store.note(
      limited.limits.quiet, in: limited.received.filter { !$0.isOver }.compactMap(\.alarm))
    PartnerSwitching.show(limited, place, json: common.json)
  }

  /// Changes the limits that the options name.
  private func apply(to limits: inout PartnerLimits) throws {
    if let perDay {
      guard PartnerLimits.perDays.contains(perDay) else {
        throw CommandError(
          .usage, "--per-day is from 0 to 200.", hint: "For nothing: belfry partner mute")
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
      guard let seconds = Span.parse(ahead), PartnerLimits.reaches.contains(seconds) else {
        throw CommandError(
          .usage, "--ahead: '\(Printable.text(ahead))' is no time up to 366 days.",
          hint: "Write it as 12h or 31d.")
      }
      limits.ahead = seconds
    }
    if let quiet {
      if quiet.lowercased() == "off" {
        limits.quiet = nil
      } else if let hours = QuietHours(quiet) {
        limits.quiet = hours
      } else {
        throw CommandError(
          .usage, "--quiet: '\(Printable.text(quiet))' are no hours.",
          hint: "Write them as 23:00-06:00, or off.")
      }
    }
  }
}

/// What commands share that change how a partner is treated.
enum PartnerSwitching {
  static func show(_ partner: Partnership, _ place: PartnerSession, json: Bool) {
    let text = PartnerText(place.context)
    if json { return Console.write(text.json(partner).document) }
    for line in text.lines(partner) { Console.line(line) }
  }

  static func mute(_ name: String, _ isMuted: Bool, _ common: CommonOptions, _ root: Belfry) throws
  {
    let place = try PartnerSession(common, root)
    let partner = try place.find(name)
    let muted = try place.change(partner.id) { partner in
      partner.limits.isMuted = isMuted
      return partner
    }
    show(muted, place, json: common.json)
  }
}

struct PartnerMute: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mute", abstract: "Take nothing from a partner for a while; what is set stays.",
    discussion: """
      Requests are refused, and the partner is told so. Their replies are dropped: nobody sees them, also later. What \
      becomes of your own requests is still known.
      """)

  @Argument(help: "The partner.")
  var partner: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws { try PartnerSwitching.mute(partner, true, common, parent.root) }
}

struct PartnerUnmute: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unmute", abstract: "Take what a muted partner sends again.")

  @Argument(help: "The partner.")
  var partner: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws { try PartnerSwitching.mute(partner, false, common, parent.root) }
}

struct PartnerRename: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Call a partner by another name, here.")

  @Argument(help: "The partner.")
  var partner: String

  @Argument(help: "The name.")
  var name: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws {
    let place = try PartnerSession(common, parent.root)
    let partner = try place.find(self.partner)
    guard let name = PartnerOrigin.name(self.name) else {
      throw CommandError(
        .usage, "'\(Printable.text(self.name))' is no name.",
        hint: PartnerOrigin.nameRule)
    }
    try PartnerNames.check(name, besides: partner.id, place)
    let renamed = try place.change(partner.id) { partner in
      partner.name = name
      return partner
    }
    PartnerSwitching.show(renamed, place, json: common.json)
  }
}

/// No two partners go by one name, or by names that look the same.
enum PartnerNames {
  /// Those of the same name, however it is written.
  static func namesakes(_ name: String, besides id: Identifier, _ place: PartnerSession)
    -> [Partnership]
  {
    place.partners.filter {
      $0.id != id && $0.phase != .ended && $0.name.lowercased() == name.lowercased()
    }
  }

  /// One whose name is another, and looks the same.
  static func lookAlike(_ name: String, besides id: Identifier, _ place: PartnerSession)
    -> Partnership?
  {
    place.partners.first {
      $0.id != id && $0.phase != .ended && LookAlikes.areConfusable($0.name, name)
    }
  }

  /// Throws when a name looks like that of another partner.
  static func checkLooks(
    _ name: String, besides id: Identifier, _ place: PartnerSession, hint: String
  )
    throws
  {
    guard let other = lookAlike(name, besides: id, place) else { return }
    throw CommandError(
      .usage,
      "the name \(Printable.text(name)) looks like that of your partner \(Printable.text(other.name)), and is another: somebody may want to pass for them.",
      hint: hint)
  }

  static func check(_ name: String, besides id: Identifier, _ place: PartnerSession) throws {
    try checkLooks(name, besides: id, place, hint: "Choose another name.")
    guard namesakes(name, besides: id, place).isEmpty else {
      throw CommandError(
        .usage, "there is a partner \(Printable.text(name)) already.", hint: "Choose another name.")
    }
  }
}

struct PartnerRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Part: delete the keys, cancel what the partner has set, and tell them.",
    discussion: """
      What you have set on theirs is deleted there once their device hears of it. 'belfry undo' does not take it \
      back: pair anew. Say it on each of your devices that has the keys: see 'belfry help partner keys'.
      """)

  @Argument(help: "The partner.")
  var partner: String

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let place = try PartnerSession(common, parent.root)
    let partner = try place.find(self.partner)
    let name = partner.name.isEmpty ? "the invitation" : Printable.text(partner.name)
    let set = partner.received.filter { !$0.isOver && $0.alarm != nil }
    if !yes, Style.canAsk {
      let count =
        set.isEmpty
        ? "" : " \(set.count == 1 ? "An alarm" : "\(set.count) alarms") of theirs will be deleted."
      Console.prompt("Part from \(name)?\(count)")
      guard Console.confirmed() else {
        throw CommandError(.failed, "nothing was changed.", hint: "Answer y to part.")
      }
    }
    let cancelled = try place.change(partner.id) { partner in
      // The daemon may have accepted more during the prompt. The keys go last: a failed deletion can be repeated.
      let deleted = try place.store.delete(
        partner.received.filter { !$0.isOver }.compactMap(\.alarm),
        why: "parted from \(partner.name)", isFinal: true)
      try partner.end(at: place.now)
      return deleted.count
    }
    let document = JSON.object([
      "partner": .string(partner.name), "cancelled": .integer(Int64(cancelled)),
    ])
    if !common.json {
      Console.line(
        "Removed \(name)"
          + (cancelled == 0
            ? "." : "; \(cancelled) of their alarms \(cancelled == 1 ? "was" : "were") deleted."))
    }
    try await place.roundAfter(
      "\(name) is told when the mailbox can be reached.", json: common.json ? { document } : nil)
  }
}
