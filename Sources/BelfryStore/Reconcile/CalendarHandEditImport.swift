import BelfryCore
import Files
import Git

/// An import of hand edits of the holiday calendars, as `SettingsHandEditImport` is for the settings.
///
/// Years that differ under the same stamp from the commit at which Belfry left the branch get a new stamp. A missing
/// file is restored: `belfry calendar remove` removes a calendar.
///
/// - Precondition: The work tree agrees with the branch, apart from hand edits.
/// - Effect: At most one commit. Invalid files stay as they are. If there is none,
///   the signature of the calendars is saved.
/// - Cost: The status of each calendar if they are unchanged since the last commit. Otherwise three versions of each.
struct CalendarHandEditImport: ReconcileStep {
  static let stage = ReconcileStage.calendars
  /// True to compare the files with the branch even if they are unchanged since the last commit.
  var isBranchUnknown = false

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    let store = writer.store
    if store.calendars.areSettled, !isBranchUnknown { return }
    // An editor can save a file after this one was read.
    let signature = store.calendars.signature
    let committed = try blobs(in: try writer.head(), writer)
    let seen = (try? writer.seen.map { try blobs(in: $0, writer) }) ?? nil
    let names = DurableFile.names(in: "\(store.path)/\(CalendarRecord.folder)")
    var files: [String: [UInt8]?] = [:]
    for path in Set(names.map { "\(CalendarRecord.folder)/\($0)" } + committed.keys).sorted() {
      guard case .calendar(let name)? = RecordPath(path) else { continue }
      let known = version(committed[path], name, writer)
      let file: [UInt8]?
      do {
        file = try DurableFile.read(
          "\(store.path)/\(path)", limit: CalendarRecord.largest)?.bytes
      } catch {
        // The file cannot be read, or is not a regular one. `doctor` reports it.
        continue
      }
      guard let bytes = file else {
        if let known { files[path] = .some(CalendarRecord.encode(known)) }
        continue
      }
      writer.read[path] = Repository.blobID(bytes)
      guard let written = try? CalendarRecord.decode(bytes, name: name) else { continue }
      // Another program may have committed the edit without a stamp.
      let base = version(seen?[path], name, writer) ?? known
      var result = written.stamped(
        against: base, at: store.context.now, device: store.device, after: known?.latestStamp)
      for other in [base, known].compactMap({ $0 }) {
        result = HolidayCalendar.join(result, other)
      }
      let encoded = CalendarRecord.encode(result)
      if encoded != bytes || Repository.blobID(encoded) != committed[path] {
        files[path] = .some(encoded)
      }
    }
    if files.isEmpty { return try store.calendars.settle(signature) }
    // The next reconciliation compares the new files once more.
    try writer.commit(
      files,
      message: CommitMessage(
        "Edited by hand: holidays", trailers: [("Action", CommitMessage.calendar)],
        device: store.device))
  }

  /// Returns the blobs of the calendars in a commit by path.
  private func blobs(
    in commit: ObjectID?, _ writer: StoreWriter
  ) throws -> [String: ObjectID] {
    guard let commit else { return [:] }
    let tree = try writer.repository.commit(commit).tree
    guard let folder = try writer.repository.entry(at: CalendarRecord.folder, in: tree),
      folder.mode == .folder
    else { return [:] }
    let entries = try writer.repository.entries(of: folder.id)
    return Dictionary(
      uniqueKeysWithValues: entries.map { ("\(CalendarRecord.folder)/\($0.key)", $0.value.id) })
  }

  /// Returns the calendar in a blob; nil if there is none, or if it cannot be read.
  private func version(
    _ blob: ObjectID?, _ name: String, _ writer: StoreWriter
  ) -> HolidayCalendar? {
    blob.flatMap { try? writer.repository.blob($0, limit: CalendarRecord.largest) }
      .flatMap { try? CalendarRecord.decode($0, name: name) }
  }
}
