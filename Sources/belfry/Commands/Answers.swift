import ArgumentParser
import BelfryCore
import BelfryStore

struct Stop: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Silence what rings.",
    discussion: """
      On the tiers plus and premium a stopped occurrence stays pending until it is done.
      On the free tier stopping it is doing it.
      """)

  @Argument(help: "The alarm.")
  var alarm: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws { try answer(.stop, alarm, common.context(root), json: common.json) }
}

struct Done: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say that it is done: what rings, is snoozed, pending or missed.")

  @Argument(help: "The alarm.")
  var alarm: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws { try answer(.done, alarm, common.context(root), json: common.json) }
}

struct Snooze: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let what rings ring again later.",
    discussion: """
      How long: 10m, 1h, 1d, 1w; without it the settings' own, 9 minutes at first.

        belfry snooze rent 1h
      """)

  @Argument(help: "The alarm.")
  var alarm: String

  @Argument(help: "How long.")
  var length: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let seconds = try length.map { text in
      guard let seconds = Span.parse(text) else {
        throw CommandError(
          .usage, "'\(Printable.text(text))' is not a length of time.",
          hint: "Write it as 10m, 1h, 1d or 1w.")
      }
      return seconds
    }
    try answer(
      .snooze(seconds: seconds ?? context.open().settings().settings.snooze), alarm, context,
      json: common.json)
  }
}

/// Gives a person's answer to what an alarm is about.
private func answer(
  _ answer: Answer, _ name: String, _ context: CommandContext, json: Bool
) throws {
  let store = try context.open()
  let card = try context.find(name, in: store)
  let (settings, problem) = try store.settings()
  context.tell([problem].compactMap { $0 })
  let output = AlarmOutput(store: store, style: context.style)
  let transition = try store.update(card.id) { alarm in
    let transition: Transition
    do throws(LifecycleError) {
      transition = try store.timeline(alarm).answer(
        answer, at: context.storeContext.now, settings: settings, firings: store.firings())
    } catch {
      throw refusal(answer, alarm, try store.status(alarm), output)
    }
    return (store.change(transition), transition)
  }
  guard let event = transition.events.last else { return }
  let status = try store.status(transition.alarm)
  if json { return output.print(output.json(transition.alarm, status, event: event)) }
  let title = Printable.text(transition.alarm.title)
  let when = event.occurrence.map { " (\($0.date.spoken), \($0.time))" } ?? ""
  switch event.action {
  case .snoozed:
    let until = status.snooze.map { output.when($0.until) } ?? "later"
    Console.line("Snoozed \(title)\(when): it rings again at \(until).")
  case .stopped:
    Console.line(
      "Stopped \(title)\(when): pending until 'belfry done'; \(output.next(transition.alarm, status))."
    )
  default:
    Console.line("Done: \(title)\(when); \(output.next(transition.alarm, status)).")
  }
}

private func refusal(
  _ answer: Answer, _ alarm: Alarm, _ status: AlarmStatus, _ output: AlarmOutput
) -> CommandError {
  let title = Printable.text(alarm.title)
  let state =
    switch status.state {
    case .active: "does not ring"
    case .disabled: "is disabled"
    case .finished: "is finished"
    case .pending: "is pending, not ringing"
    case .missed: "was missed, and rings no more"
    case .ringing, .snoozed: "is \(status.state.rawValue)"
    }
  let hint =
    switch status.state {
    case .pending, .missed: "Say 'belfry done \(alarm.id.short)' when it is done."
    case .disabled: "Switch it on with 'belfry enable \(alarm.id.short)'."
    default: output.next(alarm, status).capitalizedFirst + "."
    }
  return CommandError(
    .notPossible, "\(title) \(state), so there is nothing to \(answer.infinitive).", hint: hint)
}

extension Answer {
  fileprivate var infinitive: String {
    switch self {
    case .stop: "stop"
    case .done: "mark as done"
    case .snooze: "snooze"
    }
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
