import BelfryCore

/// The values in which two versions of an alarm differ, as text.
package struct AlarmDifference {
  /// A value that differs.
  package struct Value {
    /// The name, such as `schedule`.
    package let name: String
    package let before: String
    package let after: String

    /// `title: Rent → Pay rent`
    package var text: String {
      "\(name): \(AlarmDifference.line(before)) → \(AlarmDifference.line(after))"
    }
  }

  /// The values that differ.
  package let values: [Value]

  /// Compares two versions of an alarm.
  ///
  /// - Parameters:
  ///   - names: The names of the devices.
  ///   - times: The formatter of schedules.
  package init(
    _ before: Alarm, _ after: Alarm, names: [Identifier: String] = [:], times: TimeText
  ) {
    let (old, new) = (before.delivery, after.delivery)
    func devices(_ delivery: Alarm.Delivery) -> String {
      delivery.devices.isEmpty
        ? "every device"
        : delivery.devices.map { names[$0] ?? $0.short }.sorted().joined(separator: ", ")
    }
    func flag(_ value: Bool) -> String { value ? "yes" : "no" }
    let all: [(String, String?, String?)] = [
      ("title", before.title, after.title),
      ("schedule", times.schedule(before.schedule), times.schedule(after.schedule)),
      ("note", before.note, after.note),
      ("zone", before.zone.text, after.zone.text),
      ("tags", AlarmDifference.list(before.tags), AlarmDifference.list(after.tags)),
      ("persistent", flag(old.persistent), flag(new.persistent)),
      ("strict", flag(old.strict), flag(new.strict)),
      (
        "follow-ups", old.followUps?.description ?? "default",
        new.followUps?.description ?? "default"
      ),
      ("sound", old.sound ?? "default", new.sound ?? "default"),
      ("warnings", old.warnings?.description, new.warnings?.description),
      ("rings on", devices(old), devices(new)),
      ("runs", old.run?.text, new.run?.text),
      ("runs when done", old.runDone?.text, new.runDone?.text),
    ]
    values = all.filter { $0.1 != $0.2 }.map {
      Value(name: $0.0, before: $0.1 ?? "none", after: $0.2 ?? "none")
    }
  }

  private static func list(_ tags: Set<AlarmTag>) -> String? { tags.isEmpty ? nil : tags.text }

  /// Returns a text on one line, made printable.
  private static func line(_ text: String) -> String {
    Printable.text(text.replacing("\n", with: " "))
  }
}
