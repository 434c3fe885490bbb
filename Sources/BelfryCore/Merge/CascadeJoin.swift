extension Cascade {
  /// Joins two versions of a list, part by part: nobody's addition is lost where two devices edited it without knowing
  /// of each other.
  ///
  /// 1. The later stamp's value stands. A value without a stamp is older than any with one.
  /// 2. Between equal stamps a target stands over its removal, and else the greater text.
  /// 3. Of what stood before, the latest eight of both are kept.
  public static func join(_ a: Cascade, _ b: Cascade) -> Cascade {
    Cascade(
      registers: a.registers.merging(b.registers, uniquingKeysWith: Register.join),
      earlier: a.earlier + b.earlier)
  }
}

extension Cascade.Register {
  static func join(_ a: Cascade.Register, _ b: Cascade.Register) -> Cascade.Register {
    switch (a.stamp, b.stamp) {
    case (let one?, let two?) where one != two: one > two ? a : b
    case (_?, nil): a
    case (nil, _?): b
    default: a.order > b.order ? a : b
    }
  }

  /// The order of two values of one part with equal stamps.
  private var order: (Int, String, Int64) {
    switch value {
    case .removed: (0, "", 0)
    case .target(let target, let position): (1, target.canonicalText, position)
    case .on, .every, .primary: (1, value.text, 0)
    }
  }
}
