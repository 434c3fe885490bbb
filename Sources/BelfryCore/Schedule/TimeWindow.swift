/// Times of day at a constant distance within a part of the day: every 2 hours from 09:00 to 17:00.
///
/// A window is a way to write and to show times of day. Records and schedules contain the times themselves, so that every
/// version of Belfry rings at each of them.
public struct TimeWindow: Hashable, Sendable {
  /// The first time.
  public let from: CivilTime
  /// The end. It is a time of the window if the distance divides the window evenly.
  public let to: CivilTime
  /// The distance in minutes, at least 1.
  public let interval: Int

  /// Creates a window; nil if it ends before it starts, or if the distance is not from 1 minute to 24 hours.
  public init?(from: CivilTime, to: CivilTime, interval: Int) {
    guard from <= to, (1...1440).contains(interval) else { return nil }
    (self.from, self.to, self.interval) = (from, to, interval)
  }

  /// The times of day, in ascending order.
  public var times: [CivilTime] {
    stride(from: from.minuteOfDay, through: to.minuteOfDay, by: interval).map {
      CivilTime(minuteOfDay: $0)
    }
  }

  /// Creates the window of some times, in ascending order; nil if there are fewer than two, or if their distances differ.
  public init?(_ times: [CivilTime]) {
    let steps = Set(zip(times.dropFirst(), times).map { $0.minuteOfDay - $1.minuteOfDay })
    guard let from = times.first, let to = times.last, steps.count == 1, let step = steps.first
    else { return nil }
    self.init(from: from, to: to, interval: step)
  }

  /// The window as text for display: `every 2 h from 09:00 to 17:00`.
  public var summary: String {
    "every \(Span.exact(Int64(interval) * 60)) from \(from) to \(to)"
  }
}

extension TimeWindow: CustomStringConvertible {
  /// The window as text: `09:00-17:00/2h`.
  public var description: String { "\(from)-\(to)/\(Span.code(Int64(interval) * 60))" }

  /// Creates a window from text such as `09:00-17:00/2h`, or `/20m` for the whole day; nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let seconds = Span.parse(parts[1]), seconds % 60 == 0,
      seconds <= 86_400
    else { return nil }
    let interval = Int(seconds / 60)
    if parts[0].isEmpty {
      self.init(from: .midnight, to: CivilTime(minuteOfDay: 1439), interval: interval)
      return
    }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
      .map { CivilTime(String($0)) }
    guard ends.count == 2, let from = ends[0], let to = ends[1] else { return nil }
    self.init(from: from, to: to, interval: interval)
  }
}

extension Schedule {
  /// The window of many times of day at a constant distance; nil for few or irregular times.
  public var window: TimeWindow? {
    times.count >= Schedule.minTimesForWindow ? TimeWindow(times) : nil
  }

  /// The minimum number of times that are shown as a window.
  private static let minTimesForWindow = 5
}
