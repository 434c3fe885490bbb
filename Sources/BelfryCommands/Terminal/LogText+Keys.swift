import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

extension LogText {
  /// The keys of the documents of entries: those of an entry with all values.
  static var keys: DocumentKeys {
    let id = Identifier(high: 0, low: 0)
    let (now, civil) = (Instant(milliseconds: 0), CivilDateTime(CivilDate(dayNumber: 0), .midnight))
    let entry = LogEntry(
      id: id, alarm: id, title: "", occurrence: civil, action: .done, at: now, device: id,
      auto: true, payload: .undelivered, effective: now)
    let times = TimeText(now: now, zones: ZoneLibrary(variable: "UTC"), format: TimeFormat())
    return DocumentKeys(of: LogText(names: [:], times: times).json(entry))
  }
}
