import BelfryCore

/// The full-screen view of a ringing alarm: the time in large digits, the title, the note and the keys.
package struct FiringScreen {
  package var title: String
  package var badge: String
  package var note: String?
  /// `09:00`
  package var time: String
  /// The date, such as `Mon 23 Nov 2026`, and the time since the alarm began to ring.
  package var subtitle: String
  /// `1 of 3`; nil if only one alarm rings.
  package var position: String?
  /// The titles of the other alarms that ring. They follow after the answer.
  package var others: [String] = []
  /// True if a partner has set the alarm. Done then sends the partner a receipt.
  package var isFromPartner = false
  /// True if the user can reply to the partner on this device.
  package var canReply = false
  /// The labels of the offered snoozes, such as `[z] 9 min`; empty if snoozing is disabled.
  package var snoozes = ["[z] 9 min", "[1] 1 h", "[2] 1 day", "[3] 1 week"]
  /// True if the occurrence can be skipped: a one-time alarm has no other.
  package var canSkip = true
  /// True if the alarm is stopped by holding a key.
  package var slideToStop = false
  /// The completed share of the hold, 0…1.
  package var progress = 0.0
  /// False while the screen ignores keys. It then shows none.
  package var keysCount = true
  /// The result of the last action; nil for none.
  package var message: String?
  /// The reply to the partner as it is typed; nil if none is.
  package var reply: LineEditor?

  package init(
    title: String, badge: String, note: String? = nil, time: String, subtitle: String,
    position: String? = nil, others: [String] = [], isFromPartner: Bool = false,
    canReply: Bool = false,
    snoozes: [String] = ["[z] 9 min", "[1] 1 h", "[2] 1 day", "[3] 1 week"], canSkip: Bool = true,
    slideToStop: Bool = false, progress: Double = 0.0, keysCount: Bool = true,
    message: String? = nil
  ) {
    self.title = title
    self.badge = badge
    self.note = note
    self.time = time
    self.subtitle = subtitle
    self.position = position
    self.others = others
    self.isFromPartner = isFromPartner
    self.canReply = canReply
    self.snoozes = snoozes
    self.canSkip = canSkip
    self.slideToStop = slideToStop
    self.progress = progress
    self.keysCount = keysCount
    self.message = message
  }

  /// Draws the screen.
  ///
  /// On a terminal with too few rows, the least important lines are left out. The title and the keys stay.
  package func render(_ size: Size) -> Buffer {
    let room = max(10, size.columns - 4)
    let isTall = size.rows >= 18 && size.columns >= BigDigits.width(of: time) + 4
    let body = self.head(room, isTall: isTall) + self.middle(room, rows: size.rows)
    return ScreenLine.screen(size, with: body, above: keys(room))
  }

  private typealias Line = ScreenLine

  private func head(_ room: Int, isTall: Bool) -> [Line] {
    var lines: [Line] = []
    if let position { lines += [Line(position, .badge, .faint), Line("", .blank)] }
    lines += (isTall ? BigDigits.lines(time) : [time]).map { Line($0, .time, .bold) }
    lines += TextWidth.wrapped(subtitle, to: room).map { Line($0, .time, .faint) }
    return lines + [Line("", .blank)]
  }

  private func middle(_ room: Int, rows: Int) -> [Line] {
    var lines = TextWidth.wrapped(Printable.text(title), to: room).prefix(3)
      .map { Line($0, .title, .bold) }
    lines.append(Line("[\(badge)]", .badge, AlarmOutput.color(ofBadge: badge)))
    if !others.isEmpty {
      let text = "Also ringing: " + others.map { Printable.text($0) }.joined(separator: ", ")
      lines.append(Line("", .blank))
      lines += TextWidth.wrapped(text, to: room).prefix(2).map { Line($0, .more, .yellow) }
    }
    guard let note else { return lines }
    let noteLines = note.split(separator: "\n").flatMap {
      TextWidth.wrapped(Printable.text(String($0).replacing("\t", with: " ")), to: room)
    }
    lines.append(Line("", .blank))
    return lines + noteLines.prefix(max(1, rows / 6)).map { Line($0, .note) }
  }

  private func keys(_ room: Int) -> [Line] {
    var lines: [Line] = []
    if let reply { return replyLines(reply) }
    if let message { lines.append(Line(message, .title, .yellow)) }
    if !keysCount {
      return lines + [Line("Keys count after a pause of 2 s.", .title, .faint), Line("", .blank)]
    }
    if slideToStop {
      lines.append(Line("hold [Space] for 3 s to stop", .title, .bold))
      lines.append(Line(bar(min(room, 40)), .title, progress > 0 ? .yellow : .faint))
      lines.append(Line("", .blank))
    }
    func add(_ group: [String], _ importance: Line.Importance) {
      // A group that is too wide is split over two lines.
      let whole = group.joined(separator: "   ")
      let half = TextWidth.of(whole) <= room ? group.count : (group.count + 1) / 2
      for part in [group.prefix(half), group.dropFirst(half)] where !part.isEmpty {
        lines.append(Line(part.joined(separator: "   "), importance))
      }
    }
    add(
      (slideToStop ? [] : ["[s] stop"]) + [
        isFromPartner ? "[d] ❤️ Got it" : "[d] done"
      ] + (canReply ? ["[r] reply"] : []) + (canSkip ? ["[k] skip"] : []), .title)
    if let first = snoozes.first { add(["snooze: \(first)"] + snoozes.dropFirst(), .more) }
    add(["[q] leave it ringing"], .more)
    return lines + [Line("", .blank)]
  }

  private func replyLines(_ reply: LineEditor) -> [Line] {
    let label = "Reply: "
    let before = TextWidth.of(label + String(reply.characters[..<reply.cursor]))
    return [
      Line(label + reply.text, .title, .yellow, cursor: before),
      Line("[Enter] send   [Esc] cancel", .title), Line("", .blank),
    ]
  }

  private func bar(_ width: Int) -> String {
    let inner = width - 2
    let full = Int((progress * Double(inner)).rounded())
    return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: inner - full)
      + "]"
  }
}
