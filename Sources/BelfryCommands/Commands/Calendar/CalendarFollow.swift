import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files

struct CalendarFollow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow", abstract: "Make alarms of a calendar, and keep them current.",
    discussion: """
        belfry calendar follow https://example.org/team.ics --name team --tag work
        belfry calendar follow webcal://example.org/bins.ics --all --every 6h
        belfry calendar follow ~/.calendars/home       # a vdir of vdirsyncer or khal
        belfry calendar follow ~/tasks.ics --before 15m
        belfry calendar follow --list

      Events and to-dos with a reminder become alarms, as with 'belfry import'. The daemon and 'belfry tick' fetch the \
      calendar again: a URL at its interval, a file or folder when it changes. Changed events change their alarms, \
      unless you have edited them. The alarms of vanished events are deleted; their history stays.

      A failed fetch changes nothing. If more than three alarms and more than half of them vanish at once, or if the \
      calendar is empty, the alarms stay until you run 'belfry calendar refresh NAME --accept'.

      The calendar is followed on this device, and its alarms sync. The user name and the password come from \
      ~/.netrc, from --user and --password-file, or from the URL, which other users can see while the command runs.
      """)

  @Argument(help: "The URL, the file or the folder.", completion: .file())
  var source: String?

  @Option(help: ArgumentHelp("The name (default: that of the calendar).", valueName: "name"))
  var name: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Tags of the new alarms, such as work,team.", valueName: "tags"),
    completion: .tags)
  var tag: [String] = []

  @Flag(help: "Let events without a reminder ring, too.")
  var all = false

  @Option(
    help: ArgumentHelp(
      "Let them ring this long before their start: 15m.", valueName: "length"))
  var before: String?

  @Option(
    help: ArgumentHelp(
      "The time between fetches of a URL: 6h (default: 1h).", valueName: "length"))
  var every: String?

  @Option(help: ArgumentHelp("The user name at the server.", valueName: "name"))
  var user: String?

  @Option(
    help: ArgumentHelp(
      "The file with the password, or - for standard input.", valueName: "file"),
    completion: .file())
  var passwordFile: String?

  @Flag(help: "List the calendars that this device follows.")
  var list = false

  @Flag(name: [.customShort("n"), .long], help: "Show what would be imported; change nothing.")
  var dryRun = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CalendarCommand

  func validate() throws {
    if list != (source == nil) || source?.isEmpty ?? false {
      throw ValidationError("Name a URL, a file or a folder, or give --list.")
    }
    if passwordFile != nil, user == nil { throw ValidationError("--password-file needs --user.") }
  }

  func run() async throws {
    let context = try common.context(parent.root)
    guard let source else { return try CalendarFollow.list(context, json: common.json) }
    let subscription = try self.subscription(source, context)
    let store = try context.open(.creating, welcome: false)
    let folder = SubscriptionFolder(store)
    try check(subscription, folder)
    let refresh = context.calendarRefresh(store)
    let (name, report): (String, CalendarRefresh.Report)
    do {
      let first = try await refresh.fetch(first: subscription)
      name = self.name ?? freeName(first.title, subscription, folder, store)
      report = try refresh.follow(first, as: name, isDryRun: dryRun)
    } catch let error as CalendarFailure {
      let error = CommandError(refreshing: error)
      throw CommandError(
        error.kind, "\(Printable.text(subscription.source.shown)): \(error.message)",
        hints: error.hints, source: error.source)
    }
    let output = RefreshOutput(context, isDryRun: dryRun)
    store.pokeDaemon()
    output.warn(about: report)
    if common.json {
      return try Console.write(RefreshDocument(report, zones: context.storeContext.zones))
    }
    let shown = Printable.text(report.subscription.source.shown)
    let rhythm = SubscriptionText.rhythm(report.subscription)
    Console.line(
      "\(dryRun ? "Would follow" : "Following") \(Printable.text(name)) (\(shown)), \(rhythm)."
    )
    if case .imported(let imported) = report.outcome { output.show(imported) }
    if case .folder(let path) = report.subscription.source,
      !DurableFile.names(in: path).contains(where: { $0.hasSuffix(".ics") })
    {
      CommandDiagnostic.warn("\(shown) has no .ics files yet. They are read when they come.")
    }
    if !dryRun { _ = context.checkScheduler(of: store) }
  }

  // MARK: Arguments

  private func subscription(
    _ text: String, _ context: CommandContext
  ) throws -> CalendarSubscription {
    let place = text.contains("://") ? text : CommandEnvironment.absolute(text)
    let source: CalendarSource
    var credentials: CalendarSource.Credentials?
    do throws(CalendarSource.Failure) {
      (source, credentials) = try CalendarSource.parse(place)
    } catch {
      throw CalendarFollow.error(error, text)
    }
    if source.path != nil, every != nil || user != nil {
      throw CommandError(
        .usage, "--every and --user are for URLs; a file or folder is read when it changes.",
        hint: "Leave them out.")
    }
    if let user {
      let password = try passwordFile.map { try Calls.secret($0, "--password-file") }
      credentials = CalendarSource.Credentials(user: user, password: password)
    }
    if credentials?.password != nil, case .url(let url) = source, url.hasPrefix("http:") {
      CommandDiagnostic.warn(
        "http does not encrypt the password.", hints: ["If the server knows https, use it."])
    }
    var subscription = CalendarSubscription(name: name ?? "", source: source)
    subscription.credentials = credentials
    subscription.tags = try tags
    let parser = InputParser(context)
    if let before {
      subscription.silent = .ringingBefore(try parser.length(before, of: "--before"))
    } else if all {
      subscription.silent = .ringing
    }
    subscription.interval = try every.map { try interval($0, parser) }
    return subscription
  }

  private var tags: Set<AlarmTag> {
    get throws {
      if tag.isEmpty { return [] }
      do throws(TagEditError) {
        return try TagEdit(tag.joined(separator: ",")).applied(to: [])
      } catch {
        throw TagOptions.error(error)
      }
    }
  }

  private func interval(_ text: String, _ parser: InputParser) throws -> Int64 {
    let seconds = try parser.length(text, of: "--every")
    let range = CalendarSubscription.minOwnInterval...CalendarSubscription.maxInterval
    guard range.contains(seconds) else {
      throw CommandError(
        .usage, "--every is 5 minutes to 7 days.", hint: "For example: --every 6h")
    }
    return seconds
  }

  private static func error(_ failure: CalendarSource.Failure, _ text: String) -> CommandError {
    switch failure {
    case .scheme(let scheme):
      CommandError(
        .usage, "calendars are not fetched by \(Printable.text(scheme)).",
        hint: "Use http, https or webcal, or a path on this machine.")
    case .invalidURL:
      CommandError(
        .usage, "this is not a URL of a calendar.",
        hint: "For example: https://example.org/team.ics")
    case .missing(let path):
      CommandError(
        .failed, "there is no file or folder \(Printable.text(path)).",
        hint: "Name a URL, a file or a folder.")
    }
  }

  // MARK: Steps

  /// Checks that the calendar is not followed yet, and that its name is valid and free.
  private func check(_ subscription: CalendarSubscription, _ folder: SubscriptionFolder) throws {
    let known = folder.all()
    if let other = known.first(where: { $0.source == subscription.source }) {
      let name = Printable.text(other.name)
      throw CommandError(
        .notPossible, "this device follows the calendar already, as \(name).",
        hint:
          "To fetch it now: belfry calendar refresh \(name). To change its options, run 'belfry calendar unfollow \(name) --keep', and follow it again."
      )
    }
    if let name, !CalendarSubscription.isName(name) {
      throw CommandError(
        .usage, "'\(Printable.text(name))' is not a name for a calendar.",
        hint: "Use letters, digits, -, _ and .")
    }
    if let name, known.contains(where: { $0.name.lowercased() == name.lowercased() }) {
      throw CommandError(
        .notPossible, "this device follows another calendar as \(Printable.text(name)).",
        hint: "Choose another name, or run: belfry calendar unfollow \(Printable.text(name))")
    }
    if case .folder(let path) = subscription.source {
      let collections = CalendarSource.collections(in: path)
      if !collections.isEmpty {
        throw CommandError(
          .usage, "\(Printable.text(path)) contains no events, but folders of them.",
          hint:
            "Follow them one by one: \(collections.prefix(5).map { Printable.text($0) }.joined(separator: ", "))"
        )
      }
    }
  }

  /// Returns the name for a calendar that the user has not named.
  private func freeName(
    _ title: String?, _ subscription: CalendarSubscription, _ folder: SubscriptionFolder,
    _ store: Store
  ) -> String {
    CalendarSubscription.name(
      for: title ?? subscription.source.defaultName,
      besides: folder.names + store.calendars.all().calendars.filter { !$0.isRemoved }.map(\.name))
  }

  /// Prints the calendars that this device follows.
  static func list(_ context: CommandContext, json: Bool) throws {
    let folder = SubscriptionFolder(try context.open(.reading))
    let subscriptions = folder.all()
    for (name, path) in folder.damaged.sorted(by: { $0.key < $1.key }) {
      CommandDiagnostic.warn(
        SubscriptionText.damage(name, path), hints: [SubscriptionText.damageRemedy])
    }
    if json {
      return try Console.write(
        subscriptions.map { SubscriptionDocument($0, zones: context.storeContext.zones) })
    }
    if subscriptions.isEmpty {
      Console.line(
        "This device follows no calendars. To follow one: belfry calendar follow URL")
    }
    for subscription in subscriptions {
      for line in SubscriptionText.lines(subscription, context.times) { Console.line(line) }
    }
  }
}
