import BelfryActions
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The text about calendars that this device follows.
enum SubscriptionText {
  /// Returns the lines about a subscription in a list.
  static func lines(_ subscription: CalendarSubscription, _ times: TimeText) -> [String] {
    let count = subscription.alarms.count
    var parts = ["\(count) alarm\(count == 1 ? "" : "s")"]
    switch (subscription.source, subscription.checkedAt) {
    case (_, nil): parts.append("not fetched yet")
    case (.url, let time?):
      parts.append("fetched \(times.relative(time))")
      if let next = subscription.nextFetch { parts.append("next \(times.relative(next))") }
    case (.file, let time?), (.folder, let time?): parts.append("changed \(times.relative(time))")
    }
    let name = Printable.text(subscription.name)
    let source = Printable.text(subscription.source.shown)
    return ["\(name)  \(source)", "  \(parts.joined(separator: ", "))"]
      + problems(of: subscription, times).map { "  \($0.message)" }
  }

  /// Returns the interval or the trigger of fetches: `every 6 h`, `whenever it changes`.
  static func rhythm(_ subscription: CalendarSubscription) -> String {
    subscription.source.path == nil
      ? "every \(Span.exact(subscription.currentInterval))" : "whenever it changes"
  }

  /// Returns the problems of a subscription, each as a sentence with the advice; none if it works.
  static func problems(
    of subscription: CalendarSubscription, _ times: TimeText
  ) -> [(message: String, remedy: String)] {
    let name = Printable.text(subscription.name)
    var problems: [(message: String, remedy: String)] = []
    if let failure = subscription.state.failure {
      let since = subscription.state.succeededAt.map { " since \(times.moment($0))" } ?? ""
      problems.append(
        (
          "failing\(since): \(Printable.text(failure)). Its alarms stay.",
          "belfry calendar refresh \(name)"
        ))
    }
    for file in subscription.state.damaged {
      problems.append(
        ("a damaged file is left out: \(Printable.text(file)).", "Correct or remove the file."))
    }
    if let held = subscription.state.held {
      problems.append((self.held(held), acceptHint(name)))
    }
    return problems
  }

  /// Returns the diagnoses of all calendars that this device follows.
  static func diagnoses(_ store: Store, _ times: TimeText) -> [Diagnosis] {
    let folder = SubscriptionFolder(store)
    let damaged = folder.damaged.sorted { $0.key < $1.key }.map { name, path in
      Diagnosis("calendars", .problem, damage(name, path), remedy: damageRemedy)
    }
    return damaged
      + folder.all().flatMap { subscription -> [Diagnosis] in
        let problems = problems(of: subscription, times)
        let name = subscription.name
        if problems.isEmpty {
          let time = subscription.checkedAt.map { ", fetched \(times.at($0))" } ?? ""
          return [Diagnosis("calendars", .fine, "\(name) is followed\(time).")]
        }
        return problems.map {
          Diagnosis("calendars", .problem, "\(name): \($0.message)", remedy: $0.remedy)
        }
      }
  }

  /// Returns the sentence about a subscription whose file is not valid.
  static func damage(_ name: String, _ path: String) -> String {
    "\(Printable.text(name)) is not followed any more: \(Printable.text(path)) is not valid. Its alarms stay."
  }

  /// The advice about a subscription whose file is not valid.
  static let damageRemedy =
    "Remove the file, and follow the calendar again: belfry calendar follow URL"

  /// Returns the sentence about a held loss.
  static func held(_ held: ImportFeed.HeldLoss) -> String {
    "\(held.count) of \(held.total) alarms ahead have vanished from the calendar at once; they stay until you accept it."
  }

  /// Returns the hint for a held loss.
  static func acceptHint(_ name: String) -> String {
    "If the events are really gone: belfry calendar refresh \(Printable.text(name)) --accept"
  }
}
