import BelfryCore
import BelfryExchange
import BelfryStore
import Files
import Glibc

/// The task with which a person proves that the way to the phone and back works.
public struct PhoneTest: Sendable {
  /// The title of the task.
  public static let title = "Tick me off on the phone"
  /// The name of its file.
  private static let fileName = "belfry-test.ics"
  /// The property that marks the task, which never becomes an alarm.
  static let mark = "X-BELFRY-TEST"

  private let folder: TaskFolder
  private let now: Instant

  /// Creates a test in a configured folder.
  public init(_ configuration: PhoneConfiguration, at now: Instant) {
    folder = TaskFolder(configuration.folder)
    self.now = now
  }

  /// The answer of the phone.
  public enum Answer: Hashable, Sendable {
    /// There is none yet.
    case none
    /// The task was completed.
    case completed
    /// The task was deleted.
    case deleted
  }

  /// Writes the task.
  public func begin() async throws {
    var task = TaskComponent("VTODO")
    task.set("UID", "belfry-test-\(DurableFile.uniqueSuffix)")
    task.set("DTSTAMP", CalendarTime.utc(now))
    task.set("SUMMARY", PhoneTest.title)
    task.set(
      "DESCRIPTION", "This shows that Belfry's alarms reach this device\\, and its answers Belfry.")
    let due = CalendarTime.utc(now.adding(seconds: 60))
    task.set("DUE", due)
    task.set("STATUS", "NEEDS-ACTION")
    task.set(PhoneTest.mark, "TRUE")
    // It rings, so that the person sees that notifications are allowed.
    var alarm = TaskComponent("VALARM")
    alarm.set("ACTION", "DISPLAY")
    alarm.set("DESCRIPTION", PhoneTest.title)
    alarm.set("TRIGGER;VALUE=DATE-TIME", due)
    task.items.append(.component(alarm))
    var document = TaskDocument()
    document.task = task
    let lock = try folder.lock()
    try folder.prepare(PhoneTest.fileName, document.bytes)
    _ = try folder.place(
      PhoneTest.fileName, expecting: folder.list { _ in true }.files[PhoneTest.fileName])
    withExtendedLifetime(lock) {}
    if folder.server == .xandikos { try await folder.commit([PhoneTest.fileName]) }
  }

  /// Returns the answer.
  public func answer() throws -> Answer {
    guard let file = try folder.read(PhoneTest.fileName) else { return .deleted }
    guard let task = try? TaskDocument(file.bytes).task else { return .none }
    let status = task.first("STATUS")?.value.uppercased()
    return status == "COMPLETED" || task.first("COMPLETED") != nil ? .completed : .none
  }

  /// Removes the task.
  public func end() async throws {
    let lock = try folder.lock()
    if let file = try folder.read(PhoneTest.fileName) {
      _ = try folder.remove(PhoneTest.fileName, expecting: file.signature)
    }
    withExtendedLifetime(lock) {}
    if folder.server == .xandikos { try await folder.commit([PhoneTest.fileName]) }
  }
}
