import Synchronization

/// A value that is set once. Later values are ignored.
final class FirstValue<Value: Sendable>: Sendable {
  private enum State {
    case open([CheckedContinuation<Value, Never>])
    case set(Value)
  }
  private let state = Mutex(State.open([]))

  /// True if the value is set.
  var isSet: Bool { state.withLock { if case .set = $0 { true } else { false } } }

  /// Sets the value. Returns false if it was set before.
  @discardableResult func set(_ value: Value) -> Bool {
    let waiting: [CheckedContinuation<Value, Never>]? = state.withLock { state in
      guard case .open(let waiting) = state else { return nil }
      state = .set(value)
      return waiting
    }
    for continuation in waiting ?? [] { continuation.resume(returning: value) }
    return waiting != nil
  }

  /// The value, once it is set.
  var value: Value {
    get async {
      await withCheckedContinuation { continuation in
        let value: Value? = state.withLock { state in
          switch state {
          case .set(let value): return value
          case .open(let waiting):
            state = .open(waiting + [continuation])
            return nil
          }
        }
        if let value { continuation.resume(returning: value) }
      }
    }
  }
}
