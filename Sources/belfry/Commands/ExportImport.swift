import ArgumentParser
import BelfryCore
import BelfryExchange
import BelfryStore
import Git
import Glibc

/// A form in which alarms go out.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
  case json, ical
}

/// A form in which alarms come in.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable {
  case json, ical, taskwarrior
}

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write everything as one document.",
    discussion: """
        belfry export > alarms.json                 everything: alarms, log, devices, settings
        belfry export --format ical > alarms.ics    the alarms, for a calendar

      The JSON document loses nothing, and 'belfry import' of it may be repeated. What a calendar cannot say is \
      named on standard error.
      """)

  @Option(help: "json, or ical.")
  var format = ExportFormat.json

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("A file instead of standard output.", valueName: "file"))
  var output: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(welcome: false)
    var document: [UInt8] = []
    let problems: [RecordProblem]
    var remarks: [Remark] = []
    if format == .json {
      problems = try ExportDocument.write(store) { document += $0 }
    } else {
      let all = try store.allAlarms()
      problems = all.problems
      (document, remarks) = try CalendarDocument().write(all.alarms)
    }
    context.tell(problems)
    for remark in remarks {
      Console.error(
        "belfry: warning: \(Printable.text(remark.title)): a calendar cannot say \(Printable.text(remark.reason))."
      )
    }
    guard let output else { return Console.write(document) }
    let path = CommandContext.absolute(output)
    try DurableFile.write(document, to: path, temporary: "\(path).new-\(getpid())")
    Console.error("Wrote \(Printable.text(output)).")
  }
}

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take alarms in: an export, a calendar, or taskwarrior's recurring tasks.",
    discussion: """
        belfry import alarms.json             what 'belfry export' wrote: joined, as a sync does
        belfry import calendar.ics            events and to-dos; each with its rule and its alarms
        task export | belfry import -         recurring tasks

      Importing the same again changes nothing. What Belfry cannot say is named, and what is over is left out.
      """)

  @Argument(help: "The file; - is standard input.")
  var file: String

  @Option(help: "json, ical or taskwarrior (default: by the content).")
  var format: ImportFormat?

  @Flag(help: "Only show what would be taken in.")
  var dryRun = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let bytes = try read()
    if format == .ical || (format == nil && CalendarDocument.matches(bytes)) {
      guard bytes.count <= CalendarDocument.largest else {
        throw ExchangeFailure.tooLarge(file)
      }
      let store = try context.open(welcome: false)
      let (alarms, leftOut) = try CalendarDocument().read(
        bytes, now: context.storeContext.now, zones: context.storeContext.zones)
      return try add(alarms, leftOut, to: store, context)
    }
    let json: JSON
    do {
      json = try JSON(parsing: bytes)
    } catch {
      let line = error.line.map { "line \($0): " } ?? ""
      throw CommandError(
        .failed, "\(Printable.text(file)) is not valid: \(line)\(Printable.text(error.reason)).",
        hint: "It takes an export, an iCalendar file, or what 'task export' prints.")
    }
    if format == .json || (format == nil && ExportDocument.matches(json)) {
      return try join(json, context)
    }
    guard TaskwarriorDocument.matches(json) else {
      throw CommandError(
        .failed, "\(Printable.text(file)) is neither an export, nor a calendar, nor taskwarrior's.",
        hint: "It takes an export, an iCalendar file, or what 'task export' prints.")
    }
    let store = try context.open(welcome: false)
    let (alarms, leftOut) = TaskwarriorDocument.read(
      json, now: context.storeContext.now, zone: context.storeContext.zones.local)
    try add(alarms, leftOut, to: store, context)
  }

  private func read() throws -> [UInt8] {
    if file == "-" {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw FileError("read", "standard input") }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
        guard bytes.count <= ExportDocument.largest else { throw ExchangeFailure.tooLarge(file) }
      }
    }
    let path = CommandContext.absolute(file)
    guard let content = try DurableFile.read(path, limit: ExportDocument.largest) else {
      throw CommandError(
        .failed, "there is no file \(Printable.text(file)).",
        hint: "Name one, or - for standard input.")
    }
    return content.bytes
  }

  // MARK: Exports

  private func join(_ json: JSON, _ context: CommandContext) throws {
    let records = try ExportDocument.records(json)
    let alarms = records.keys.count { $0.hasPrefix("alarms/") }
    let entries = records.keys.count { $0.hasPrefix("log/") }
    if dryRun {
      if common.json { return print(imported: records.count, unchanged: 0, leftOut: []) }
      return Console.line("Would join \(alarms) alarms and \(entries) log entries.")
    }
    let store = try context.open(welcome: false)
    let result = try store.take(
      records, subject: "Import \(alarms) alarms and \(entries) log entries")
    result.tell()
    if common.json {
      return print(imported: result.merged, unchanged: records.count - result.merged, leftOut: [])
    }
    Console.line(
      result.merged == 0
        ? "Everything was there already."
        : "Imported \(result.merged) of \(records.count) records; the others were there already.")
  }

  // MARK: Alarms of other programs

  private func add(
    _ alarms: [ForeignAlarm], _ leftOut: [Remark], to store: Store, _ context: CommandContext
  ) throws {
    for remark in leftOut {
      Console.error(
        "belfry: warning: left out: \(Printable.text(remark.title)): \(Printable.text(remark.reason))."
      )
    }
    let known = Dictionary(
      uniqueKeysWithValues: try store.allAlarms().alarms.map { ($0.id, $0) })
    let new = alarms.filter { known[$0.id] == nil }
    for alarm in alarms {
      guard let here = known[alarm.id], !here.isDeleted, alarm.differs(from: here) else { continue }
      Console.error(
        "belfry: warning: \(Printable.text(alarm.title)) is here already, and differs; it was left as it is here."
      )
    }
    for alarm in new where !alarm.losses.isEmpty {
      let losses = alarm.losses.map { Printable.text($0) }.joined(separator: "; ")
      Console.error("belfry: warning: \(Printable.text(alarm.title)): not taken over: \(losses).")
    }
    if !new.isEmpty, !dryRun { try store.add(change(new, store)) }
    let unchanged = alarms.count - new.count
    if common.json { return print(imported: new.count, unchanged: unchanged, leftOut: leftOut) }
    let verb = dryRun ? "Would import" : "Imported"
    Console.line(
      "\(verb) \(new.count) alarm\(new.count == 1 ? "" : "s"); \(unchanged) were there already, \(leftOut.count) left out."
    )
    for alarm in new {
      Console.line("  \(Printable.text(alarm.title)): \(alarm.schedule.summary)")
    }
  }

  /// One change for all of them.
  private func change(_ foreign: [ForeignAlarm], _ store: Store) -> Store.Change {
    var alarms: [Alarm] = []
    var events: [(event: Event, alarm: Alarm)] = []
    for item in foreign {
      var alarm = Alarm.created(
        id: item.id, title: item.title, note: item.note, schedule: item.schedule, zone: item.zone,
        delivery: item.delivery, at: store.context.now, device: store.device)
      alarm.enabled = item.enabled
      events.append((Event(.created, detail: item.schedule.summary), alarm))
      let zone = store.context.zones.zone(of: alarm)
      for civil in item.skipped where zone.instant(of: civil) > store.context.now {
        alarm.progress.occurrences[civil] = OccurrenceRecord(
          .skipped, since: store.context.now, schedule: alarm.stamps[.schedule])
        events.append((Event(.skipped, civil), alarm))
      }
      alarms.append(alarm)
    }
    let subject =
      foreign.count == 1 ? "Import: \(foreign[0].title)" : "Import \(foreign.count) alarms"
    return Store.Change(
      alarms: alarms, entries: store.entries(events),
      message: CommitMessage(subject, device: store.device))
  }

  /// `{imported, unchanged, leftOut: [{title, reason}]}`
  private func print(imported: Int, unchanged: Int, leftOut: [Remark]) {
    Console.write(
      JSON.object([
        "imported": .integer(Int64(imported)), "unchanged": .integer(Int64(unchanged)),
        "leftOut": .array(
          leftOut.map { .object(["title": .string($0.title), "reason": .string($0.reason)]) }),
      ]).document)
  }
}

extension ForeignAlarm {
  /// Whether an alarm has another definition by now, on either side.
  fileprivate func differs(from alarm: Alarm) -> Bool {
    title != alarm.title || note != alarm.note || schedule != alarm.schedule || zone != alarm.zone
  }
}

enum ExchangeFailure {
  static func tooLarge(_ file: String) -> CommandError {
    CommandError(
      .failed, "\(Printable.text(file)) is too large.",
      hint: "A calendar has 16 MB at most, an export one GB.")
  }
}
