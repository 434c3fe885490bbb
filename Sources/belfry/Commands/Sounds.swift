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
        belfry settings set sound bell       # the one of this device; none for silence
        belfry settings set sound.rising on  # begins softly
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
    let chosen = Sound.chosen(settings.sound)?.name
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
    if chosen == nil { Console.line("This device is silent: settings set sound NAME") }
  }
}

struct SoundsPlay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Play a sound once (default: this device's own).")

  @Argument(help: "The sound.")
  var name: String?

  @Flag(
    help: "Again and again until it is ended, after any other that plays; then it says 'delivered'."
  )
  var `repeat` = false

  @Flag(
    inversion: .prefixedNo, help: "With --repeat, begin softly (default: the setting sound.rising)."
  )
  var rising: Bool?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Sounds

  func run() async throws {
    let context = try common.context(parent.root)
    if let name, Sound.named(name) == nil, !self.repeat {
      throw CommandError(
        .usage, "there is no sound '\(Printable.text(name))'.",
        hint: "There are: \(Sound.all.map(\.name).joined(separator: ", ")).")
    }
    let own = context.ownSettings
    guard let sound = Sound.chosen(name ?? own.sound) else {
      throw CommandError(
        .notPossible, "this device is silent.",
        hint: "Choose a sound with 'belfry settings set sound bell', or name one.")
    }
    guard var player = context.soundPlayer else {
      throw CommandError(
        .failed, "there is nothing here to play a sound with.",
        hint: "Install one of \(SoundPlayer.packages). Until then the terminal's bell rings.")
    }
    let reason: String?
    if self.repeat {
      let loop = SoundLoop(
        sound, isRising: rising ?? own.soundRising, lock: context.soundLock)
      reason = await loop.run(player) { Console.line("delivered") }
    } else {
      reason = await player.play(sound)
    }
    if let reason {
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

  /// Where the one who makes noise holds a lock; nil without a folder for it.
  var soundLock: String? { storeContext.runtimeFolder.map { "\($0)/belfry-sound.lock" } }
}
