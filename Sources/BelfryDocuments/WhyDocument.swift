/// An occurrence with the reasons why it rings or not: an element of `why`.
package struct WhyDocument: JSONDocument {
  /// The id of the alarm.
  let alarm: String
  /// The title of the alarm.
  let title: String
  /// The occurrence, or the time that is none.
  let occurrence: String
  /// The time of the occurrence.
  let at: String
  /// True if the occurrence rang or will ring on this device.
  let ringsHere: Bool
  /// What happened or will happen, in words.
  let verdict: String
  /// The reasons. Those of kind `event` are entries of the log, the oldest first.
  let reasons: [Reason]

  package init(
    alarm: String, title: String, occurrence: String, at: String, ringsHere: Bool, verdict: String,
    reasons: [Reason]
  ) {
    self.alarm = alarm
    self.title = title
    self.occurrence = occurrence
    self.at = at
    self.ringsHere = ringsHere
    self.verdict = verdict
    self.reasons = reasons
  }

  /// A reason.
  package struct Reason: Encodable {
    /// The kind: `event`, `delivery`, `scheduler`, `channel`, `devices`, `cascade`, `disabled`, `paused`, `skipped`,
    /// `answered`, `finished`, `exception`, `holiday`, `ended`, `notScheduled`, `beforeCreation` or `tier`.
    let kind: String
    /// The reason in words.
    let text: String
    /// The command that changes it.
    let remedy: String?

    package init(kind: String, text: String, remedy: String?) {
      self.kind = kind
      self.text = text
      self.remedy = remedy
    }
  }
}
