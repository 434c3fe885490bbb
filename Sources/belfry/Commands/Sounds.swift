import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore

struct Sounds: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the sounds, or play one.",
    discussion: """
        belfry sounds
        belfry sounds play bell
        belfry settings set sound bell       # the one of this device
        belfry edit rent --sound pulse       # the one of an alarm
      """,
    subcommands: [SoundsList.self, SoundsPlay.self], defaultSubcommand: SoundsList.self)

  @ParentCommand var root: Belfry
}

struct SoundsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the sounds.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Sounds

  func run() throws {
    let context = try common.context(parent.root)
    let settings = try context.settings(try context.open())
    let chosen = Sound.orDefault(settings.sound).name
    if common.json {
      return Console.write(
        JSON.array(
          Sound.all.map {
            .object([
              "name": .string($0.name), "summary": .string($0.summary),
              "chosen": .bool($0.name == chosen),
            ])
          }
        ).document)
    }
    for sound in Sound.all {
      let name = sound.name + String(repeating: " ", count: 9 - sound.name.count)
      let mark = sound.name == chosen ? "* " : "  "
      Console.line(
        context.style.paint(mark + name, sound.name == chosen ? .bold : .plain)
          + context.style.fit(sound.summary, indent: 11))
    }
  }
}

struct SoundsPlay: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Play a sound once (default: this device's own).")

  @Argument(help: "The sound.")
  var name: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Sounds

  func run() throws {
    let context = try common.context(parent.root)
    if let name, Sound.named(name) == nil {
      throw CommandError(
        .usage, "there is no sound '\(Printable.text(name))'.",
        hint: "There are: \(Sound.all.map(\.name).joined(separator: ", ")).")
    }
    let sound = try Sound.orDefault(name ?? context.settings(context.open()).sound)
    guard let player = context.soundPlayer else {
      throw CommandError(
        .failed, "there is nothing here to play a sound with.",
        hint: "Install one of \(SoundPlayer.packages). Until then the terminal's bell rings.")
    }
    if let reason = Blocking.run({ await player.play(sound) }) {
      throw CommandError(
        .failed, "\(sound.name) could not be played: \(Printable.text(reason)).",
        hint: "Look whether the machine has a sound card, and a sound server that runs.")
    }
    if common.json {
      Console.write(JSON.object(["played": .string(sound.name)]).document)
    } else {
      Console.line("Played \(sound.name).")
    }
  }
}

extension CommandContext {
  /// What plays sounds on this machine; nil when nothing does.
  var soundPlayer: SoundPlayer? {
    SoundPlayer(folders: (environment["PATH"] ?? "").split(separator: ":").map(String.init))
  }
}
