import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import Git

struct Calls: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calls", abstract: "Say how this device places calls, and try it.",
    discussion: """
      Of the devices that can, one is agreed on when a number's turn has come; set it up on those that are always on.

        belfry calls sip --server sip.example.org --user me --password-file pw
        belfry calls http --url https://… --account AC… --token-file token \\
          --from +15557654321
        belfry calls try 5551234567
        belfry calls off

      SIP needs baresip-core, espeak-ng and sox, HTTP needs curl. Secrets stay on this device, in a file that only \
      you can read. A hook of your own may call in another way: ~/.config/belfry/hooks/deliver/call, and \
      'belfry calls own'.
      """,
    subcommands: [
      CallsShow.self, CallsSIP.self, CallsHTTP.self, CallsOwn.self, CallsTry.self, CallsOff.self,
    ], defaultSubcommand: CallsShow.self)

  @ParentCommand var root: Belfry

  /// A secret from a file, or from standard input where that is `-`: on a command line everybody could read it.
  static func secret(_ path: String, _ option: String) throws -> String {
    let bytes: [UInt8]
    do {
      bytes = try DurableFile.readStream(path == "-" ? "/dev/stdin" : CommandContext.absolute(path))
    } catch {
      throw CommandError(
        .usage, "\(option): \(Printable.text("\(error)")).", hint: "Name a file that you can read.")
    }
    let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    guard (1...1024).contains(line.utf8.count),
      !line.unicodeScalars.contains(where: AlarmText.isControl)
    else {
      throw CommandError(
        .usage, "\(option): there is no secret on the first line of that file.",
        hint: "Write it there, and nothing else.")
    }
    return line
  }
}

struct CallsShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show how calls are placed, and by which devices.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open()
    let own = store.callers.contains(store.device)
    context.restrictCallsFile()
    let provider = try context.callProvider
    let others = store.callers.subtracting([store.device])
      .map { store.deviceNames()[$0] ?? $0.short }.sorted()
    if common.json {
      return Console.write(
        JSON.object(omittingNil: [
          "places": .bool(own), "provider": provider.map { .string($0.words) },
          "others": .array(others.map { .string($0) }),
        ]).document)
    }
    Console.line(
      own
        ? "This device places calls: \(Printable.text(provider?.words ?? "by a hook of your own"))."
        : "This device places no calls. Set it up: belfry help calls")
    if !others.isEmpty {
      Console.line("So do: \(others.map { Printable.text($0) }.joined(separator: ", ")).")
    }
  }
}

struct CallsSIP: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sip", abstract: "Place calls through a SIP server or gateway.")

  @Option(help: ArgumentHelp("Its name, and a port if need be.", valueName: "host[:port]"))
  var server: String

  @Option(help: ArgumentHelp("Whom it knows this device as.", valueName: "name"))
  var user: String

  @Option(
    help: ArgumentHelp(
      "The file with the password, - for standard input; none for a gateway that asks for none.",
      valueName: "file"))
  var passwordFile: String?

  @Option(help: "udp, tcp or tls.")
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
        "--server and --user hold letters, digits, dots, hyphens, and a colon before a port.",
        hint: "As in --server sip.example.org:5060 --user belfry.")
    }
    let password = try passwordFile.map { try Calls.secret($0, "--password-file") }
    if let password, password.contains(where: { "<>;\"\\".contains($0) || $0.isWhitespace }) {
      throw CommandError(
        .usage, "baresip cannot take a password with blanks, quotes, semicolons or <>.",
        hint: "Choose another one at your provider.")
    }
    try CallSetup(common, parent.root).set(
      .sip(server: server, user: user, password: password, transport: transport))
  }
}

struct CallsHTTP: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "http", abstract: "Place calls through an HTTP voice API in Twilio's form.")

  @Option(help: ArgumentHelp("Where calls are asked for.", valueName: "url"))
  var url: String

  @Option(help: ArgumentHelp("The account's identifier.", valueName: "name"))
  var account: String

  @Option(help: ArgumentHelp("The file with its token, - for standard input.", valueName: "file"))
  var tokenFile: String

  @Option(help: ArgumentHelp("The number that it calls from.", valueName: "number"))
  var from: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() throws {
    let address: VoiceURL
    do throws(VoiceURL.Failure) {
      address = try VoiceURL(url)
    } catch {
      throw CommandError(
        .usage, "--url '\(Printable.text(url))' is no voice API: \(error.reason).",
        hint: "As your provider names it: https://api.example.org/…/Calls.json")
    }
    guard !account.contains(":"), (1...255).contains(account.utf8.count),
      account.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw CommandError(
        .usage, "--account holds no colon, and no blank.", hint: "As your provider names it.")
    }
    let from = try CascadeText.phone(from)
    let token = try Calls.secret(tokenFile, "--token-file")
    try CallSetup(common, parent.root).set(
      .http(url: address.text, account: account, token: token, from: from))
  }
}

struct CallsOwn: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "own", abstract: "Place calls by a hook of your own.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() throws {
    let setup = try CallSetup(common, parent.root)
    guard setup.context.ownHook("call") != nil else {
      throw CommandError(
        .notPossible, "there is no hook of your own that calls.",
        hint: "Write one: ~/.config/belfry/hooks/deliver/call, and make it executable.")
    }
    try setup.set(nil, calls: true)
  }
}

struct CallsOff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "off", abstract: "Place no calls from this device, and forget how.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() throws { try CallSetup(common, parent.root).set(nil, calls: false) }
}

struct CallsTry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "try", abstract: "Call a number now, with words that say that it is a test.")

  @Argument(help: "The number.")
  var number: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Calls

  func run() async throws {
    let number = try CascadeText.phone(number)
    let context = try common.context(parent.root)
    let store = try context.open()
    guard try context.callProvider != nil || context.ownHook("call") != nil else {
      throw CommandError(
        .notPossible, "this device cannot place calls yet.", hint: "Set it up: belfry help calls")
    }
    let now = context.storeContext.now
    let due = context.storeContext.zones.local.civil(at: now)
    // It is about no alarm; a hook gets one all the same.
    let alarm = Alarm.created(
      id: context.storeContext.makeIdentifier(), title: "Test", note: nil,
      schedule: try Schedule(.once(due.date), times: [due.time]), zone: .floating,
      delivery: Alarm.Delivery(), at: now, device: store.device)
    let message =
      "This is a test of an automated backup alarm from \(CallHook.source(store.ownDevice)). Nothing is due."
    context.restrictCallsFile()
    Console.error("Calling \(number.shown) …")
    let outcome: CallOutcome
    do {
      outcome = try await Interruption.cancelling {
        await context.callHook.run(
          .phone(number, message: nil), message: message, alarm: alarm, occurrence: due,
          isTest: true)
      }
    } catch let interrupted as Interruption.Interrupted {
      Console.error("belfry: interrupted: the call was ended.")
      throw ExitCode(interrupted.status)
    }
    switch outcome {
    case .answered: Console.line("It was answered.")
    case .failed(let reason):
      throw CommandError(
        .network, "the call failed: \(Printable.text(reason)).", hint: "See 'belfry calls'.")
    }
  }
}

/// Changes how this device places calls, and what the others know of it.
private struct CallSetup {
  let context: CommandContext
  private let store: Store
  private let json: Bool

  init(_ common: CommonOptions, _ root: Belfry) throws {
    context = try common.context(root)
    store = try context.open()
    json = common.json
  }

  func set(_ provider: CallProvider?, calls: Bool = true) throws {
    try CallProvider.write(provider, to: context.callsFile)
    let device = try store.describeDevice { $0.calls = calls }
    if json { return Console.write(CascadeText.json(device).document) }
    Console.line(
      calls
        ? "This device places calls: \(Printable.text(provider?.words ?? "by a hook of your own"))."
        : "This device places no calls any more.")
    if calls { Console.line("Try it: belfry calls try NUMBER") }
  }
}
