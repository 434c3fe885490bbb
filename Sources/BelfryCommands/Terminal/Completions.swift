import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryInput
import BelfryPartners
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Git
import Glibc

extension CompletionKind {
  /// The titles of all alarms.
  static let alarms = live(ignoringCase: true) { $0.alarms() }
  /// The titles of the disabled alarms.
  static let disabledAlarms = live(ignoringCase: true) {
    $0.alarms { $0.status.state == .disabled }
  }
  /// The titles of the alarms that are not disabled.
  static let enabledAlarms = live(ignoringCase: true) { $0.alarms { $0.status.state != .disabled } }
  /// The titles of the alarms with a skipped occurrence ahead.
  static let skippedAlarms = live(ignoringCase: true) { $0.alarms { !$0.status.skipped.isEmpty } }
  /// Alarms, and the words that select several.
  static let selections = live(ignoringCase: true) { $0.alarms() + $0.filterWords }
  /// Alarms, tags, and the actions of log entries.
  static let logWords = live(ignoringCase: true) { $0.alarms() + $0.logWords }
  /// A list of tags, with or without signs.
  static let tags = live(ignoringCase: true) { $0.list($0.tags) }
  /// Names of devices.
  static let devices = live(ignoringCase: true) { $0.devices }
  /// A list of names of devices.
  static let deviceList = live(ignoringCase: true) { $0.list($0.devices) }
  /// The devices that can be a step of a cascade.
  static let cascadeTargets = live(ignoringCase: true) {
    $0.words.contains("device") ? $0.devices : []
  }
  static let sounds = live { _ in CompletionSource.sounds }
  static let zones = live(ignoringCase: true) { $0.zones }
  static let actions = live { $0.actions }
  static let remotes = live { $0.remotes }
  static let calendars = live(ignoringCase: true) { $0.calendars }
  static let followedCalendars = live(ignoringCase: true) { $0.followedCalendars }
  static let partners = live(ignoringCase: true) { $0.partners }
  static let settings = live { _ in CompletionSource.settings }
  /// The values of the setting that the word before names.
  static let settingValues = live { $0.settingValues }
  /// Words that no program knows, such as a title. The shell then offers no files.
  static let text = CompletionKind.custom { _, _, _ in [] }

  /// Returns the completion with values of this moment.
  ///
  /// - Parameter ignoringCase: True for values that commands find without regard to case.
  private static func live(
    ignoringCase: Bool = false,
    _ candidates: @escaping @Sendable (CompletionSource) -> [CompletionSource.Candidate]
  ) -> CompletionKind {
    .custom { words, index, prefix in
      let source = CompletionSource(words: words, index: index, prefix: prefix)
      let shell = CompletionShell.requesting
      let found = candidates(source)
      return (ignoringCase ? found.map { $0.continuing(prefix, in: shell) } : found)
        .compactMap { $0.text(for: shell) }
    }
  }
}

/// The values in the user's store that a shell offers for the word before the cursor.
///
/// It prints no warnings, creates nothing and never fails: without a store there are no values.
struct CompletionSource {
  /// A value for the command line.
  struct Candidate: Hashable {
    let value: String
    /// A description, which zsh and fish show; nil for none.
    var detail: String?
    /// Another value with the same meaning and only letters and digits; nil if there is none.
    var plain: String?

    init(_ value: String, _ detail: String? = nil, plain: String? = nil) {
      self.value = value
      self.detail = detail
      self.plain = plain
    }

    /// Returns the candidate with the letters that were typed at its beginning, if only their case differs. bash and zsh
    /// offer no other beginning; names are found in any case.
    func continuing(_ prefix: String, in shell: CompletionShell?) -> Candidate {
      guard shell == .bash || shell == .zsh else { return self }
      // The word may begin with a quotation mark, and a space in it is escaped.
      let quoted = prefix.first == "'" || prefix.first == "\""
      let typed = (quoted ? String(prefix.dropFirst()) : prefix).replacing("\\", with: "")
      guard !value.hasPrefix(typed), value.lowercased().hasPrefix(typed.lowercased()) else {
        return self
      }
      return Candidate(typed + value.dropFirst(typed.count), detail, plain: plain)
    }

    /// The characters that bash does not always quote when it completes a word.
    private static let expanded: Set<Character> = ["$", "`", "\\", "!"]

    /// Returns the line for a shell's completion script; nil for a value that cannot be one.
    ///
    /// Titles and names come from other devices. bash expands each line like a word of a command, so that a title such
    /// as `$(reboot)` would run without quotes.
    func text(for shell: CompletionShell?) -> String? {
      guard !value.isEmpty, Printable.text(value) == value, !value.contains("\n") else {
        return nil
      }
      let detail = detail.map { Printable.text($0) }
      switch shell {
      case .bash:
        if value.contains(where: Candidate.expanded.contains) { return plain }
        return "'\(value.replacing("'", with: "'\\''"))'"
      case .zsh:
        let escaped = value.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
        return escaped + (detail.map { ":\($0)" } ?? "")
      case .fish: return value + (detail.map { "\t\($0)" } ?? "")
      default: return value
      }
    }
  }

  /// The words of the command line.
  let words: [String]
  private let index: Int
  /// The part of the word before the cursor, as it was typed.
  private let prefix: String
  private let context: CommandContext?

  init(words: [String], index: Int, prefix: String) {
    self.words = words
    self.index = index
    self.prefix = prefix
    var folder: String?
    for (position, word) in words.enumerated() {
      if word.hasPrefix("--store=") { folder = String(word.dropFirst("--store=".count)) }
      if word == "--store", position + 1 < words.count { folder = words[position + 1] }
    }
    context = try? CommandContext(store: folder)
  }

  /// - Parameter context: The store.
  init(words: [String], index: Int, prefix: String, _ context: CommandContext) {
    (self.words, self.index, self.prefix, self.context) = (words, index, prefix, context)
  }

  private var store: Store? {
    guard let context else { return nil }
    var quiet = context.storeContext
    quiet.report = { _ in }
    return try? Store.existing(context.storePath, context: quiet)
  }

  // MARK: Alarms

  /// Returns the titles of alarms, or identifiers where a title would not be clear.
  func alarms(where isWanted: (AlarmSummary) -> Bool = { _ in true }) -> [Candidate] {
    let all = ((try? store?.overview().summaries) ?? []).filter { !$0.isDeleted }
    let counts = Dictionary(all.map { ($0.title.lowercased(), 1) }, uniquingKeysWith: +)
    return all.filter(isWanted).map { alarm in
      let isClear = counts[alarm.title.lowercased()] == 1 && !alarm.title.hasPrefix("-")
      guard let times = context?.times else { return Candidate(alarm.title) }
      let rule = times.rule(alarm.rule.recurrence, times: alarm.rule.times)
      return isClear
        ? Candidate(alarm.title, rule, plain: alarm.id.short)
        : Candidate(alarm.id.short, "\(alarm.title), \(rule)")
    }
  }

  /// The words that select several alarms.
  var filterWords: [Candidate] {
    let tags = tags.map { Candidate("+\($0.value)", $0.detail) }
    let states = ["ringing", "pending", "snoozed", "missed", "paused", "disabled", "finished"]
    let dates = ["today", "tomorrow", "week", "month"]
    return tags + states.map { Candidate($0, "state") } + dates.map { Candidate("due:\($0)") }
  }

  /// The words that select log entries.
  var logWords: [Candidate] {
    tags.map { Candidate("+\($0.value)", $0.detail) }
      + LogEntry.Action.allCases.map { Candidate($0.rawValue, "action") }
  }

  var tags: [Candidate] {
    TagUse.all(of: (try? store?.overview().summaries) ?? []).map { use in
      let count = use.unfinished + use.finished
      return Candidate(use.tag.text, count == 1 ? "1 alarm" : "\(count) alarms")
    }
  }

  // MARK: Devices, partners and remotes

  var devices: [Candidate] {
    guard let store else { return [] }
    return store.devices.current().map {
      Candidate($0.name, $0.id == store.device ? "this device" : $0.kind?.rawValue)
    }
  }

  var partners: [Candidate] {
    store.map { PartnerStore($0).partners.map { Candidate($0.name) } } ?? []
  }

  var remotes: [Candidate] {
    ((try? store?.sync.remotes()) ?? []).map {
      Candidate($0.name, URLMask.masked(url: $0.url))
    }
  }

  var calendars: [Candidate] {
    (store?.calendars.all().calendars ?? []).filter { !$0.isRemoved }.map {
      Candidate($0.name, "\($0.holidays.count) holidays")
    }
  }

  var followedCalendars: [Candidate] {
    (store.map { SubscriptionFolder($0).all() } ?? []).map { Candidate($0.name, $0.source.shown) }
  }

  // MARK: This machine

  static let sounds = Sound.all.map { Candidate($0.name, $0.summary) } + [Candidate("none")]

  var zones: [Candidate] { (context?.storeContext.zones.names ?? []).map { Candidate($0) } }

  var actions: [Candidate] {
    let names = context?.actions.map { DurableFile.names(in: $0.path) } ?? []
    return names.filter { ActionName($0) != nil }.map { Candidate($0) } + [Candidate("none")]
  }

  static let settings = Setting.allCases.map { Candidate($0.name, $0.expected) }

  var settingValues: [Candidate] {
    guard index > 0, index <= words.count, let setting = Setting(named: words[index - 1]) else {
      return []
    }
    switch setting {
    case .sound: return CompletionSource.sounds
    case .clock: return ["12h", "24h", "auto"].map { Candidate($0) }
    case .defaultTime: return ["now", "09:00"].map { Candidate($0) }
    case .tier: return Settings.Tier.allCases.map { Candidate($0.rawValue) }
    default:
      guard case .flag = Settings()[keyPath: setting.value] else { return [] }
      return ["on", "off"].map { Candidate($0) }
    }
  }

  // MARK: Lists

  /// Returns candidates for the last element of a list: `home,+pi` is followed by `home,+pills`.
  func list(_ candidates: [Candidate]) -> [Candidate] {
    let elements = prefix.split(separator: ",", omittingEmptySubsequences: false)
    let last = elements.last.map(String.init) ?? ""
    let sign = last.hasPrefix("+") || last.hasPrefix("-") ? String(last.prefix(1)) : ""
    let head = elements.dropLast().map { "\($0)," }.joined()
    let given = Set(elements.dropLast().map { $0.drop { "+-".contains($0) } })
    return candidates.filter { !given.contains($0.value[...]) }.map {
      Candidate(head + sign + $0.value, $0.detail)
    }
  }
}
