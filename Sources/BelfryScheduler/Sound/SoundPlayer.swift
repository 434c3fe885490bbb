import Glibc
import Subprocess
import SystemPackage

/// Plays sounds through whatever the machine has: PipeWire, PulseAudio or ALSA.
public struct SoundPlayer: Sendable {
  /// The players' executables, the one to be tried first at the front.
  private var paths: [String]

  private static let players = ["pw-play", "paplay", "aplay"]

  /// The Debian packages that have one.
  public static let packages = "pipewire-bin, pulseaudio-utils or alsa-utils"

  /// The players that there are; nil when there is none.
  ///
  /// - Parameter folders: where executables are, as `PATH` lists them.
  public init?(folders: [String]) {
    paths = SoundPlayer.players.compactMap { name in
      folders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
    if paths.isEmpty { return nil }
  }

  /// Plays a sound once, to its end, through the first player that can. Returns why none could, in words; nil when
  /// it was played.
  ///
  /// - Parameter level: how loud, from 0 to 1.
  public mutating func play(_ sound: Sound, level: Double = 1) async -> String? {
    let wav = sound.wav(level: level)
    var reasons: [String] = []
    for path in paths {
      guard let reason = await SoundPlayer.play(wav, with: path) else {
        // A machine may have a player of a sound server that does not run.
        paths.removeAll { $0 == path }
        paths.insert(path, at: 0)
        return nil
      }
      reasons.append(reason)
    }
    return reasons.joined(separator: "; ")
  }

  private static func play(_ wav: [UInt8], with path: String) async -> String? {
    // A file that can be read from anywhere in it, as some players want to.
    guard let file = MemoryFile.holding(wav) else {
      return "the sound could not be handed over: \(MemoryFile.reason)"
    }
    var options = PlatformOptions()
    options.teardownSequence = [.send(signal: .kill, allowedDurationToNextStep: .zero)]
    do {
      let result = try await Subprocess.run(
        .path(FilePath(path)), arguments: ["/dev/stdin"], platformOptions: options,
        input: .fileDescriptor(file, closeAfterSpawningProcess: true), output: .discarded,
        error: .string(limit: 16 << 10))
      if result.terminationStatus.isSuccess { return nil }
      let words = result.standardError.split(separator: "\n").last.map(String.init)
      return "\(path): \(words ?? "it ended with \(result.terminationStatus)")"
    } catch {
      return "\(path): \(error)"
    }
  }
}
