extension Cascade {
  /// The plan of a cascade.
  public struct Plan: Hashable, Sendable {
    public var isOn: Bool
    /// Between one and the next, in seconds.
    public var interval: Int64
    /// The device that the alarm is at home on: it rings at its time, and calls speak of it.
    public var primary: Identifier?
    public var targets: [CascadeTarget]

    public init(
      isOn: Bool = false, interval: Int64 = Cascade.interval, primary: Identifier? = nil,
      targets: [CascadeTarget] = []
    ) {
      self.isOn = isOn
      self.interval = interval
      self.primary = primary
      self.targets = targets
    }

    /// True if a telephone number is in the list.
    public var calls: Bool { targets.contains(where: \.isPhone) }

    /// True if the list is on and has targets.
    public var isActive: Bool { isOn && !targets.isEmpty }

    /// The place of a device in the list, the first is 1; nil when it has none.
    public func step(of device: Identifier) -> Int? {
      targets.firstIndex { $0.device == device }.map { $0 + 1 }
    }

    /// Returns the time at which each target would ring for an occurrence that nobody answers.
    public func preview(due: Instant) -> [(target: CascadeTarget, at: Instant)] {
      targets.enumerated().map { index, target in
        (target, due.adding(seconds: Int64(index + 1) * interval))
      }
    }
  }
}

extension Cascade.Plan {
  /// Words that are equal exactly when two are.
  var canonicalText: String {
    "\(isOn ? "on" : "off"), every \(Span.code(interval))"
      + (primary.map { ", first \($0)" } ?? "")
      + targets.map { ", \($0.canonicalText)" }.joined()
  }
}

extension Alarm {
  /// The later steps as they stood when something was due; nil when nobody was to ring.
  public func cascadePlan(at due: Instant) -> Cascade.Plan? {
    guard let plan = cascade?.plan(at: due), plan.isActive else { return nil }
    return plan
  }
}
