extension Cascade {
  /// The effective settings of a cascade.
  public struct Plan: Hashable, Sendable {
    /// True if the cascade is on.
    public var isOn: Bool
    /// The time between two steps, in seconds.
    public var interval: Int64
    /// The primary device: it rings at the alarm's time, and calls name it.
    public var primary: Identifier?
    /// The targets in the order of their steps.
    public var targets: [CascadeTarget]

    /// Creates a plan.
    public init(
      isOn: Bool = false, interval: Int64 = Cascade.interval, primary: Identifier? = nil,
      targets: [CascadeTarget] = []
    ) {
      self.isOn = isOn
      self.interval = interval
      self.primary = primary
      self.targets = targets
    }

    /// True if a target is a phone number.
    public var calls: Bool { targets.contains(where: \.isPhone) }

    /// True if a step is the task on a phone.
    public var usesPhoneTasks: Bool { targets.contains(.phoneTasks) }

    /// True if the cascade is on and has targets.
    public var isActive: Bool { isOn && !targets.isEmpty }

    /// Returns the step of a device, starting at 1; nil if no target names it.
    public func step(of device: Identifier) -> Int? {
      targets.firstIndex { $0.device == device }.map { $0 + 1 }
    }

    /// Returns the time at which each target would ring for an occurrence that nobody acknowledges.
    public func preview(due: Instant) -> [(target: CascadeTarget, at: Instant)] {
      targets.enumerated().map { index, target in
        (target, due.adding(seconds: Int64(index + 1) * interval))
      }
    }
  }
}

extension Cascade.Plan {
  /// A text that is equal for two plans exactly if they are equal.
  var canonicalText: String { fieldText.plain }
}

extension Alarm {
  /// Returns the plan that was in force at a due time; nil if it was off or had no targets.
  public func cascadePlan(at due: Instant) -> Cascade.Plan? {
    guard let plan = cascade?.plan(at: due), plan.isActive else { return nil }
    return plan
  }
}
