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

  /// The volume in percent below which a sound is not heard.
  public static let minVolume = 10
  /// The volume in percent to which an alarm raises a lower one.
  public static let alarmVolume = 40

  /// A client, with the arguments of its commands.
  private struct Client: Sendable {
    let path: String
    let tool: Tool
    /// The environment variables. pactl starts no server if the address of one is given.
    var variables = ["LC_ALL": "C"]
  }

  private enum Tool: String {
    case pactl, wpctl, amixer
  }

  private let client: Client?
  /// True if there is neither the socket of a server nor a sound card.
  private let isAbsent: Bool

  /// The timeout of a command, in seconds.
  private static let timeout = 3

  /// Finds the client of the sound server that runs, or of ALSA.
  ///
  /// - Parameters:
  ///   - folders: the folders of `PATH`.
  ///   - runtimeFolder: the folder with the sockets of the user's servers; nil if there is none.
  ///   - server: the value of `PULSE_SERVER`; nil if it is not set.
  ///   - devices: the folder with the devices of sound cards.
  public init(
    folders: [String], runtimeFolder: String?, server: String?, devices: String = "/dev/snd"
  ) {
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

  /// The state of the output.
  public var state: State {
    get async {
      switch client?.tool {
      case .pactl: await pulseState()
      case .wpctl: await pipeWireState()
      case .amixer: await alsaState()
      case nil: isAbsent ? .absent : .unknown
      }
    }
  }

  /// Unmutes the output and raises its volume to `alarmVolume`, if a sound could not be heard.
  ///
  /// - Returns: The state before; nil if nothing was changed.
  public func makeAudible() async -> State? {
    let state = await state
    switch state {
    case .muted:
      await setMuted(false)
      // The volume of a muted output is known once it is not muted.
      if case .quiet = await self.state { await setVolume(SoundOutput.alarmVolume) }
    case .quiet: await setVolume(SoundOutput.alarmVolume)
    case .audible, .missing, .unresponsive, .absent, .unknown: return nil
    }
    return state
  }

  /// Restores a state that `makeAudible` has returned.
  public func restore(_ state: State) async {
    switch state {
    case .muted: await setMuted(true)
    case .quiet(let volume): await setVolume(volume)
    case .audible, .missing, .unresponsive, .absent, .unknown: break
    }
  }

  // MARK: Commands

  private static let pulseSink = "@DEFAULT_SINK@"
  private static let pipeWireSink = "@DEFAULT_AUDIO_SINK@"
  private static let alsaControl = "Master"

  private func pulseState() async -> State {
    let name: String
    switch await ask(["get-default-sink"]) {
    case .success(let text): name = text
    case .failure(let failure): return failure.state
    }
    // While there is no device, PulseAudio has a sink of this name, or prints `(null)`. PipeWire prints the alias.
    if ["auto_null", "(", "@", "\n"].contains(where: name.hasPrefix) || name.isEmpty {
      return .missing
    }
    guard let mute = await run(["get-sink-mute", SoundOutput.pulseSink]),
      let volume = await run(["get-sink-volume", SoundOutput.pulseSink])
    else { return .unknown }
    return SoundOutput.state(isMuted: mute.contains("yes"), volume: SoundOutput.percent(in: volume))
  }

  private func pipeWireState() async -> State {
    // Such as `Volume: 0.40 [MUTED]`
    let text: String
    switch await ask(["get-volume", SoundOutput.pipeWireSink]) {
    case .success(let reply): text = reply
    case .failure(let failure): return failure.state
    }
    // Without a device, it only prints an error and exits with 0.
    guard text.hasPrefix("Volume") else { return .missing }
    let volume = text.split(whereSeparator: \.isWhitespace).lazy.compactMap { Double($0) }.first
    return SoundOutput.state(
      isMuted: text.contains("[MUTED]"), volume: volume.map { Int(($0 * 100).rounded()) })
  }

  private func alsaState() async -> State {
    // Such as `  Front Left: Playback 40 [63%] [on]`, with a line for each channel
    guard let text = await run(["sget", SoundOutput.alsaControl]) else {
      return isAbsent ? .absent : .unknown
    }
    return SoundOutput.state(
      isMuted: text.contains("[off]") && !text.contains("[on]"),
      volume: SoundOutput.percent(in: text))
  }

  private func setMuted(_ isMuted: Bool) async {
    let flag = isMuted ? "1" : "0"
    switch client?.tool {
    case .pactl: _ = await run(["set-sink-mute", SoundOutput.pulseSink, flag])
    case .wpctl: _ = await run(["set-mute", SoundOutput.pipeWireSink, flag])
    case .amixer: _ = await run(["sset", SoundOutput.alsaControl, isMuted ? "mute" : "unmute"])
    case nil: break
    }
  }

  private func setVolume(_ percent: Int) async {
    switch client?.tool {
    case .pactl: _ = await run(["set-sink-volume", SoundOutput.pulseSink, "\(percent)%"])
    case .wpctl: _ = await run(["set-volume", SoundOutput.pipeWireSink, "\(percent)%"])
    case .amixer: _ = await run(["sset", SoundOutput.alsaControl, "\(percent)%"])
    case nil: break
    }
  }

  /// A failed command of a client.
  private enum Failure: Error {
    /// The client could not connect to the server, or got no reply in time.
    case noReply
    case other

    var state: State {
      switch self {
      case .noReply: .unresponsive
      case .other: .unknown
      }
    }
  }

  /// Runs a command of the client, and returns its output; nil if it failed.
  private func run(_ arguments: [String]) async -> String? { try? await ask(arguments).get() }

  /// Runs a command of the client, and returns its output.
  private func ask(_ arguments: [String]) async -> Result<String, Failure> {
    guard let client else { return .failure(.other) }
    let outcome = await TimedProcess.run(
      .path(FilePath(client.path)), arguments, variables: client.variables,
      seconds: SoundOutput.timeout)
    switch outcome {
    case .ended(0, let output, _): return .success(String(decoding: output, as: UTF8.self))
    // Such as `Connection failure: Connection refused`, and `Could not connect to PipeWire`
    case .ended(_, _, let error):
      return .failure(error.contains("onnect") ? .noReply : .other)
    case .timedOut: return .failure(.noReply)
    case .failed: return .failure(.other)
    }
  }

  private static func state(isMuted: Bool, volume: Int?) -> State {
    if isMuted { return .muted }
    guard let volume else { return .unknown }
    return volume < minVolume ? .quiet(volume: volume) : .audible(volume: volume)
  }

  /// Returns the highest percentage in a text, which is that of the loudest channel; nil without one.
  static func percent(in text: String) -> Int? {
    text.split { !$0.isNumber && $0 != "%" }.compactMap { word in
      word.last == "%" ? Int(word.dropLast()) : nil
    }.max()
  }
}
