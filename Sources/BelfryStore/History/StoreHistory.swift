import BelfryCore

/// The history of a store: the log, the origins of values, resolved conflicts, and the undoing of actions.
public struct StoreHistory: StorePart {
  let store: Store

  /// Returns the log entries, newest first. They are read lazily.
  ///
  /// - Parameters:
  ///   - alarm: The alarm whose entries are returned; nil for all alarms. Entries of other alarms are not parsed.
  ///   - first: The UTC day of the first entries; nil for all days. Earlier days are not read.
  ///   - report: Receives the path and the error of each file that is not a valid entry. The path is relative to the
  ///     store.
  public func log(
    of alarm: Identifier? = nil, since first: CivilDate? = nil,
    report: @escaping (String, RecordError) -> Void = { _, _ in }
  ) -> some Sequence<LogEntry> {
    LogReader(store, of: alarm, since: first, report: report).entries()
  }
}

extension Store {
  /// The history of this store.
  public var history: StoreHistory { StoreHistory(store: self) }
}
