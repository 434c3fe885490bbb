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
  func ask(url: String?) throws -> Place {
    Console.error("What gives the tasks to your phone?")
    Console.error("  1  Radicale on this machine")
    Console.error("  2  A folder that vdirsyncer syncs with a server")
    Console.error("  3  Xandikos on this machine")
    Console.error("  4  Another folder of .ics files")
    switch try answer("Which one? [1-4]") {
    case "1": return try radicale(url)
    case "2":
      let folder = try answer(
        "The folder of the collection (its 'path' in vdirsyncer's configuration):")
      return Place(folder: absolute(folder), kind: .files, url: try address(url, nil))
    case "3":
      let data = try answer("The folder of Xandikos (its option -d):")
      return Place(
        folder: absolute(data) + "/user/calendars/belfry", kind: .xandikos,
        url: try address(url, "http://\(host):8000/"))
    case "4":
      let folder = try answer("The folder:")
      return Place(folder: absolute(folder), kind: nil, url: try address(url, nil))
    default:
      throw CommandError(.usage, "nothing was set up.", hint: "Answer with a number from 1 to 4.")
    }
  }

  private func radicale(_ url: String?) throws -> Place {
    let known = RadicaleStorage.find(context.environment)
    let shown = known.map { " [\(Printable.text($0))]" } ?? ""
    let typed = try answer("The storage of Radicale (filesystem_folder)\(shown):", default: known)
    let root = absolute(typed) + "/collection-root"
    let users = DurableFile.names(in: root).filter { !$0.hasPrefix(".") }.sorted()
    let user = try answer(
      "The user with whom the phone logs in\(users.first.map { " [\(Printable.text($0))]" } ?? ""):",
      default: users.first)
    return Place(
      folder: "\(root)/\(user)/belfry", kind: .radicale,
      url: try address(url, "http://\(host):5232/"))
  }

  private func address(_ given: String?, _ usual: String?) throws -> String? {
    if let given { return given }
    let shown = usual.map { " [\($0)]" } ?? " (Enter for none)"
    let typed = Console.answer(to: "The address of the server, as the phone reaches it\(shown):")
    guard let typed else { throw CommandError(.failed, "nothing was set up.") }
    return typed.isEmpty ? usual : typed
  }

  private func answer(_ question: String, default usual: String? = nil) throws -> String {
    let typed = Console.answer(to: question)
    guard let typed = typed.map({ $0.isEmpty ? usual ?? "" : $0 }), !typed.isEmpty else {
      throw CommandError(.failed, "nothing was set up.", hint: "See 'belfry help phone setup'.")
    }
    return typed
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
    Console.write("\n")
    if let url = configuration.url, let code = try? QRCode(url) {
      for line in code.lines(isColored: context.style.isColored) { Console.write(line + "\n") }
      Console.write("\n")
    }
    let url = configuration.url.map { Printable.text($0) } ?? "of your CalDAV server"
    let steps = [
      "Install a task app. Android: Tasks.org, or jtx Board with DAVx5. iPhone: Reminders is there.",
      "Add a CalDAV account. Tasks.org: Settings, Add account. DAVx5: +, URL and user name. iPhone: Settings, Apps, Calendar, Accounts, Other.",
      "The address: \(url)\(configuration.url == nil ? "" : " (the code above)"). An iPhone needs https.",
      "The user and the password of the server.",
      "Choose the list Belfry.",
      "Sync as often as the app can: 15 minutes in DAVx5. Tasks.org syncs each hour, and at once after a change.",
      "Allow notifications and exact alarms, and switch the battery optimization off for the app.",
      hasTest
        ? "Sync, and tick off the task '\(PhoneTest.title)'."
        : "Sync. The tasks of the next 30 days are in the list.",
    ]
    Console.line("On the phone:")
    for (index, step) in steps.enumerated() { Console.line("  \(index + 1). \(step)") }
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
        while true {
          let answer = try test.answer()
          if answer != .none { return answer }
          try await Task.sleep(for: .milliseconds(200))
        }
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
