import BelfryScheduler
import BelfryTerminal
import Files
import Glibc

/// A sound that a user has just chosen, played once so that they hear it.
struct SoundPreview {
  private let context: CommandContext

  init(_ context: CommandContext) {
    self.context = context
  }

  /// Plays a sound if the user is at a terminal. A failure is only a warning, because the choice is stored.
  ///
  /// - Parameter name: The name of the sound; nil, `none` and `default` are silent.
  func play(_ name: String?) {
    guard let sound = name.flatMap(Sound.named), !context.isQuiet, isatty(STDOUT_FILENO) == 1,
      (try? Descriptors.ensure()) != nil
    else { return }
    guard let player = context.soundPlayer else {
      return CommandDiagnostic.warn(
        "\(sound.name) cannot be heard: no program that plays sounds is installed.",
        hints: ["Install one of \(SoundPlayer.packages). Until then, the terminal bell rings."])
    }
    let reason = Blocking.run { [player] in
      var player = player
      return await player.play(sound)
    }
    if let reason {
      CommandDiagnostic.warn(
        "\(sound.name) could not be played: \(Printable.text(reason)).",
        hints: ["Check that the machine has a sound card and that a sound server runs."])
    }
  }
}
