/// The full-screen clock of `ring --wait`, while no alarm rings.
package struct ClockScreen {
  /// `22:41` or `10:41 PM`.
  package var time: String
  /// `Fri 20 Nov 2026`
  package var date: String
  /// The title of the alarm that rings next; nil if none will ring.
  package var nextTitle: String?
  /// The time of the next occurrence: `tomorrow 09:00, in 10 h 19 min`.
  package var nextTime: String?
  /// The number of alarms with pending occurrences.
  package var pending = 0
  /// What is wrong: a sentence for each problem.
  package var problems: [String] = []
  /// The result of the last answer; nil for none.
  package var message: String?

  package init(
    time: String, date: String, nextTitle: String? = nil, nextTime: String? = nil, pending: Int = 0,
    problems: [String] = [], message: String? = nil
  ) {
    self.time = time
    self.date = date
    self.nextTitle = nextTitle
    self.nextTime = nextTime
    self.pending = pending
    self.problems = problems
    self.message = message
  }

  /// Draws the screen.
  package func render(_ size: Size) -> Buffer {
    let room = max(10, size.columns - 4)
    let isTall = size.rows >= 14 && size.columns >= BigDigits.width(of: time) + 4
    var body = (isTall ? BigDigits.lines(time) : [time]).map { ScreenLine($0, .title, .bold) }
    body += [
      ScreenLine("", .blank), ScreenLine(date, .time, .faint), ScreenLine("", .blank),
    ]
    body += TextWidth.wrapped(next, to: room).prefix(3).map { ScreenLine($0, .title) }
    if let nextTime { body.append(ScreenLine(nextTime, .title, .faint)) }
    if pending > 0 {
      let text = pending == 1 ? "1 alarm is pending" : "\(pending) alarms are pending"
      body += [ScreenLine("", .blank), ScreenLine(text, .more, .brightMagenta)]
    }
    var keys: [ScreenLine] = []
    for problem in problems {
      keys += TextWidth.wrapped(problem, to: room).map { ScreenLine($0, .more, .yellow) }
    }
    if let message {
      keys += TextWidth.wrapped(message, to: room).map { ScreenLine($0, .note, .faint) }
    }
    keys += [ScreenLine("[q] close", .more), ScreenLine("", .blank)]
    return ScreenLine.screen(size, with: body, above: keys)
  }

  private var next: String {
    nextTitle.map { "next: \(Printable.text($0))" } ?? "No alarm will ring."
  }
}
