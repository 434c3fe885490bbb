import BelfryCore
import BelfryPartners
import BelfryStore
import Git

/// What is said of partners, and of what goes to and fro between them.
struct PartnerText {
  private let output: AlarmOutput
  private var now: Instant { output.now }
  private var zones: ZoneLibrary { output.zones }

  init(_ context: CommandContext) {
    output = AlarmOutput(
      now: context.storeContext.now, zones: context.storeContext.zones, style: context.style)
  }

  /// A moment on this device's wall clock: the time alone where it is today.
  func when(_ instant: Instant) -> String { output.when(instant) }

  // MARK: Consent

  /// What it means to be partners, before somebody says yes.
  func consent(to name: String?, mailbox: String, limits: PartnerLimits) -> [String] {
    let who = name.map { Printable.text($0) } ?? "Whoever accepts"
    let quiet = limits.quiet.map { ", and not \(hours($0))" } ?? ""
    return [
      "\(who) will be able to:",
      "  * set alarms on your devices, which ring with their words: at most \(limits.perDay) a day, up to \(Span.length(limits.ahead)) ahead\(quiet)",
      "  * see of each whether it is set and could be shown, or which of your limits refused it; whether it rang; whether you stopped, snoozed, skipped, missed or acknowledged it; and whether you changed its time or words, paused, switched off or deleted it",
      "Nothing else: not your alarms, nor anything else in your store. You can do the same on theirs. It holds for a year; limits, muting and parting at any time: belfry help partner",
      "What is sent is sealed end to end. It lies at \(RemoteURLInput.shown(mailbox)), whose host sees that something was sent, when, and from where.",
    ]
  }

  private func hours(_ hours: QuietHours) -> String { "between \(hours.from) and \(hours.until)" }

  // MARK: The list

  func lines(_ partner: Partnership) -> [String] {
    let name = partner.name.isEmpty ? "An invitation" : Printable.text(partner.name)
    var lines = ["\(name)  \(partner.id.short)"]
    lines.append("  \(standing(partner))")
    if partner.phase == .active {
      let limits = partner.limits
      let quiet = limits.quiet.map { ", not \(hours($0))" } ?? ", at any hour"
      lines.append(
        limits.isMuted
          ? "  muted: nothing is taken (belfry partner unmute \(name))"
          : "  may ask \(limits.perDay) a day, \(limits.longest) characters, up to \(Span.length(limits.ahead)) ahead\(quiet)"
      )
    }
    if partner.phase != .ended {
      lines.append("  mailbox \(RemoteURLInput.shown(partner.mailbox))")
    }
    if let failure = partner.failure {
      let reached = partner.reached.map { ", reached before, about \(when($0))" } ?? ""
      lines.append(
        "  it could not be used last: \(Printable.text(URLMask.masked(failure)))\(reached)")
    }
    let waiting = partner.sent.count { !$0.isPosted && !$0.isRecalled }
    if waiting > 0 { lines.append("  \(waiting) waiting here until the mailbox is reached") }
    lines += faults(partner).map { "  \($0)" }
    return lines
  }

  private func standing(_ partner: Partnership) -> String {
    let isLate = partner.isLate(at: now)
    switch partner.phase {
    case .invited:
      return isLate
        ? "nobody answered it in time"
        : "nobody has answered it yet; it holds until \(when(partner.expires))"
    case .accepted:
      return isLate
        ? "their device did not answer in time: ask for another invitation"
        : "answered; their device has not been heard of yet"
    case .comparing:
      let code = partner.code ?? ""
      return "compare the code: \(code). If they see the same: belfry partner confirm '\(code)'"
    case .confirmed: return "you have confirmed the code \(partner.code ?? ""); they have not yet"
    case .active:
      guard let until = partner.validUntil else { return "paired" }
      let date = zones.local.civil(at: until).date.spoken
      if now >= until {
        return
          "past its year since \(date): re-pair with \(Printable.text(partner.name)): belfry partner invite"
      }
      let isSoon = until.seconds(since: now) < Partnership.endingSoon
      return "paired until \(date)" + (isSoon ? ": pair anew before then" : "")
    case .ended: return "no partner any more"
    }
  }

  private func faults(_ partner: Partnership) -> [String] {
    MailFault.allCases.compactMap { fault in
      partner.faults[fault].map { "refused: \(words(fault, $0))" }
    }
  }

  /// `forged, or changed on the way (3), last 14:02`
  func words(_ fault: MailFault, _ faults: Faults) -> String {
    "\(fault.words) (\(faults.count)), last \(when(faults.last))"
  }

  func json(_ partner: Partnership) -> JSON {
    .object(omittingNil: [
      "id": JSON(partner.id), "name": .string(partner.name),
      "phase": .string(partner.phase.rawValue),
      "mailbox": .string(URLMask.masked(url: partner.mailbox)),
      "code": partner.isPairing ? partner.code.map { .string($0) } : nil,
      "expires": partner.isPairing ? .string(zones.text(partner.expires)) : nil,
      "validUntil": partner.validUntil.map { .string(zones.text($0)) },
      "limits": json(partner.limits),
      "waiting": .integer(Int64(partner.sent.count { !$0.isPosted && !$0.isRecalled })),
      "faults": .object(
        Dictionary(
          uniqueKeysWithValues: partner.faults.map { fault, faults in
            (
              fault.rawValue,
              .object([
                "count": .integer(Int64(faults.count)), "last": .string(zones.text(faults.last)),
              ])
            )
          })),
      "failure": partner.failure.map { .string(URLMask.masked($0)) },
    ])
  }

  func json(_ limits: PartnerLimits) -> JSON {
    .object(omittingNil: [
      "perDay": .integer(Int64(limits.perDay)), "length": .integer(Int64(limits.longest)),
      "aheadSeconds": .integer(limits.ahead), "quiet": limits.quiet.map { JSON($0) },
      "muted": .bool(limits.isMuted),
    ])
  }

  // MARK: Requests

  /// `Wake up (16:45)`
  func words(_ request: PartnerRequest) -> String {
    let message = Printable.text(request.message.replacing("\n", with: " "))
    let every = request.repeats.map { ", \($0.schedule.summary) \($0.zone)" } ?? ""
    return "\(message) (\(when(request.at))\(every))"
  }

  /// How a request stands, in words.
  func standing(_ sent: SentRequest) -> String {
    guard let last = sent.standing else {
      return sent.isRecalled
        ? "taken back"
        : sent.isPosted ? "in the mailbox, not answered yet" : "waiting here to be sent"
    }
    if sent.isRecalled, last.state == .scheduled {
      return "taken back, which they have not seen yet"
    }
    return words(last)
  }

  func words(_ receipt: PartnerReceipt) -> String {
    let detail = receipt.detail.map { ": \(Printable.text($0))" } ?? ""
    let at = when(receipt.at)
    return switch receipt.state {
    case .scheduled: "set there\(receipt.detail.map { " (\(Printable.text($0)))" } ?? "")"
    case .expired: "came too late there"
    case .refused: "refused\(detail)"
    case .recalled: "taken back there"
    case .rung:
      receipt.detail.map { "was due at \(at), but \(Printable.text($0))" } ?? "rang at \(at)"
    case .snoozed: "snoozed at \(at)"
    case .stopped: "stopped at \(at)"
    case .missed: "rang, and nobody answered"
    case .skipped: "skipped there"
    case .acknowledged: "❤️ Got it, \(at)"
    case .changed: receipt.detail.map { Printable.text($0) } ?? "changed there"
    case .withdrawn: receipt.detail.map { Printable.text($0) } ?? "deleted there"
    case .reply: "says\(detail)"
    }
  }

  // MARK: News

  /// Says what has happened, a line each.
  ///
  /// - Parameter isApart: on standard error, as standard output holds one JSON document.
  func tell(_ news: [PartnerNews], isApart: Bool = false) {
    for line in news.flatMap(lines) {
      if isApart { Console.error(line) } else { Console.line(line) }
    }
  }

  func lines(_ news: PartnerNews) -> [String] {
    let name = news.partner.isEmpty ? "An invitation" : Printable.text(news.partner)
    switch news.event {
    case .code(let code):
      return [
        "\(name): compare the code, \(code). If they see the same: belfry partner confirm '\(code)'"
      ]
    case .paired: return ["You and \(name) are partners."]
    case .scheduled(let request):
      return ["From \(name): \(words(request))."] + warning(of: request.message)
    case .refused(let request, let refusal):
      let reason = refusal?.wordsHere ?? "it came too late"
      return ["From \(name), not set: \(words(request)): \(reason)."]
        + warning(of: request.message)
    case .recalled(let request): return ["\(name) has taken back: \(words(request))."]
    case .receipt(let receipt, let request):
      return ["\(name): \(words(request)): \(words(receipt))"]
    case .unpaired(let cancelled):
      let alarms = cancelled == 1 ? "An alarm" : "\(cancelled) alarms"
      return ["\(name) is no partner any more."]
        + (cancelled == 0
          ? []
          : [
            "\(alarms) that \(name) had set \(cancelled == 1 ? "was" : "were") deleted. To restore: belfry undo"
          ])
    case .fault(let fault, let count):
      return ["\(name): warning: refused: \(fault.words) (\(count))."]
    case .usedTwice:
      return [
        "Two have answered the invitation, so neither was taken: somebody else knows the link.",
        "Make another, and hand it over another way: belfry partner invite",
      ]
    }
  }

  /// Returns a warning about an odd message; nil when nothing is odd.
  static func oddity(of message: String) -> String? {
    let parts = [
      AlarmText.hasInvisible(message) ? "characters that cannot be seen" : nil,
      LookAlikes.hasMixedWord(message)
        ? "words of letters that look alike from several scripts" : nil,
    ].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }

  private func warning(of message: String) -> [String] {
    PartnerText.oddity(of: message).map { ["  warning: it holds \($0)"] } ?? []
  }

  /// What a person is to be told of, though nothing rings: headline and body; nil for what can wait.
  func notification(_ news: PartnerNews) -> (headline: String, body: String)? {
    switch news.event {
    case .receipt(let receipt, let request):
      switch receipt.state {
      case .acknowledged: return ("❤️ \(news.partner): Got it", request.message)
      case .reply: return (news.partner, "\(receipt.detail ?? "")\n\(request.message)")
      case .refused, .expired, .missed, .withdrawn, .changed:
        return ("\(news.partner): \(words(receipt))", request.message)
      default: return nil
      }
    case .code, .paired, .unpaired, .usedTwice:
      let lines = lines(news)
      return (lines[0], lines.dropFirst().joined(separator: "\n"))
    case .refused(_, .muted): return nil
    case .refused, .recalled:
      let lines = lines(news)
      return (lines[0], lines.dropFirst().joined(separator: "\n"))
    case .scheduled(let request):
      return PartnerText.oddity(of: request.message).map {
        ("A message from \(news.partner) holds \($0)", Printable.text(request.message))
      }
    case .fault: return nil
    }
  }
}
