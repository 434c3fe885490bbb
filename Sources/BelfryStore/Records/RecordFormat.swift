/// The format version of records, in the `format` member of each.
///
/// | format | change |
/// |---|---|
/// | 1 | – |
///
/// A record of an older format is migrated step by step when it is read, and written in the current format when it
/// next changes. A record of a newer format is rejected and left untouched, because this version could lose data.
public enum RecordFormat {
  /// The format that this version writes, and the newest that it reads.
  public static let current: Int64 = 1 + Int64(steps.count)

  /// A migration of a record's members to the next format.
  ///
  /// A step identifies the kind of a record by its members. It leaves unknown members unchanged.
  typealias Step = @Sendable (inout [String: JSON]) -> Void
  /// The migrations in order: element *n* migrates from format *n* + 1.
  static let steps: [Step] = []

  /// Migrates a record's members to the newest format, and updates `format`.
  ///
  /// - Throws: `RecordError` if the format is missing, invalid or newer.
  static func migrate(
    _ members: inout [String: JSON], through steps: [Step] = steps
  ) throws(RecordError) {
    guard let json = members["format"] else { throw RecordError("'format' is missing") }
    guard let format = json.integer else { throw RecordError("'format' is not a whole number") }
    guard format >= 1 else { throw RecordError("'format' is \(format), which is not valid") }
    let latest = 1 + Int64(steps.count)
    guard format <= latest else { throw .newer(format, than: latest) }
    for step in steps.dropFirst(Int(format - 1)) { step(&members) }
    members["format"] = .integer(latest)
  }
}
