import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryStore
import TestSupport
import Testing

@testable import BelfryScheduler

/// The place, the name, the times and the coding of a calendar that is followed.
@Suite struct CalendarSubscriptionTests {
  private let now = Instant(seconds: 1_795_000_000)

  @Test(
    "URLs lose their credentials",
    arguments: [
      ("https://example.org/a.ics", "https://example.org/a.ics", nil, nil),
      ("webcal://example.org/a.ics?x=1#y", "https://example.org/a.ics?x=1", nil, nil),
      ("WEBCAL://u@example.org", "https://example.org", "u", nil),
      ("http://u:p%40%3A@[::1]:80/a", "http://[::1]:80/a", "u", "p@:"),
      ("https://a@b:c@host/x@y", "https://host/x@y", "a@b", "c"),
    ] as [(String, String, String?, String?)])
  func urls(_ text: String, _ url: String, _ user: String?, _ password: String?) throws {
    let (source, credentials) = try CalendarSource.parse(text)
    #expect(source == .url(url))
    #expect(credentials?.user == user && credentials?.password == password)
  }

  @Test(arguments: [
    "ftp://example.org/a", "https://", "https:///a", "https://a b/c", "https://host/\u{1}",
    "/nonexistent/a.ics", "file:///nonexistent/a.ics", "javascript://x",
  ])
  func invalidPlaces(_ text: String) {
    #expect(throws: CalendarSource.Failure.self) { try CalendarSource.parse(text) }
  }

  @Test("The secret path of a URL is not shown")
  func shown() {
    #expect(
      CalendarSource.url("https://host/ical/me/private-123/basic.ics?token=4").shown
        == "https://host/…/basic.ics")
    #expect(CalendarSource.url("https://host/a.ics").shown == "https://host/a.ics")
    #expect(CalendarSource.url("https://host").shown == "https://host")
    #expect(CalendarSource.url("https://host/ical/me/basic.ics").defaultName == "host")
    #expect(CalendarSource.folder("/home/me/work").defaultName == "work")
  }

  @Test func names() {
    #expect(CalendarSubscription.name(for: "Team Müller!", besides: []) == "Team-Müller")
    #expect(CalendarSubscription.name(for: "team", besides: ["Team", "team-2"]) == "team-3")
    #expect(CalendarSubscription.name(for: "../\u{1B}", besides: []) == "calendar")
    #expect(
      CalendarSubscription.isName(
        CalendarSubscription.name(for: String(repeating: "ü", count: 99), besides: [])))
    for name in ["", ".x", "-x", "a/b", "a b", "..", "a\u{0}"] {
      #expect(!CalendarSubscription.isName(name), "\(name)")
    }
  }

  @Test("Fetches repeat at the interval, and failures back off up to it")
  func times() {
    var subscription = CalendarSubscription(name: "a", source: .url("https://host/a"))
    #expect(subscription.isDue(at: now))
    subscription.checkedAt = now
    #expect(subscription.nextFetch == now.adding(seconds: 3_600))
    for (asked, used) in [(60, 900), (7_200, 7_200), (99_999_999, 604_800)] as [(Int64, Int64)] {
      subscription.state.refreshInterval = asked
      #expect(subscription.currentInterval == used)
    }
    subscription.interval = 1_800
    #expect(subscription.currentInterval == 1_800)
    for (count, wait) in [(1, 300), (2, 600), (3, 1_200), (4, 1_800), (99, 1_800)] as [(Int, Int64)]
    {
      subscription.state.failureCount = count
      #expect(subscription.nextFetch == now.adding(seconds: wait))
    }
    #expect(!subscription.isDue(at: now))
    // The clock was ahead.
    #expect(subscription.isDue(at: now.adding(seconds: -3_600)))
  }

  @Test func coding() throws {
    var subscription = CalendarSubscription(name: "a", source: .url("https://host/a?b"))
    subscription.credentials = CalendarSource.Credentials(user: "u", password: "p\"\\")
    subscription.tags = [try AlarmTag("work")]
    subscription.silent = .ringingBefore(900)
    subscription.interval = 7_200
    subscription.checkedAt = now
    subscription.state.entityTag = "\"x\""
    subscription.state.lastModified = "Mon, 23 Nov 2026 10:00:00 GMT"
    subscription.state.refreshInterval = 60
    let (one, two) = (TestIdentifier.make(), TestIdentifier.make())
    subscription.state.series = ["\u{7}ü": CalendarFeed.Series(fingerprint: "f", alarms: [one])]
    subscription.state.withdrawn = [two: now]
    subscription.state.held = ImportFeed.HeldLoss(count: 4, total: 5)
    subscription.state.damaged = ["a.ics: x"]
    subscription.state.failure = "x"
    subscription.state.failureCount = 2
    subscription.state.succeededAt = now
    var decoded = try #require(
      CalendarSubscription(name: "a", try JSON(parsing: subscription.json.document)))
    decoded.checkedAt = now
    #expect(decoded == subscription)
    #expect(CalendarSubscription(name: "a", .object(["format": 2, "url": "https://x"])) == nil)
  }

  @Test("Headers of a server are used only in their valid form")
  func validators() {
    #expect(CalendarDownload.entityTag("\"abc\"") == "\"abc\"")
    #expect(CalendarDownload.entityTag("W/\"\"") == "W/\"\"")
    for tag in ["abc", "\"", "\"a\nb\"", "\"a\" b\"", "W/", "\"\u{7F}\""] {
      #expect(CalendarDownload.entityTag(tag) == nil, "\(tag)")
    }
    #expect(CalendarDownload.date("Mon, 23 Nov 2026 10:00:00 GMT") != nil)
    for date in ["", "x", "Mon, 23 Nov 2026\n10:00:00 GMT", "Mon, 23 Nov 2026\t10:00:00"] {
      #expect(CalendarDownload.date(date) == nil)
    }
  }

  @Test("A failure to connect has the same reason each time, whatever time it took")
  func sameFailure() {
    let reasons = [0, 3, 117].map { time in
      CalendarDownload.failure(
        7, "curl: (7) Failed to connect to localhost port 9 after \(time) ms: Couldn't connect\n"
      ).reason
    }
    #expect(Set(reasons) == ["Failed to connect to localhost port 9: Couldn't connect"])
  }
}
