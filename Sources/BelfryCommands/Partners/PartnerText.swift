import BelfryCore
import BelfryDocuments
import BelfryPartners
import BelfryStore
import BelfryTerminal
import Files
import Git

/// Partners, requests and receipts as text.
struct PartnerText {
  private let output: AlarmOutput
  private var now: Instant { output.now }
  private var zones: ZoneLibrary { output.zones }

  init(_ context: CommandContext) {
    output = AlarmOutput(
      now: context.storeContext.now, zones: context.storeContext.zones, style: context.style)
  }

  /// Returns a moment on this device's wall clock, without the date if it is today.
  func when(_ instant: Instant) -> String { output.when(instant) }

  /// Returns the date of a moment on this device's wall clock.
  func date(_ instant: Instant) -> String {
    output.times.date(zones.local.civil(at: instant).date)
  }

  // MARK: Consent

  /// Returns a description of the rights that partners grant each other, shown before the user agrees.
  ///
  /// - Parameter name: the partner's name; nil if it is not known yet.
  func consent(to name: String?, mailbox: String, limits: PartnerLimits) -> [String] {
    let who = name.map { Printable.text($0) } ?? "The person who accepts"
    let quiet = limits.quiet.map { ", and not \(hours($0))" } ?? ""
    return [
      "\(who) will be able to:",
      "  * set alarms on your devices, which ring with their message: at most \(limits.perDay) a day, up to \(Span.length(limits.ahead)) ahead\(quiet)",
      "  * see for each alarm: whether it was set and could be shown, or which of your limits refused it; whether it rang; whether you stopped, snoozed, skipped, missed or acknowledged it; and whether you changed its time or message, paused, disabled or deleted it",
      "They see nothing else: neither your other alarms nor the rest of your store. You can do the same on their devices. The pairing is valid for a year. You can limit, mute or remove the partner at any time: belfry help partner",
      "Messages are encrypted end to end. The host of the mailbox \(RemoteURLInput.shown(mailbox)) sees that something was sent, when, and from where.",
    ]
  }

  private func hours(_ hours: QuietHours) -> String {
    "between \(output.times.time(hours.from)) and \(output.times.time(hours.until))"
  }

  // MARK: The list

  func lines(_ partner: Partnership) -> [String] {
    let name = partner.name.isEmpty ? "An invitation" : Printable.text(partner.name)
    var lines = ["\(name)  \(partner.id.short)"]
    lines.append("  \(status(partner))")
    if partner.phase == .active {
      let limits = partner.limits
      let quiet = limits.quiet.map { ", not \(hours($0))" } ?? ", at any hour"
      lines.append(
        limits.isMuted
          ? "  muted: requests are refused (belfry partner unmute \(name))"
          : "  limits: \(limits.perDay) a day, \(limits.longest) characters, up to \(Span.length(limits.ahead)) ahead\(quiet)"
      )
    }
    if partner.phase != .ended {
      lines.append("  mailbox \(RemoteURLInput.shown(partner.mailbox))")
    }
    if let failure = partner.connection.failure {
      let reached = partner.connection.reached.map { " Last reached about \(when($0))." } ?? ""
      lines.append("  last failure: \(Printable.text(URLMask.masked(failure)))\(reached)")
    }
    let waiting = partner.sent.count { !$0.isPosted && !$0.isRecalled }
    if waiting > 0 { lines.append("  \(waiting) waiting here until the mailbox can be reached") }
    lines += faults(partner).map { "  \($0)" }
    return lines
  }

  private func status(_ partner: Partnership) -> String {
    let isLate = partner.isLate(at: now)
    switch partner.phase {
    case .invited:
      return isLate
        ? "not answered in time"
        : "not answered yet; valid until \(when(partner.expires))"
    case .accepted:
      return isLate
        ? "their device did not answer in time: ask for another invitation"
        : "answered; waiting for their device"
    case .comparing:
      let code = partner.code ?? ""
      return "compare the code: \(code). If they see the same: belfry partner confirm '\(code)'"
    case .confirmed: return "you have confirmed the code \(partner.code ?? ""); they have not yet"
    case .active:
      guard let until = partner.validUntil else { return "paired" }
      let date = date(until)
      if now >= until {
        return
          "expired on \(date). Re-pair with \(Printable.text(partner.name)): belfry partner invite"
      }
      let isSoon = until.seconds(since: now) < Partnership.endingSoon
      return "paired until \(date)" + (isSoon ? "; re-pair before then" : "")
    case .ended: return "no longer a partner"
    }
  }

  private func faults(_ partner: Partnership) -> [String] {
    MailFault.allCases.compactMap { fault in
      partner.mail.faults[fault].map { "refused: \(summary(fault, $0))" }
    }
  }

  /// `forged or modified (3), last 14:02`
  func summary(_ fault: MailFault, _ faults: Faults) -> String {
    "\(fault.text) (\(faults.count)), last \(when(faults.last))"
  }

  func document(_ partner: Partnership) -> PartnerDocument {
    PartnerDocument(partner, zones: zones)
  }

  // MARK: Requests

  /// `Wake up (16:45)`
  func summary(_ request: PartnerRequest) -> String {
    let message = Printable.text(request.message.replacing("\n", with: " "))
    let every = request.repeats.map { ", \(output.times.schedule($0.schedule)) \($0.zone)" } ?? ""
    return "\(message) (\(when(request.at))\(every))"
  }

  /// Returns the status of a sent request.
  func status(_ sent: SentRequest) -> String {
    guard let last = sent.standing else {
      if sent.isRecalled { return "recalled" }
      if sent.isLost { return "lost: it is no longer in the mailbox, and was not answered" }
      let isLate = sent.request.latestUse <= now
      if sent.isPosted {
        return isLate ? "not answered in time" : "in the mailbox, not answered yet"
      }
      return isLate
        ? "not sent in time: the mailbox could not be reached" : "waiting here to be sent"
    }
    if sent.isRecalled, last.state == .scheduled {
      return "recalled; they have not seen that yet"
    }
    return summary(last)
  }

  /// `rang at 16:45`
  func summary(_ receipt: PartnerReceipt) -> String {
    let detail = receipt.detail.map { ": \(Printable.text($0))" } ?? ""
    let at = when(receipt.at)
    return switch receipt.state {
    case .scheduled: "set there\(receipt.detail.map { " (\(Printable.text($0)))" } ?? "")"
    case .expired: "arrived too late"
    case .refused: "refused\(detail)"
    case .recalled: "recalled there"
    case .rung:
      receipt.detail.map { "was due at \(at), but \(Printable.text($0))" } ?? "rang at \(at)"
    case .snoozed: "snoozed at \(at)"
    case .stopped: "stopped at \(at)"
    case .missed: receipt.detail.map { Printable.text($0) } ?? "rang unanswered"
    case .skipped: "skipped there"
    case .acknowledged: "❤️ Got it, \(at)"
    case .changed: receipt.detail.map { Printable.text($0) } ?? "changed there"
    case .withdrawn: receipt.detail.map { Printable.text($0) } ?? "deleted there"
    case .reply: "replied\(detail)"
    }
  }

  // MARK: News

  /// Prints news, each item on its own line.
  ///
  /// - Parameter isApart: true to print to standard error, because standard output holds a JSON document.
  func show(_ news: [PartnerNews], isApart: Bool = false) {
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
    // Each command warns of it.
    case .outlived: return []
    case .scheduled(let request):
      return ["From \(name): \(summary(request))."] + warning(of: request.message)
    case .refused(let request, let refusal):
      let reason = refusal?.textForReceiver ?? "it arrived too late"
      return ["From \(name), not set: \(summary(request)): \(reason)."]
        + warning(of: request.message)
    case .recalled(let request): return ["\(name) recalled: \(summary(request))."]
    case .receipt(let receipt, let request):
      return ["\(name): \(summary(request)): \(summary(receipt))"]
    case .resent(let request):
      return ["\(name): sent again, as it was no longer in the mailbox: \(summary(request))"]
    case .lost(let request):
      return [
        "\(name): lost, as it is no longer in the mailbox and was not answered: \(summary(request))"
      ]
    case .unsent(let request):
      return [
        "\(name): not sent in time, as the mailbox could not be reached: \(summary(request))"
      ]
    case .unpaired(let remaining):
      return ["\(name) is no longer a partner."]
        + (remaining == 0 ? [] : [PartnerText.remaining(remaining, of: name)])
    case .fault(let fault, let count):
      return ["\(name): warning: refused: \(fault.text) (\(count))."]
    case .usedTwice:
      return [
        "Two people answered the invitation, so neither was accepted: someone else knows the link.",
        "Create another, and send it another way: belfry partner invite",
      ]
    }
  }

  /// Returns a sentence about the alarms of a former partner, with the command that decides about them.
  static func remaining(_ count: Int, of name: String) -> String {
    let alarms =
      count == 1
      ? "An alarm that \(name) had set still rings"
      : "\(count) alarms that \(name) had set still ring"
    return
      "\(alarms). Keep or delete \(count == 1 ? "it" : "them"): belfry partner alarms \(ShellWord.quoted(name))"
  }

  /// Returns a description of the misleading characters in a message, or nil if it has none.
  static func oddity(of message: String) -> String? {
    let parts = [
      AlarmText.hasInvisible(message) ? "invisible characters" : nil,
      LookAlikes.hasMixedWord(message)
        ? "words that mix look-alike letters of several scripts" : nil,
    ].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }

  private func warning(of message: String) -> [String] {
    PartnerText.oddity(of: message).map { ["  warning: it contains \($0)"] } ?? []
  }

  /// Returns the headline and body of the notification for a news item, or nil if it needs none.
  func notification(_ news: PartnerNews) -> (headline: String, body: String)? {
    switch news.event {
    case .receipt(let receipt, let request):
      switch receipt.state {
      case .acknowledged: return ("❤️ \(news.partner): Got it", request.message)
      case .reply: return (news.partner, "\(receipt.detail ?? "")\n\(request.message)")
      case .refused, .expired, .missed, .withdrawn, .changed:
        return ("\(news.partner): \(summary(receipt))", request.message)
      default: return nil
      }
    case .code, .paired, .unpaired, .usedTwice:
      let lines = lines(news)
      return (lines[0], lines.dropFirst().joined(separator: "\n"))
    case .refused(_, .muted): return nil
    case .refused, .recalled, .lost, .unsent:
      let lines = lines(news)
      return (lines[0], lines.dropFirst().joined(separator: "\n"))
    case .scheduled(let request):
      return PartnerText.oddity(of: request.message).map {
        ("A message from \(news.partner) contains \($0)", Printable.text(request.message))
      }
    case .outlived: return (PartnerText.expiry(of: news.partner), PartnerText.expiryRemedy)
    case .fault, .resent: return nil
    }
  }

  /// Returns the sentence about a pairing that has expired.
  static func expiry(of name: String) -> String {
    "The pairing with \(name) has expired, so requests are refused."
  }

  /// Returns the sentence about requests that could not be sent in time.
  static func unsent(_ count: Int, to name: String) -> String {
    count == 1
      ? "A request to \(name) was not sent in time, so the alarm was not set there."
      : "\(count) requests to \(name) were not sent in time, so the alarms were not set there."
  }

  /// The advice about a pairing that has expired.
  static let expiryRemedy =
    "Re-pair: belfry partner invite --remote URL. Or end it: belfry partner remove"
}
