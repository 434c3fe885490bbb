import BelfryCore
import Glibc

extension Store {
  /// The summaries of all alarms, and the invalid records.
  public struct Overview: Sendable {
    /// The alarms that are not deleted, in no particular order.
    public var summaries: [AlarmSummary]
    /// The records that are not valid.
    public var problems: [RecordProblem]
  }

  /// Returns the current summaries of all alarms. Takes no lock and never waits.
  public func overview() throws -> Overview {
    let (listing, problems) = try listing()
    return Overview(summaries: listing.summaries, problems: problems)
  }

  /// Returns the current summaries of the alarms that ring next, in the order of their next occurrences, and the
  /// problems of all alarms. Takes no lock and never waits.
  ///
  /// - Parameter limit: The maximum number of alarms.
  public func overview(ringingFirst limit: Int) throws -> Overview {
    let (listing, problems) = try listing()
    return Overview(summaries: listing.ringingFirst(limit), problems: problems)
  }

  /// Returns all alarms that are not deleted, in no particular order, and the invalid records. Takes no lock and never
  /// waits.
  public func listing() throws -> (listing: AlarmListing, problems: [RecordProblem]) {
    try read { $0.listing().present }
  }

  private func read<Result>(
    _ select: (AlarmIndex) -> Result
  ) throws -> (Result, [RecordProblem]) {
    let index = try AlarmIndex(self)
    let result = select(index)
    index.save()
    return (result, index.problems + [try settings().problem].compactMap { $0 })
  }

  /// Returns the alarms that have a title, as of the last read.
  ///
  /// The result can be outdated, so it is fit for a hint only. No file is looked at.
  public func likely(titled title: String) throws -> [AlarmSummary] {
    guard let summaries = alarmIndexCache.summaries(titled: title) else {
      return try overview().summaries.filter { $0.title == title }
    }
    return summaries.filter { !$0.isDeleted }
  }

  /// Returns an alarm, from its file or, if that is missing or not valid, in its last valid version. Returns nil if
  /// there is no such alarm.
  public func alarm(_ id: Identifier) throws -> Alarm? { try alarm(id, pendingVersions()) }

  /// A reader for one pass over several alarms. It determines the versions that the work tree lacks only once.
  public struct AlarmReader {
    private let store: Store
    private let pending: PendingVersions?

    fileprivate init(_ store: Store) {
      self.store = store
      pending = store.pendingVersions()
    }

    /// Returns an alarm, like `Store.alarm(_:)`.
    public func alarm(_ id: Identifier) throws -> Alarm? { try store.alarm(id, pending) }
  }

  /// Returns a reader for a pass over several alarms.
  public func alarmReader() -> AlarmReader { AlarmReader(self) }

  /// Returns the alarms of the given summaries.
  public func alarms(_ summaries: [AlarmSummary]) throws -> [Identifier: Alarm] {
    var result: [Identifier: Alarm] = [:]
    let pending = pendingVersions()
    for summary in summaries { result[summary.id] = try alarm(summary.id, pending) }
    return result
  }

  /// Returns all alarms, including deleted ones, and the records that are not valid.
  public func allAlarms() throws -> (alarms: [Alarm], problems: [RecordProblem]) {
    let index = try AlarmIndex(self)
    return (Array(try alarms(index.summaries()).values), index.problems)
  }

  /// Returns the current status of an alarm.
  public func status(_ alarm: Alarm) throws -> AlarmStatus { try statusReader()(alarm) }

  /// Returns a function that returns the current status of alarms. It reads the settings and the ledger only once.
  ///
  /// - Parameter known: The settings, if they have been read already.
  public func statusReader(_ known: Settings? = nil) throws -> (Alarm) -> AlarmStatus {
    let (settings, ledger) = (try known ?? settings().settings, ledger.read())
    return { self.timeline($0).status(at: self.context.now, settings: settings, ledger: ledger) }
  }

  /// Returns the timeline of an alarm for this device at the current time.
  public func timeline(_ alarm: Alarm) -> Timeline {
    Timeline(
      alarm, zone: zone(of: alarm), calendar: workCalendar(of: alarm), at: context.now,
      deviceContext: deviceContext(of: alarm),
      otherZones: otherZones(of: alarm),
      local: alarm.partner?.quiet == nil ? nil : context.zones.local,
      settings: stampedSettings, device: device)
  }

  /// Returns true if this device rings for an alarm.
  public func ringsHere(_ alarm: Alarm) -> Bool { timeline(alarm).ringsHere }

  /// Returns this device's context for an alarm, or nil for an alarm that rings on every device.
  private func deviceContext(of alarm: Alarm) -> DeviceContext? {
    if alarm.delivery.devices.isEmpty, alarm.cascade == nil { return nil }
    let evidence = devices.presenceEvidence
    let presence = devices.presence(evidence)
    if alarm.cascade == nil {
      return DeviceContext(device: device, known: evidence.known, presence: presence)
    }
    let unreachable = evidence.fetched.unreachable(evidence.known, at: context.now)
    var deviceContext = DeviceContext(
      device: device, known: evidence.known, unreachable: unreachable,
      unreachableSince: evidence.fetched.unreachableSince(unreachable),
      zoneName: context.zones.recordedName(at: context.now), presence: presence)
    deviceContext.owners = evidence.owners
    return deviceContext
  }
}
