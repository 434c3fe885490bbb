import BelfryActions

/// A tag: an element of `tags`.
package struct TagDocument: JSONDocument {
  /// The tag.
  let tag: String
  /// The number of alarms that are not finished.
  let alarms: Int
  /// The number of finished alarms.
  let finished: Int

  package init(_ use: TagUse) {
    tag = use.tag.text
    alarms = use.unfinished
    finished = use.finished
  }
}
