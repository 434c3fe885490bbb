import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryExchange
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Glibc

/// The format of an export.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
  case json, ical, html

  /// Creates a format from its name, or from the ending of its files.
  init?(argument: String) {
    switch argument.lowercased() {
    case "ics": self = .ical
    case "htm": self = .html
    case let name: self.init(rawValue: name)
    }
  }

  /// The ending of the format's files.
  var ending: String { self == .ical ? "ics" : rawValue }

  /// Creates the format of a file, by the ending of its name.
  init?(file: String) {
    guard let dot = file.lastIndex(of: "."), !file[dot...].contains("/") else { return nil }
    self.init(argument: String(file[file.index(after: dot)...]))
  }
}

/// The format of an import.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable {
  case json, ical, taskwarrior
}

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export the store as one document.",
    discussion: """
        belfry export > alarms.json                # alarms, log, devices and settings
        belfry export alarms.ics                   # the alarms, for a calendar
        belfry export alarms.html                  # a page for a browser
        belfry export alarms.html --watch

      The JSON document is complete, and 'belfry import' may read it repeatedly. Features that a calendar cannot \
      express are listed on standard error. The page has a calendar, the outcomes and delays of twelve months, and the \
      alarms with their titles and notes. It is one file without scripts, and loads nothing.

      With --watch, the file is replaced whenever the store or the status of an alarm changes, until Ctrl-C.
      """)

  @Argument(
    help: "The file to write, or a folder for it (default: standard output).", completion: .file())
  var file: String?

  @Option(
    name: .customLong("format"),
    help: ArgumentHelp(
      "json, ical or html (default: that of the file's ending, else json).", valueName: "format"))
  var givenFormat: ExportFormat?

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
  var givenOutput: String?

  @Flag(help: "Replace the file whenever the store changes.")
  var watch = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if watch, output == nil { throw ValidationError("--watch needs a file.") }
    if file != nil, givenOutput != nil {
      throw ValidationError("The file is named twice: as an argument, and with --output.")
    }
  }

  /// The file to write; nil for standard output. In a folder, it gets a name.
  private var output: String? {
    guard let path = file == "-" ? nil : file ?? givenOutput else { return nil }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return path }
    let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
    return "\(folder)/belfry.\((givenFormat ?? .json).ending)"
  }
  private var format: ExportFormat {
    givenFormat ?? output.flatMap { ExportFormat(file: $0) } ?? .json
  }

  func run() async throws {
    let context = try common.context(root)
    guard watch, let output else {
      let store = try context.open(.reading, welcome: false)
      let export = try Export.document(format, context, store)
      warn(about: export.remarks)
      guard let output else {
        Console.write(export.bytes)
        if format == .json, let path = Export.outputFile {
          store.noteExport(to: path.isEmpty ? nil : path)
        }
        return
      }
      try Export.write(export.bytes, to: output, format, store)
      return Console.error("Wrote \(Printable.text(output)).")
    }
    let (format, opened) = (format, ElapsedTime())
    let file = ExportWatch(
      open: {
        var context = context.refreshed(after: opened)
        context.storeContext.zones = ZoneLibrary(variable: context.environment["TZ"])
        return (context, try context.open(.reading, welcome: false))
      },
      write: { context, store in
        let export = try Export.document(format, context, store)
        try Export.write(export.bytes, to: output, format, store)
        return export.validUntil
      })
    try await file.run {
      Console.error("Wrote \(Printable.text(output)), and replaces it until Ctrl-C.")
    }
  }

  /// An exported document.
  private struct Exported {
    var bytes: [UInt8] = []
    /// The features that the format cannot express.
    var remarks: [Remark] = []
    /// The time before which the document does not change unless the store does; nil if time does not change it.
    var validUntil: Instant?
  }

  private static func document(
    _ format: ExportFormat, _ context: CommandContext, _ store: Store
  ) throws -> Exported {
    var export = Exported()
    let problems: [RecordProblem]
    switch format {
    case .json: problems = try ExportDocument.write(store) { export.bytes += $0 }
    case .ical:
      let all = try store.allAlarms()
      problems = all.problems
      (export.bytes, export.remarks) = try CalendarDocument().write(
        all.alarms.map(store.timeline), now: context.storeContext.now)
    case .html:
      let settings = try context.settings(store)
      let reading = try AlarmPageReader(
        store, context.times, skipBreaksStreak: settings.skipBreaksStreak
      ).read()
      (problems, export.validUntil) = (reading.problems, reading.validUntil)
      export.bytes = reading.page.html
    }
    context.warnings.warn(about: problems)
    return export
  }

  private func warn(about remarks: [Remark]) {
    for remark in remarks {
      CommandDiagnostic.warn(
        "\(Printable.text(remark.title)): a calendar cannot express \(Printable.text(remark.reason))."
      )
    }
  }

  /// Replaces a file with a document. A complete one counts as a backup.
  private static func write(
    _ document: [UInt8], to output: String, _ format: ExportFormat, _ store: Store
  ) throws {
    let path = CommandEnvironment.absolute(output)
    try DurableFile.write(document, to: path, temporary: "\(path).new-\(getpid())")
    if format == .json { store.noteExport(to: path) }
  }
}

extension Export {
  /// The path of the file on standard output; an empty path for a pipe, and nil for a terminal or another device.
  private static var outputFile: String? {
    var status = stat()
    guard fstat(STDOUT_FILENO, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = readlink("/proc/self/fd/1", &buffer, buffer.count)
      return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    case S_IFIFO, S_IFSOCK: return ""
    default: return nil
    }
  }
}

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import an export, a calendar or taskwarrior's tasks.",
    discussion: """
        belfry import alarms.json        # a document of 'belfry export', merged
        belfry import calendar.ics       # events and to-dos, with their alarms
        task export | belfry import -    # tasks with a due time

      Importing the same document again changes nothing, and a later version of it changes and deletes the alarms that \
      it brought, unless you have edited them. Features that Belfry does not support are listed on standard error; items \
      without a future occurrence are left out. The exit code is 1 if an item is left out that Belfry cannot represent.
      """)

  @Argument(help: "The file, or - for standard input.", completion: .file())
  var file: String

  @Option(help: "The format: json, ical or taskwarrior (default: detected).")
  var format: ImportFormat?

  @Flag(name: [.customShort("n"), .long], help: "Show what would be imported; change nothing.")
  var dryRun = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    var bytes = try InputFile.read(file, limit: ExportDocument.largest)
    if format == .ical || (format == nil && CalendarDocument.matches(bytes)) {
      guard bytes.count <= CalendarDocument.largest else {
        throw InputFile.tooLarge(file)
      }
      let store = try context.open(.creating, welcome: false)
      let (now, zones) = (context.storeContext.now, context.storeContext.zones)
      let document = try CalendarDocument()
      let (alarms, leftOut) = try document.read(
        bytes, now: now, zones: zones, calendar: store.calendars.workCalendar)
      let changes = try document.changes(bytes, now: now, zones: zones)
      return try add(alarms, leftOut, changes, to: store, context)
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    let json: JSON
    do throws(JSONError) {
      if let lines = TaskwarriorDocument.lines(bytes) {
        json = lines
      } else {
        json = try JSON(parsing: bytes)
      }
    } catch {
      let line = error.line.map { "line \($0): " } ?? ""
      throw CommandError(
        .failed, "\(Printable.text(file)) is not valid: \(line)\(Printable.text(error.reason)).",
        hint: "Import a belfry export, an iCalendar file or the output of 'task export'.")
    }
    if format == .json || (format == nil && ExportDocument.matches(json)) {
      return try join(json, context)
    }
    guard TaskwarriorDocument.matches(json) else {
      throw CommandError(
        .failed,
        "\(Printable.text(file)) is neither an export, a calendar nor a taskwarrior export.",
        hint: "Import a belfry export, an iCalendar file or the output of 'task export'.")
    }
    let store = try context.open(.creating, welcome: false)
    let (alarms, leftOut) = TaskwarriorDocument.read(
      json, now: context.storeContext.now, zone: context.storeContext.zones.local)
    try add(alarms, leftOut, [], to: store, context)
  }

  // MARK: Exports

  private func join(_ json: JSON, _ context: CommandContext) throws {
    let records = try ExportDocument.records(json)
    let action = ImportRecords(records)
    if dryRun {
      if common.json { return try print(imported: records.count, unchanged: 0, leftOut: []) }
      return Console.line(
        "Would merge \(action.alarmCount) alarms and \(action.entryCount) log entries.")
    }
    let store = try context.open(.creating, welcome: false)
    let result = try action.perform(in: store)
    result.printWarnings()
    if common.json {
      return try print(
        imported: result.merged, unchanged: records.count - result.merged, leftOut: [])
    }
    Console.line(
      result.merged == 0
        ? "Nothing to import: all records are already in the store."
        : "Imported \(result.merged) of \(records.count) records; the others are already in the store."
    )
  }

  // MARK: Calendars and taskwarrior

  private func add(
    _ alarms: [ForeignAlarm], _ leftOut: [Remark], _ changes: [ForeignChange], to store: Store,
    _ context: CommandContext
  ) throws {
    for remark in leftOut {
      CommandDiagnostic.warn(
        "left out: \(Printable.text(remark.title)): \(Printable.text(remark.reason)).")
    }
    let action = ImportAlarms(alarms, ended: leftOut.compactMap(\.ended))
    let result = try dryRun ? action.preview(in: store) : action.perform(in: store)
    let output = ImportOutput(context, source: "file", isDryRun: dryRun)
    output.warn(about: result)
    let skipping = ImportChanges(changes)
    let settings = try context.settings(store)
    let skipped =
      try dryRun
      ? skipping.preview(in: store, settings: settings)
      : skipping.perform(in: store, settings: settings)
    let brought = Set(alarms.map(\.id))
    let unchanged =
      alarms.count - result.changedCount - result.new.count { brought.contains($0.id) }
    if common.json {
      try Console.write(
        ImportDocument(
          imported: result.new.count, unchanged: unchanged, updated: result.changedCount,
          removed: result.removed.count, leftOut: leftOut, moves: result.moves))
    } else {
      output.show(result, skipped, unchanged: unchanged, leftOut: leftOut.count)
    }
    // Nothing that Belfry cannot represent is lost without a word.
    if leftOut.contains(where: \.isFailure) {
      throw ExitCode(CommandError.Kind.failed.rawValue)
    }
  }

  private func print(imported: Int, unchanged: Int, leftOut: [Remark]) throws {
    try Console.write(
      ImportDocument(imported: imported, unchanged: unchanged, leftOut: leftOut))
  }
}
