extension Cascade {
  /// Returns the cascade with the values of a plan. Each changed part keeps its stamp.
  func with(_ plan: Plan) -> Cascade {
    var registers = self.registers
    func set(_ part: Part, _ value: Value) {
      registers[part] = Register(value, registers[part]?.stamp)
    }
    if plan.isOn != self.plan.isOn { set(.on, .on(plan.isOn)) }
    if plan.interval != self.plan.interval { set(.every, .every(plan.interval)) }
    if plan.primary != self.plan.primary { set(.primary, .primary(plan.primary)) }
    guard plan.targets != self.plan.targets else {
      return Cascade(registers: registers, earlier: earlier)
    }
    let keys = plan.targets.map(\.key)
    for target in self.plan.targets where !keys.contains(target.key) {
      set(.target(target.key), .removed)
    }
    let positions = TargetOrder.positions(of: keys, keeping: self.positions)
    for target in plan.targets {
      set(.target(target.key), .target(target, position: positions[target.key] ?? 0))
    }
    return Cascade(registers: registers, earlier: earlier)
  }

  /// The positions of the targets by key.
  private var positions: [String: Int64] {
    Dictionary(uniqueKeysWithValues: allTargets.map { ($0.target.key, $0.position) })
  }

  /// All targets with their positions, in order. Includes the targets that `plan` leaves out.
  public var allTargets: [(target: CascadeTarget, position: Int64)] {
    registers.values.compactMap { register in
      if case .target(let target, let position) = register.value { (target, position) } else { nil }
    }.sorted { ($0.position, $0.target.key) < ($1.position, $1.target.key) }
  }

  /// Returns the parts that were edited since an earlier version without a new stamp.
  ///
  /// A part counts as edited if its value differs under the same stamp, if it has no stamp, or if it is missing.
  ///
  /// - Parameter earlier: the version to compare with; nil if there is none.
  func partsEdited(since earlier: Cascade?) -> [Part] {
    let old = earlier?.registers ?? [:]
    let edited = registers.filter { part, register in
      old[part]?.value != register.value && old[part]?.stamp == register.stamp
        || register.stamp == nil && old[part] != register
    }.map(\.key)
    let gone = old.filter { part, register in
      registers[part] == nil && register.value != Cascade.absent(part)
    }.map(\.key)
    return edited + gone
  }

  /// Returns the value of a part that a record does not mention.
  private static func absent(_ part: Part) -> Value {
    switch part {
    case .on: .on(Plan().isOn)
    case .every: .every(interval)
    case .primary: .primary(nil)
    case .target: .removed
    }
  }

  /// Returns the value of a part, or the default if it was never set.
  public func value(of part: Part) -> Value { registers[part]?.value ?? Cascade.absent(part) }

  /// Returns the cascade with new stamps on the parts that were edited since an earlier version.
  ///
  /// The earlier plan is added to `earlier` if it differs.
  ///
  /// - Parameters:
  ///   - earlier: the version before the edit; nil if there is none.
  ///   - now: the time of the edit; nil if it is unknown, in which case the earlier plan is not kept.
  ///   - stamp: returns the stamp of an edit, given the stamp of the previous value.
  func stamped(
    against earlier: Cascade?, at now: Instant?, by stamp: (Stamp?) -> Stamp
  ) -> Cascade {
    let edited = partsEdited(since: earlier)
    var registers = self.registers
    for part in edited {
      registers[part] = Register(value(of: part), stamp(earlier?.registers[part]?.stamp))
    }
    // A removal by a hand edit leaves no entry in the record.
    for (part, register) in earlier?.registers ?? [:] where registers[part] == nil {
      registers[part] = register
    }
    let result = Cascade(
      registers: registers, earlier: self.earlier + (earlier?.earlier ?? []))
    let before = earlier?.plan ?? Plan()
    guard let now, before != result.plan else { return result }
    return result.keeping(before, until: now)
  }

  /// Returns the cascade with some values of another version. Each part keeps its own stamp.
  func taking(_ parts: some Sequence<Part>, from other: Cascade?) -> Cascade {
    var registers = self.registers
    for part in parts {
      registers[part] = Register(
        other?.value(of: part) ?? Cascade.absent(part), registers[part]?.stamp)
    }
    return Cascade(registers: registers, earlier: earlier)
  }

  /// Returns the cascade without the changes between two versions; nil if a changed part was edited since.
  ///
  /// Adding the first target turns the cascade on. Undoing that leaves it on if it still has targets from other edits.
  func undoing(_ after: Cascade?, before: Cascade?) -> Cascade? {
    let (after, before) = (after ?? Cascade(), before ?? Cascade())
    let parts = Set(after.registers.keys).union(before.registers.keys)
      .filter { after.value(of: $0) != before.value(of: $0) }
    guard parts.allSatisfy({ value(of: $0) == after.value(of: $0) }) else { return nil }
    let undone = taking(parts, from: before)
    let wasFirst = before.plan.targets.isEmpty && !after.plan.targets.isEmpty
    guard wasFirst, !undone.plan.targets.isEmpty else { return undone }
    return taking(parts.subtracting([.on, .primary]), from: before)
  }
}
