import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryPhone
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Glibc

struct PhoneSetupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup", abstract: "Choose a folder for the tasks, and test the way.",
    discussion: """
      On a terminal it asks what there is: Radicale or Xandikos on this machine, a folder that vdirsyncer syncs, or any \
      other folder of .ics files. It then shows the steps for the phone, writes a task to tick off there, and waits for \
      the answer.

        belfry phone setup
        belfry phone setup --folder ~/dav/collection-root/me/belfry
        belfry phone setup --folder ~/tasks --only health --neutral --yes
      """)

  @Option(help: "The folder. It is made if it is missing.", completion: .directory)
  var folder: String?

  @Option(help: "The server: radicale, xandikos or files (default: as the folder is).")
  var server: PhoneSetup.Kind?

  @Option(help: ArgumentHelp("The server's address, for the phone.", valueName: "url"))
  var url: String?

  @Option(
    help: ArgumentHelp("Publish only alarms with one of these tags.", valueName: "tags"),
    completion: .tags)
  var only: [String] = []

  @Flag(help: "Write no titles, notes and tags.")
  var neutral = false

  @Flag(help: "Accept answers only: no edits, moves and new alarms.")
  var answersOnly = false

  @Option(
    help: ArgumentHelp("Publish together with another device, by turns.", valueName: "device"),
    completion: .devices)
  var with: String?

  @Flag(help: "Write no test task.")
  var noTest = false

  @Flag(name: .shortAndLong, help: "Ask nothing, and write no test task.")
  var yes = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PhoneCommand

  func run() async throws {
    let context = try common.context(parent.root)
    let store = try context.open(.creating)
    let dialogue = PhoneSetupDialogue(context)
    let earlier = PhoneConfiguration.read(of: store)
    let canAsk = Style.canAsk && !common.json && !yes
    let place = try place(dialogue, canAsk: canAsk, earlier)
    let options = PhoneOptions(
      tags: try tags(), isNeutral: neutral, acceptsEdits: !answersOnly)
    let setup = PhoneSetup(store, folder: place.folder)
    if setup.folder == context.environment["HOME"] { throw PhoneSetup.Failure.insideStore }
    if let earlier, earlier.folder != setup.folder {
      let (old, new) = (Printable.text(earlier.folder), Printable.text(setup.folder))
      try Confirmation(isGiven: !canAsk, json: common.json).require(
        "The tasks are in \(old) at present. Move them to \(new)?",
        change: "move the tasks to \(new)")
      await PhoneTasks(context, store)?.runLast()
    }
    let (configuration, leftAlone) = try await setup.perform(
      place.kind, collection: try collection(setup, store), options: options, url: place.url)
    let report = try await PhoneTasks(context, store)?.run() ?? PhoneReport()
    _ = store.pokeDaemon()
    let scheduler = context.checkScheduler(of: store)
    if common.json {
      return try Console.write(
        PhoneStatusDocument(
          PhoneStatus(configuration, of: store), scheduler: scheduler, store: store))
    }
    show(configuration, report, leftAlone: leftAlone, context)
    for tag in try unused(options.tags, store) {
      CommandDiagnostic.warn(
        "no alarm has the tag \(tag.text) yet.", hints: ["The tags in use: belfry tag"])
    }
    if yes { return }
    dialogue.showSteps(configuration, hasTest: !noTest && canAsk)
    if !noTest, canAsk { try await dialogue.test(configuration, store) }
  }

  /// Returns the folder of the options, or asks for it.
  private func place(
    _ dialogue: PhoneSetupDialogue, canAsk: Bool, _ earlier: PhoneConfiguration?
  ) throws -> PhoneSetupDialogue.Place {
    if let url, let problem = PhoneSetupDialogue.problem(ofAddress: url) {
      throw CommandError(.usage, "--url: \(problem)", hint: "Such as --url http://server:5232/")
    }
    guard let folder else {
      guard canAsk else {
        throw CommandError(
          .usage, "the folder of the tasks is missing.",
          hint: "Name it: belfry phone setup --folder DIR --yes")
      }
      return try dialogue.ask(url: url, earlier)
    }
    if folder.isEmpty {
      throw CommandError(
        .usage, "--folder: the name of the folder is empty.",
        hint: "Name it: belfry phone setup --folder DIR --yes")
    }
    return .init(folder: CommandEnvironment.absolute(folder), kind: server, url: url)
  }

  private func show(
    _ configuration: PhoneConfiguration, _ report: PhoneReport, leftAlone: Int,
    _ context: CommandContext
  ) {
    let folder = Printable.text(configuration.folder)
    Console.line(
      "\(report.tasks) \(report.tasks == 1 ? "task is" : "tasks are") in \(folder), for the next 30 days."
    )
    if configuration.options != PhoneOptions() {
      Console.line("Alarms: \(PhoneText(context).filter(configuration.options)).")
    }
    if leftAlone > 0 {
      Console.line(
        leftAlone == 1
          ? "1 other file in it stays as it is, and becomes no alarm."
          : "\(leftAlone) other files in it stay as they are, and become no alarms.")
    }
  }

  /// Returns the tags that no alarm has.
  private func unused(_ tags: Set<AlarmTag>, _ store: Store) throws -> [AlarmTag] {
    if tags.isEmpty { return [] }
    let used = TagUse.all(of: try store.overview().summaries).map(\.tag)
    return tags.subtracting(used).sorted()
  }

  private func tags() throws -> Set<AlarmTag> {
    var tags: Set<AlarmTag> = []
    for word in only.flatMap({ $0.split(separator: ",") }) {
      do throws(TagError) {
        tags.insert(try AlarmTag(word.hasPrefix("+") ? String(word.dropFirst()) : String(word)))
      } catch {
        throw CommandError(
          .usage, "--only: '\(Printable.text(String(word)))' is not a tag.",
          hint: "Tags are words: --only home,health")
      }
    }
    return tags
  }

  /// Returns the collection of another device that publishes to the folder, too; nil for one of this device.
  private func collection(_ setup: PhoneSetup, _ store: Store) throws -> String? {
    let others = store.devices.phonePublishers.filter { $0.id != store.device }
    if let with {
      let device = others.first {
        $0.name.lowercased() == with.lowercased() || $0.id.text.hasPrefix(with)
      }
      guard let device else {
        throw CommandError(
          .usage, "no other device '\(Printable.text(with))' publishes tasks.",
          hint: others.isEmpty
            ? "Leave out --with."
            : "These do: \(others.map { Printable.text($0.name) }.joined(separator: ", ")).")
      }
      return device.phone
    }
    // The server has given this device the tasks that another one publishes.
    guard setup.hasTasksOfStore(), others.count == 1 else { return nil }
    return others.first?.phone
  }
}

extension PhoneSetup.Kind: ExpressibleByArgument {}

extension CommandError {
  /// Creates the error for the reason why a folder cannot be set up.
  init(_ failure: PhoneSetup.Failure) {
    switch failure {
    case .insideStore:
      self.init(
        .usage, "the tasks need a folder of their own, apart from the store and the home folder.",
        hint: "Choose a folder of the CalDAV server, or a new one.")
    case .hasFolders(let path):
      self.init(
        .usage, "\(Printable.text(path)) has other folders in it, so it is no list of tasks.",
        hint: "Choose one of them, or a new one, such as \(Printable.text(path))/belfry")
    case .notWritable(let path, let number):
      self.init(
        .failed,
        "the tasks cannot be written to \(Printable.text(path)): \(String(cString: strerror(number))).",
        hint: "Choose a folder that this user can write. Nothing was changed.")
    case .noStorage(let path):
      self.init(
        .usage, "\(Printable.text(path)) is not in the storage of Radicale.",
        hint:
          "A collection is in …/collection-root/USER/NAME. The setting filesystem_folder of Radicale names the storage."
      )
    case .git(let reason):
      self.init(
        .failed, "git could not make the repository: \(Printable.text(reason)).",
        hint: "Check the folder and its permissions.")
    case .otherDevice:
      self.init(
        .notPossible, "another device has set up this folder, and this store does not know it yet.",
        hint:
          "If it is one of yours: belfry sync on both, then try again. Otherwise choose another folder."
      )
    }
  }
}
