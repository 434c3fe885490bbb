import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Glibc

/// The event loop of the firing screen. It shows each ringing alarm until it is answered here or on another device.
struct RingLoop {
  private let context: CommandContext
  private let first: Identifier?
  private let waits: Bool
  private let isAutomatic: Bool
  private let opened = ElapsedTime()

  /// The time after which all of the screen is drawn again, in milliseconds: it may be open for days beside other
  /// programs that write to the terminal.
  static let repaintInterval: Int64 = 2000

  /// - Parameters:
  ///   - first: the alarm to show before the others; nil for the order of their titles.
  ///   - waits: true to show a clock while no alarm rings.
  ///   - isAutomatic: true if no person opened the screen.
  init(
    _ context: CommandContext, first: Identifier? = nil, waits: Bool = false,
    isAutomatic: Bool = false
  ) {
    self.context = context
    self.first = first
    self.waits = waits
    self.isAutomatic = isAutomatic
  }

  /// The time since the screen was opened, in milliseconds.
  private var elapsed: Int64 { opened.milliseconds }

  /// Returns the ringing alarms and the reopened store.
  private func ringing() throws -> (store: Store, summaries: [AlarmSummary]) {
    let store = try context.present(after: opened).open(.reading, welcome: false)
    let summaries = try RingLoop.summaries(of: store, first: first)
    return (store, summaries.filter { $0.status.state == .ringing })
  }

  /// Returns the alarms of a store, sorted by title, with one of them before the others.
  static func summaries(of store: Store, first: Identifier?) throws -> [AlarmSummary] {
    try store.overview().summaries.sorted {
      if ($0.id == first) != ($1.id == first) { return $0.id == first }
      return ($0.title, $0.id) < ($1.title, $1.id)
    }
  }

  /// Runs the screen if an alarm rings and a terminal is attached.
  func runIfRinging() throws {
    if try !ringing().summaries.isEmpty, Style.canAsk { try run() }
  }

  /// Runs the screen until no alarm rings or the user quits.
  ///
  /// - Throws: `CommandError` if no alarm rings or no terminal is attached; `ExitCode` after a signal.
  func run() throws {
    let (store, summaries) = try ringing()
    let isRinging = first.map { id in summaries.contains { $0.id == id } } ?? !summaries.isEmpty
    if !isRinging, !waits { throw try nothingRings(store) }
    guard let session = TerminalSession(colors: context.colors) else {
      throw CommandError(
        .notPossible, "the firing screen needs a terminal.",
        hint: "Or run 'belfry done', 'stop', 'snooze' or 'skip'."
      ).needingTerminal()
    }
    let settings = try context.settings(store)
    session.begin(.holds)
    let mark = ScreenMark(store: context.storePath)
    defer { withExtendedLifetime(mark) {} }
    var messages: [String] = []
    let outcome: Result<Void, any Error>
    do {
      // A person who opens the screen of a ringing alarm expects it.
      messages = try show(session, settings, isExpected: !isAutomatic && !summaries.isEmpty)
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    session.end()
    for line in messages { Console.line(line) }
    if let number = session.endingSignal { throw ExitCode(128 + number) }
    try outcome.get()
  }

  private func nothingRings(_ store: Store) throws -> CommandError {
    let summaries = try store.overview().summaries.filter { first == nil || $0.id == first }
    let output = AlarmOutput(store: store, style: context.style)
    let next = summaries.flatMap { summary in
      [summary.status.next?.at, summary.status.snooze?.until].compactMap { $0 }
    }.min()
    let hint = next.map { "The next time is \(output.when($0))." } ?? "No upcoming occurrences."
    let message =
      first == nil
      ? "nothing rings" : "\(Printable.text(summaries.first?.title ?? "it")) does not ring"
    return CommandError(.notPossible, "\(message).", hint: hint)
  }

  /// Shows ringing alarms until no alarm rings or the user quits.
  ///
  /// - Parameter isExpected: true if the user expects the first alarm, so that its keys count at once.
  /// - Returns: the messages about the answers, a line each, for the time after the screen is closed.
  private func show(
    _ session: TerminalSession, _ settings: Settings, isExpected: Bool
  ) throws -> [String] {
    var messages: [String] = []
    var isExpected = isExpected
    while session.endingSignal == nil,
      let (store, summaries) = try nextRinging(session, messages.last)
    {
      do {
        // The screen can be open for days.
        let settings = (try? context.settings(store)) ?? settings
        defer { isExpected = false }
        switch try present(session, store, summaries, settings, isExpected: isExpected) {
        case .left(let title): return messages + ["\(title) keeps ringing: belfry ring"]
        case .gone(let title): messages.append("\(title) no longer rings.")
        case .answered(let lines): messages += lines
        }
      } catch  where waits {
        // The clock tells when the store can be read again.
        messages.append(CommandError(error).message)
      }
    }
    return messages
  }

  /// Returns the ringing alarms and the reopened store; nil at the end of the screen. Waits with a clock if the user
  /// asked for it.
  private func nextRinging(
    _ session: TerminalSession, _ message: String?
  ) throws -> (Store, [AlarmSummary])? {
    if waits {
      switch BedsideClock(context, first: first, opened: opened).wait(session, message: message) {
      case .rings(let store, let summaries): return (store, summaries)
      case .closed: return nil
      }
    }
    let (store, summaries) = try ringing()
    return summaries.isEmpty ? nil : (store, summaries)
  }

  /// Shows the first of the ringing alarms, with its sound.
  private func present(
    _ session: TerminalSession, _ store: Store, _ summaries: [AlarmSummary], _ settings: Settings,
    isExpected: Bool
  ) throws -> Ending {
    let summary = summaries[0]
    let alarm = try store.alarm(summary.id)
    let loop = Sound.chosen(alarm?.delivery.sound ?? settings.sound).map {
      SoundLoop(
        $0, isRising: settings.soundRising, lock: context.soundLock,
        unmuting: settings.unmuteSound ? context.unmuting : nil)
    }
    let sound = Task.detached { [player = context.soundPlayer] in
      guard let loop else { return }
      await RingLoop.play(loop, player)
    }
    defer { sound.cancel() }
    return try ask(
      session, summary, settings, others: Array(summaries.dropFirst()), origin: alarm?.partner,
      isExpected: isExpected
    )
  }

  /// Plays the sound until the task is canceled; without a working player, rings the terminal's bell.
  private static func play(_ loop: SoundLoop, _ player: SoundPlayer?) async {
    if let player, await loop.run(player, heard: {}) == nil { return }
    while !Task.isCancelled {
      Console.write("\u{07}")
      do { try await Task.sleep(for: .seconds(2)) } catch { return }
    }
  }

  private enum Ending {
    /// The user quit the screen. The alarm's title.
    case left(String)
    /// The occurrence was answered elsewhere, or its ring timeout has passed. The alarm's title.
    case gone(String)
    /// The user answered: the messages about the answer.
    case answered([String])
  }

  /// Shows one alarm until it is answered.
  ///
  /// - Parameters:
  ///   - others: the other alarms that ring.
  ///   - origin: the partner and the request that created the alarm; nil for an alarm of the user's own.
  ///   - isExpected: true if keys count at once; false if they count after a pause.
  private func ask(
    _ session: TerminalSession, _ summary: AlarmSummary, _ settings: Settings,
    others: [AlarmSummary], origin: PartnerOrigin?, isExpected: Bool
  ) throws -> Ending {
    let title = Printable.text(summary.title)
    var others = others
    var hold = Hold(seesReleases: session.seesReleases)
    var lastCheck = elapsed
    var message: String?
    var question: Question?
    let canReply =
      try origin.map {
        PartnerReply.recipient(of: $0, among: PartnerStore(try ringing().store).partners) != nil
      } ?? false
    var reply: LineEditor?
    var pause = KeyPause(
      at: elapsed, isNeeded: !isExpected,
      hidden: isAutomatic && context.environment["TMUX"] != nil
        ? max(0, Terminals.messageDuration - elapsed) : 0)
    while session.endingSignal == nil {
      var screen = screen(
        summary, settings, others: others, progress: hold.progress(at: elapsed),
        message: message)
      screen.reply = reply
      (screen.isFromPartner, screen.canReply) = (origin != nil, canReply)
      screen.keysCount = pause.isOver
      session.show(screen.render(session.size), repaintingAfter: RingLoop.repaintInterval)
      let input = session.read(milliseconds: 100)
      let counts = pause.admits(hasInput: input.hasBytes, at: elapsed)
      for event in input.events where counts {
        if var line = reply {
          let text = RingLoop.type(event, into: &line)
          reply = text == nil ? line : nil
          guard let text else { continue }
          session.readText(false)
          if !text.isEmpty, let origin { message = send(text, to: origin) }
          continue
        }
        switch event {
        case .key(let key) where key.closes: return .left(title)
        case .key(Key("z", control: true)):
          session.pause()
          // A full screen that has opened this one is suspended, too.
          kill(0, SIGTSTP)
          session.resume()
        case .key(Key(" ")) where settings.slideToStop,
          .repeated(Key(" ")) where settings.slideToStop:
          hold.press(at: elapsed)
        case .released(Key(" ")): hold.release()
        case .key(let pressed):
          guard let key = pressed.plain else { continue }
          if key == "r", canReply, question == nil {
            reply = LineEditor(limit: PartnerReceipt.longestDetail)
            session.readText(true)
            continue
          }
          guard let answer = answer(key, summary, settings, &question, &message) else { continue }
          if let lines = try give(answer, summary, settings, &message) {
            return .answered(lines)
          }
        default: continue
        }
      }
      hold.advance(to: elapsed)
      if hold.isComplete, let lines = try give(.stop, summary, settings, &message) {
        return .answered(lines)
      }
      if elapsed - lastCheck >= 1000 {
        lastCheck = elapsed
        let now = try ringing().summaries
        guard let same = now.first(where: { $0.id == summary.id }),
          same.status.current == summary.status.current
        else { return .gone(title) }
        others = now.filter { $0.id != summary.id }
      }
    }
    return .left(title)
  }

  /// Takes an event into the reply that is typed. Returns its text at the end, an empty one if it is not sent; nil while
  /// the input goes on.
  private static func type(_ event: InputEvent, into reply: inout LineEditor) -> String? {
    switch event {
    case .key(Key(.enter)): return reply.text
    case .key(Key(.escape)), .key(Key("c", control: true)), .key(Key("g", control: true)): return ""
    // The end of input.
    case .key(Key("d", control: true)) where reply.text.isEmpty: return ""
    case .key(let key), .repeated(let key): _ = reply.handle(key)
    default: break
    }
    return nil
  }

  /// Queues a reply. Returns the message about it.
  private func send(_ text: String, to origin: PartnerOrigin) -> String {
    do {
      var later = context.present(after: opened)
      later.isQuiet = true
      let session = try PartnerSession(later)
      let (name, _) = try PartnerReply.queue(text, to: origin, session)
      // Queuing wakes the daemon, which sends it.
      return DaemonHandle(session.store).process != nil
        ? "The reply to \(name) is sent." : "The reply to \(name) is sent with the next sync."
    } catch {
      return CommandError(error).message
    }
  }

  /// Returns the snoozes on offer. Longer ones than the default end before the next occurrence.
  private func snoozes(
    _ summary: AlarmSummary, _ settings: Settings, _ now: Instant
  ) -> [(key: Character, seconds: Int64)] {
    guard settings.snoozeEnabled else { return [] }
    let longer: [(key: Character, seconds: Int64)] = [("1", 3600), ("2", 86_400), ("3", 604_800)]
    return [("z", settings.snooze)]
      + longer.filter { item in
        summary.status.next.map { now.adding(seconds: item.seconds) < $0.at } ?? true
      }
  }

  /// A question that the next key answers.
  private enum Question {
    /// Skip the occurrence?
    case skip
  }

  /// Returns the answer of a key. The key that skips only asks; an alarm that rings once cannot be skipped.
  private func answer(
    _ key: Character, _ summary: AlarmSummary, _ settings: Settings, _ question: inout Question?,
    _ message: inout String?
  ) -> Answer? {
    if question == .skip {
      (question, message) = (nil, nil)
      return key == "y" ? .skip() : nil
    }
    // On the full screen, the key is S.
    guard key == "k" || key == "S" else { return answer(key, summary, settings) }
    if summary.ringsOnce { return nil }
    (question, message) = (.skip, "Skip this occurrence? [y] yes, [n] no")
    return nil
  }

  private func answer(_ key: Character, _ summary: AlarmSummary, _ settings: Settings) -> Answer? {
    switch key {
    case "d": return .done()
    case "s": return settings.slideToStop ? nil : .stop
    // A snooze that is off is refused with the reason.
    case "z": return .snooze(seconds: settings.snooze)
    default:
      let now = context.present(after: opened).storeContext.now
      return snoozes(summary, settings, now).first { $0.key == key }
        .map { .snooze(seconds: $0.seconds) }
    }
  }

  /// Answers the alarm.
  ///
  /// - Parameter message: gets the reason if the answer is rejected; the alarm keeps ringing.
  /// - Returns: the messages about the answer; nil if it is rejected.
  private func give(
    _ answer: Answer, _ summary: AlarmSummary, _ settings: Settings, _ message: inout String?
  ) throws -> [String]? {
    let later = context.present(after: opened)
    let store = try later.open(.writing, welcome: false)
    let answering = Answering(
      [summary.id], summary.status.current, in: store, settings: settings, later)
    do {
      let changes = try answering.give(answer)
      later.runDoneActions(after: changes)
      return changes.flatMap(answering.messages)
    } catch let refusal as CommandError {
      message = refusal.message
      return nil
    } catch let failure as StoreError {
      // The error may be temporary: another process may hold the lock.
      message = CommandError(failure).message
      return nil
    }
  }

  private func screen(
    _ summary: AlarmSummary, _ settings: Settings, others: [AlarmSummary], progress: Double,
    message: String?
  ) -> FiringScreen {
    let status = summary.status
    let civil = status.current.map { status.time(of: $0) } ?? CivilDateTime(minuteNumber: 0)
    let present = context.refreshed(after: opened)
    let output = AlarmOutput(
      now: present.storeContext.now, zones: present.storeContext.zones, style: present.style)
    let zone =
      summary.zone == "floating" || summary.zone == output.zones.local.name
      ? "" : " \(summary.zone)"
    // The large time is that of the occurrence.
    let now = output.zones.local.civil(at: output.now)
    let isLate = !zone.isEmpty || now.minuteNumber > civil.minuteNumber
    let clock = isLate ? ", now \(output.times.brief(now))" : ""
    return FiringScreen(
      title: summary.title, badge: summary.badge, note: summary.note,
      time: output.times.time(civil.time),
      subtitle: "\(output.times.date(civil.date))\(zone)\(clock)",
      position: others.isEmpty ? nil : "1 of \(others.count + 1)",
      others: others.map(\.title),
      snoozes: snoozes(summary, settings, output.now).map {
        "[\($0.key)] \(Span.exact($0.seconds))"
      },
      canSkip: !summary.ringsOnce, slideToStop: settings.slideToStop, progress: progress,
      message: message)
  }
}

extension AlarmSummary {
  /// True if the alarm has a single occurrence.
  fileprivate var ringsOnce: Bool {
    if case .once = rule.recurrence { true } else { false }
  }
}
