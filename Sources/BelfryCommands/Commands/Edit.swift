import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

struct Edit: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change alarms.",
    discussion: """
      Options that you leave out keep their values. A new schedule applies from now on; no past occurrence fires. \
      Without options, a form asks for the values on a terminal. An edit of several alarms shows what changes, and asks \
      on a terminal; it is one commit and one undo.

        belfry edit rent --title "Pay the rent" --at 11:30
        belfry edit rent --monthly 1 --note ""
        belfry edit bins every other tue 7pm
        belfry edit pills 30m later
        belfry edit pills 19:30 to 20:00
        belfry edit rent --tag +home,-work
        belfry edit rent pills --warn 1d
        belfry edit +home --at 18:00 --dry-run

      Who is alerted if nobody responds is changed with 'belfry cascade'.
      """)

  @Argument(
    help: ArgumentHelp(
      "The alarms, or +tag, a state or due:week; then the new schedule.", valueName: "alarms"),
    completion: .selections)
  var words: [String]

  @Option(help: "The new title.")
  var title: String?

  @OptionGroup var schedule: ScheduleOptions
  @OptionGroup var delivery: DeliveryOptions
  @OptionGroup var tagging: TagOptions

  @Option(help: "The new note; an empty one removes the note.")
  var note: String?

  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  mutating func validate() throws {
    var (schedule, delivery, phrase) = (schedule, delivery, Array(words.dropFirst()))
    try delivery.moveDates(to: &schedule)
    delivery.takeUnit(from: &phrase)
    delivery.takeWarnings(from: &phrase)
    (self.schedule, self.delivery, self.words) = (schedule, delivery, words.prefix(1) + phrase)
  }

  func run() throws {
    let context = try common.context(root)
    var edit = AlarmEdit(
      title: title, note: note, schedule: schedule, delivery: delivery, tagging: tagging)
    try edit.check()
    let parser = InputParser(context)
    let store = try context.open(.writing)
    let selector = context.selector(of: store)
    let divided = try context.explaining {
      try selector.divide(words) { isSchedule($0, parser) }
    }
    let isComplete = !edit.isEmpty
    edit.words = divided.rest
    edit.takeTimes(parser.context)
    if isComplete { try checkNames(edit.phrase, selector, context, parser) }
    let asks = edit.isEmpty && Style.canAsk && !common.json
    if edit.isEmpty, !asks {
      throw CommandError(
        .usage, "there is nothing to change.",
        hint: "Name the options to change: see 'belfry help edit'."
      ).needingTerminal()
    }
    let editing = try AlarmEditing(
      divided.selection, in: store, context, confirmation, json: common.json)
    if asks {
      let alarm = try editing.only(for: "the form")
      if let screen = FormScreen(context) { return try screen.edit(alarm) }
      edit = try AlarmForm.fill(edit, of: alarm, in: store, parser)
    }
    if edit.isEmpty { return Console.line("Nothing has changed.") }
    if edit.title != nil { _ = try editing.only(for: "a new title") }
    let action = try edit.action(editing.selection.ids, in: store, parser)
    guard let changes = try editing.run(action, scheduler: { context.checkScheduler(of: store) })
    else { return }
    try show(changes, edit, editing, store, context)
  }

  /// Returns true if words behind the alarms are a schedule, or tags.
  private func isSchedule(_ words: [String], _ parser: InputParser) -> Bool {
    let phrase = AlarmEdit.phrase(words)
    guard let first = phrase.first else { return true }
    let text = phrase.joined(separator: " ")
    if Input.changesTimes(text, in: parser.context) || InputParser.isRule(first) { return true }
    do throws(InputError) {
      _ = try Input.schedule(text, in: parser.context)
      return true
    } catch {
      if case .ambiguous = error { return true }
      return false
    }
  }

  /// Reports a word that was probably meant as an alarm: beside options, a schedule in words is rare.
  private func checkNames(
    _ phrase: [String], _ selector: AlarmSelector, _ context: CommandContext, _ parser: InputParser
  ) throws {
    guard let word = phrase.first, !Input.startsSchedule(word), !isSchedule(phrase, parser) else {
      return
    }
    try context.explaining {
      if selector.isName(word) { throw SelectionError.mixed }
      _ = try selector.find(word)
    }
  }

  private func show(
    _ changes: [AlarmChange], _ edit: AlarmEdit, _ editing: AlarmEditing, _ store: Store,
    _ context: CommandContext
  ) throws {
    if edit.delivery.isGiven { edit.delivery.warn(try context.settings(store).tier) }
    guard !editing.isBulk, let change = changes.first else {
      if !common.json { _ = context.checkScheduler(of: store) }
      return SoundPreview(context).play(edit.delivery.sound)
    }
    let (alarm, status, fields) = (change.alarm, change.status, change.fields)
    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, alarm, status))
    let actions = ActionCheck(context, store)
    actions?.warn(about: alarm)
    let scheduler = context.checkScheduler(of: store)
    if edit.changesSchedule { HolidayCheck(store).warn(about: alarm.schedule) }
    if common.json {
      return try Console.write(
        output.document(alarm, status, actions: actions, scheduler: scheduler))
    }
    let newTitle = Printable.text(alarm.title)
    let what =
      fields.isEmpty
      ? "\(newTitle) is unchanged"
      : "Changed \(fields.map(\.rawValue).joined(separator: ", ")) of \(newTitle)"
    if let before = change.before, before.schedule != alarm.schedule {
      func schedule(of alarm: Alarm) -> String {
        output.times.schedule(alarm.schedule, zone: alarm.zone.text)
      }
      Console.line("Before: \(schedule(of: before)).")
      Console.line("Now: \(schedule(of: alarm)).")
    }
    Console.line("\(what): \(output.next(alarm, status)).")
    for line in editing.consequences(of: change) { Console.line(line) }
    context.show(output.batteryWarnings[alarm.id], isStill: motion.noAnimation)
    SoundPreview(context).play(edit.delivery.sound)
  }
}
