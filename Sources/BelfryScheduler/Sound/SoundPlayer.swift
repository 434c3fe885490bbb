import Glibc
import Subprocess
import SystemPackage

/// A player of sounds through PipeWire, PulseAudio or ALSA.
public struct SoundPlayer: Sendable {
  /// The paths of the installed players, in the order in which they are tried.
  private var paths: [String]

  private static let players = ["pw-play", "paplay", "aplay"]

  /// The Debian packages that contain a player.
  public static let packages = "pipewire-bin, pulseaudio-utils or alsa-utils"

  /// Finds the installed players; nil if there are none.
  ///
  /// - Parameter folders: the folders of `PATH`.
  public init?(folders: [String]) {
    paths = SoundPlayer.players.compactMap { name in
      folders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
    if paths.isEmpty { return nil }
  }

  /// Plays a sound once, to its end, with the first player that succeeds. That player is tried first from then on.
  ///
  /// - Parameter level: the volume from 0 to 1.
  /// - Returns: Nil if the sound was played; otherwise the reason of each player.
  public mutating func play(_ sound: Sound, level: Double = 1) async -> String? {
    let wav = sound.wav(level: level)
    var reasons: [String] = []
    for path in paths {
      guard let reason = await SoundPlayer.play(wav, with: path) else {
        // The player of a sound server that does not run fails every time.
        paths.removeAll { $0 == path }
        paths.insert(path, at: 0)
        return nil
      }
      reasons.append(reason)
    }
    return reasons.joined(separator: "; ")
  }

  private static func play(_ wav: [UInt8], with path: String) async -> String? {
    // A file instead of a pipe, because some players seek.
    guard let file = MemoryFile.holding(wav) else {
      return "the sound could not be passed to the player: \(MemoryFile.lastError)"
    }
    var options = PlatformOptions()
    options.teardownSequence = [.send(signal: .kill, allowedDurationToNextStep: .zero)]
    let stream = SoundStream(path: path)
    var environment: [Environment.Key: String?] = [:]
    for (name, value) in stream.variables {
      if let key = Environment.Key(rawValue: name) { environment[key] = value }
    }
    // Canceled when the player ends.
    async let _: Void = stream.keepAudible()
    do {
      let result = try await Subprocess.run(
        .path(FilePath(path)), arguments: Arguments(stream.options + ["/dev/stdin"]),
        environment: .inherit.updating(environment), platformOptions: options,
        input: .fileDescriptor(file, closeAfterSpawningProcess: true), output: .discarded,
        error: .string(limit: 16 << 10))
      if result.terminationStatus.isSuccess { return nil }
      let message = result.standardError.split(separator: "\n").last.map(String.init)
      let status = result.terminationStatus.shellStatus
      return "\(path): \(message ?? "it exited with status \(status)")"
    } catch {
      return "\(path): \(error)"
    }
  }
}
