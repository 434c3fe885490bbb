import BelfryCore
import BelfryInput

extension InputContext {
  /// Monday, 23 November 2026, 9:00 in UTC.
  static let monday = InputContext(
    instant: Instant(milliseconds: 1_795_424_400_000), zone: .utc, calendar: .standard,
    zoneNames: ZoneNames(load: { [] }, rules: { _ in nil }))
}

/// Returns the words of a text.
func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
