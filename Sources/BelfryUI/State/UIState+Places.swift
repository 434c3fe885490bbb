import BelfryCore
import BelfryTerminal

/// The places on the screen: the page, the selection, and what is scrolled.
extension UIState {
  mutating func show(_ tab: Tab) -> [UIEffect] {
    self.tab = tab
    showsDetails = false
    return tab == .alarms ? [readList] + readDetails() : [readPage(tab)]
  }

  mutating func select(_ id: Identifier?) -> [UIEffect] {
    if list.selected == id { return [] }
    list.selected = id
    scrollToSelection()
    return readDetails()
  }

  /// Selects the alarm some alarms further, or the last one in that direction.
  mutating func move(by steps: Int) -> [UIEffect] {
    let rows = list.content.rows
    var (place, left) = (list.selectedIndex ?? -1, abs(steps))
    var target = list.selected
    while left > 0, rows.indices.contains(place + steps.signum()) {
      place += steps.signum()
      guard let id = rows[place].id else { continue }
      (target, left) = (id, left - 1)
    }
    return select(target)
  }

  mutating func scroll(by steps: Int) -> [UIEffect] {
    if tab == .alarms {
      if showsDetails {
        scrollDetails(steps)
        return []
      }
      return move(by: steps)
    }
    scrollPage(steps)
    return []
  }

  /// Shows a page that was read. A selected line stays selected, wherever it is now.
  mutating func take(_ lines: [PageLine], _ tab: Tab) {
    let isNew = pages[tab] == nil
    var page = pages[tab] ?? Page(lines)
    let before = page.selected
    let command = before.flatMap {
      page.lines.indices.contains($0) ? page.lines[$0].command : nil
    }
    page.lines = lines
    let openable = page.openable
    page.selected =
      command.flatMap { command in openable.first { lines[$0].command == command } }
      // The command of a line that was opened can be another one now.
      ?? before.flatMap { openable.contains($0) ? $0 : nil }
    let rows = layout.main.rows
    if let selected = page.selected {
      page.top = max(selected - rows + 1, min(page.top, selected))
    }
    if isNew, let present = openable.first(where: { lines[$0].isPresent }) {
      page.selected = present
      // What belongs to the line is below it.
      let next = openable.first { $0 > present } ?? lines.count
      if next > rows { page.top = max(0, present - 1) }
    }
    page.top = clamped(page.top, lines.count)
    page.selected = page.selected ?? openable.first { (page.top..<page.top + rows).contains($0) }
    pages[tab] = page
  }

  /// Scrolls a page. A single step goes to the next line that can be opened if it is on the screen or just beyond, and else
  /// one line further, so that each line can be read. Only a line on the screen is selected.
  private mutating func scrollPage(_ steps: Int) {
    guard var page = pages[tab] else { return }
    let (rows, openable) = (layout.main.rows, page.openable)
    let shown = page.top..<page.top + rows
    let last = page.selected.flatMap { shown.contains($0) ? $0 : nil }
    func isNear(_ line: Int) -> Bool { line >= page.top - 1 && line <= page.top + rows }
    let target: Int? =
      switch steps {
      case 1: openable.first { $0 > last ?? page.top - 1 && isNear($0) }
      case -1: openable.last { $0 < last ?? page.top + rows && isNear($0) }
      default: nil
      }
    if let target {
      page.selected = target
      // The heading above the first line is shown, too, and what belongs to the line, which is below it.
      let head = target == openable.first && target < rows ? 0 : max(0, target - 1)
      let next = openable.first { $0 > target } ?? page.lines.count
      page.top = max(min(next - 1, target + rows - 2) - rows + 1, min(page.top, head))
    } else {
      page.top = clamped(page.top + steps, page.lines.count)
      let visible = openable.filter { $0 >= page.top && $0 < page.top + rows }
      let wanted = (last ?? page.top) + max(-page.lines.count, min(page.lines.count, steps))
      page.selected =
        steps > 0
        ? visible.first { $0 >= wanted } ?? visible.last
        : visible.last { $0 <= wanted } ?? visible.first
    }
    page.top = clamped(page.top, page.lines.count)
    pages[tab] = page
  }

  mutating func scrollDetails(_ steps: Int) {
    guard var shown = details else { return }
    shown.top = clamped(shown.top + steps, shown.lines.count)
    details = shown
  }

  /// Scrolls so that the selected row is shown, with its heading if it is the first one.
  mutating func scrollToSelection() {
    let rows = layout.main.rows
    guard let index = list.selectedIndex else {
      list.top = 0
      return
    }
    let first = index > 0 && list.content.rows[index - 1].alarm == nil ? index - 1 : index
    list.top = max(0, min(list.top, first))
    if index >= list.top + rows { list.top = index - rows + 1 }
    list.top = min(list.top, max(0, list.content.rows.count - rows))
    // A screen of one row shows the alarm.
    if index < list.top { list.top = index }
  }
}
