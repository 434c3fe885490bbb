import Files
import Glibc
import Subprocess
import SystemPackage

/// The default sound output of this machine, as its sound server or ALSA describes it.
///
/// It is asked with the client of the first that runs: `pactl` for PulseAudio and PipeWire, `wpctl` for PipeWire, and
/// `amixer` without a sound server.
public struct SoundOutput: Sendable {
  /// The audibility of a sound.
  public enum State: Hashable, Sendable {
    /// A sound can be heard, at a volume in percent.
    case audible(volume: Int)
    /// The output is muted.
    case muted
    /// The volume in percent is too low to be heard.
    case quiet(volume: Int)
    /// The sound server has no output.
    case missing
    /// The sound server does not respond.
    case unresponsive
    /// Neither a sound server nor a sound card is there.
    case absent
    /// No program describes the output.
    case unknown

    /// True if a sound cannot be heard, as far as that is known.
    public var isInaudible: Bool {
      switch self {
      // A machine without a sound server, such as one in a data center, is no fault.
      case .audible, .absent, .unknown: false
      case .muted, .quiet, .missing, .unresponsive: true
      }
    }
  }

  /// The volume in percent below which a sound is not heard. Sound servers show the cube root of the amplitude: 20 % are
  /// −42 dB.
  public static let minVolume = 20
  /// The volume in percent to which an alarm raises a lower one.
  public static let alarmVolume = 40

  /// A client, with the arguments of its commands.
  private struct Client: Sendable {
    let path: String
    let tool: Tool
    /// The environment variables. pactl starts no server if the address of one is given.
    var variables = ["LC_ALL": "C"]
  }

  /// The program of a client.
  enum Tool: String, Sendable {
    case pactl, wpctl, amixer
  }

  private let client: Client?
  /// True if there is neither the socket of a server nor a sound card.
  private let isAbsent: Bool

  /// The timeout of a command, in seconds.
  private let timeout: Int

  /// Finds the client of the sound server that runs, or of ALSA.
  ///
  /// - Parameters:
  ///   - folders: the folders of `PATH`.
  ///   - runtimeFolder: the folder with the sockets of the user's servers; nil if there is none.
  ///   - server: the value of `PULSE_SERVER`; nil if it is not set.
  ///   - devices: the folder with the devices of sound cards.
  ///   - timeout: the timeout of a command, in seconds.
  public init(
    folders: [String], runtimeFolder: String?, server: String?, devices: String = "/dev/snd",
    timeout: Int = 3
  ) {
    self.timeout = timeout
    func find(_ tool: Tool) -> String? {
      folders.lazy.map { "\($0)/\(tool.rawValue)" }.first { access($0, X_OK) == 0 }
    }
    let pulse = runtimeFolder.map { $0 + "/pulse/native" }.flatMap {
      access($0, F_OK) == 0 ? "unix:\($0)" : nil
    }
    let pipeWire = runtimeFolder.map { access($0 + "/pipewire-0", F_OK) == 0 } ?? false
    // A sequencer may be there without a card.
    let hasCard = DurableFile.names(in: devices).contains { $0.hasPrefix("control") }
    isAbsent = server == nil && pulse == nil && !pipeWire && !hasCard
    if let address = server ?? pulse, let path = find(.pactl) {
      client = Client(
        path: path, tool: .pactl, variables: ["LC_ALL": "C", "PULSE_SERVER": address])
    } else if pipeWire, let path = find(.wpctl) {
      client = Client(path: path, tool: .wpctl)
    } else if pulse == nil, !pipeWire, let path = find(.amixer) {
      client = Client(path: path, tool: .amixer)
    } else {
      client = nil
    }
  }

  /// The mute and the volume of an output.
  struct Level: Hashable, Sendable {
    /// The client that reads and sets it.
    let tool: Tool
    /// The identifier by which the client sets it. PipeWire gives it to another output after a restart.
    let id: String
    /// The name of the output.
    let name: String
    /// True if the output is muted.
    let isMuted: Bool
    /// The volume in percent; nil if it is unknown.
    let volume: Int?

    /// The audibility of a sound.
    var state: State {
      if isMuted { return .muted }
      guard let volume else { return .unknown }
      return volume < minVolume ? .quiet(volume: volume) : .audible(volume: volume)
    }
  }

  /// The state of the output.
  public var state: State {
    get async {
      switch await level {
      case .success(let level): level.state
      case .failure(let failure): failure.state
      }
    }
  }

  /// The level of the output.
  var level: Result<Level, Failure> {
    get async {
      do throws(Failure) {
        switch client?.tool {
        case .pactl: return .success(try await pulseLevel())
        case .wpctl: return .success(try await pipeWireLevel())
        case .amixer: return .success(try await alsaLevel())
        case nil: throw Failure(isAbsent ? .absent : .unknown)
        }
      } catch {
        return .failure(error)
      }
    }
  }

  /// Unmutes an output, and raises a lower volume to `alarmVolume`.
  func makeAudible(_ level: Level) async {
    if level.isMuted { await setMuted(false, level.id) }
    if let volume = level.volume, volume < SoundOutput.alarmVolume {
      await setVolume(SoundOutput.alarmVolume, level.id)
    }
  }

  /// Sets an output to its level before `makeAudible`. An output that is gone stays as it is.
  ///
  /// - Returns: False if the server does not respond.
  func restore(_ level: Level) async -> Bool {
    guard client?.tool == level.tool else { return false }
    if case .failure(let failure) = await self.level, failure.state == .unresponsive {
      return false
    }
    guard let id = await identifier(of: level) else { return true }
    if let volume = level.volume, volume < SoundOutput.alarmVolume { await setVolume(volume, id) }
    if level.isMuted { await setMuted(true, id) }
    return true
  }

  // MARK: Commands

  private static let pipeWireSink = "@DEFAULT_AUDIO_SINK@"
  private static let alsaControl = "Master"

  private func pulseLevel() async throws(Failure) -> Level {
    let name = try await ask(["get-default-sink"])
    // While there is no device, PulseAudio has a sink of this name, or prints `(null)`. PipeWire prints the alias.
    if ["auto_null", "(", "@", "\n"].contains(where: name.hasPrefix) || name.isEmpty {
      throw Failure(.missing)
    }
    let sink = String(name.prefix { !$0.isNewline })
    let mute = try await ask(["get-sink-mute", sink])
    let volume = try await ask(["get-sink-volume", sink])
    return Level(
      tool: .pactl, id: sink, name: sink, isMuted: mute.contains("yes"),
      volume: SoundOutput.percent(in: volume))
  }

  private func pipeWireLevel() async throws(Failure) -> Level {
    // Such as `Volume: 0.40 [MUTED]`
    let text = try await ask(["get-volume", SoundOutput.pipeWireSink])
    // Without a device, it only prints an error and exits with 0.
    guard text.hasPrefix("Volume") else { throw Failure(.missing) }
    let volume = text.split(whereSeparator: \.isWhitespace).lazy.compactMap { Double($0) }.first
    let node = await node(SoundOutput.pipeWireSink)
    return Level(
      tool: .wpctl, id: node?.id ?? SoundOutput.pipeWireSink, name: node?.name ?? "",
      isMuted: text.contains("[MUTED]"), volume: volume.map { Int(($0 * 100).rounded()) })
  }

  private func alsaLevel() async throws(Failure) -> Level {
    // Such as `  Front Left: Playback 40 [63%] [on]`, with a line for each channel
    guard let text = await run(["sget", SoundOutput.alsaControl]) else {
      throw Failure(isAbsent ? .absent : .unknown)
    }
    return Level(
      tool: .amixer, id: SoundOutput.alsaControl, name: SoundOutput.alsaControl,
      isMuted: text.contains("[off]") && !text.contains("[on]"),
      volume: SoundOutput.percent(in: text))
  }

  /// Returns the identifier and the name of a node of PipeWire; nil if there is none.
  private func node(_ id: String) async -> (id: String, name: String)? {
    // Such as `id 42, type PipeWire:Interface:Node` and `  * node.name = "alsa_output.0"`
    guard let text = await run(["inspect", id]), text.hasPrefix("id "),
      let line = text.split(separator: "\n").first(where: { $0.contains(" node.name = \"") })
    else { return nil }
    return (
      String(text.dropFirst(3).prefix { $0.isNumber }),
      String(line.drop { $0 != "\"" }.dropFirst().dropLast())
    )
  }

  /// Returns the present identifier of an output; nil if the output is gone.
  private func identifier(of level: Level) async -> String? {
    // An output without a name is the default one.
    guard level.tool == .wpctl, !level.name.isEmpty else { return level.id }
    for id in [level.id, SoundOutput.pipeWireSink] where await node(id)?.name == level.name {
      return id
    }
    return nil
  }

  private func setMuted(_ isMuted: Bool, _ id: String) async {
    let flag = isMuted ? "1" : "0"
    switch client?.tool {
    case .pactl: _ = await run(["set-sink-mute", id, flag])
    case .wpctl: _ = await run(["set-mute", id, flag])
    case .amixer: _ = await run(["sset", id, isMuted ? "mute" : "unmute"])
    case nil: break
    }
  }

  private func setVolume(_ percent: Int, _ id: String) async {
    switch client?.tool {
    case .pactl: _ = await run(["set-sink-volume", id, "\(percent)%"])
    case .wpctl: _ = await run(["set-volume", id, "\(percent)%"])
    case .amixer: _ = await run(["sset", id, "\(percent)%"])
    case nil: break
    }
  }

  /// The reason why the level of the output is unknown.
  struct Failure: Error {
    let state: State

    init(_ state: State) { self.state = state }
  }

  /// Runs a command of the client, and returns its output; nil if it failed.
  private func run(_ arguments: [String]) async -> String? { try? await ask(arguments) }

  /// Runs a command of the client, and returns its output.
  private func ask(_ arguments: [String]) async throws(Failure) -> String {
    guard let client else { throw Failure(.unknown) }
    let outcome = await TimedProcess.run(
      .path(FilePath(client.path)), arguments, variables: client.variables,
      seconds: timeout)
    switch outcome {
    case .ended(0, let output, _): return String(decoding: output, as: UTF8.self)
    // Such as `Connection failure: Connection refused`, and `Could not connect to PipeWire`
    case .ended(_, _, let error):
      throw Failure(error.contains("onnect") ? .unresponsive : .unknown)
    case .timedOut: throw Failure(.unresponsive)
    case .failed: throw Failure(.unknown)
    }
  }

  /// Returns the highest percentage in a text, which is that of the loudest channel; nil without one.
  static func percent(in text: String) -> Int? {
    text.split { !$0.isNumber && $0 != "%" }.compactMap { word in
      word.last == "%" ? Int(word.dropLast()) : nil
    }.max()
  }
}
