import BelfryCore
import Crypto
import Foundation
import FoundationXML
import TestSupport
import Testing

@testable import BelfryExchange

/// The page of `export --format html`, parsed as XML.
@Suite struct AlarmPageTests {
  private static let today = CivilDate(year: 2026, month: 11, day: 27)

  /// Returns a page with alarms that ring daily for a year.
  private func page(alarms: Int, title: String = "Water the plants in the kitchen") -> AlarmPage {
    let weekdays = Weekday.allCases.map { ($0, "\($0.abbreviation)") }
    let calendar = AlarmPage.calendarDates(at: Self.today)
    let year = AlarmPage.year(upTo: Self.today)
    let outcomes: [Statistics.Outcome] = [
      .done, .done, .done, .skipped, .done, .missed, .autoCompleted,
    ]
    let nine = CivilTime(hour: 9, minute: 0) ?? .noon
    let days = (year.lowerBound.dayNumber...Self.today.dayNumber).map { CivilDate(dayNumber: $0) }
    let responses = days.map { day in
      let outcome = outcomes[day.dayNumber % outcomes.count]
      return Statistics.Response(
        civil: CivilDateTime(day, nine), outcome: outcome,
        delay: outcome == .done ? Int64(day.dayNumber % 50) * 60 : nil)
    }
    let ids = (0..<alarms).map { Identifier(high: 1, low: UInt64($0)) }
    let agenda = (calendar.lowerBound.dayNumber...calendar.upperBound.dayNumber).map { number in
      let civil = CivilDateTime(CivilDate(dayNumber: number), nine)
      return Agenda.Day(
        civil.date,
        entries: ids.map {
          Agenda.Entry(
            alarm: $0, occurrence: civil, at: TimeZoneRules.utc.instant(of: civil), local: civil,
            state: civil.date < Self.today ? .done : .upcoming)
        })
    }
    let subjects = ids.enumerated().map { ($1, Agenda.Subject(title: "\(title) \($0)")) }
    var page = AlarmPage(
      updated: "Fri 27 Nov 2026, 10:00 (Europe/Berlin)", today: Self.today, week: weekdays,
      calendar: Agenda(
        agenda, today: Self.today, alarms: Dictionary(uniqueKeysWithValues: subjects)),
      time: { $0.description }, title: { $0.title })
    page.responses = responses
    page.rows = (0..<alarms).map { number in
      AlarmPage.Row(
        title: "\(title) \(number)", tags: ["home"], note: "Not too much",
        state: number == 0 ? .ringing : .active, schedule: "Mon, Wed, Fri 09:00, 21:00",
        next: "Fri 27 Nov 21:00", responses: ResponseSummary(responses), streak: number)
    }
    page.open = [
      AlarmPage.Occurrence(
        title: title, time: "Fri 27 Nov 2026, 09:00", civil: CivilDateTime(Self.today, nine),
        state: "ringing")
    ]
    page.missed = [
      AlarmPage.Occurrence(
        title: title, time: "Thu 26 Nov 2026, 09:00",
        civil: CivilDateTime(Self.today.adding(days: -1), nine), state: "missed")
    ]
    page.earlierMissed = 12
    page.next = (title, "Fri 27 Nov 21:00")
    return page
  }

  /// An element of a parsed page.
  private final class Element {
    let name: String
    let attributes: [String: String]
    var children: [Element] = []
    var text = ""

    init(_ name: String, _ attributes: [String: String]) {
      (self.name, self.attributes) = (name, attributes)
    }

    /// The element and all elements in it, in order.
    var all: [Element] { [self] + children.flatMap(\.all) }

    func all(_ name: String) -> [Element] { all.filter { $0.name == name } }

    /// The text of the element and of all elements in it.
    var wholeText: String { all.map(\.text).joined() }
  }

  private final class Reader: NSObject, XMLParserDelegate {
    var open = [Element("document", [:])]

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String]
    ) {
      let element = Element(name, attributes)
      open.last?.children.append(element)
      open.append(element)
    }

    func parser(
      _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
      open.removeLast()
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { open.last?.text += string }
  }

  private func parsed(_ page: AlarmPage) throws -> Element {
    let parser = XMLParser(data: Data(page.html))
    let reader = Reader()
    parser.delegate = reader
    let isValid = parser.parse()
    #expect(isValid, "line \(parser.lineNumber): \(String(describing: parser.parserError))")
    return try #require(reader.open.first)
  }

  // MARK: Structure

  @Test("The page has one main heading, and a heading for each section that a link names")
  func headings() throws {
    let document = try parsed(page(alarms: 3))
    let html = try #require(document.children.first)
    #expect(html.attributes["lang"] == "en")
    #expect(document.all("h1").count == 1)
    #expect(
      document.all("h2").map(\.text) == [
        "Waiting for an answer", "Calendar", "Year", "Delays", "Missed", "Alarms",
      ])
    let ids = document.all.compactMap { $0.attributes["id"] }
    #expect(ids.count == Set(ids).count)
    for link in document.all("a") {
      let target = try #require(link.attributes["href"])
      #expect(target.hasPrefix("#") && ids.contains(String(target.dropFirst())), "\(target)")
    }
    for section in document.all("section") {
      let label = try #require(section.attributes["aria-labelledby"])
      #expect(section.all("h2").first?.attributes["id"] == label)
    }
    // The first thing to reach with the keyboard.
    #expect(document.all("a").first?.attributes["href"] == "#main")
  }

  @Test("Each table has a caption and the scopes of its headers, each image a text")
  func tables() throws {
    let document = try parsed(page(alarms: 3))
    #expect(document.all("table").count == 6)
    for table in document.all("table") {
      #expect(table.all("caption").count == 1)
      for header in table.all("th") {
        #expect(["col", "row"].contains(header.attributes["scope"]), "\(header.wholeText)")
      }
      let columns = table.all("thead")[0].all("th").count
      for row in table.all("tbody").flatMap({ $0.all("tr") }) {
        #expect(row.children.count == columns)
      }
    }
    for image in document.all("svg") {
      let isDecoration = image.attributes["aria-hidden"] == "true"
      #expect(isDecoration || image.attributes["role"] == "img")
      #expect(isDecoration || image.attributes["aria-label"]?.isEmpty == false)
    }
    let november = document.all("svg").compactMap { $0.attributes["aria-label"] }
      .first { $0.hasPrefix("November 2026") }
    #expect(november == "November 2026: 15 done, 4 automatic, 4 skipped, 4 missed")
  }

  @Test("The calendar has each day of two months once, and marks today")
  func calendar() throws {
    let document = try parsed(page(alarms: 7))
    let months = document.all("table").filter { $0.attributes["class"]?.hasPrefix("month") == true }
    let days = months.flatMap { $0.all("time") }.compactMap { $0.attributes["datetime"] }
    #expect(days.count == 61)
    #expect(Set(days).count == 61)
    let cells = months.flatMap { $0.all("td") }
    let today = cells.filter { $0.attributes["aria-current"] == "date" }
    #expect(today.count == 1)
    #expect(today.first?.all("time").first?.attributes["datetime"] == "2026-11-27")
    // Four of seven entries, and how many are left out.
    #expect(today.first?.all("li").count == 5)
    #expect(today.first?.all("li").last?.text == "and 3 more")
  }

  @Test("The occurrences of an alarm on a day that are in one state are one entry")
  func dayEntries() {
    let (tea, rent) = (Identifier(high: 1, low: 1), Identifier(high: 1, low: 2))
    let states: [(Identifier, Int, Agenda.State)] = [
      (tea, 8, .done), (rent, 9, .paused), (tea, 12, .missed), (tea, 20, .upcoming),
      (rent, 21, .upcoming),
    ]
    let entries = states.map { alarm, hour, state in
      let civil = CivilDateTime(Self.today, CivilTime(hour: hour, minute: 0) ?? .noon)
      return Agenda.Entry(
        alarm: alarm, occurrence: civil, at: TimeZoneRules.utc.instant(of: civil), local: civil,
        state: state)
    }
    let shown = DayEntry.entries(of: Agenda.Day(Self.today, entries: entries))
    #expect(
      shown.map { "\($0.alarm == tea) \($0.time) \($0.count) \($0.state)" } == [
        "true 08:00 1 done", "true 12:00 1 missed", "true 20:00 1 upcoming",
        "false 21:00 1 upcoming",
      ])
  }

  @Test("A page without alarms says so")
  func empty() throws {
    var page = page(alarms: 0)
    (page.responses, page.open, page.missed, page.next) = ([], [], [], nil)
    page.earlierMissed = 0
    let text = try parsed(page).wholeText
    #expect(text.contains("No alarms yet."))
    #expect(text.contains("Nothing was missed in the last 12 months."))
    #expect(text.contains("Nothing was done in the last 12 months."))
  }

  // MARK: Safety

  @Test("Texts of people never become markup, and controls become visible")
  func escaping() throws {
    let title = "<script>alert('x')</script> \"&amp; \u{202E}gnp\u{0}.exe ]]> <!-- 薬 ❤️"
    var page = page(alarms: 1, title: title)
    page.rows = [
      AlarmPage.Row(
        title: title, tags: ["home"], note: "</style><img src=x onerror=y>\u{200B}\nmore",
        state: .active, schedule: "<b>", next: "\"", responses: ResponseSummary([]), streak: 0)
    ]
    let document = try parsed(page)
    for name in ["script", "img", "b", "iframe", "link"] { #expect(document.all(name).isEmpty) }
    let shown = title.replacing("\u{202E}", with: "\\u{202e}").replacing("\u{0}", with: "\\u{0}")
    #expect(document.all("bdi").contains { $0.text == shown })
    #expect(
      document.all("bdi").contains { $0.text == "</style><img src=x onerror=y>\\u{200b} more" })
    let names = Set(document.all.flatMap(\.attributes.keys))
    #expect(!names.contains { $0.hasPrefix("on") || $0 == "style" || $0 == "src" })
  }

  @Test("The page requests nothing, and its policy allows only its own style")
  func requestsNothing() throws {
    let page = page(alarms: 3)
    let text = String(decoding: page.html, as: UTF8.self)
    for word in ["http:", "https:", "url(", "@import", "<script", "<link", " src="] {
      #expect(!text.contains(word), "\(word)")
    }
    let document = try parsed(page)
    let policy = document.all("meta").first {
      $0.attributes["http-equiv"] == "Content-Security-Policy"
    }?.attributes["content"]
    let sheet = try #require(document.all("style").first).text
    let hash = Data(SHA256.hash(data: Data(sheet.utf8))).base64EncodedString()
    #expect(
      policy
        == "default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'")
  }

  // MARK: Sizes and colors

  @Test("A page of 200 alarms has at most 200 KB, and one of 1,000 takes at most 0.15 s")
  func size() {
    #expect(page(alarms: 200).html.count <= 200_000)
    let large = page(alarms: 1000)
    let clock = ContinuousClock()
    let fastest = (0..<3).map { _ in clock.measure { _ = large.html } }.min()
    #expect(fastest ?? .zero < .milliseconds(150))
  }

  @Test(
    "Every text has a contrast of at least 4.5:1 on every background",
    arguments: ["light", "dark"])
  func contrast(_ scheme: String) {
    let palette = scheme == "light" ? PagePalette.light : PagePalette.dark
    for background in palette.backgrounds {
      for foreground in palette.foregrounds {
        let ratio = Self.contrast(foreground, background)
        #expect(ratio >= 4.5, "\(scheme): \(foreground) on \(background) has \(ratio)")
      }
    }
  }

  /// Returns the contrast ratio of two colors (WCAG 2.2).
  private static func contrast(_ a: String, _ b: String) -> Double {
    func luminance(_ color: String) -> Double {
      let digits = Array(color.dropFirst())
      let parts = stride(from: 0, to: 6, by: 2).map { index -> Double in
        let value = Double(Int(String(digits[index...(index + 1)]), radix: 16) ?? 0) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
      }
      return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
    let (first, second) = (luminance(a), luminance(b))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)
  }
}
