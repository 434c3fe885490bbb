import Files
import Glibc
import Subprocess
import SystemPackage

/// The stream of a player in the mixer of its sound server.
///
/// Sound servers remember the mute and the volume of a stream by its identity, and apply them to the next one. The
/// stream has an identity of its own, so that those of a music player do not apply. A mute or volume that was set for an
/// earlier alarm is corrected once the stream is there.
struct SoundStream: Sendable {
  private enum Player: String {
    case pipeWire = "pw-play"
    case pulse = "paplay"

    /// The client in the same package.
    var client: String {
      switch self {
      case .pipeWire: "pw-cli"
      case .pulse: "pactl"
      }
    }
  }

  private let player: Player?
  /// The path of the client that changes the stream; nil if there is none beside the player.
  private let client: String?
  /// The name of the stream. A process plays one at a time.
  private let name = "belfry-\(getpid())"

  /// The name of the program in mixers.
  private static let program = "Belfry"
  /// The time from the start of the player to the first correction. Each following pause is three times as long.
  private static let firstPause = Duration.milliseconds(300)
  /// The timeout of a command, in seconds.
  private static let timeout = 3

  /// Creates the stream of a player.
  ///
  /// - Parameter path: the path of the player.
  init(path: String) {
    let player = Player(rawValue: path.split(separator: "/").last.map(String.init) ?? "")
    let client = player.map { "\(DurableFile.parent(of: path))/\($0.client)" }
    self.player = player
    self.client = client.flatMap { access($0, X_OK) == 0 ? $0 : nil }
  }

  /// The options of the player.
  var options: [String] {
    player == .pulse
      ? ["--client-name=\(SoundStream.program)", "--property=belfry.stream=\(name)"] : []
  }

  /// Additional environment variables of the player. Versions of pw-play that lack an option would not play.
  var variables: [String: String] {
    guard player == .pipeWire else { return [:] }
    let program = SoundStream.program
    return [
      // The role decides the identity. WirePlumber before 0.5 ignores the last property.
      "PIPEWIRE_PROPS":
        "{ media.role=\(program) node.name=\(name) application.name=\(program) state.restore-props=false }"
    ]
  }

  /// Unmutes the stream and raises its volume, several times until the task is canceled: the stream appears after the
  /// start of the player, and the sound server restores an earlier mute later still.
  func keepAudible() async {
    guard let client, let player else { return }
    var pause = SoundStream.firstPause
    while true {
      do { try await Task.sleep(for: pause) } catch { return }
      pause *= 3
      switch player {
      case .pipeWire:
        _ = await run(
          client, ["set-param", name, "Props", "{ mute: false, channelVolumes: [ 1.0 ] }"])
      case .pulse: await correctPulse(client)
      }
    }
  }

  private func correctPulse(_ client: String) async {
    guard let list = await run(client, ["list", "sink-inputs"]),
      let found = SoundStream.find(name, in: list)
    else { return }
    if found.isMuted { _ = await run(client, ["set-sink-input-mute", found.index, "0"]) }
    guard found.volume < 100 else { return }
    // With flat volumes, the volume of a stream is that of the output, which is the user's.
    let isFlat = await run(client, ["list", "sinks"])?.contains("FLAT_VOLUME") ?? true
    if isFlat, found.volume >= SoundOutput.minVolume { return }
    let volume = isFlat ? SoundOutput.alarmVolume : 100
    _ = await run(client, ["set-sink-input-volume", found.index, "\(volume)%"])
  }

  /// Returns the stream with a name in the output of `pactl list sink-inputs`; nil if it is not there.
  static func find(_ name: String, in list: String) -> (index: String, isMuted: Bool, volume: Int)?
  {
    var (index, isMuted, volume) = ("", false, 100)
    for line in list.split(separator: "\n") {
      let text = line.drop(while: \.isWhitespace)
      if text.hasPrefix("Sink Input #") {
        (index, isMuted, volume) = (String(text.drop { $0 != "#" }.dropFirst()), false, 100)
      } else if text.hasPrefix("Mute:") {
        isMuted = text.hasSuffix("yes")
      } else if text.hasPrefix("Volume:") {
        volume = SoundOutput.percent(in: String(text)) ?? 100
      } else if text == "belfry.stream = \"\(name)\"" {
        return (index, isMuted, volume)
      }
    }
    return nil
  }

  /// Runs a command of a client, and returns its output; nil if it failed.
  private func run(_ client: String, _ arguments: [String]) async -> String? {
    let outcome = await TimedProcess.run(
      .path(FilePath(client)), arguments, variables: ["LC_ALL": "C"],
      seconds: SoundStream.timeout, limit: 1 << 20)
    guard case .ended(0, let output, _) = outcome else { return nil }
    return String(decoding: output, as: UTF8.self)
  }
}
