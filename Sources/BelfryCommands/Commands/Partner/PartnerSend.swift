import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryPartners
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct PartnerSend: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Set an alarm on a partner's devices.",
    discussion: """
        belfry partner send Alex "Wake up from your nap ❤️" --at 16:45
        belfry partner send Alex "Call me" --in 20m --persistent
        belfry partner send Alex "Bins out" --at 19:00 --repeat weekly thu
        belfry partner send Alex "Team call" --at 10:00 --zone berlin

      --at is a time in your time zone, or in --zone: today, or tomorrow if it has passed. A one-time alarm rings at \
      that moment, wherever the partner is. A repeating alarm keeps the wall-clock time of its zone.
      """)

  @Argument(help: "The partner.", completion: .partners)
  var partner: String

  @Argument(
    help: "The message: at most 1,000 characters; the partner may allow fewer.", completion: .text)
  var message: String

  @Option(help: ArgumentHelp("16:45, 2026-12-24T16:45, or an instant.", valueName: "time"))
  var at: String?

  @Option(name: .customLong("in"), help: ArgumentHelp("From now: 20m, 2h.", valueName: "time"))
  var delay: String?

  @Option(
    help: ArgumentHelp("The sound: see 'belfry sounds'.", valueName: "name"), completion: .sounds)
  var sound: String?

  @Option(
    name: .customLong("repeat"), parsing: .upToNextOption,
    help: ArgumentHelp("daily, weekly [mon,fri], monthly [15], annual [12-24].", valueName: "cycle")
  )
  var cycle: [String] = []

  @Option(
    help: ArgumentHelp("The time zone of --at: Europe/Berlin.", valueName: "zone"),
    completion: .zones)
  var zone: String?

  @Flag(help: "Ring until answered.")
  var persistent = false

  @Option(
    help: ArgumentHelp(
      "Accept late delivery up to: 10m, 1h (default: 10m; repeating: 31 days).", valueName: "time")
  )
  var late: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let session = try PartnerSession(common, parent.root)
    try session.requireTier()
    let partner = try session.active(self.partner)
    let now = session.now
    let (moment, repeats) = try time(session, now)
    let request = PartnerRequest(
      id: session.store.context.makeIdentifier(), message: try text(), at: moment, repeats: repeats,
      sound: try knownSound(), persistent: persistent,
      expires: moment.adding(
        seconds: try lateness(
          default: repeats == nil ? PartnerRequest.lateness : PartnerRequest.latenessRepeated)))
    try session.change(partner.id) { partner in
      partner.sent.append(SentRequest(request: request, created: now))
      try partner.post(request, at: now)
    }
    let name = Printable.text(partner.name)
    let output = PartnerText(session.context)
    if !common.json {
      Console.line(
        "Asked \(name): \(output.summary(request)), \(Span.until(moment.seconds(since: now))) (\(request.id.short))."
      )
    }
    try await session.syncMailboxes(
      ifUnreachable: "The request waits here and is sent when the mailbox can be reached.",
      document: common.json ? { session.document(ofRequest: request.id) } : nil)
    // Messages received in the exchange may have ended the request.
    let known = session.partners.first { $0.id == partner.id }
    if let sent = known?.sent.first(where: { $0.request.id == request.id }), sent.isOver {
      throw CommandError(
        .notPossible, "\(name) did not set it: \(output.status(sent)).",
        hint: "See 'belfry partner log'.")
    }
    if !common.json {
      Console.line("It is in the mailbox. To see whether it was set: belfry partner log")
    }
  }

  private func text() throws -> String {
    guard let message = try AlarmText.note(message),
      !message.unicodeScalars.contains(where: { $0.isHidden && $0 != "\n" && $0 != "\t" })
    else {
      throw CommandError(
        .usage, "the message is empty, or contains hidden characters.",
        hint: "Write a message of visible characters.")
    }
    guard message.count <= PartnerRequest.longestMessage else {
      throw CommandError(
        .usage,
        "the message has \(message.count) characters; the maximum is \(PartnerRequest.longestMessage).",
        hint: "Nothing was sent.")
    }
    try PartnerMessageText.checkScalars(of: message, maxLength: PartnerRequest.longestMessage)
    if let oddity = PartnerText.oddity(of: message) {
      CommandDiagnostic.warn("the message contains \(oddity); the partner sees a warning.")
    }
    return message
  }

  private func knownSound() throws -> String? {
    guard let sound else { return nil }
    guard Setting.sound.admits(.word(sound)) else {
      throw CommandError(
        .usage, "'\(Printable.text(sound))' is not the name of a sound.",
        hint: "See 'belfry sounds'.")
    }
    if !Sound.isKnown(sound) {
      CommandDiagnostic.warn("there is no sound \(sound) here; a device without it plays another.")
    }
    return sound
  }

  /// Returns the time after the moment of the alarm during which it may still be set, in seconds.
  private func lateness(default defaultLateness: Int64) throws -> Int64 {
    guard let late else { return defaultLateness }
    guard let seconds = Input.seconds(late), (60...PartnerRequest.longestLateness).contains(seconds)
    else {
      throw CommandError(
        .usage, "--late: '\(Printable.text(late))' is not a length of time up to a day.",
        hint: "Write it as 10m or 1h.")
    }
    return seconds
  }

  // MARK: Time

  private func time(
    _ session: PartnerSession, _ now: Instant
  ) throws -> (at: Instant, repeats: PartnerRequest.Repetition?) {
    let zones = session.context.storeContext.zones
    var rules = zones.local
    if let zone {
      let name = try InputParser(session.context).zone(zone, of: "--zone")
      rules = zones.zone(named: name) ?? rules
    }
    if let delay {
      let seconds = try InputParser(session.context).length(delay, of: "--in")
      guard at == nil, cycle.isEmpty, zone == nil, seconds >= 60 else {
        throw CommandError(
          .usage, "--in takes a time of at least one minute and no other time option.",
          hint: "Write --in 20m, or name the time: --at 16:45")
      }
      // Rounded up to the minute, so that it is not early.
      let minute = (now.seconds + seconds + 59) / 60 * 60
      return (Instant(seconds: minute), nil)
    }
    guard let at else {
      throw CommandError(.usage, "the time is missing.", hint: "Add --at 16:45 or --in 20m.")
    }
    if !cycle.isEmpty { return try repeated(at, rules, session) }
    let parser = InputParser(session.context).with(zone: rules, calendar: .standard)
    let named = try parser.moment(at, of: "--at")
    let moment = named.instant(.future, in: parser.context)
    if case .date(let date) = named {
      throw CommandError(
        .usage, "--at: \(session.context.times.date(date)) has no time.",
        hint: "Write it as '\(date) 16:45'.")
    }
    guard moment.milliseconds.isMultiple(of: 60_000) else {
      throw CommandError(
        .usage, "--at: '\(Printable.text(at))' has seconds, but alarms ring at whole minutes.",
        hint: "Leave the seconds out, or write 00.")
    }
    guard moment > now else {
      throw CommandError(
        .usage, "--at: '\(Printable.text(at))' has passed.", hint: "Name a time in the future.")
    }
    return (moment, nil)
  }

  private func repeated(
    _ at: String, _ rules: TimeZoneRules, _ session: PartnerSession
  ) throws -> (at: Instant, repeats: PartnerRequest.Repetition?) {
    let now = session.now
    guard session.context.storeContext.zones.zone(named: rules.name) != nil else {
      throw CommandError(
        .usage, "this system's time zone has no name that the partner's device would know.",
        hint: "Name it: --zone Europe/Berlin")
    }
    // The cycle may be one quoted argument or several.
    let cycle = cycle.flatMap { $0.split(separator: " ").map(String.init) }
    let words = cycle.joined(separator: " ")
    let parser = InputParser(session.context).with(zone: rules, calendar: .standard)
    var draft = try parser.schedule(words, of: "--repeat")
    guard draft.parts == [.rule] else {
      throw CommandError(
        .usage, "--repeat: '\(Printable.text(words))' is not a cycle.",
        hint: "Write daily, weekly mon,fri, 'last fri of the month', or yearly on 24 dec.")
    }
    draft.times = try parser.times(at, of: "--at")
    let schedule = try draft.schedule(in: parser.context)
    var civil = rules.civil(at: now)
    guard PartnerRequest.Repetition.allows(schedule) else {
      throw CommandError(
        .usage, "--repeat: '\(Printable.text(cycle.joined(separator: " ")))' counts workdays.",
        hint: "Your partner's working days and holidays may differ. Name days or weekdays.")
    }
    let occurrences = Occurrences(schedule, in: .standard)
    while let next = occurrences.next(after: civil) {
      civil = next
      let moment = rules.instant(of: next)
      if moment > now, rules.civil(at: moment) == next {
        return (moment, PartnerRequest.Repetition(schedule: schedule, zone: rules.name))
      }
    }
    throw CommandError(
      .usage, "\(session.context.times.schedule(schedule)) has no further occurrence.",
      hint: "Name a time in the future.")
  }
}
