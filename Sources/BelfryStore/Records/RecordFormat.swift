/// How records are written, by number; `format` in each says which it has.
///
/// | format | differs by |
/// |---|---|
/// | 1 | – |
///
/// A record of an earlier format is brought up step by step as it is read, and written in the current one when
/// something next changes it. One of a later format is refused, and left as it is: this version could not
/// tell what it would take from it.
public enum RecordFormat {
  /// What this version writes, and the latest that it reads.
  public static let current: Int64 = 1 + Int64(steps.count)

  /// What brings the members of a record from format n + 1 to format n + 2, for each n.
  ///
  /// A step tells kinds of records apart by their members, renames, adds and removes; members that it does not
  /// know it leaves.
  typealias Step = @Sendable (inout [String: JSON]) -> Void
  static let steps: [Step] = []

  /// Brings a record's members up to the last of some steps, `format` included.
  ///
  /// Throws `RecordError` for a format that never was, or that is later than the last.
  static func migrate(
    _ members: inout [String: JSON], through steps: [Step] = steps
  ) throws(RecordError) {
    guard let json = members["format"] else { throw RecordError("'format' is missing") }
    guard let format = json.integer else { throw RecordError("'format' is not a whole number") }
    guard format >= 1 else { throw RecordError("'format' is \(format), which never was") }
    let latest = 1 + Int64(steps.count)
    guard format <= latest else {
      throw RecordError(
        "its format is \(format), and this Belfry reads up to \(latest)",
        kind: .newerFormat(format))
    }
    for step in steps.dropFirst(Int(format - 1)) { step(&members) }
    members["format"] = .integer(latest)
  }
}
