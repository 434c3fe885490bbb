import BelfryCore
import BelfryInput
import BelfryTerminal

/// The times of day of `--at`: new ones, or changes of those that an alarm has.
extension ScheduleOptions {
  /// Returns the times of day of `--at`; nil if it is not given.
  func timesOfDay(_ given: Circumstances) throws -> [CivilTime]? {
    guard let at else { return nil }
    if let earlier = given.earlier, let seconds = Input.shift(at, in: given.parser.context) {
      return try earlier.times.map { try shifted($0, by: seconds, at) }
    }
    if let earlier = given.earlier,
      let (old, new) = Input.replacement(at, in: given.parser.context)
    {
      return try replacing(old, by: new, in: earlier.times, given)
    }
    return try given.parser.times(at, of: "--at")
  }

  /// Returns times of day with one in place of another, as `--at "19:30 to 20:00"` says. `7:30 to 8:00` is in the evening
  /// if the alarm rings then.
  private func replacing(
    _ old: CivilTime, by new: CivilTime, in times: [CivilTime], _ given: Circumstances
  ) throws -> [CivilTime] {
    if times.contains(old) { return times.map { $0 == old ? new : $0 } }
    func evening(_ time: CivilTime) -> CivilTime? {
      CivilTime(hour: time.hour + 12, minute: time.minute)
    }
    if let old = evening(old), let new = evening(new), times.contains(old) {
      return times.map { $0 == old ? new : $0 }
    }
    let known = times.map { given.parser.formatter.time($0) }.joined(separator: ", ")
    throw CommandError(
      .usage, "\(given.parser.formatter.time(old)) is not one of the times of day, \(known).",
      hint: "Write all times, such as --at 9:00,21:00.")
  }

  /// Returns a time of day that `--at +30m` moves.
  private func shifted(_ time: CivilTime, by seconds: Int64, _ text: String) throws -> CivilTime {
    let minutes = time.minuteOfDay + Int(seconds / 60)
    guard seconds % 60 == 0, (0..<1440).contains(minutes),
      let shifted = CivilTime(hour: minutes / 60, minute: minutes % 60)
    else {
      throw CommandError(
        .usage, "'\(Printable.text(text))' moves \(time) to another day.",
        hint: "Write the new times of day, such as --at 9:00,21:00.")
    }
    return shifted
  }
}
