extension Cascade {
  /// Joins two versions of a cascade, part by part. Concurrent edits of different parts are both kept.
  ///
  /// 1. The value with the later stamp wins. A value without a stamp is older than any value with one.
  /// 2. Between equal stamps, a target wins over its removal. Otherwise the greater text wins.
  /// 3. Of the earlier versions on both sides, the latest eight are kept.
  public static func join(_ a: Cascade, _ b: Cascade) -> Cascade {
    Cascade(
      registers: a.registers.merging(b.registers, uniquingKeysWith: Register.join),
      earlier: a.earlier + b.earlier)
  }
}

extension Cascade.Register {
  /// Returns the register that wins by rules 1 and 2 of `Cascade.join`.
  static func join(_ a: Cascade.Register, _ b: Cascade.Register) -> Cascade.Register {
    switch (a.stamp, b.stamp) {
    case (let one?, let two?) where one != two: one > two ? a : b
    case (_?, nil): a
    case (nil, _?): b
    default: b.isGreater(than: a) ? b : a
    }
  }

  /// Returns true if the value is greater than another one of the same part.
  private func isGreater(than other: Cascade.Register) -> Bool {
    let (ours, theirs) = (order, other.order)
    if ours.rank != theirs.rank { return ours.rank > theirs.rank }
    if TextOrder.isGreater(ours.text, than: theirs.text) { return true }
    return !TextOrder.isGreater(theirs.text, than: ours.text) && ours.position > theirs.position
  }

  private var order: (rank: Int, text: String, position: Int64) {
    switch value {
    case .removed: (0, "", 0)
    case .target(let target, let position): (1, target.canonicalText, position)
    case .on, .every, .primary: (1, value.text, 0)
    }
  }
}
