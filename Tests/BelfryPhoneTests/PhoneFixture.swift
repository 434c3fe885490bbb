import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryInput
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryPhone

/// A store whose tasks are published into a folder, with a person who uses both.
final class PhoneFixture {
  let sandbox: Sandbox
  let folder: String
  var now: Instant
  var settings = Settings(tier: .plus)
  private let opened: Store
  private(set) var configuration: PhoneConfiguration

  static let zone = "Europe/Berlin"

  /// Creates a store and an empty folder.
  init(
    now: String = "2026-11-30T07:00:00Z", options: PhoneOptions = PhoneOptions(),
    folder name: String = "tasks"
  ) async throws {
    sandbox = try Sandbox()
    self.now = Instant(rfc3339: now)!
    opened = try Store.open(sandbox.store, context: PhoneFixture.context(self.now)).store
    try opened.set(.tier, to: .word("plus"))
    folder = sandbox.root + "/" + name
    configuration = try await PhoneSetup(opened, folder: folder).perform(options: options)
      .configuration
  }

  static func context(_ now: Instant) -> StoreContext {
    StoreContext(
      now: now, zones: ZoneLibrary(variable: zone), deviceName: "laptop", user: geteuid(),
      makeIdentifier: {
        var generator = SystemRandomNumberGenerator()
        return .random(using: &generator)
      }, random: { $0.lowerBound }, lockTimeout: 3_000)
  }

  /// The store at the present time.
  var store: Store { opened.with(PhoneFixture.context(now)) }

  private var input: InputContext {
    InputContext(instant: now, zone: store.context.zones.local)
  }

  /// Moves the clock.
  func advance(minutes: Int64) { now = now.adding(seconds: minutes * 60) }

  /// Sets the clock.
  func set(_ time: String) { now = Instant(rfc3339: time)! }

  /// Sets up the folder again, with other options.
  func configure(_ options: PhoneOptions) async throws {
    configuration = try await PhoneSetup(store, folder: folder).perform(options: options)
      .configuration
  }

  /// Returns a run.
  func sync(_ decision: PhoneSync.Decision = .none) -> PhoneSync {
    PhoneSync(store, settings: settings, input: input, decision: decision)
  }

  /// Runs once.
  @discardableResult
  func run(_ decision: PhoneSync.Decision = .none) async throws -> PhoneReport {
    try await sync(decision).run()
  }

  // MARK: Belfry

  /// Adds an alarm.
  @discardableResult
  func add(
    _ title: String, _ schedule: String, note: String? = nil, tags: Set<AlarmTag> = [],
    delivery: Alarm.Delivery = Alarm.Delivery()
  ) throws -> Identifier {
    let input = input
    return try CreateAlarm(title: title, note: note, tags: tags, delivery: delivery) { _, _ in
      try Input.schedule(schedule, in: input).schedule(in: input)
    }.perform(in: store, settings: settings).change.alarm.id
  }

  /// Answers an occurrence on this device.
  func answer(_ answer: Answer, _ id: OccurrenceID) throws {
    _ = try AnswerAlarms(answer, toPossible: [id], settings: settings).perform(in: store)
  }

  /// The entries of the log, oldest first, such as `phone done 2026-12-01T09:00`.
  func log(of alarm: Identifier? = nil) -> [String] {
    store.history.log(of: alarm, since: CivilDate("2026-01-01")!).reversed().map { entry in
      [entry.via ?? "laptop", entry.action.rawValue, entry.occurrence?.description]
        .compactMap { $0 }.joined(separator: " ")
    }
  }

  /// The state of an occurrence.
  func phase(_ id: OccurrenceID) throws -> Phase {
    let timeline = store.timeline(try #require(try store.alarm(id.alarm)))
    let status = timeline.status(at: now, settings: settings, ledger: store.ledger.read())
    return timeline.phase(of: id.occurrence, at: now, status: status)
  }

  // MARK: Copies

  /// Returns the path of a copy of the store.
  func backup() throws -> String {
    let copy = sandbox.root + "/backup"
    try FileManager.default.copyItem(atPath: sandbox.store, toPath: copy)
    return copy
  }

  /// Puts the files of a copy into the store.
  func restore(_ copy: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: copy) {
      try? FileManager.default.removeItem(atPath: "\(sandbox.store)/\(name)")
      try FileManager.default.copyItem(
        atPath: "\(copy)/\(name)", toPath: "\(sandbox.store)/\(name)")
    }
  }

  // MARK: The phone

  /// The names of the files, in order.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .filter { !$0.hasPrefix(".") }.sorted()
  }

  func path(_ id: OccurrenceID) -> String { "\(folder)/\(TaskProperty.fileName(id))" }

  /// Returns the text of a file.
  func text(_ id: OccurrenceID) throws -> String {
    try String(contentsOfFile: path(id), encoding: .utf8)
  }

  /// Returns the facts in a file.
  func reading(_ id: OccurrenceID) throws -> TaskReading {
    let document = try TaskDocument(Array(try Data(contentsOf: URL(fileURLWithPath: path(id)))))
    return try #require(TaskReading(document, zones: store.context.zones))
  }

  /// Changes the task in a file, as an app does: it writes the whole file again.
  func edit(_ id: OccurrenceID, _ body: (inout TaskComponent) -> Void) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: path(id)))
    var document = try TaskDocument(Array(data))
    var task = try #require(document.task)
    body(&task)
    document.task = task
    try write(document.bytes, to: TaskProperty.fileName(id))
  }

  /// Writes a file under a temporary name and renames it, as a server does.
  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"), options: .atomic)
  }

  /// Completes a task at the present time.
  func complete(_ id: OccurrenceID, at time: Instant? = nil) throws {
    try edit(id) { task in
      task.set("STATUS", "COMPLETED")
      task.set("COMPLETED", CalendarTime.utc(time ?? now))
    }
  }

  /// Deletes a task.
  func delete(_ id: OccurrenceID) throws {
    try FileManager.default.removeItem(atPath: path(id))
  }

  /// Writes a new task.
  func create(_ title: String, uid: String, _ lines: String...) throws {
    let text =
      ["BEGIN:VCALENDAR", "VERSION:2.0", "BEGIN:VTODO", "UID:\(uid)", "SUMMARY:\(title)"] + lines
      + ["END:VTODO", "END:VCALENDAR", ""]
    try write(Array(text.joined(separator: "\r\n").utf8), to: "\(uid).ics")
  }
}

/// Returns an occurrence.
func occurrence(_ alarm: Identifier, _ civil: String) -> OccurrenceID {
  OccurrenceID(alarm: alarm, occurrence: CivilDateTime(civil)!)
}
