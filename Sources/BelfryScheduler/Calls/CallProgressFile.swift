import BelfryCore
import BelfryStore
import Files
import Git

/// The progress of this device's attempts of one call.
public struct CallProgress: Hashable, Sendable {
  /// The number of started attempts, without the failed ones.
  public var attempts: Int
  /// The number of failed attempts: the call did not go out.
  public var failures: Int
  /// The earliest time of the next attempt after a failed one; nil if the last attempt did not fail.
  public var retryAt: Instant?
  /// True if the call needs no further attempt.
  public var isOver: Bool
  /// The time of the last change.
  public var at: Instant

  /// Creates a progress.
  public init(
    attempts: Int = 0, failures: Int = 0, retryAt: Instant? = nil, isOver: Bool = false, at: Instant
  ) {
    self.attempts = attempts
    self.failures = failures
    self.retryAt = retryAt
    self.isOver = isOver
    self.at = at
  }
}

/// The progress of this device's calls, `calls.json` in the store's local state, by the text of `Callout.ID`.
///
/// The process that calls writes it, before and after each attempt. Without it, a call is placed again after a crash.
public struct CallProgressFile: Sendable {
  private let store: Store

  /// Creates the file of a store's device. It does not access the file.
  public init(_ store: Store) {
    self.store = store
  }

  /// The age in seconds at which a call is removed.
  private static let maxAge: Int64 = 14 * 86_400

  private var file: LocalFile<[String: CallProgress]> {
    LocalFile(
      path: store.localFolder + "/calls.json", format: .calls,
      exclusion: .lock(store.localFolder + "/calls.lock", required: true), isDurable: true)
  }

  /// Returns the progress of a call; nil if there was no attempt.
  public subscript(_ call: Callout.ID) -> CallProgress? { file.read()[call.text] }

  /// Saves the progress of a call, durably, so that a crash does not cause an additional call.
  public func save(_ progress: CallProgress, of call: Callout.ID) throws {
    let oldest = store.context.now.adding(seconds: -CallProgressFile.maxAge)
    try file.update(holder: store.context.process, timeout: store.context.lockTimeout) { calls in
      calls = calls.filter { $0.value.at > oldest }
      calls[call.text] = progress
    }
  }

  /// The time to wait for a lock, in milliseconds: `isLocked` holds it for a moment.
  private static let lockTimeout = 100

  private func lockPath(_ call: Callout.ID) -> String {
    let name = Repository.blobID(Array(call.text.utf8)).description.prefix(16)
    return "\(store.localFolder)/call-\(name).lock"
  }

  /// Returns a lock that keeps other processes of this device from the same call; nil if another process holds it.
  public func lock(_ call: Callout.ID) throws -> FileLock? {
    do {
      return try FileLock(
        lockPath(call), holder: store.context.process, timeout: CallProgressFile.lockTimeout)
    } catch StoreError.locked {
      return nil
    }
  }

  /// Returns true while a process of this device makes the attempts of a call.
  func isLocked(_ call: Callout.ID) -> Bool { FileLock.holder(of: lockPath(call)) != nil }
}

extension LocalFile.Format where Value == [String: CallProgress] {
  /// A JSON object with a member for each call. An unreadable file counts as empty.
  fileprivate static var calls: Self {
    Self(
      empty: [:], maxSize: 1 << 20,
      decode: { bytes in
        (try? JSON(parsing: bytes))?.object?.compactMapValues { item in
          item["at"]?.instant.map { at in
            CallProgress(
              attempts: max(0, Int(item["attempts"]?.integer ?? 0)),
              failures: max(0, Int(item["failures"]?.integer ?? 0)),
              retryAt: item["retryAt"]?.instant, isOver: item["over"]?.bool ?? false, at: at)
          }
        }
      },
      encode: { calls in
        JSON.object(
          calls.mapValues { progress in
            JSON.object(omittingNil: [
              "attempts": .integer(Int64(progress.attempts)),
              "failures": .integer(Int64(progress.failures)),
              "retryAt": progress.retryAt.map { JSON($0) }, "over": .bool(progress.isOver),
              "at": JSON(progress.at),
            ])
          }
        ).document
      })
  }
}
