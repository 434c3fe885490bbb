import BelfryCore
import Git

/// The summaries of all alarms in two files, so that a list doesn't read every record, and so that a change of a few
/// alarms doesn't write every summary.
///
/// ```
/// alarm-index            the rows of all alarms at the time of its writing
/// alarm-index-changes    the rows that were added or replaced since then
/// ```
///
/// Both files are a cache, and are used together or not at all. A row is valid only as long as its record's file has the
/// row's signature. `AlarmIndexLayout` describes the format.
///
/// The rows have the numbers from 0 up to `count`: first those of the main file, then those of the changes. A row of the
/// main file that the changes replace is not in use, see `isUsed`.
struct AlarmIndexFile: Sendable {
  /// The data about one record's file.
  struct Row: Sendable {
    /// The alarm's id.
    let id: Identifier
    /// The signature of the record's file.
    var signature: FileSignature
    /// The blob of the version that the summary describes.
    var blob: ObjectID
    /// The start of the time in which the summary's status is valid.
    var validFrom: Instant
    /// The end of that time, exclusive.
    var validUntil: Instant
  }

  /// The header of the main file, and the changes.
  let head: AlarmIndexHead
  /// The rows of the main file.
  let main: AlarmIndexTable
  /// The rows of the changes.
  var changes: AlarmIndexTable { head.changes }
  /// For each row of the main file, true if the changes replace it.
  private let isReplaced: [Bool]
  /// For each row of the changes, the number of rows of the main file that come before it.
  private let places: [Int]

  /// Joins the main file with its head. Returns nil if they don't belong together.
  init?(_ main: AlarmIndexTable, _ head: AlarmIndexHead) {
    guard main.header == head.main else { return nil }
    self.main = main
    self.head = head
    var isReplaced = [Bool](repeating: false, count: main.count)
    places = (0..<head.changes.count).map { index in
      let place = main.place(of: index, in: head.changes)
      if place.exists { isReplaced[place.index] = true }
      return place.index
    }
    self.isReplaced = isReplaced
  }

  /// The number of rows, including those that are not in use.
  var count: Int { main.count + changes.count }
  /// The state of the alarms' folder.
  var folder: AlarmFolderState { changes.header.folder }
  /// The other inputs of the statuses: the time zones and the settings.
  var fingerprint: String { head.fingerprint }

  /// Returns true if a row is in use: the changes have no other row of the same alarm.
  func isUsed(_ index: Int) -> Bool { index >= main.count || !isReplaced[index] }

  /// The identifiers of all alarms.
  var identifiers: [Identifier] {
    (0..<count).compactMap { isUsed($0) ? identifier($0) : nil }
  }

  /// Returns true if the folder's signature proves that it has the same entries as when it was last listed.
  func vouches(forFolder signature: FileSignature) -> Bool {
    signature == folder.signature && changes.vouches(for: signature)
  }

  /// Returns true if the signature of a row's file proves that the file is unchanged.
  func vouches(_ index: Int, for signature: FileSignature) -> Bool {
    index < main.count
      ? signature == main.signature(index) && main.vouches(for: signature)
      : signature == changes.signature(index - main.count) && changes.vouches(for: signature)
  }

  /// Returns a number that orders a row among all rows by the alarm's id.
  func order(_ index: Int) -> Int {
    // The rows of the changes that come before a row of the main file have lower numbers than that row.
    let width = changes.count + 1
    if index < main.count { return index * width + changes.count }
    return places[index - main.count] * width + index - main.count
  }

  /// Calls a closure with the name of a row's file as a C string.
  func withName<Result>(_ index: Int, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    index < main.count
      ? main.withName(index, body) : changes.withName(index - main.count, body)
  }

  /// Returns the alarm's id of a row, or nil if the row is damaged.
  func identifier(_ index: Int) -> Identifier? {
    index < main.count ? main.identifier(index) : changes.identifier(index - main.count)
  }

  /// Returns the signature of a row's file.
  func signature(_ index: Int) -> FileSignature {
    index < main.count ? main.signature(index) : changes.signature(index - main.count)
  }

  /// Returns true if the status of a row is valid at an instant.
  func isValid(_ index: Int, at now: Instant) -> Bool {
    index < main.count
      ? main.isValid(index, at: now) : changes.isValid(index - main.count, at: now)
  }

  /// Returns the end of the time in which the status of a row is valid.
  func validUntil(_ index: Int) -> Instant {
    index < main.count ? main.validUntil(index) : changes.validUntil(index - main.count)
  }

  /// Returns the time of the next occurrence of a row's alarm, or nil if there is none or the alarm is deleted.
  func next(_ index: Int) -> Instant? {
    index < main.count ? main.next(index) : changes.next(index - main.count)
  }

  /// Returns a row, or nil if it is damaged.
  func row(_ index: Int) -> Row? {
    index < main.count ? main.row(index) : changes.row(index - main.count)
  }

  /// Returns the summary of a row, or nil if it is damaged.
  func summary(_ index: Int) -> AlarmSummary? {
    index < main.count ? main.summary(index) : changes.summary(index - main.count)
  }

  /// Calls a closure with a reader of the fields that a list shows.
  func withLines<Result>(_ body: (AlarmLines) -> Result) -> Result {
    let changes = changes
    return main.bytes.withUnsafeBytes { main in
      changes.bytes.withUnsafeBytes { raw in
        body(AlarmLines(mainTable: self.main, main: main, changesTable: changes, changes: raw))
      }
    }
  }

  /// Returns the index of the row in use of an alarm, or nil if there is none.
  ///
  /// - Complexity: O(log *n*)
  func index(of id: Identifier) -> Int? {
    changes.index(of: id).map { main.count + $0 } ?? main.index(of: id)
  }

  /// Returns the rows in use whose title contains a text in any case, or whose id starts with it.
  ///
  /// - Parameter text: Lower-case ASCII. It is compared byte by byte without creating strings.
  func rows(matching text: [UInt8]) -> [Int] {
    main.rows(matching: text).filter(isUsed) + changes.rows(matching: text).map { main.count + $0 }
  }

  /// Returns the rows in use with exactly this title.
  func rows(titled title: String) -> [Int] {
    main.rows(titled: title).filter(isUsed) + changes.rows(titled: title).map { main.count + $0 }
  }
}

/// A reader of the fields of an index's rows that a list shows. It is valid only during the call of the closure that
/// receives it.
struct AlarmLines {
  fileprivate let mainTable: AlarmIndexTable
  fileprivate let main: UnsafeRawBufferPointer
  fileprivate let changesTable: AlarmIndexTable
  fileprivate let changes: UnsafeRawBufferPointer

  /// Returns the fields of a row, or nil if the row is damaged.
  func line(_ index: Int) -> AlarmLine? {
    index < mainTable.count
      ? mainTable.line(index, in: main) : changesTable.line(index - mainTable.count, in: changes)
  }
}
