import BelfryCore
import Git

/// The history of a store: the log, the origins of values, resolved conflicts, and the undoing of actions.
public struct StoreHistory: StorePart {
  let store: Store

  /// Returns the log entries, newest first. They are read lazily.
  ///
  /// - Parameters:
  ///   - alarm: The alarm whose entries are returned; nil for all alarms. Entries of other alarms are not parsed.
  ///   - report: Receives the path and the error of each file that is not a valid entry. The path is relative to the
  ///     store.
  public func log(
    of alarm: Identifier? = nil,
    report: @escaping (String, RecordError) -> Void = { _, _ in }
  ) -> some Sequence<LogEntry> {
    let root = path
    // The names of years, months, days and entries sort chronologically.
    func names(_ folder: String) -> [String] {
      DurableFile.names(in: folder).filter { !$0.hasPrefix(".") }.sorted(by: >)
    }
    func below(_ folders: some Sequence<String>) -> some Sequence<String> {
      folders.lazy.flatMap { folder in names("\(root)/\(folder)").lazy.map { "\(folder)/\($0)" } }
    }
    return below(below(below(below(["log"])))).lazy.compactMap { path -> LogEntry? in
      guard case .log = RecordPath(path) else { return nil }
      do {
        guard let file = try DurableFile.read("\(root)/\(path)", limit: LogRecord.largest) else {
          return nil
        }
        if let alarm, !LogRecord.mentions(alarm, file.bytes) { return nil }
        let entry = try LogRecord.decode(file.bytes)
        return alarm == nil || entry.alarm == alarm ? entry : nil
      } catch let error as RecordError {
        report(path, error)
      } catch {
        report(path, RecordError("\(error)"))
      }
      return nil
    }
  }
}

extension Store {
  /// The history of this store.
  public var history: StoreHistory { StoreHistory(store: self) }
}
