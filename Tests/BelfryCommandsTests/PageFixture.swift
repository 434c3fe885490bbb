import BelfryCore
import BelfryPartners
import BelfryScheduler
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryCommands
@testable import BelfryTerminal
@testable import BelfryUI

/// A store with a history of three weeks, a second device and a partner, and its full screen without a terminal.
struct PageFixture {
  let sandbox: Sandbox
  let context: CommandContext

  /// In the middle of a minute: the clock of a screen runs.
  private static let now = "2026-11-23T08:30:10Z"

  /// Makes the store with the commands that a person would use.
  init() async throws {
    // A path of a certain length, which is shown.
    sandbox = try Sandbox(in: "/tmp")
    var variables = [
      "HOME": sandbox.home, "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": PageFixture.now,
      "BELFRY_STORE": sandbox.store, "TERM": "xterm-256color",
    ]
    // Without the hooks of the tests, whose paths are of any length.
    variables["XDG_CONFIG_HOME"] = sandbox.root + "/no-configuration"
    context = try CommandContext(store: nil, variables: variables)
    try await addAlarms()
    try await answer()
    try await pair()
    try await addDevice()
  }

  private func run(_ words: String..., at now: String, on device: String? = nil) async throws {
    try await sandbox.belfry(
      words, now: now, store: device.map { sandbox.root + "/" + $0 }, device: device ?? "laptop"
    ).expectSuccess()
  }

  private func addAlarms() async throws {
    let start = "2026-11-02T07:00:00Z"
    try await run("tier", "premium", at: start)
    try await run(
      "add", "Rent reminder", "every mon,fri at 9am", "--note", "Pay landlord", "--tag", "home",
      at: start)
    try await run("add", "Pills", "daily at 8:00", "--tag", "health", at: start)
    try await run("add", "Certificates 日本語 renewal", "yearly on 1 mar at 10:00", at: start)
    try await run("add", "Water filter", "every 90 days at 18:00", at: start)
    try await run("disable", "water", at: start)
    try await run("add", "Team call", "daily at 20:00", "--on", "laptop", at: start)
  }

  private func answer() async throws {
    for (day, minute) in [(17, "02"), (18, "20"), (20, "45")] {
      try await run("tick", at: "2026-11-\(day)T08:00:00Z")
      try await run("done", "pills", at: "2026-11-\(day)T08:\(minute):00Z")
    }
    try await run("tick", at: "2026-11-23T08:00:00Z")
    try await run("skip", "rent", "--yes", at: "2026-11-23T08:10:00Z")
    try await run("move", "team", "today", "21:30", at: "2026-11-23T08:11:00Z")
  }

  private func pair() async throws {
    let other = sandbox.root + "/partner"
    let (now, box) = ("2026-11-20T12:00:00Z", sandbox.root + "/mailbox.git")
    _ = try await sandbox.git("init", "-q", "--bare", box, in: sandbox.root)
    try await run("tier", "premium", at: now, on: "partner")
    let invite = try await sandbox.belfry(
      "partner", "invite", "--remote", box, "--as", "Chris", "--json", now: now)
    let link = try #require(invite.object["link"] as? String)
    let accept = try await sandbox.belfry(
      "partner", "accept", "--yes", "--as", "Alex", link, now: now, store: other, device: "partner")
    try accept.expectSuccess()
    try await run("partner", "sync", at: now)
    try await run("partner", "sync", at: now, on: "partner")
    let list = try await sandbox.belfry("partner", "list", "--json", now: now)
    let code = try #require(list.array.compactMap { $0["code"] as? String }.last)
    try await run("partner", "confirm", code, at: now)
    try await run("partner", "confirm", code, at: now, on: "partner")
    try await run("partner", "sync", at: now)
  }

  private func addDevice() async throws {
    let (now, remote) = ("2026-11-23T08:15:00Z", sandbox.root + "/remote.git")
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    try await run("remote", "add", "origin", remote, at: now)
    try await run("sync", at: now)
    try await sandbox.belfry(
      "clone", remote, now: now, store: sandbox.root + "/tablet", device: "tablet"
    ).expectSuccess()
    try await run("sync", at: now, on: "tablet")
    try await run("sync", at: now)
    try await run("cascade", "on", "pills", at: now)
    try await run("cascade", "add", "pills", "device", "tablet", at: now)
    // A path would be of any length.
    _ = try await sandbox.git(
      "remote", "set-url", "origin", "https://git.example.org/alarms.git", in: sandbox.store)
  }

  /// The texts that differ in each run, each replaced by as many letters.
  private func masked(_ text: String) async throws -> String {
    let store = try #require(context.existing)
    let alarms = try store.overview().summaries.map(\.id.text)
    let partners = PartnerStore(store).partners.map(\.id.text)
    let commits = try await sandbox.git("log", "--format=%H", in: sandbox.store).out
      .split(separator: "\n").map(String.init)
    let root = String(repeating: "/", count: sandbox.root.count)
    var text = text.replacing(sandbox.root, with: root)
    for (names, letter) in [(alarms, "i"), (partners, "p"), (commits, "c")] {
      for name in names {
        for length in [name.count, 8, 7] {
          text = text.replacing(
            name.prefix(length), with: String(repeating: letter, count: length))
        }
      }
    }
    return text
  }

  // MARK: The screen

  /// The source of the pages of a width.
  func source(_ columns: Int, _ statistics: StatisticsCache = StatisticsCache()) throws
    -> PageSource
  {
    PageSource(
      store: try #require(context.existing), context: context, columns: columns,
      statistics: statistics, changed: {})
  }

  /// The channel, the sound and the battery of a device on which all works.
  static let findings = DeviceHealth.Findings(
    reach: .desktop("Dunst"), sound: .audible(volume: 60), battery: "82 %, charging")

  /// Returns a screen whose effects are performed at once.
  func screen(_ size: Size) throws -> PageScreen {
    try PageScreen(self, size)
  }

  /// Returns the lines of a screen with the texts that are the same in each run.
  func lines(_ screen: PageScreen) async throws -> String {
    try await masked(screen.state.render().lines.map { $0 + "\n" }.joined())
  }
}

/// A full screen that reads the store of a fixture.
struct PageScreen {
  private let fixture: PageFixture
  private let backend: StoreBackend
  private(set) var state: UIState

  init(_ fixture: PageFixture, _ size: Size) throws {
    self.fixture = fixture
    backend = StoreBackend(fixture.context)
    state = UIState(size: size)
    try perform(state.begin())
  }

  mutating func press(_ names: String...) throws {
    for name in names { try perform(state.update(.input(.key(#require(Key(named: name)))))) }
  }

  private mutating func perform(_ effects: [UIEffect]) throws {
    for effect in effects {
      let event: UIEvent? =
        switch effect {
        case .readList(let filter, let columns):
          .list(backend.list(filter: filter, columns: columns), filter: filter)
        case .readDetails(let id, let columns):
          .details(id, backend.details(id, columns: columns))
        case .readPage(let tab, let size, let month):
          .page(tab, try page(tab, size, month))
        case .readForm(let id): .form(id, backend.form(id))
        default: nil
        }
      if let event { try perform(state.update(event)) }
    }
  }

  /// Returns a page with fixed findings about this machine.
  private func page(_ tab: Tab, _ size: Size, _ month: Int) throws -> [PageLine] {
    let source = try fixture.source(size.columns)
    return switch tab {
    case .devices: try DevicesPage(source, PageFixture.findings).lines()
    case .settings: SettingsPage(source).lines(PageFixture.findings)
    default: backend.page(tab, size, month: month)
    }
  }
}
