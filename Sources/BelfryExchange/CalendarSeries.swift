/// The events or to-dos of a document that have one UID.
struct CalendarSeries {
  /// The items that are no change of one occurrence. Several programs give the same UID to different events.
  var items: [CalendarComponent] = []
  /// The changes of single occurrences, with a RECURRENCE-ID.
  var changes: [CalendarComponent] = []
  /// The items that a later revision in the document replaces.
  var replaced: [CalendarComponent] = []

  /// The UID; nil if the items have none.
  var uid: String? {
    (items + changes + replaced).first?.first("UID").map(\.value).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Groups components by their UID, in the order of their first appearance.
  ///
  /// 1. A component without a UID is a group of its own.
  /// 2. Of several items, those with the highest SEQUENCE count (RFC 5545, 3.8.7.4). If they start at the same time,
  ///    only one of them counts: a cancelled one, or else the one that was written last.
  /// 3. Of several changes of one occurrence, only the one with the highest SEQUENCE counts, then the one with the last
  ///    DTSTAMP, then the one with the last LAST-MODIFIED, then a cancelled one, then the last one in the document.
  static func groups(of components: [CalendarComponent]) -> [CalendarSeries] {
    var order: [String] = []
    var groups: [String: [CalendarComponent]] = [:]
    for (number, component) in components.enumerated() {
      let uid = component.first("UID").map(\.value) ?? ""
      let key = uid.isEmpty ? "\(number)" : "\(component.name) \(uid)"
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(component)
    }
    return order.map { CalendarSeries(groups[$0] ?? []) }
  }

  private init(_ components: [CalendarComponent]) {
    var changed: [String: Int] = [:]
    for component in components {
      guard let occurrence = component.first("RECURRENCE-ID") else {
        add(component)
        continue
      }
      if let index = changed[occurrence.value] {
        if !changes[index].isLaterRevision(than: component) { changes[index] = component }
      } else {
        changed[occurrence.value] = changes.count
        changes.append(component)
      }
    }
    let latest = items.map(\.sequence).max() ?? 0
    replaced += items.filter { $0.sequence < latest }
    items.removeAll { $0.sequence < latest }
  }

  private mutating func add(_ item: CalendarComponent) {
    func start(_ item: CalendarComponent) -> CalendarProperty? {
      item.first("DTSTART") ?? item.first("DUE")
    }
    guard
      let index = items.firstIndex(where: {
        start($0) == start(item) && $0.first("SUMMARY")?.value == item.first("SUMMARY")?.value
      })
    else {
      items.append(item)
      return
    }
    if !CalendarSeries.replaces(items[index], item) { items[index] = item }
  }

  /// Returns true if a component is the later revision of two.
  private static func replaces(_ a: CalendarComponent, _ b: CalendarComponent) -> Bool {
    func rank(_ component: CalendarComponent) -> (Int, Int, String) {
      let isCancelled = component.first("STATUS")?.value.uppercased() == "CANCELLED"
      let written = component.first("LAST-MODIFIED") ?? component.first("DTSTAMP")
      return (component.sequence, isCancelled ? 1 : 0, written?.value ?? "")
    }
    return rank(a) > rank(b)
  }
}

extension CalendarComponent {
  /// The number of the revision.
  var sequence: Int { first("SEQUENCE").flatMap { Int($0.value) } ?? 0 }

  /// Returns true if the component is the later revision of two changes of one occurrence.
  func isLaterRevision(than other: CalendarComponent) -> Bool {
    func rank(_ component: CalendarComponent) -> (Int, String, String, Int) {
      let isCancelled = component.first("STATUS")?.value.uppercased() == "CANCELLED"
      return (
        component.sequence, component.first("DTSTAMP")?.value ?? "",
        component.first("LAST-MODIFIED")?.value ?? "", isCancelled ? 1 : 0
      )
    }
    return rank(self) > rank(other)
  }

  /// The property of the items of an answer to an invitation, or of a proposal (RFC 5546, 3.2.3).
  static let answer = "X-BELFRY-ANSWER"

  /// The events and to-dos of a calendar. Those of a cancellation message (RFC 5546, 3.2.5) are cancelled.
  var items: [CalendarComponent] {
    let method = first("METHOD")?.value.uppercased().filter { !$0.isWhitespace }
    let isAnswer = ["REPLY", "COUNTER", "DECLINECOUNTER", "REFRESH"].contains(method)
    return components.filter { $0.name == "VEVENT" || $0.name == "VTODO" }.map { item in
      var item = item
      if isAnswer { item.add(CalendarComponent.answer, "TRUE") }
      guard method == "CANCEL" else { return item }
      item.properties.removeAll { $0.name == "STATUS" }
      item.add("STATUS", "CANCELLED")
      return item
    }
  }
}
