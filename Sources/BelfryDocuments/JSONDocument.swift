/// A document that a command prints with `--json`.
///
/// Each document is a type of its own, so that the output of commands does not depend on the files of the store. All
/// documents follow these conventions:
///
/// | value | JSON |
/// |---|---|
/// | id | 26 letters and digits, in full |
/// | occurrence | its civil time without a zone: `2026-12-01T09:00` |
/// | time | RFC 3339, with the offset of this device's zone: `2026-12-01T09:00:00+01:00` |
/// | length | whole seconds |
/// | battery level | percent of the full charge |
///
/// A key without a value is absent; no value is null. Keys are sorted.
package protocol JSONDocument: Encodable {}

extension Array: JSONDocument where Element: JSONDocument {}

/// The empty object, for a record that no longer exists.
package struct EmptyDocument: JSONDocument {
  package init() {}
}
