import BelfryActions
import BelfryCore
import BelfryStore

/// The action that an alarm runs on the device on which a person marks an occurrence as done.
///
/// Every front end runs it after the answers that it has recorded.
public struct DoneAction: Sendable {
  private let folder: ActionFolder?
  private let zones: ZoneLibrary
  private let now: Instant

  /// An action that failed. The occurrence is done all the same.
  public struct Failure: Sendable {
    /// The alarm.
    public let alarm: Alarm
    /// The name of the action.
    public let name: ActionName
    /// The reason.
    public let reason: ActionFolder.Failure
  }

  /// Creates the action.
  ///
  /// - Parameters:
  ///   - folder: the user's actions on this device; nil if there is no such folder.
  ///   - zones: the time zones of the texts that an action gets.
  ///   - now: the time of an answer that names none.
  public init(_ folder: ActionFolder?, zones: ZoneLibrary, at now: Instant) {
    self.folder = folder
    self.zones = zones
    self.now = now
  }

  /// Runs the actions of the occurrences that an answer has marked as done, and waits for their ends.
  ///
  /// - Returns: the failures.
  public func run(after changes: [AlarmChange]) async -> [Failure] {
    var failures: [Failure] = []
    for change in changes {
      guard let event = change.events.last(where: DoneAction.isCompletion) else { continue }
      if let failure = await run(after: event, of: change.alarm) { failures.append(failure) }
    }
    return failures
  }

  /// Runs the action of an alarm if a person has marked an occurrence as done with an event, and waits for its end.
  ///
  /// - Returns: the failure; nil if there was none.
  public func run(after event: Event, of alarm: Alarm) async -> Failure? {
    guard DoneAction.isCompletion(event), let name = alarm.delivery.runDone, let folder else {
      return nil
    }
    let time = zones.text(event.effective ?? now)
    let reason = await folder.run(
      name, input: DoneAction.document(alarm, event.occurrence, at: time).document,
      variables: DoneAction.variables(alarm, event.occurrence, at: time))
    return reason.map { Failure(alarm: alarm, name: name, reason: $0) }
  }

  private static func isCompletion(_ event: Event) -> Bool { event.action == .done && !event.auto }

  /// Returns `{kind: "done", title, alarm, occurrence, doneAt, note?, tags?}`, the input of the action.
  private static func document(
    _ alarm: Alarm, _ occurrence: CivilDateTime?, at text: String
  ) -> JSON {
    .object(omittingNil: [
      "kind": "done", "title": .string(alarm.title), "alarm": JSON(alarm.id),
      "occurrence": occurrence.map { JSON($0) }, "doneAt": .string(text),
      "note": alarm.note.map { .string($0) },
      "tags": alarm.tags.isEmpty ? nil : .array(alarm.tags.sorted().map { JSON($0) }),
    ])
  }

  /// Returns the same as environment variables.
  private static func variables(
    _ alarm: Alarm, _ occurrence: CivilDateTime?, at text: String
  ) -> [String: String] {
    [
      "BELFRY_KIND": "done", "BELFRY_TITLE": alarm.title, "BELFRY_ALARM": alarm.id.text,
      "BELFRY_OCCURRENCE": occurrence?.description ?? "", "BELFRY_DONE_AT": text,
      "BELFRY_NOTE": alarm.note ?? "",
      "BELFRY_TAGS": alarm.tags.sorted().map(\.text).joined(separator: " "),
    ]
  }
}
