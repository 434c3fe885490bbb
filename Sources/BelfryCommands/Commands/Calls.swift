import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files

struct Calls: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calls", abstract: "Set up phone calls from this device.",
    discussion: """
      When a cascade reaches a phone number, one of the devices that can place calls does so. Set up calls on devices \
      that are always on.

        belfry calls sip --server sip.example.org --user me --password-file pw
        belfry calls http --url https://… --account AC… --token-file token \\
          --from +15557654321
        belfry calls test 5551234567
        belfry calls off

      SIP needs baresip-core, espeak-ng and sox; HTTP needs curl. Secrets stay on this device, in a file that only \
      you can read. To place calls in another way, write your own hook ~/.config/belfry/hooks/deliver/call and run \
      'belfry calls hook'.
      """,
    subcommands: [
      CallsShow.self, CallsSIP.self, CallsHTTP.self, CallsHook.self, CallsTest.self, CallsOff.self,
    ], defaultSubcommand: CallsShow.self)

  @ParentCommand var root: Belfry

  /// Returns the secret on the first line of a file, or of standard input for `-`.
  ///
  /// Secrets are not options, because other users can list command lines.
  ///
  /// - Throws: `CommandError` if the file cannot be read, or its first line is not a secret of 1 to 1,024 bytes.
  static func secret(_ path: String, _ option: String) throws -> String {
    let bytes: [UInt8]
    do {
      bytes = try DurableFile.readStream(
        path == "-" ? "/dev/stdin" : CommandEnvironment.absolute(path))
    } catch {
      throw CommandError(
        .usage, "\(option): \(Printable.text("\(error)")).", hint: "Use a file that you can read.")
    }
    let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    guard (1...1024).contains(line.utf8.count),
      !line.unicodeScalars.contains(where: AlarmText.isControl)
    else {
      throw CommandError(
        .usage, "\(option): the first line of the file is not a secret.",
        hint: "Write only the secret on the first line, up to 1,024 bytes.")
    }
    return line
  }
}

struct CallsShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the call provider, and the devices that can call.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open(.reading)
    let own = store.devices.callers.contains(store.device)
    context.restrictCallsFile()
    let provider = try context.callProvider
    let others = store.devices.callers.subtracting([store.device])
      .map { store.deviceNames()[$0] ?? $0.short }.sorted()
    if common.json {
      return try Console.write(
        CallsDocument(places: own, provider: provider?.text, others: others))
    }
    Console.line(
      own
        ? "This device places calls: \(Printable.text(provider?.text ?? "by your own hook"))."
        : "This device places no calls. To set it up: belfry help calls")
    if !others.isEmpty {
      let names = others.map { Printable.text($0) }.joined(separator: ", ")
      Console.line("Other devices that place calls: \(names).")
    }
  }
}

struct CallsSIP: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sip", abstract: "Place calls through a SIP server or gateway.")

  @Option(help: ArgumentHelp("The server, with an optional port.", valueName: "host[:port]"))
  var server: String

  @Option(help: ArgumentHelp("The user name at the server.", valueName: "name"))
  var user: String

  @Option(
    help: ArgumentHelp(
      "The file with the password, or - for standard input (default: no password).",
      valueName: "file"), completion: .file())
  var passwordFile: String?

  @Option(help: "The transport: udp, tcp or tls.")
  var transport = "udp"

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() throws {
    guard let transport = CallProvider.Transport(rawValue: transport.lowercased()) else {
      throw ValidationError("--transport is udp, tcp or tls.")
    }
    func isSafe(_ text: String) -> Bool {
      !text.isEmpty && text.utf8.count <= 255
        && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        && !text.contains(where: { "<>;\"'\\@,?&".contains($0) })
    }
    let port = server.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      .dropFirst().first
    guard isSafe(server), isSafe(user), port.map({ UInt16($0) != nil && $0 != "0" }) ?? true else {
      throw CommandError(
        .usage,
        "--server and --user take letters, digits, dots and hyphens, and --server also a port.",
        hint: "For example: --server sip.example.org:5060 --user belfry")
    }
    let password = try passwordFile.map { try Calls.secret($0, "--password-file") }
    if let password, password.contains(where: { "<>;\"\\".contains($0) || $0.isWhitespace }) {
      throw CommandError(
        .usage,
        "baresip does not support passwords with spaces, quotes, backslashes, semicolons or <>.",
        hint: "Choose another password at your provider.")
    }
    try CallSetup(common, parent.root).set(
      .sip(server: server, user: user, password: password, transport: transport))
  }
}

struct CallsHTTP: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "http", abstract: "Place calls through a Twilio-compatible HTTP API.")

  @Option(help: ArgumentHelp("The URL that creates a call.", valueName: "url"))
  var url: String

  @Option(help: ArgumentHelp("The id of the account.", valueName: "name"))
  var account: String

  @Option(
    help: ArgumentHelp("The file with the token, or - for standard input.", valueName: "file"))
  var tokenFile: String

  @Option(help: ArgumentHelp("The number that calls come from.", valueName: "number"))
  var from: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() throws {
    let address: VoiceURL
    do throws(VoiceURL.Failure) {
      address = try VoiceURL(url)
    } catch {
      throw CommandError(
        .usage, "--url '\(Printable.text(url))' is not valid: \(error.reason).",
        hint: "Use the URL of your provider: https://api.example.org/…/Calls.json")
    }
    guard !account.contains(":"), (1...255).contains(account.utf8.count),
      account.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw CommandError(
        .usage, "--account is not valid: it contains a colon or a space, or is empty or too long.",
        hint: "Use the account id that your provider shows.")
    }
    let from = try CascadeText.phone(from)
    let token = try Calls.secret(tokenFile, "--token-file")
    try CallSetup(common, parent.root).set(
      .http(url: address.text, account: account, token: token, from: from))
  }
}

struct CallsHook: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hook", abstract: "Place calls with your own hook.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() throws {
    let setup = try CallSetup(common, parent.root)
    guard setup.context.ownHook("call") != nil else {
      throw CommandError(
        .notPossible, "you have no hook 'call' of your own.",
        hint: "Write ~/.config/belfry/hooks/deliver/call and make it executable.")
    }
    try setup.set(nil, calls: true)
  }
}

struct CallsOff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "off", abstract: "Disable calls on this device and delete its secrets.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() throws { try CallSetup(common, parent.root).set(nil, calls: false) }
}

struct CallsTest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Call a number now; the message says that it is a test.")

  @Argument(help: "The phone number.", completion: .text)
  var number: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() async throws {
    let number = try CascadeText.phone(number)
    let context = try common.context(parent.root)
    guard try context.callProvider != nil || context.ownHook("call") != nil else {
      throw CommandError(
        .notPossible, "this device cannot place calls yet.",
        hint: "To set it up: belfry help calls")
    }
    let store = try context.open(.reading)
    let call = Notification.Call(
      .phone(number, message: nil), subject: nil,
      source: NotificationText.source(store.devices.own), isTest: true)
    context.restrictCallsFile()
    Console.error("Calling \(number.shown) …")
    let outcome: CallOutcome
    do {
      outcome = try await Interruption.cancelling {
        await context.callHook.run(call, message: NotificationText.message(call))
      }
    } catch let interrupted as Interruption.Interrupted {
      Console.error("error: interrupted: the call was ended.")
      throw ExitCode(interrupted.status)
    }
    if let reason = outcome.reason {
      throw CommandError(
        .network, "the call failed: \(Printable.text(reason)).", hint: "See 'belfry calls'.")
    }
    if common.json { return try Console.write(CallTestDocument(phone: number.e164)) }
    Console.line("The call was answered.")
  }
}

/// A change of this device's call settings, and of its device record, which other devices read.
private struct CallSetup {
  let context: CommandContext
  private let store: Store
  private let json: Bool

  init(_ common: CommonOptions, _ root: Belfry) throws {
    context = try common.context(root)
    store = try context.open(.creating)
    json = common.json
  }

  func set(_ provider: CallProvider?, calls: Bool = true) throws {
    try CallProvider.write(provider, to: context.callsFile)
    let device = try store.devices.describe { $0.calls = calls }
    if json { return try Console.write(DeviceDocument(device)) }
    Console.line(
      calls
        ? "This device places calls: \(Printable.text(provider?.text ?? "by your own hook"))."
        : "This device no longer places calls.")
    if calls { Console.line("To test it: belfry calls test NUMBER") }
  }
}
