import Glibc
import Subprocess
import SystemPackage

/// Plays sounds through whatever the machine has: PipeWire, PulseAudio or ALSA.
public struct SoundPlayer: Sendable {
  /// The player's executable.
  public let path: String

  private static let players = ["pw-play", "paplay", "aplay"]

  /// The Debian packages that have one.
  public static let packages = "pipewire-bin, pulseaudio-utils or alsa-utils"

  /// The first player that there is; nil when there is none.
  ///
  /// - Parameter folders: where executables are, as `PATH` lists them.
  public init?(folders: [String]) {
    for name in SoundPlayer.players {
      for folder in folders where access("\(folder)/\(name)", X_OK) == 0 {
        path = "\(folder)/\(name)"
        return
      }
    }
    return nil
  }

  /// Plays a sound once, to its end. Returns why it could not, in words; nil when it was played.
  public func play(_ sound: Sound) async -> String? {
    // A file that can be read from anywhere in it, as some players want to.
    guard let file = MemoryFile.holding(sound.wav) else {
      return "the sound could not be handed over: \(String(cString: strerror(errno)))"
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
