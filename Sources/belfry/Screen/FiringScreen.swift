import BelfryCore

/// What rings, over the whole screen: the time large, the title, the note, and the keys.
struct FiringScreen {
  var title: String
  var badge: String
  var note: String?
  /// `09:00`
  var time: String
  /// `Mon 23 Nov 2026`, and how long it has been ringing.
  var subtitle: String
  /// `1 of 3`, where several ring.
  var position: String?
  var snoozeEnabled = true
  /// How long a snooze is that is not one of the others, in words.
  var snooze = "9 min"
  /// Stopped by holding a key.
  var slideToStop = false
  /// How much of the hold is over, 0…1.
  var progress = 0.0
  /// What has just happened.
  var message: String?

  /// The lines of the screen, each as wide as it is, without their ends.
  func lines(columns: Int, rows: Int, _ style: Style) -> [String] {
    let room = max(10, columns - 4)
    var body: [Line] = []
    if let position { body += [Line(position, .faint), Line("")] }
    if rows >= 18, columns >= 38 {
      body += BigDigits.lines(time).map { Line($0, .bold) }
    } else {
      body.append(Line(time, .bold))
    }
    body += SettingsText.wrapped(subtitle, to: room).map { Line($0, .faint) }
    body.append(Line(""))
    body += SettingsText.wrapped(Printable.text(title), to: room).prefix(3).map { Line($0, .bold) }
    body.append(Line("[\(badge)]", AlarmOutput.colour(ofBadge: badge)))
    if let note {
      body.append(Line(""))
      let words = note.split(separator: "\n").flatMap {
        SettingsText.wrapped(Printable.text(String($0).replacing("\t", with: " ")), to: room)
      }
      body += words.prefix(max(1, rows / 6)).map { Line($0) }
    }
    var keys = self.keys(room)
    if let message { keys.insert(Line(message, .yellow), at: 0) }
    // What does not fit is left out from the middle: the title and the keys stay.
    body = Array(body.prefix(max(1, rows - keys.count - 1)))
    let free = max(0, rows - body.count - keys.count)
    let above = free / 3
    let blank = Line("")
    let all =
      [Line](repeating: blank, count: above) + body
      + [Line](repeating: blank, count: free - above) + keys
    return all.prefix(rows).map { $0.centred(in: columns, style) }
  }

  private struct Line {
    let text: String
    let colour: Style.Colour?

    init(_ text: String, _ colour: Style.Colour? = nil) {
      self.text = text
      self.colour = colour
    }

    func centred(in columns: Int, _ style: Style) -> String {
      let text = TextWidth.cut(self.text, to: columns)
      let width = TextWidth.of(text)
      let left = (columns - width) / 2
      return String(repeating: " ", count: left)
        + (colour.map { style.paintOnBlack(text, $0) } ?? text)
        + String(repeating: " ", count: columns - width - left)
    }
  }

  private func keys(_ room: Int) -> [Line] {
    var groups: [[String]] = [
      (slideToStop ? [] : ["[s] stop"]) + ["[d] done", "[k] skip"]
    ]
    if snoozeEnabled {
      groups.append(["snooze: [z] \(snooze)", "[1] 1 h", "[2] 1 day", "[3] 1 week"])
    }
    groups.append(["[q] leave it ringing"])
    var lines: [Line] = []
    if slideToStop {
      lines.append(Line("hold [Space] for 3 s to stop", .bold))
      lines.append(Line(bar(min(room, 40)), progress > 0 ? .yellow : .faint))
      lines.append(Line(""))
    }
    for group in groups {
      // A group that is too wide takes two lines.
      let whole = group.joined(separator: "   ")
      if TextWidth.of(whole) <= room {
        lines.append(Line(whole))
      } else {
        let half = (group.count + 1) / 2
        lines.append(Line(group.prefix(half).joined(separator: "   ")))
        lines.append(Line(group.dropFirst(half).joined(separator: "   ")))
      }
    }
    return lines + [Line("")]
  }

  private func bar(_ width: Int) -> String {
    let inner = width - 2
    let full = Int((progress * Double(inner)).rounded())
    return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: inner - full)
      + "]"
  }
}

/// A time in digits five lines high.
enum BigDigits {
  private static let shapes: [Character: [String]] = [
    "0": ["███", "█ █", "█ █", "█ █", "███"], "1": [" █ ", "██ ", " █ ", " █ ", "███"],
    "2": ["███", "  █", "███", "█  ", "███"], "3": ["███", "  █", "███", "  █", "███"],
    "4": ["█ █", "█ █", "███", "  █", "  █"], "5": ["███", "█  ", "███", "  █", "███"],
    "6": ["███", "█  ", "███", "█ █", "███"], "7": ["███", "  █", "  █", "  █", "  █"],
    "8": ["███", "█ █", "███", "█ █", "███"], "9": ["███", "█ █", "███", "  █", "███"],
    ":": [" ", "█", " ", "█", " "],
  ]

  static func lines(_ text: String) -> [String] {
    (0..<5).map { row in
      text.compactMap { shapes[$0]?[row] }
        .map { shape in shape.map { "\($0)\($0)" }.joined() }.joined(separator: "  ")
    }
  }
}
