import BelfryCore

extension Array {
  /// Returns the elements by the titles of their alarms, without regard to case; equal titles by the identifiers.
  public func sorted(byTitle title: (Element) -> String, id: (Element) -> Identifier) -> [Element] {
    map { (folded: title($0).lowercased(), element: $0) }
      .sorted { a, b in
        (a.folded, title(a.element), id(a.element)) < (b.folded, title(b.element), id(b.element))
      }
      .map(\.element)
  }
}

extension [AlarmSummary] {
  /// Returns the alarms by their titles, without regard to case.
  public func sortedByTitle() -> [AlarmSummary] { sorted(byTitle: \.title, id: \.id) }
}
