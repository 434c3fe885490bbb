extension Cascade {
  /// The list with other values, each part under the stamp that it had.
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

  /// The positions of the targets, by key.
  private var positions: [String: Int64] {
    Dictionary(uniqueKeysWithValues: allTargets.map { ($0.target.key, $0.position) })
  }

  /// All targets with their positions, in order, also those that `plan` leaves out.
  public var allTargets: [(target: CascadeTarget, position: Int64)] {
    registers.values.compactMap { register in
      if case .target(let target, let position) = register.value { (target, position) } else { nil }
    }.sorted { ($0.position, $0.target.key) < ($1.position, $1.target.key) }
  }

  /// The parts that somebody has edited since an earlier version without stamping them: the value differs under the
  /// same stamp, or has none, or is gone from the record.
  ///
  /// - Parameter earlier: nil when there is none.
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

  /// The value of a part that no record mentions.
  private static func absent(_ part: Part) -> Value {
    switch part {
    case .on: .on(Plan().isOn)
    case .every: .every(interval)
    case .primary: .primary(nil)
    case .target: .removed
    }
  }

  /// The value of a part.
  public func value(of part: Part) -> Value { registers[part]?.value ?? Cascade.absent(part) }

  /// Stamps the parts that were edited since an earlier version, and keeps what stood until then.
  ///
  /// - Parameters:
  ///   - earlier: nil when there is none.
  ///   - now: the moment of the edit; nil where it is not known, and no version is kept.
  ///   - stamp: makes the stamp of an edit from that of the value before.
  func stamped(
    against earlier: Cascade?, at now: Instant?, by stamp: (Stamp?) -> Stamp
  ) -> Cascade {
    let edited = partsEdited(since: earlier)
    var registers = self.registers
    for part in edited {
      registers[part] = Register(value(of: part), stamp(earlier?.registers[part]?.stamp))
    }
    // Removals by hand leave nothing in the record.
    for (part, register) in earlier?.registers ?? [:] where registers[part] == nil {
      registers[part] = register
    }
    let result = Cascade(
      registers: registers, earlier: self.earlier + (earlier?.earlier ?? []))
    let before = earlier?.plan ?? Plan()
    guard let now, before != result.plan else { return result }
    return result.keeping(before, until: now)
  }

  /// The list with some parts as another version has them, each under the stamp that it has here.
  func taking(_ parts: some Sequence<Part>, from other: Cascade?) -> Cascade {
    var registers = self.registers
    for part in parts {
      registers[part] = Register(
        other?.value(of: part) ?? Cascade.absent(part), registers[part]?.stamp)
    }
    return Cascade(registers: registers, earlier: earlier)
  }

  /// Returns the list without the changes between two versions; nil when one of the changed parts was edited since.
  ///
  /// The first addition switches a list on. Undoing it leaves the list on while it still has targets that others added.
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
