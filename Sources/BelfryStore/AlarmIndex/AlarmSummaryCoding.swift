import BelfryCore

/// The writer of an alarm's summary in the alarm index.
///
/// A change of the format needs another version of `StoreCache`.
enum AlarmSummaryWriter {
  /// Appends a summary.
  static func append(_ summary: AlarmSummary, to bytes: inout [UInt8]) {
    func text(_ text: String) {
      number(Int64(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    }
    func number(_ number: Int64) {
      withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }
    func flag(_ flag: Bool) { bytes.append(flag ? 1 : 0) }
    /// Appends a presence flag and the value, if there is one.
    func optional<Value>(_ value: Value?, _ write: (Value) -> Void) {
      flag(value != nil)
      if let value { write(value) }
    }
    let status = summary.status
    text(summary.title)
    text(summary.zone)
    RuleWriter.append(summary.rule, to: &bytes)
    flag(summary.isDeleted)
    flag(summary.hasCascade)
    optional(summary.note, text)
    number(Int64(summary.tags.count))
    for tag in summary.tags.sorted() { text(tag.text) }
    text(summary.badge)
    optional(summary.partner, text)
    bytes.append(status.state.code)
    number(status.validUntil.milliseconds)
    optional(status.next) {
      number(Int64($0.civil.minuteNumber))
      number($0.at.milliseconds)
    }
    optional(status.current) { number(Int64($0.minuteNumber)) }
    number(Int64(status.pending.count))
    for pending in status.pending {
      number(Int64(pending.occurrence.minuteNumber))
      number(pending.since.milliseconds)
      number(Int64(pending.followUpsSent))
      optional(pending.nextFollowUp) { number($0.milliseconds) }
    }
    for civils in [status.missed, status.skipped] {
      number(Int64(civils.count))
      for civil in civils { number(Int64(civil.minuteNumber)) }
    }
    optional(status.snooze) {
      number(Int64($0.occurrence.minuteNumber))
      number($0.until.milliseconds)
      number(Int64($0.count))
    }
    optional(status.pausedUntil) { number(Int64($0.minuteNumber)) }
    number(Int64(status.moved.count))
    for (civil, time) in status.moved.sorted(by: { $0.key < $1.key }) {
      number(Int64(civil.minuteNumber))
      number(Int64(time.minuteNumber))
    }
  }
}

/// A reader of the format of `AlarmSummaryWriter`.
///
/// Its methods return nil at the end of the data and for an invalid value.
struct AlarmSummaryReader {
  private let raw: UnsafeRawBufferPointer
  private var position = 0

  /// Creates a reader of one summary.
  init(raw: UnsafeRawBufferPointer) {
    self.raw = raw
  }

  mutating func number() -> Int64? {
    guard position + 8 <= raw.count else { return nil }
    defer { position += 8 }
    return raw.loadUnaligned(fromByteOffset: position, as: Int64.self)
  }

  mutating func byte() -> UInt8? {
    guard position < raw.count else { return nil }
    defer { position += 1 }
    return raw[position]
  }

  private mutating func text() -> String? {
    guard let length = number(), (0...Int64(raw.count - position)).contains(length) else {
      return nil
    }
    defer { position += Int(length) }
    return String(
      decoding: UnsafeRawBufferPointer(rebasing: raw[position..<(position + Int(length))]),
      as: UTF8.self)
  }

  private mutating func civil() -> CivilDateTime? {
    number().map { CivilDateTime(minuteNumber: Int($0)) }
  }
  private mutating func instant() -> Instant? { number().map { Instant(milliseconds: $0) } }

  private mutating func civils() -> [CivilDateTime]? {
    guard let count = number(), (0...10_000).contains(count) else { return nil }
    var result: [CivilDateTime] = []
    for _ in 0..<count {
      guard let civil = civil() else { return nil }
      result.append(civil)
    }
    return result
  }

  private mutating func tags() -> Set<AlarmTag>? {
    guard let count = number(), (0...10_000).contains(count) else { return nil }
    var result: Set<AlarmTag> = []
    for _ in 0..<count {
      guard let tag = text().flatMap({ try? AlarmTag($0) }) else { return nil }
      result.insert(tag)
    }
    return result
  }

  /// Returns the summary of an alarm.
  mutating func summary(_ id: Identifier) -> AlarmSummary? {
    guard let title = text(), let zone = text(), let rule = rule(), let isDeleted = byte(),
      let hasCascade = byte(), let hasNote = byte()
    else { return nil }
    let note = hasNote == 1 ? text() : nil
    guard let tags = tags(), let badge = text(), let hasPartner = byte() else { return nil }
    let partner = hasPartner == 1 ? text() : nil
    guard let status = status() else { return nil }
    return AlarmSummary(
      id: id, title: title, note: note, tags: tags, badge: badge, rule: rule, zone: zone,
      isDeleted: isDeleted == 1, hasCascade: hasCascade == 1, partner: partner, status: status)
  }

  private mutating func status() -> AlarmStatus? {
    guard let state = byte().flatMap(AlarmStatus.State.init(code:)), let validUntil = instant(),
      let hasNext = byte()
    else { return nil }
    var status = AlarmStatus(state: state, validUntil: validUntil)
    if hasNext == 1 {
      guard let civil = civil(), let at = instant() else { return nil }
      status.next = Timeline.Occurrence(civil: civil, at: at)
    }
    guard let hasCurrent = byte() else { return nil }
    if hasCurrent == 1 { status.current = civil() }
    guard let pending = number(), (0...10_000).contains(pending) else { return nil }
    for _ in 0..<pending {
      guard let civil = civil(), let since = instant(), let sent = number(), let hasNext = byte()
      else { return nil }
      status.pending.append(
        AlarmStatus.Pending(
          occurrence: civil, since: since, followUpsSent: Int(sent),
          nextFollowUp: hasNext == 1 ? instant() : nil))
    }
    guard let missed = civils(), let skipped = civils() else { return nil }
    status.missed = missed
    status.skipped = skipped
    guard let hasSnooze = byte() else { return nil }
    if hasSnooze == 1 {
      guard let civil = civil(), let until = instant(), let count = number() else { return nil }
      status.snooze = AlarmStatus.Snooze(occurrence: civil, until: until, count: Int(count))
    }
    guard let isPaused = byte() else { return nil }
    if isPaused == 1 { status.pausedUntil = civil() }
    guard let moved = number(), (0...10_000).contains(moved) else { return nil }
    for _ in 0..<moved {
      guard let occurrence = civil(), let time = civil() else { return nil }
      status.moved[occurrence] = time
    }
    if let next = status.next, let time = status.moved[next.civil] {
      status.next = Timeline.Occurrence(civil: next.civil, movedTo: time, at: next.at)
    }
    return status
  }
}

extension AlarmStatus.State {
  private static let all = Array(allCases)

  /// The number of the state in the alarm index.
  var code: UInt8 { UInt8(AlarmStatus.State.all.firstIndex(of: self) ?? 0) }

  /// Creates the state with a number; nil if there is none.
  init?(code: UInt8) {
    guard Int(code) < AlarmStatus.State.all.count else { return nil }
    self = AlarmStatus.State.all[Int(code)]
  }
}
