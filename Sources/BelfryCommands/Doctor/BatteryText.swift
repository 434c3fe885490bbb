import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The battery as a page and as a document.
struct BatteryText {
  /// An alarm that rings on this device soon.
  struct Near {
    let alarm: Identifier
    let title: String
    let nextRinging: Timeline.Occurrence
  }

  private let output: AlarmOutput
  private var style: Style { output.style }
  private var now: Instant { output.now }

  /// The maximum number of alarms to list.
  private static let maxAlarms = 20

  init(now: Instant, zones: ZoneLibrary, _ style: Style) {
    output = AlarmOutput(now: now, zones: zones, style: style)
  }

  // MARK: Text

  func page(_ standing: BatteryStanding, _ alarms: [Near]) -> String {
    let outlook = outlook(standing, alarms)
    var text = style.paint("Battery", .bold) + "\n\n"
    func row(_ name: String, _ value: String) {
      text += "  \(name)" + String(repeating: " ", count: 10 - name.count)
      text += style.fit(value, indent: 12) + "\n"
    }
    row("level", standing.reading.level.map { "\(Int($0.rounded(.down)))%" } ?? "unknown")
    row("state", standing.reading.isCharging ? "charging" : "discharging")
    if !standing.reading.isCharging {
      row("drain", BatteryText.drain(outlook))
      if let asleep = outlook?.asleep {
        row("asleep", "\(BatteryText.number(asleep))% per hour\(sleeps(outlook))")
      }
    }
    row("source", source(standing.reading))
    if alarms.isEmpty {
      text += "\nNo alarm rings here in the next 24 hours.\n"
    } else {
      text += "\n" + style.paint("Level when alarms ring", .bold) + "\n\n"
      for alarm in alarms.prefix(BatteryText.maxAlarms) { text += line(alarm, standing) }
      let more = alarms.count - BatteryText.maxAlarms
      if more > 0 { text += "  and \(more) more\n" }
    }
    if let sample = standing.sample {
      let plot = BatteryPlot(standing, sample, alarms: alarms.map(\.nextRinging.at), output)
      if !plot.isEmpty { text += "\n" + plot.text }
    }
    return text
  }

  /// `8.0% per hour, measured`
  static func drain(_ outlook: DrainOutlook?) -> String {
    guard let awake = outlook?.awake else { return "not known yet" }
    let source =
      switch outlook?.source {
      case .measured: "measured in the last hours"
      case .kernel: "from the kernel's power reading"
      case .usual, nil: "the usual rate"
      case .assumed: "assumed until it is measured"
      }
    return "\(number(awake))% per hour, \(source)"
  }

  private func sleeps(_ outlook: DrainOutlook?) -> String {
    guard let share = outlook?.asleepShare, share > 0 else { return "" }
    return ", expected \(Int((share * 100).rounded()))% of the time"
  }

  private func source(_ reading: PowerReading) -> String {
    switch reading.source {
    case .kernel: "the kernel: \(reading.names.map { Printable.text($0) }.joined(separator: ", "))"
    case .upower: "UPower"
    }
  }

  /// Returns the drain forecast up to the last of the alarms.
  private func outlook(_ standing: BatteryStanding, _ alarms: [Near]) -> DrainOutlook? {
    standing.forecast?.outlook(
      until: alarms.last?.nextRinging.at ?? now.adding(seconds: BatteryWarnings.horizon))
  }

  private func line(_ alarm: Near, _ standing: BatteryStanding) -> String {
    let prediction = standing.prediction(at: alarm.nextRinging.at)
    let (label, color): (String, Style.Color?) =
      switch prediction.risk {
      case .critical: ("critical", .red)
      case .warning: ("warning", .orange)
      case .safe:
        (standing.reading.isCharging || prediction.unknown == nil ? "safe" : "unknown", nil)
      }
    let percent = standing.reading.isCharging ? nil : prediction.predicted
    var cells = percent.map { "\($0)%" } ?? ""
    cells = String(repeating: " ", count: max(0, 4 - cells.count)) + cells
    let painted = color.map { style.paint(label, $0) } ?? label
    let when = output.times.relative(alarm.nextRinging.at)
    let rest = style.fit("\(when)  \(Printable.text(alarm.title))", indent: 18)
    let gap = String(repeating: " ", count: max(0, 9 - label.count))
    return "  \(cells)  \(painted)\(gap) \(rest)\n"
  }

  /// Returns a number with one decimal place.
  static func number(_ value: Double) -> String {
    let tenths = Int(min(1e9, max(-1e9, value * 10)).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  // MARK: Documents

  func document(_ standing: BatteryStanding, _ alarms: [Near]) -> BatteryDocument {
    BatteryDocument(
      standing, outlook: outlook(standing, alarms),
      alarms.map { ($0.alarm, $0.title, $0.nextRinging) },
      since: now.adding(seconds: -BatteryPlot.past), zones: output.zones)
  }
}

/// A plot of the recorded and predicted battery level. Marks on the time axis are alarms.
struct BatteryPlot {
  /// The maximum length of the recorded part, in seconds.
  static let past: Int64 = 12 * 3600
  /// The maximum time between two connected samples, in seconds.
  private static let gap: Int64 = 1800
  private static let rows = 10

  private let standing: BatteryStanding
  private let sample: BatterySample
  private let output: AlarmOutput
  private let start: Instant
  private let end: Instant
  private let columns: Int
  private let alarms: [Instant]

  /// - Parameter alarms: the times of the alarms to mark, in order.
  init(
    _ standing: BatteryStanding, _ sample: BatterySample, alarms: [Instant],
    _ output: AlarmOutput
  ) {
    self.standing = standing
    self.sample = sample
    self.output = output
    self.alarms = alarms
    columns = max(20, min(72, (output.style.width ?? 80) - 8))
    let first = standing.history.samples.first {
      $0.at > sample.at.adding(seconds: -BatteryPlot.past)
    }
    start = min(first?.at ?? sample.at, sample.at.adding(seconds: -3600))
    end = max(alarms.last ?? sample.at, sample.at.adding(seconds: 4 * 3600))
  }

  private func moment(_ column: Int) -> Instant {
    let length = end.milliseconds - start.milliseconds
    return Instant(
      milliseconds: start.milliseconds + length * Int64(2 * column + 1) / Int64(2 * columns))
  }

  /// Returns the sign of a column, its color and its level in percent, or nil for an empty column.
  private func mark(_ column: Int) -> (sign: String, color: Style.Color, level: Double)? {
    let moment = moment(column)
    if moment <= sample.at {
      let known = (standing.history.samples + [sample]).last { $0.at <= moment }
      guard let known, moment.seconds(since: known.at) <= BatteryPlot.gap else { return nil }
      return known.isCharging ? ("+", .green, known.level) : ("•", .plain, known.level)
    }
    let prediction = standing.prediction(at: moment)
    guard !sample.isCharging, let level = prediction.level else { return nil }
    let color: Style.Color =
      switch prediction.risk {
      case .safe: .faint
      case .warning: .orange
      case .critical: .red
      }
    return ("·", color, max(0, level))
  }

  /// True if there are neither recorded nor predicted levels.
  var isEmpty: Bool { (0..<columns).allSatisfy { mark($0) == nil } }

  var text: String {
    let marks = (0..<columns).map(mark)
    var text = ""
    for row in (0..<BatteryPlot.rows).reversed() {
      let label =
        row == BatteryPlot.rows - 1 ? "100%" : row == 4 ? " 50%" : row == 0 ? "  0%" : "    "
      text += "  \(label) │"
      for mark in marks {
        let isHere = mark.map { min(BatteryPlot.rows - 1, Int($0.level / 10)) == row } ?? false
        text += isHere ? mark.map { output.style.paint($0.sign, $0.color) } ?? " " : " "
      }
      while text.hasSuffix(" ") { text.removeLast() }
      text += "\n"
    }
    text += "       └" + axis + "\n"
    return text + labels + "\n"
  }

  private var axis: String {
    var line = [Character](repeating: "─", count: columns)
    for alarm in alarms { line[min(columns - 1, column(alarm))] = "▲" }
    return String(line)
  }

  private func column(_ moment: Instant) -> Int {
    let length = end.milliseconds - start.milliseconds
    return Int((moment.milliseconds - start.milliseconds) * Int64(columns) / length)
  }

  /// The line with the times at the start, now and at the end.
  private var labels: String {
    func time(_ moment: Instant) -> String { output.times.clock(moment) }
    var line = [Character](repeating: " ", count: columns)
    func put(_ label: String, at column: Int) {
      let first = max(0, min(column, columns - label.count))
      let range = first..<first + label.count
      guard range.upperBound <= columns, line[range].allSatisfy({ $0 == " " }) else { return }
      line.replaceSubrange(range, with: Array(label))
    }
    put("now", at: column(sample.at))
    put(time(start), at: 0)
    put(time(end), at: columns)
    var text = "        " + String(line)
    while text.hasSuffix(" ") { text.removeLast() }
    return text
  }
}
