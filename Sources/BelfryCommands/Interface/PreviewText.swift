import BelfryTerminal

/// The parts that the previews of the full screen share.
struct PreviewText {
  let style: Style

  /// The number of dates that a schedule shows.
  static let dates = 3

  /// Returns the next dates of a schedule.
  func dates(_ dates: [String]) -> String {
    style.paint(dates.isEmpty ? "no future date" : dates.joined(separator: "; "), .faint)
  }

  /// Returns the reason why what is typed is not valid.
  func refusal(_ error: any Error) -> [String] {
    // The errors of the parser of arguments have messages of its own.
    if Belfry.exitCode(for: error) != .failure {
      return wrapped(Belfry.message(for: error), .yellow)
    }
    let error = CommandError(error)
    return wrapped(error.message, .yellow) + error.hints.flatMap { wrapped($0, .faint) }
  }

  private func wrapped(_ text: String, _ color: Style.Color) -> [String] {
    text.split(separator: "\n").flatMap { TextWidth.wrapped(String($0), to: style.width ?? 80) }
      .map { style.paint($0, color) }
  }
}
