import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryScheduler
import BelfryStore

struct PartnerSend: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Set an alarm on a partner's devices.",
    discussion: """
        belfry partner send Alex "Wake up from your nap ❤️" --at 16:45
        belfry partner send Alex "Call me" --in 20m --persistent
        belfry partner send Alex "Bins out" --at 19:00 --repeat weekly thu --zone Europe/Berlin

      --at is on your wall clock, or that of --zone: today, or tomorrow where it has passed. Once it is a moment, \
      wherever the partner is; repeated, it keeps the wall time of its zone.
      """)

  @Argument(help: "The partner.")
  var partner: String

  @Argument(help: "What it says: at most 1,000 characters, or what the partner allows.")
  var message: String

  @Option(help: ArgumentHelp("16:45, 2026-12-24T16:45, or an instant.", valueName: "time"))
  var at: String?

  @Option(name: .customLong("in"), help: ArgumentHelp("From now: 20m, 2h.", valueName: "time"))
  var delay: String?

  @Option(help: ArgumentHelp("A sound's name: see 'belfry sounds'.", valueName: "name"))
  var sound: String?

  @Option(
    name: .customLong("repeat"), parsing: .upToNextOption,
    help: ArgumentHelp("daily, weekly [mon,fri], monthly [15], annual [12-24].", valueName: "cycle")
  )
  var cycle: [String] = []

  @Option(help: ArgumentHelp("The zone that --at is meant in: Europe/Berlin.", valueName: "zone"))
  var zone: String?

  @Flag(help: "Ring on until answered.")
  var persistent = false

  @Option(
    help: ArgumentHelp(
      "How late it may still be set: 10m, 1h (default: 10m; repeated, 31 days).", valueName: "time")
  )
  var late: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let place = try PartnerSession(common, parent.root)
    try place.requireTier()
    let partner = try place.active(self.partner)
    let now = place.now
    let (moment, repeats) = try time(place, now)
    let request = PartnerRequest(
      id: place.store.context.makeIdentifier(), message: try text(), at: moment, repeats: repeats,
      sound: try knownSound(), persistent: persistent,
      expires: moment.adding(
        seconds: try lateness(
          repeats == nil ? PartnerRequest.lateness : PartnerRequest.latenessRepeated)))
    try place.change(partner.id) { partner in
      partner.sent.append(SentRequest(request: request, created: now))
      try partner.post(request, at: now)
    }
    let name = Printable.text(partner.name)
    let output = PartnerText(place.context)
    if !common.json {
      Console.line(
        "Asked \(name): \(output.words(request)), \(Span.until(moment.seconds(since: now))) (\(request.id.short))."
      )
    }
    try await place.roundAfter(
      "It waits here, and goes out when the mailbox can be reached.",
      json: common.json ? { PartnerLogLine.json(request.id, place) } : nil)
    // What came back meanwhile may have ended it.
    let known = place.partners.first { $0.id == partner.id }
    if let sent = known?.sent.first(where: { $0.request.id == request.id }), sent.isOver {
      throw CommandError(
        .notPossible, "\(name) does not have it: \(output.standing(sent)).",
        hint: "See 'belfry partner log'.")
    }
    if !common.json {
      Console.line("It lies in the mailbox. Whether it is set there: belfry partner log")
    }
  }

  private func text() throws -> String {
    guard let message = try AlarmText.note(message),
      !message.unicodeScalars.contains(where: { $0.isHidden && $0 != "\n" && $0 != "\t" })
    else {
      throw CommandError(
        .usage, "the message is empty, or holds hidden characters.", hint: "Say something in words."
      )
    }
    guard message.count <= PartnerRequest.longestMessage else {
      throw CommandError(
        .usage,
        "the message has \(message.count) characters, and at most \(PartnerRequest.longestMessage) fit.",
        hint: "Nothing was sent.")
    }
    try PartnerSend.checkParts(of: message, longest: PartnerRequest.longestMessage)
    if let oddity = PartnerText.oddity(of: message) {
      Console.error("belfry: warning: the message holds \(oddity); the partner is told so.")
    }
    return message
  }

  /// Throws when the characters of a text are made of more parts than any writing needs.
  static func checkParts(of text: String, longest: Int) throws {
    guard text.unicodeScalars.count > longest * PartnerRequest.scalarsPerCharacter else { return }
    throw CommandError(
      .usage, "the characters of this text are made of too many parts, as of stacked accents.",
      hint: "Nothing was sent.")
  }

  private func knownSound() throws -> String? {
    guard let sound else { return nil }
    guard Setting.sound.admits(.word(sound)) else {
      throw CommandError(
        .usage, "'\(Printable.text(sound))' is no name of a sound.", hint: "See 'belfry sounds'.")
    }
    if !Sound.isKnown(sound) {
      Console.error(
        "belfry: warning: there is no sound \(sound) here; where there is none either, another is played."
      )
    }
    return sound
  }

  private func lateness(_ usual: Int64) throws -> Int64 {
    guard let late else { return usual }
    guard let seconds = Span.parse(late), (60...PartnerRequest.longestLateness).contains(seconds)
    else {
      throw CommandError(
        .usage, "--late: '\(Printable.text(late))' is no time up to a day.",
        hint: "Write it as 10m or 1h.")
    }
    return seconds
  }

  // MARK: When

  private func time(
    _ place: PartnerSession, _ now: Instant
  ) throws -> (at: Instant, repeats: PartnerRequest.Repetition?) {
    let zones = place.context.storeContext.zones
    var rules = zones.local
    if let zone {
      guard let named = zones.zone(named: zone) else {
        throw CommandError(
          .usage, "there is no time zone '\(Printable.text(zone))'.",
          hint: "Name one as Europe/Berlin; see 'timedatectl list-timezones'.")
      }
      rules = named
    }
    if let delay {
      guard at == nil, cycle.isEmpty, zone == nil, let seconds = Span.parse(delay), seconds >= 60
      else {
        throw CommandError(
          .usage, "--in stands alone, and is a time from a minute on, such as 20m.",
          hint: "Or name the time: --at 16:45")
      }
      // To the minute, and not earlier than asked for.
      let minute = (now.seconds + seconds + 59) / 60 * 60
      return (Instant(seconds: minute), nil)
    }
    guard let at else {
      throw CommandError(.usage, "when is it to ring?", hint: "--at 16:45, or --in 20m")
    }
    if !cycle.isEmpty { return try repeated(at, rules, zones, now) }
    let moment: Instant
    if let instant = MomentText.instant(at) {
      guard instant.milliseconds.isMultiple(of: 60_000) else {
        throw CommandError(
          .usage, "--at: '\(Printable.text(at))' has seconds, and alarms ring at whole minutes.",
          hint: "Leave the seconds out, or write 00.")
      }
      moment = instant
    } else if let civil = CivilDateTime(at.replacing(" ", with: "T")) {
      moment = rules.instant(of: civil)
    } else if let time = CivilTime(at) {
      let today = rules.civil(at: now).date
      let first = rules.instant(of: CivilDateTime(today, time))
      moment =
        first > now ? first : rules.instant(of: CivilDateTime(today.adding(days: 1), time))
    } else {
      throw CommandError(
        .usage, "--at: '\(Printable.text(at))' is no time.",
        hint: "Write it as 16:45, 2026-12-24T16:45 or 2026-12-24T16:45+01:00.")
    }
    guard moment > now else {
      throw CommandError(.usage, "--at: that has passed.", hint: "Name a time that is to come.")
    }
    return (moment, nil)
  }

  private func repeated(
    _ at: String, _ rules: TimeZoneRules, _ zones: ZoneLibrary, _ now: Instant
  ) throws -> (at: Instant, repeats: PartnerRequest.Repetition?) {
    guard zones.zone(named: rules.name) != nil else {
      throw CommandError(
        .usage, "this system's time zone has no name that the partner's would know.",
        hint: "Name it: --zone Europe/Berlin")
    }
    // Quoted or not.
    let cycle = cycle.flatMap { $0.split(separator: " ").map(String.init) }
    var words = ["--\(cycle.first ?? "")"]
    let today = rules.civil(at: now).date
    switch (cycle.first ?? "", cycle.count) {
    case ("daily", 1): break
    case ("weekly", 1): words.append(today.weekday.abbreviation)
    case ("monthly", 1): words.append("\(today.day)")
    case ("annual", 1): words.append(String(today.description.dropFirst(5)))
    case ("weekly", 2), ("annual", 2): words.append(cycle[1])
    case ("monthly", 2...3): words.append(cycle.dropFirst().joined(separator: " "))
    default:
      throw CommandError(
        .usage, "--repeat: '\(Printable.text(cycle.joined(separator: " ")))' is no cycle.",
        hint: "daily, weekly [mon,fri], monthly [15], or annual [12-24].")
    }
    let schedule: Schedule
    do {
      let options = try ScheduleOptions.parse(words + ["--at", at])
      schedule = try options.schedule(changing: nil, now: rules.civil(at: now))
    } catch let error as CommandError {
      throw CommandError(
        error.code, error.message.replacing(words[0], with: "--repeat \(words[0].dropFirst(2))"),
        hint: "See 'belfry help partner send'.")
    }
    var civil = rules.civil(at: now)
    while let next = schedule.next(after: civil) {
      civil = next
      let moment = rules.instant(of: next)
      if moment > now, rules.civil(at: moment) == next {
        return (moment, PartnerRequest.Repetition(schedule: schedule, zone: rules.name))
      }
    }
    throw CommandError(
      .usage, "\(schedule.summary) has no occurrence ahead.", hint: "Name a time that is to come.")
  }
}

struct PartnerRecall: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recall", abstract: "Take a request back: the partner's alarm is deleted.")

  @Argument(
    help: "The request, by the start of its identifier (see 'belfry partner log'), or its words.")
  var request: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let place = try PartnerSession(common, parent.root)
    let (partner, sent) = try PartnerRequests.find(request, place)
    let text = PartnerText(place.context)
    let words = text.words(sent.request)
    guard !sent.isOver, !sent.isRecalled else {
      throw CommandError(
        .notPossible, "\(words) is over: \(text.standing(sent)).", hint: "See 'belfry partner log'."
      )
    }
    try place.change(partner.id) { try $0.recall(sent.request.id, at: place.now) }
    let now = place.now
    if !common.json {
      Console.line("Taken back: \(words).")
      if sent.request.repeats == nil, sent.request.at <= now {
        Console.line("Its time has come: it may have rung already.")
      }
    }
    try await place.roundAfter(
      "\(Printable.text(partner.name)) hears of it when the mailbox can be reached.",
      json: common.json ? { PartnerLogLine.json(sent.request.id, place) } : nil)
  }
}

struct PartnerReply: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reply", abstract: "Answer a partner's alarm in a few words.",
    discussion: "For ❤️ Got it alone, 'belfry done' is enough.")

  @Argument(help: "The alarm.")
  var alarm: String

  @Argument(help: "The words: at most 300 characters.")
  var words: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let place = try PartnerSession(common, parent.root)
    guard let origin = try origin(place) else {
      throw CommandError(
        .notPossible, "this alarm is of nobody but you.",
        hint: "See what partners have set: belfry partner log")
    }
    // Paired anew, it is another partnership with the same person.
    guard
      let partner = place.partners.first(where: {
        $0.phase == .active && $0.received.contains { $0.request.id == origin.request }
      })
    else {
      throw CommandError(
        .notPossible, "this device does not have the keys to \(Printable.text(origin.name)).",
        hint: "Reply on the device that does: belfry help partner keys")
    }
    let words = try AlarmText.note(self.words)?.replacing("\n", with: " ") ?? ""
    guard !words.isEmpty, words.count <= PartnerReceipt.longestDetail,
      !words.unicodeScalars.contains(where: \.isHidden)
    else {
      throw CommandError(
        .usage, "a reply has 1 to \(PartnerReceipt.longestDetail) characters.",
        hint: "Nothing was sent.")
    }
    try PartnerSend.checkParts(of: words, longest: PartnerReceipt.longestDetail)
    try place.change(partner.id) { try $0.reply(words, to: origin.request, at: place.now) }
    if !common.json { Console.line("To \(Printable.text(partner.name)): \(words)") }
    try await place.roundAfter(
      "It goes out when the mailbox can be reached.",
      json: common.json ? { PartnerLogLine.json(origin.request, place) } : nil)
  }

  private func origin(_ place: PartnerSession) throws -> PartnerOrigin? {
    let summary = try place.context.find(alarm, in: place.store)
    return try place.store.alarm(summary.id)?.partner
  }
}

/// The requests that were made here.
enum PartnerRequests {
  static func find(
    _ text: String, _ place: PartnerSession
  ) throws -> (partner: Partnership, sent: SentRequest) {
    let all = place.partners.flatMap { partner in partner.sent.map { (partner, $0) } }
    let wanted = text.lowercased()
    var matches = all.filter { $0.1.request.id.text.hasPrefix(wanted) }
    if matches.isEmpty {
      let named = all.filter { $0.1.request.message.lowercased().contains(wanted) }
      let exact = named.filter { $0.1.request.message.lowercased() == wanted }
      // What is over is meant only where nothing else is.
      matches =
        [exact.filter { !$0.1.isOver }, named.filter { !$0.1.isOver }, exact].first { !$0.isEmpty }
        ?? named
    }
    if matches.count == 1 { return matches[0] }
    let words = PartnerText(place.context)
    let list = matches.prefix(4).map { "\(words.words($0.1.request)) \($0.1.request.id.short)" }
      .joined(separator: "; ")
    throw CommandError(
      .noSuchAlarm,
      matches.isEmpty
        ? "you have asked for nothing like '\(Printable.text(text))'."
        : "'\(Printable.text(text))' could be any of \(matches.count) requests.",
      hint: matches.isEmpty ? "See 'belfry partner log'." : list)
  }
}

struct PartnerLog: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show what went to and fro, newest first: what became of each.")

  @Argument(help: "The partner (default: all).")
  var partner: String?

  @Option(name: .shortAndLong, help: "At most so many (default: all).")
  var count: Int?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws {
    let place = try PartnerSession(common, parent.root)
    let partners = try partner.map { [try known($0, place)] } ?? place.partners
    let text = PartnerText(place.context)
    var items: [PartnerLogLine] = partners.flatMap { partner in
      partner.sent.map { PartnerLogLine(partner: partner, at: $0.created, item: .sent($0)) }
        + partner.received.map {
          PartnerLogLine(partner: partner, at: $0.received, item: .received($0))
        }
    }.sorted { $0.at > $1.at }
    if let count { items = Array(items.prefix(max(0, count))) }
    if common.json {
      return Console.write(
        JSON.array(items.map { $0.json(text, place.context) }).document)
    }
    if items.isEmpty { Console.line("Nothing went to and fro yet.") }
    for item in items {
      for line in item.lines(text) { Console.line(line) }
    }
    for partner in partners {
      for fault in MailFault.allCases {
        guard let faults = partner.faults[fault] else { continue }
        let name = partner.name.isEmpty ? "an invitation" : Printable.text(partner.name)
        Console.line(
          "Refused at \(name)'s address: \(text.words(fault, faults))."
        )
      }
    }
  }
}

extension PartnerLog {
  /// A partner; one of before where there is none any more.
  private func known(_ name: String, _ place: PartnerSession) throws -> Partnership {
    if let partner = try? place.find(name) { return partner }
    return try place.find(name, where: { _ in true })
  }
}

/// One request in the log, either way.
struct PartnerLogLine {
  enum Item {
    case sent(SentRequest)
    case received(ReceivedRequest)
  }
  let partner: Partnership
  let at: Instant
  let item: Item

  func lines(_ text: PartnerText) -> [String] {
    let name = Printable.text(partner.name)
    switch item {
    case .sent(let sent):
      let replies = sent.receipts.filter { $0.state == .reply }
      return [
        "\(text.when(at))  to \(name): \(text.words(sent.request))  \(sent.request.id.short)",
        "    \(text.standing(sent))",
      ] + replies.map { "    \(text.words($0))" }
    case .received(let received):
      let alarm = received.alarm.map { "  \($0.short)" } ?? ""
      let standing = received.standing.map { text.words($0) } ?? "taken back before it came"
      let replies = received.receipts.filter { $0.state == .reply }
      return [
        "\(text.when(at))  from \(name): \(text.words(received.request))\(alarm)",
        "    told them: \(standing)",
      ] + replies.map { "    told them: \(text.words($0))" }
    }
  }

  func json(_ text: PartnerText, _ context: CommandContext) -> JSON {
    switch item {
    case .sent(let sent): PartnerLogLine.json(sent, partner, text, context)
    case .received(let received):
      PartnerLogLine.json(
        received.request, received.receipts, partner, context,
        [
          "direction": "from", "at": .string(context.storeContext.zones.text(received.received)),
          "alarm": received.alarm.map { JSON($0) }, "over": .bool(received.isOver),
        ])
    }
  }

  /// The line of one request, either way; an empty object where it is gone.
  static func json(_ request: Identifier, _ place: PartnerSession) -> JSON {
    let text = PartnerText(place.context)
    for partner in place.partners {
      if let sent = partner.sent.first(where: { $0.request.id == request }) {
        return json(sent, partner, text, place.context)
      }
      if let received = partner.received.first(where: { $0.request.id == request }) {
        return PartnerLogLine(partner: partner, at: received.received, item: .received(received))
          .json(text, place.context)
      }
    }
    return .object([:])
  }

  static func json(
    _ sent: SentRequest, _ partner: Partnership, _ text: PartnerText, _ context: CommandContext
  ) -> JSON {
    json(
      sent.request, sent.receipts, partner, context,
      [
        "direction": "to", "at": .string(context.storeContext.zones.text(sent.created)),
        "posted": .bool(sent.isPosted), "recalled": .bool(sent.isRecalled),
        "state": .string(sent.state?.rawValue ?? (sent.isPosted ? "posted" : "waiting")),
      ])
  }

  /// `{direction, partner, id, message, time, repeat?, zone?, at, receipts, …}`
  private static func json(
    _ request: PartnerRequest, _ receipts: [PartnerReceipt], _ partner: Partnership,
    _ context: CommandContext, _ more: [String: JSON?]
  ) -> JSON {
    let zones = context.storeContext.zones
    let members: [String: JSON?] = [
      "partner": .string(partner.name), "id": JSON(request.id),
      "message": .string(request.message), "time": .string(zones.text(request.at)),
      "repeat": request.repeats.map { ScheduleRecord.encode($0.schedule) },
      "zone": request.repeats.map { .string($0.zone) },
      "receipts": .array(
        receipts.map { receipt in
          .object(omittingNil: [
            "state": .string(receipt.state.rawValue), "at": .string(zones.text(receipt.at)),
            "detail": receipt.detail.map { .string($0) },
          ])
        }),
    ]
    return .object(omittingNil: members.merging(more) { $1 })
  }
}
