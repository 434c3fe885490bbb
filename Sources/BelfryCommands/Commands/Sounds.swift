import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct Sounds: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sounds",
    abstract: "List the sounds, or play one.",
    discussion: """
        belfry sounds
        belfry sounds play bell
        belfry settings set sound bell       # the sound of this device, or none
        belfry settings set soundRising on  # start softly
        belfry edit rent --sound pulse       # the sound of one alarm
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
    let settings = try context.currentSettings()
    let chosen = Sound.chosen(settings.sound)?.name
    if common.json {
      return try Console.write(
        Sound.all.map {
          SoundDocument(name: $0.name, summary: $0.summary, chosen: $0.name == chosen)
        })
    }
    for sound in Sound.all {
      let name = sound.name + String(repeating: " ", count: 9 - sound.name.count)
      let mark = sound.name == chosen ? "* " : "  "
      Console.line(
        context.style.paint(mark + name, sound.name == chosen ? .bold : .plain)
          + context.style.fit(sound.summary, indent: 11))
    }
    if chosen == nil {
      Console.line(
        "The sound of this device is off. To turn it on: belfry settings set sound NAME")
    }
  }
}

struct SoundsPlay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Play a sound once.")

  @Argument(help: "The sound (default: the sound of this device).", completion: .sounds)
  var name: String?

  @Flag(
    help: "Wait for other sounds, print 'delivered', and repeat the sound until terminated.")
  var `repeat` = false

  @Flag(
    inversion: .prefixedNo, help: "With --repeat, start softly (default: the setting soundRising)."
  )
  var rising: Bool?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Sounds

  func run() async throws {
    let context = try common.context(parent.root)
    if let name, Sound.named(name) == nil, !self.repeat {
      throw CommandError(
        .usage, "there is no sound '\(Printable.text(name))'.",
        hint: "The sounds: \(Sound.all.map(\.name).joined(separator: ", ")).")
    }
    let own = context.ownSettings
    guard let sound = Sound.chosen(name ?? own.sound) else {
      throw CommandError(
        .notPossible, "the sound of this device is off.",
        hint: "Turn it on with 'belfry settings set sound bell', or name a sound.")
    }
    guard var player = context.soundPlayer else {
      throw CommandError(
        .failed, "no program that plays sounds is installed.",
        hint: "Install one of \(SoundPlayer.packages). Until then, the terminal bell rings.")
    }
    let reason: String?
    if self.repeat {
      let loop = SoundLoop(
        sound, isRising: rising ?? own.soundRising, lock: context.soundLock,
        unmuting: own.unmuteSound ? context.unmuting : nil)
      let play = { @Sendable [player] in
        // The daemon that reads it may have died. The sound goes on.
        await loop.run(player) { Console.report("delivered") }
      }
      do {
        // A signal ends the process once the output is as before.
        reason = loop.unmuting == nil ? await play() : try await Interruption.cancelling(play)
      } catch let interrupted as Interruption.Interrupted {
        throw ExitCode(interrupted.status)
      }
    } else {
      reason = await player.play(sound)
    }
    if let reason {
      throw CommandError(
        .failed, "\(sound.name) could not be played: \(Printable.text(reason)).",
        hint: "Check that the machine has a sound card and that a sound server runs.")
    }
    if common.json {
      try Console.write(PlayedSoundDocument(played: sound.name))
    } else {
      Console.line("Played \(sound.name).")
    }
  }
}

extension CommandContext {
  /// The program that plays sounds on this machine; nil if none is installed.
  var soundPlayer: SoundPlayer? {
    SoundPlayer(folders: (environment["PATH"] ?? "").split(separator: ":").map(String.init))
  }

  /// The sound output of this machine.
  var soundOutput: SoundOutput {
    SoundOutput(
      folders: (environment["PATH"] ?? "").split(separator: ":").map(String.init),
      runtimeFolder: storeContext.runtimeFolder, server: environment["PULSE_SERVER"])
  }

  /// Returns the audibility of alarms; `unknown` if the sound of this device is off, or if a hook of the user's own plays
  /// it.
  func soundState() async -> SoundOutput.State {
    let own = ownSettings
    if own.sound == Sound.silence || ownHook("ring") != nil { return .unknown }
    let state = await soundOutput.state
    switch state {
    // The alarm corrects that itself.
    case .muted, .quiet: return own.unmuteSound ? .unknown : state
    // Without a player, alarms are not expected to sound.
    case .unresponsive, .absent: return soundPlayer == nil ? .unknown : state
    case .audible, .missing, .unknown: return state
    }
  }

  /// The unmuting of the sound output while an alarm sounds; nil without a home folder.
  var unmuting: OutputUnmuting? {
    (try? environment.folder("XDG_STATE_HOME", ".local/state")).map { state in
      OutputUnmuting(path: "\(state)/belfry/sound-output") { soundOutput }
    }
  }

  /// Restores the sound output if a killed process has left it unmuted.
  func restoreSoundOutput() async {
    guard let unmuting, let soundLock, unmuting.isPending else { return }
    await SoundLoop.restore(unmuting, lock: soundLock)
  }

  /// Warns if the daemon has found that alarms cannot be heard, and it is still true.
  func checkSound(of store: Store) {
    guard InaudibleSoundFile(store).exists,
      let problem = SoundText.problem(Blocking.run({ await soundState() }))
    else { return }
    warnings.warn(problem.message, remedy: problem.remedy)
  }

  /// The path of the lock that the playing process holds; nil without a runtime folder.
  var soundLock: String? { storeContext.runtimeFolder.map { "\($0)/belfry-sound.lock" } }
}
