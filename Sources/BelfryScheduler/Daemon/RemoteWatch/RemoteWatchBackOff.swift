/// The times of the attempts to watch a remote.
struct RemoteWatchBackOff {
  /// The shortest and the longest time between two attempts to connect, in seconds.
  private static let (firstWait, longestWait): (Int64, Int64) = (1, 300)
  /// The time between two attempts with a remote that cannot be watched, in seconds: 6 hours.
  private static let rareWait: Int64 = 21_600
  /// The duration of a watch after which a lost connection is no repeated failure, in seconds.
  private static let stableTime: Int64 = 60

  private var failures: Int64 = 0

  /// Returns the time until the next attempt, in seconds.
  ///
  /// - Parameters:
  ///   - end: The reason for the end of the last watch.
  ///   - seconds: The duration of the last watch.
  mutating func next(after end: RemoteWatchEnd, lasting seconds: Int64) -> Int64 {
    if end == .unavailable { return RemoteWatchBackOff.rareWait }
    if seconds >= RemoteWatchBackOff.stableTime { failures = 0 }
    failures += 1
    return min(
      RemoteWatchBackOff.longestWait, RemoteWatchBackOff.firstWait << min(failures - 1, 10))
  }
}

/// The reason for the end of a watch.
enum RemoteWatchEnd: Hashable, Sendable {
  /// The connection was lost, or could not be made, or the repository is missing.
  case lost
  /// The remote cannot be watched: it has no shell, or its file system does not report changes.
  case unavailable
}
