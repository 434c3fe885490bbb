import BelfryCore
import BelfryExchange
import BelfryStore

/// The import of the changes of a calendar that is followed.
///
/// New and changed alarms are imported as `ImportAlarms` does. The alarms of events that have vanished are deleted:
///
/// | alarm of a vanished event | result |
/// |---|---|
/// | has an occurrence ahead | deleted |
/// | has none ahead, so that its event is over | stays, because many calendars contain future events only |
/// | was edited here | stays, with a warning |
/// | belongs to another calendar that this device follows, too | stays |
/// | is one of more than `maxLosses` and more than half of the calendar's alarms, or of all of them while the calendar is empty | stays, and the loss is held until it is accepted |
///
/// A deleted alarm comes back if its event does after it had vanished.
public struct ImportFeed {
  /// The number of alarms that a calendar can lose at once without a question.
  public static let maxLosses = 3

  private let feed: CalendarFeed
  private let change: FeedChange
  private let series: [String: CalendarFeed.Series]
  private let options: Options

  /// The circumstances of an import.
  public struct Options: Sendable {
    /// The alarms of vanished events that were deleted, and come back with their events.
    public var withdrawn: Set<Identifier> = []
    /// The alarms of the other calendars that this device follows.
    public var others: Set<Identifier> = []
    /// False if a part of the calendar could not be read, so that nothing in it has vanished for sure.
    public var isComplete = true
    /// True if the user accepts any loss.
    public var acceptsLoss = false
    /// True for an import in the background, which `belfry undo` leaves out.
    public var isAutomatic = false
    /// True to bring back all alarms of the calendar that are deleted, whoever has deleted them.
    public var restoresDeleted = false

    /// Creates the circumstances of a first import.
    public init() {}
  }

  /// Alarms whose events have vanished, and which stay until somebody accepts the loss.
  public struct HeldLoss: Hashable, Sendable {
    /// The number of alarms that would be deleted.
    public let count: Int
    /// The number of alarms of the calendar with an occurrence ahead.
    public let total: Int

    /// Creates a held loss.
    public init(count: Int, total: Int) {
      self.count = count
      self.total = total
    }
  }

  /// The result of an import.
  public struct Result: Sendable {
    /// The result of the import of alarms.
    public let alarms: ImportAlarms.Result
    /// The skipped occurrences of series that are not in the calendar.
    public let skipped: [ImportChanges.Skipped]
    /// The loss that is held; nil for none.
    public let held: HeldLoss?
    /// The series of the calendar after the import, by UID.
    public let series: [String: CalendarFeed.Series]
    /// The alarms of vanished events that are deleted.
    public let withdrawn: Set<Identifier>
    /// The imported alarms that somebody has deleted, and that stay deleted.
    public let deleted: [ForeignAlarm]
  }

  /// Creates the import.
  ///
  /// - Parameters:
  ///   - feed: The calendar.
  ///   - series: The series after the last import on this device, by UID.
  ///   - options: The circumstances.
  public init(
    _ feed: CalendarFeed, since series: [String: CalendarFeed.Series], options: Options = Options()
  ) {
    self.feed = feed
    self.series = series
    self.options = options
    change = FeedChange(feed, since: series)
  }

  /// Returns the result that the import would have. Nothing is recorded.
  public func preview(in store: Store, settings: Settings) throws -> Result {
    let loss = try loss(in: store)
    let alarms = try action(loss).preview(in: store)
    return try result(
      alarms, loss, try ImportChanges(change.changes).preview(in: store, settings: settings), store)
  }

  /// Imports the changes. A calendar without changes writes nothing.
  ///
  /// - Throws: `StoreError.alarmLimit` if the tier doesn't allow as many alarms.
  public func perform(in store: Store, settings: Settings) throws -> Result {
    let loss = try loss(in: store)
    let action = action(loss)
    let alarms = try hasWork(loss) ? action.perform(in: store) : action.preview(in: store)
    let changes = ImportChanges(change.changes, isAutomatic: options.isAutomatic)
    return try result(alarms, loss, try changes.perform(in: store, settings: settings), store)
  }

  // MARK: Parts

  /// The alarms of vanished events.
  private struct Loss {
    /// The alarms with an occurrence ahead that are deleted.
    var deleted: [Identifier] = []
    /// The alarms that stay, and count as those of the calendar.
    var kept: Set<Identifier> = []
    var held: HeldLoss?
  }

  private func loss(in store: Store) throws -> Loss {
    let candidates = change.vanished.filter { !options.others.contains($0) }
    if candidates.isEmpty { return Loss() }
    let reader = store.alarmReader()
    func isAhead(_ id: Identifier) throws -> Bool {
      guard let alarm = try reader.alarm(id), !alarm.isDeleted else { return false }
      return store.timeline(alarm).upcoming(after: store.context.now).first { _ in true } != nil
    }
    let lost = try candidates.filter(isAhead)
    guard options.isComplete else { return Loss(kept: Set(lost)) }
    if lost.isEmpty || options.acceptsLoss { return Loss(deleted: lost) }
    // Those that somebody has edited stay in any case.
    let count = try lost.count { try reader.alarm($0)?.isAsImported ?? false }
    let total = try series.values.flatMap(\.alarms).count(where: isAhead)
    let isMost = count > ImportFeed.maxLosses && 2 * count > total
    guard isMost || feed.itemCount == 0 && count > 0 else { return Loss(deleted: lost) }
    return Loss(kept: Set(lost), held: HeldLoss(count: count, total: total))
  }

  /// The alarms that are compared with the store.
  private var imported: [ForeignAlarm] { options.restoresDeleted ? feed.alarms : change.alarms }

  private func hasWork(_ loss: Loss) -> Bool {
    !imported.isEmpty || !change.ended.isEmpty || !loss.deleted.isEmpty
  }

  private func action(_ loss: Loss) -> ImportAlarms {
    let ids = Set(imported.map(\.id))
    return ImportAlarms(
      imported, ended: change.ended + loss.deleted,
      returning: options.restoresDeleted ? ids : options.withdrawn.intersection(ids),
      isAutomatic: options.isAutomatic)
  }

  private func result(
    _ alarms: ImportAlarms.Result, _ loss: Loss, _ skipped: [ImportChanges.Skipped], _ store: Store
  ) throws -> Result {
    let reader = store.alarmReader()
    let former = Set(series.values.flatMap(\.alarms))
    // Also those that another device or a killed run has deleted.
    let gone = try (change.vanished + change.ended).filter { id in
      guard former.contains(id) else { return false }
      return try reader.alarm(id)?.isDeleted ?? false
    }
    let withdrawn = options.withdrawn.subtracting(feed.alarms.map(\.id)).union(gone)
    let restored = Set(alarms.new.map(\.id))
    let deleted = try imported.filter { item in
      guard !restored.contains(item.id) else { return false }
      return try reader.alarm(item.id)?.isDeleted ?? false
    }
    return Result(
      alarms: alarms, skipped: skipped, held: loss.held, series: change.series(keeping: loss.kept),
      withdrawn: withdrawn, deleted: deleted)
  }
}

/// The deletion of the alarms of a calendar that is not followed any more. Those that somebody has edited stay.
public struct WithdrawAlarms {
  private let action: ImportAlarms

  /// Creates the deletion.
  public init(_ alarms: [Identifier]) { action = ImportAlarms([], ended: alarms) }

  /// Returns the alarms that would be deleted, and those that would stay because they were edited.
  public func preview(in store: Store) throws -> (deleted: [Alarm], edited: [Alarm]) {
    let result = try action.preview(in: store)
    return (result.removed, result.edited)
  }

  /// Deletes the alarms in one commit.
  public func perform(in store: Store) throws -> (deleted: [Alarm], edited: [Alarm]) {
    let result = try action.perform(in: store)
    return (result.removed, result.edited)
  }
}
