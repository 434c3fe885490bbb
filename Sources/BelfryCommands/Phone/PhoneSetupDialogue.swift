import BelfryCore
import BelfryPartners
import BelfryPhone
import BelfryStore
import BelfryTerminal
import Files
import Glibc

/// The conversation of the setup: what there is, the steps on the phone, and the test.
struct PhoneSetupDialogue {
  /// The folder for the tasks.
  struct Place {
    let folder: String
    let kind: PhoneSetup.Kind?
    let url: String?
  }

  private let context: CommandContext

  init(_ context: CommandContext) { self.context = context }

  // MARK: Questions

  /// Asks for the folder.
  ///
  /// - Parameters:
  ///   - url: The address of the server, if it is known already.
  ///   - earlier: The present configuration, whose values are proposed; nil for none.
  func ask(url: String?, _ earlier: PhoneConfiguration?) throws -> Place {
    if let earlier {
      Console.error("The tasks are in \(Printable.text(earlier.folder)) at present.")
    }
    Console.error("What gives the tasks to your phone?")
    Console.error("  1  Radicale on this machine")
    Console.error("  2  A folder that vdirsyncer syncs with a server")
    Console.error("  3  Xandikos on this machine")
    Console.error("  4  Another folder of .ics files")
    let choice = try answer("Which one? [1-4]") {
      ["1", "2", "3", "4"].contains($0) ? nil : "Answer with a number from 1 to 4."
    }
    let url = url ?? earlier?.url
    switch choice {
    case "1": return try radicale(url)
    case "2":
      let folder = try answer(
        "The folder of the list, in the 'path' of vdirsyncer's storage (such as ~/tasks/belfry):")
      return Place(folder: absolute(folder), kind: .files, url: try address(url))
    case "3":
      let data = try answer("The folder of Xandikos (its option -d):") { path in
        var status = stat()
        let isFolder = stat(absolute(path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        return isFolder ? nil : "There is no folder \(Printable.text(absolute(path)))."
      }
      return Place(
        folder: absolute(data) + "/user/calendars/belfry", kind: .xandikos,
        url: try address(url ?? "http://\(host):8000/"))
    default:
      let folder = try answer("The folder:")
      return Place(folder: absolute(folder), kind: nil, url: try address(url))
    }
  }

  private func radicale(_ url: String?) throws -> Place {
    let known = RadicaleStorage.find(context.environment)
    let shown = known.map { " [\(Printable.text($0))]" } ?? ""
    let typed = try answer("The storage of Radicale (filesystem_folder)\(shown):", default: known) {
      let path = absolute($0)
      if path == known || access(path + "/collection-root", F_OK) == 0 { return nil }
      return
        "\(Printable.text(path)) is no storage of Radicale: it has no folder collection-root. Start Radicale once, or name another folder."
    }
    let root = absolute(typed) + "/collection-root"
    let users = DurableFile.names(in: root).filter { !$0.hasPrefix(".") }.sorted()
    let user = try answer(
      "The user with whom the phone logs in\(users.first.map { " [\(Printable.text($0))]" } ?? ""):",
      default: users.first
    ) { user in
      if user.contains("/") || user.hasPrefix(".") { return "This is no name of a user." }
      if users.isEmpty || users.contains(user) { return nil }
      Console.prompt(
        "Radicale has not seen \(Printable.text(user)) yet, only \(users.prefix(5).map { Printable.text($0) }.joined(separator: ", ")). Is \(Printable.text(user)) right?"
      )
      return Console.confirmed() ? nil : "The user is the one of Radicale's file of users."
    }
    return Place(
      folder: "\(root)/\(user)/belfry", kind: .radicale,
      url: try address(url ?? "http://\(host):5232/"))
  }

  private func address(_ usual: String?) throws -> String? {
    let shown = usual.map { " [\(Printable.text($0))]" } ?? " (Enter for none)"
    let typed = try answer(
      "The address of the server, as the phone reaches it\(shown):", default: usual ?? ""
    ) { $0.isEmpty ? nil : PhoneSetupDialogue.problem(ofAddress: $0) }
    return typed.isEmpty ? nil : typed
  }

  /// Returns the reason why a text is no address of a server; nil if it is one.
  static func problem(ofAddress text: String) -> String? {
    let isAddress = ["http://", "https://"].contains {
      text.lowercased().hasPrefix($0) && text.count > $0.count
    }
    return isAddress && !text.contains(where: \.isWhitespace)
      ? nil : "'\(Printable.text(text))' is no address, which begins with http:// or https://."
  }

  /// Asks until there is an answer that can be used.
  ///
  /// - Parameters:
  ///   - usual: The answer of an empty line; nil if there must be another one.
  ///   - problem: Returns the reason why an answer cannot be used; nil if it can.
  private func answer(
    _ question: String, default usual: String? = nil, problem: (String) -> String? = { _ in nil }
  ) throws -> String {
    while true {
      guard let typed = Console.answer(to: question) else {
        Console.error("")
        throw CommandError(.failed, "nothing was set up.", hint: "See 'belfry help phone setup'.")
      }
      guard let value = typed.isEmpty ? usual : typed else {
        Console.error("An answer is needed. Ctrl-C ends the setup.")
        continue
      }
      guard let problem = problem(value) else { return value }
      Console.error(problem)
    }
  }

  private func absolute(_ path: String) -> String {
    let home = context.environment["HOME"] ?? ""
    return CommandEnvironment.absolute(
      path.hasPrefix("~/") ? home + path.dropFirst() : path)
  }

  private var host: String { context.storeContext.deviceName }

  // MARK: The phone

  /// Shows the steps on the phone, with a QR code of the server's address.
  ///
  /// - Parameter hasTest: True if there will be a task to tick off.
  func showSteps(_ configuration: PhoneConfiguration, hasTest: Bool) {
    let code = configuration.url.flatMap { try? QRCode($0) }
    let server = TaskServer(of: configuration.folder)
    let folder = configuration.folder.split(separator: "/").last.map(String.init) ?? "belfry"
    let list = server == .files ? Printable.text(folder) : "Belfry"
    let sync = server == .files ? "Let vdirsyncer sync the folder, then sync the app" : "Sync"
    let address = configuration.url.map {
      "The address: \(Printable.text($0))\(code == nil ? "" : " (the code below)"). An iPhone needs https."
    }
    let steps = [
      "Install a task app. Android: Tasks.org, or jtx Board with DAVx5. iPhone: Reminders is there.",
      "Add a CalDAV account. Tasks.org: Settings, Add account. DAVx5: +, URL and user name. iPhone: Settings, Apps, Calendar, Accounts, Other.",
      address ?? "The address of your CalDAV server. An iPhone needs https.",
      "The user and the password of the server.",
      "Choose the list \(list).",
      "Sync as often as the app can: 15 minutes in DAVx5. Tasks.org syncs each hour, and at once after a change.",
      "Allow notifications and exact alarms, and switch the battery optimization off for the app.",
      hasTest
        ? "\(sync), and tick off the task '\(PhoneTest.title)'."
        : "\(sync). The tasks of the next 30 days are in the list.",
    ]
    Console.write("\n")
    Console.line("On the phone:")
    for (index, step) in steps.enumerated() { Console.line("  \(index + 1). \(step)") }
    guard let code else { return }
    // Below the steps, because a small screen does not show both.
    Console.write("\n")
    for line in code.lines(isColored: context.style.isColored) { Console.write(line + "\n") }
  }

  /// Writes a task, and waits until it is ticked off.
  func test(_ configuration: PhoneConfiguration, _ store: Store) async throws {
    let test = PhoneTest(configuration, at: context.storeContext.now)
    try await test.begin()
    Console.write("\n")
    Console.error(
      "Waiting until you tick off '\(PhoneTest.title)' on the phone. Ctrl-C ends the wait.")
    do {
      let answer = try await Interruption.cancelling {
        for round in 1... {
          let answer = try test.answer()
          if answer != .none { return answer }
          if round == PhoneSetupDialogue.patience { PhoneSetupDialogue.adviseWaiting() }
          try await Task.sleep(for: .milliseconds(200))
        }
        return .none
      }
      Console.line(
        answer == .completed
          ? "It works: the phone's answer has arrived."
          : "The task was deleted on the phone: its answers arrive.")
    } catch is Interruption.Interrupted {
      Console.line(
        "No answer yet. The alarms are there after the next sync of the phone; 'belfry log' shows its answers."
      )
    }
    try await test.end()
  }
}

extension PhoneSetupDialogue {
  /// The number of rounds after which the wait for the phone needs advice: a minute.
  fileprivate static let patience = 300

  fileprivate static func adviseWaiting() {
    Console.error(
      "Nothing has arrived yet. Does the app show the list and the task? Then tick it off and sync the app again. If not, check the address, the user and the server's log."
    )
  }
}

/// The storage of a Radicale on this machine.
enum RadicaleStorage {
  /// Returns the folder of the storage: of its configuration, or one that exists; nil if none is found.
  static func find(_ environment: CommandEnvironment) -> String? {
    let home = environment["HOME"] ?? ""
    for path in ["\(home)/.config/radicale/config", "/etc/radicale/config"] {
      if let folder = folder(inConfiguration: path, home: home) { return folder }
    }
    return [
      "\(home)/.local/share/radicale/collections", "\(home)/.var/lib/radicale/collections",
      "/var/lib/radicale/collections",
    ].first { access($0 + "/collection-root", F_OK) == 0 }
  }

  private static func folder(inConfiguration path: String, home: String) -> String? {
    guard let file = (try? DurableFile.read(path, limit: 1 << 20)) ?? nil else { return nil }
    for line in String(decoding: file.bytes, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1).map {
        $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      }
      guard parts.count == 2, parts[0] == "filesystem_folder" else { continue }
      return parts[1].hasPrefix("~/") ? home + parts[1].dropFirst() : parts[1]
    }
    return nil
  }
}
