import BelfryCore
import BelfryExchange
import BelfryStore
import Foundation
import Testing

@testable import BelfryPhone

/// Files as task apps, servers and sync programs write them: `Fixtures/cases.tsv` says what each means.
@Suite struct TaskReadingTests {
  /// A file, and what the person has done.
  struct Case: CustomStringConvertible {
    let path: String
    let expected: String
    let description: String
  }

  private static let fixtures =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
  private static let zones = ZoneLibrary(variable: "Europe/Berlin")
  private static let id = occurrence(
    Identifier("aaaaaaaaaaaaaaaaaaaaaaaaaa")!, "2026-12-01T09:00")

  static let cases: [Case] = {
    let url = fixtures.appendingPathComponent("cases.tsv")
    let lines = (try? String(contentsOf: url, encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.dropFirst().map { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      return Case(path: fields[0], expected: fields[3], description: "\(fields[0]): \(fields[2])")
    }
  }()

  /// The task as Belfry has written it.
  private static var task: PhoneTask {
    let due = Instant(rfc3339: "2026-12-01T08:00:00Z")!
    return PhoneTask(
      id: id, title: "Pay rent", note: "Transfer to the landlord", footer: "Belfry: answer here.",
      due: due, time: id.occurrence, ringsSince: due, alert: due, warnings: [], acknowledged: nil,
      isSnoozed: false, status: .open, tags: ["home", "money"], isImportant: false, created: due)
  }

  /// Returns a file with the revision that Belfry has written.
  private func bytes(_ path: String) throws -> [UInt8] {
    let data = try Data(contentsOf: TaskReadingTests.fixtures.appendingPathComponent(path))
    let marker = Array("@REV@".utf8)
    var bytes = Array(data)
    if let start = bytes.indices.first(where: { bytes[$0...].starts(with: marker) }) {
      bytes.replaceSubrange(
        start..<(start + marker.count), with: Array(revision(for: path).text.utf8))
    }
    return bytes
  }

  /// Returns the revision in a file. Of a task that the app has reopened, it is that of the completed one.
  private func revision(for path: String) -> TaskRevision {
    var task = TaskReadingTests.task
    if path.contains("uncompleted") { task.status = .done(task.due) }
    return task.revision
  }

  @Test("What a person did in a task app is read from its file", arguments: TaskReadingTests.cases)
  func answers(_ example: Case) throws {
    let task = TaskReadingTests.task
    guard let document = try? TaskDocument(bytes(example.path)),
      let reading = TaskReading(document, zones: TaskReadingTests.zones)
    else {
      #expect(example.expected == "none", "\(example)")
      return
    }
    let now = TaskReadingTests.now(reading)
    let answers =
      reading.id == nil
      ? TaskReadingTests.new(reading)
      : reading.answers(task, written: revision(for: example.path), at: now)
        .map { TaskReadingTests.text($0, now) }
    let expected = example.expected.replacing("done now", with: "done \(CalendarTime.utc(now))")
      .replacing("\\n", with: "\n").replacing("\\\\", with: "\\")
    #expect(
      answers.isEmpty
        ? expected == "none" : Set(expected.components(separatedBy: "; ")) == Set(answers),
      "\(example): \(answers)")
  }

  @Test("Belfry's changes of a file keep what the app has added", arguments: TaskReadingTests.cases)
  func keeping(_ example: Case) throws {
    guard var document = try? TaskDocument(bytes(example.path)),
      let reading = TaskReading(document, zones: TaskReadingTests.zones), reading.id != nil
    else { return }
    let own: Set = [
      "SUMMARY", "DESCRIPTION", "DUE", "DTSTART", "DURATION", "STATUS", "COMPLETED",
      "PERCENT-COMPLETE", "CATEGORIES", "PRIORITY", "LAST-MODIFIED", "RRULE", "X-MOZ-LASTACK",
      "X-MOZ-SNOOZE-TIME", "DTSTAMP", "X-BELFRY-OCCURRENCE", "X-BELFRY-REV", "X-BELFRY-ALERT",
    ]
    let before = try #require(document.task)
    let now = TaskReadingTests.now(reading)
    var task = TaskReadingTests.task
    task.title = "Pay the rent"
    for answer in reading.answers(TaskReadingTests.task, at: now) {
      switch answer {
      case .snooze(let until, let time):
        (task.isSnoozed, task.alert, task.ringsSince) = (true, until, until)
        task.acknowledged = time
      case .stop(let time): task.acknowledged = time
      default: break
      }
    }
    TaskWriting.update(&document, reading, to: task, at: now)
    // As it is read after it was stored.
    let stored = try TaskDocument(document.bytes)
    let after = try #require(stored.task)
    for line in before.lines where !own.contains(line.name) {
      #expect(after.lines.contains(line), "\(example) keeps \(line)")
    }
    let reread = try #require(TaskReading(stored, zones: TaskReadingTests.zones))
    #expect(reread.answers(task, at: now).isEmpty, "\(example)")
    #expect(reread.title == "Pay the rent")
    #expect(reread.alerts.filter { $0.time == task.alert }.count == 1, "\(example)")
    let text = String(decoding: document.bytes, as: UTF8.self)
    #expect(text.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 75 }, "\(example)")
    var again = stored
    TaskWriting.update(&again, reread, to: task, at: now.adding(seconds: 60))
    #expect(again == stored, "\(example) is not written twice")
  }

  /// The time at which a file is read: soon after the app has written it.
  private static func now(_ reading: TaskReading) -> Instant {
    let usual = Instant(rfc3339: "2026-12-01T08:09:05Z")!
    let modified = reading.modified ?? usual
    return modified > usual.adding(seconds: 86_400 * 7) ? usual : modified.adding(seconds: 5)
  }

  private static func text(_ answer: PhoneAnswer, _ now: Instant) -> String {
    switch answer {
    case .done(let time): "done \(CalendarTime.utc(time))"
    case .skip: "skip"
    case .snooze(let until, _): "snooze \(CalendarTime.utc(until))"
    case .stop(let time): "stop \(CalendarTime.utc(time))"
    case .rename(let title): "rename \(title)"
    case .note(let note): "note \(note ?? "")"
    case .move(.date(let date)): "move \(date)T09:00"
    case .move(.civil(let civil, _)): "move \(civil)"
    case .move(.instant(let instant)):
      "move \(CalendarTime.utc(Instant(seconds: instant.seconds / 60 * 60)))"
    }
  }

  private static func new(_ reading: TaskReading) -> [String] {
    if reading.status != .open || reading.isSubtask { return [] }
    let due: String? =
      switch reading.due {
      case .date(let date): "\(date)"
      case .civil(let civil, _): "\(civil)"
      case .instant(let instant):
        CalendarTime.utc(Instant(seconds: instant.seconds / 60 * 60))
      case nil: nil
      }
    return ["new \(reading.title)" + (due.map { " | \($0)" } ?? "")]
  }
}
