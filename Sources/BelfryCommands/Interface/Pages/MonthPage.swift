import BelfryActions
import BelfryCore
import BelfryStore
import BelfryTerminal
import BelfryUI

/// A month as a calendar. A week opens as a calendar of its own.
struct MonthPage {
  private let context: CommandContext
  private let store: Store?
  private let style: Style
  private let size: Size

  /// - Parameter store: The store; nil if there is none yet.
  init(_ context: CommandContext, _ store: Store?, _ style: Style, _ size: Size) {
    (self.context, self.store, self.style, self.size) = (context, store, style, size)
  }

  /// Returns the lines of a month.
  ///
  /// - Parameter offset: The number of months from the present one.
  func lines(_ offset: Int) -> [PageLine] {
    let zones = context.storeContext.zones
    let now = context.storeContext.now
    let today = zones.local.civil(at: now).date
    let months = today.year * 12 + today.month - 1 + offset
    guard (12..<120_000).contains(months) else {
      return [PageLine("Belfry knows the years 1 to 9999.")]
    }
    let first = CivilDate(year: months / 12, month: months % 12 + 1, day: 1)
    let period = CalendarPeriod(.month, containing: first)
    var agenda = AgendaBuilder(period.dates, zone: zones.local, now: now).agenda
    if let store {
      let reading = ReadAgenda(period.dates)
      do {
        agenda = try reading.perform(in: store, reading.select(store.overview().summaries))
      } catch {
        return [PageLine(CommandError(error).message)]
      }
    }
    let text = AgendaText(agenda, context.times, style, width: size.columns, height: size.rows)
    let lines = text.lines(period)
    let present = lines.compactMap(\.date).last { $0 <= today }
    return lines.map { line in
      PageLine(
        line.text, command: line.date.map { ["week", "\($0)"] },
        isPresent: line.date != nil && line.date == present)
    }
  }
}
