import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryPhone
import BelfryStore
import BelfryTerminal

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
    let canAsk = Style.canAsk && !common.json && !yes
    let place: PhoneSetupDialogue.Place
    if let folder {
      place = .init(folder: CommandEnvironment.absolute(folder), kind: server, url: url)
    } else {
      guard canAsk else {
        throw CommandError(
          .usage, "the folder of the tasks is missing.",
          hint: "Name it: belfry phone setup --folder DIR --yes")
      }
      place = try dialogue.ask(url: url)
    }
    let options = PhoneOptions(
      tags: try tags(), isNeutral: neutral, acceptsEdits: !answersOnly)
    let setup = PhoneSetup(store, folder: place.folder)
    let (configuration, leftAlone) = try await setup.perform(
      place.kind, collection: try collection(setup, store), options: options, url: place.url)
    let report = try await PhoneTasks(context, store, configuration).run()
    _ = store.pokeDaemon()
    let scheduler = context.checkScheduler(of: store)
    if common.json {
      return try Console.write(
        PhoneStatusDocument(
          PhoneStatus(configuration, of: store), scheduler: scheduler, store: store))
    }
    Console.line(
      "\(report.tasks) \(report.tasks == 1 ? "task is" : "tasks are") in \(Printable.text(configuration.folder)), for the next 30 days."
    )
    if leftAlone > 0 {
      Console.line(
        "\(leftAlone) other \(leftAlone == 1 ? "file" : "files") in it stay as they are. New tasks become alarms."
      )
    }
    if yes { return }
    dialogue.showSteps(configuration, hasTest: !noTest && canAsk)
    if !noTest, canAsk { try await dialogue.test(configuration, store) }
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
        .usage, "the folder must not be in the store.",
        hint: "Choose a folder of the CalDAV server, or a new one.")
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
