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
    default: a.order > b.order ? a : b
    }
  }

  /// The tiebreaker between two values of one part with equal stamps.
  private var order: (Int, String, Int64) {
    switch value {
    case .removed: (0, "", 0)
    case .target(let target, let position): (1, target.canonicalText, position)
    case .on, .every, .primary: (1, value.text, 0)
    }
  }
}
