import BelfryActions
import BelfryCore
import BelfryInput
import BelfryStore
import Foundation
import TestSupport
import Testing

/// A store in a temporary folder on which actions are performed.
struct ActionFixture {
  let sandbox: Sandbox
  let store: Store
  let settings = Settings(tier: .plus)

  /// Creates a store with the tier plus.
  init(now: String = "2026-11-23T08:00:00Z") throws {
    sandbox = try Sandbox()
    store = try Store.open(sandbox.store, context: ActionFixture.context(now: now)).store
    try store.set(.tier, to: .word("plus"))
  }

  private static func context(now: String) -> StoreContext {
    StoreContext(
      now: Instant(rfc3339: now)!, zones: ZoneLibrary(variable: "UTC"), deviceName: "laptop",
      user: geteuid(),
      makeIdentifier: {
        var generator = SystemRandomNumberGenerator()
        return .random(using: &generator)
      },
      random: { $0.lowerBound }, lockTimeout: 3_000)
  }

  /// Returns the store at another time.
  func at(_ time: String) -> Store { store.with(ActionFixture.context(now: time)) }

  /// Adds an alarm.
  @discardableResult
  func add(
    _ title: String, _ schedule: String = "daily at 9:00", tags: Set<AlarmTag> = []
  ) throws -> Identifier {
    try creation(title, schedule, tags: tags).perform(in: store, settings: settings).change.alarm.id
  }

  /// Returns the creation of an alarm.
  func creation(
    _ title: String, _ schedule: String, tags: Set<AlarmTag> = []
  ) -> CreateAlarm {
    let now = store.context.now
    return CreateAlarm(title: title, tags: tags) { zone, calendar in
      let context = InputContext(instant: now, zone: zone, calendar: calendar)
      return try Input.schedule(schedule, in: context).schedule(in: context)
    }
  }

  /// The commit of the store's branch.
  var head: String {
    get async throws { try await sandbox.git("rev-parse", "HEAD", in: sandbox.store).out }
  }

  /// The subject of the latest commit.
  var subject: String {
    get async throws {
      try await sandbox.git("log", "-1", "--format=%s", in: sandbox.store).out
        .trimmingCharacters(in: .newlines)
    }
  }

  /// Expects that a preview records nothing and has the result of the action, which is described by a text.
  func expectSame<Action: AlarmAction>(
    _ action: Action, in store: Store, _ describe: (Action.Outcome) -> String
  ) async throws -> Action.Outcome {
    let before = try await head
    let preview = try action.preview(in: store)
    #expect(try await head == before)
    let outcome = try action.perform(in: store)
    #expect(describe(preview) == describe(outcome))
    return outcome
  }

  /// Returns what has happened to alarms, such as `Tea: stopped 2026-11-23T09:00, next 2026-11-24T09:00`.
  static func text(_ changes: [AlarmChange]) -> String {
    changes.map { change in
      let events = change.events.map { event in
        event.action.rawValue + (event.occurrence.map { " \($0)" } ?? "")
      }
      let next = change.status.next.map { ", next \($0.civil)" } ?? ""
      return "\(change.alarm.title): \(events.joined(separator: ", "))\(next)"
    }.sorted().joined(separator: "; ")
  }
}
