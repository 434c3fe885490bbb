import Foundation
import Glibc
import TestSupport
import Testing

@testable import BelfryScheduler

/// The state of the sound output, with clients that print what real ones do.
@Suite struct SoundOutputTests {
  private func output(_ sandbox: Sandbox, server: String? = nil) -> SoundOutput {
    SoundOutput(
      folders: [sandbox.root + "/bin"], runtimeFolder: sandbox.root + "/run", server: server,
      devices: sandbox.root + "/devices", timeout: 120)
  }

  @Test(
    "The state is read from each client",
    arguments: [
      ("Volume: 0.40", SoundOutput.State.audible(volume: 40)), ("Volume: 1.25 [MUTED]", .muted),
      ("Volume: 0.05", .quiet(volume: 5)), ("", .missing),
    ])
  func pipeWire(text: String, state: SoundOutput.State) async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script("bin/wpctl", "echo '\(text)'\n")
    _ = try sandbox.script("bin/amixer", "echo '[5%] [off]'\n")
    _ = try sandbox.script("run/pipewire-0", "")
    #expect(await output(sandbox).state == state)
  }

  @Test(
    "The loudest channel of ALSA counts",
    arguments: [
      ("Left: Playback 3 [3%] [off]\nRight: 40 [63%] [on]", SoundOutput.State.audible(volume: 63)),
      ("Mono: Playback 40 [63%] [-9.00dB] [off]", .muted),
      ("Mono: Playback 0 [0%] [-99.00dB] [on]", .quiet(volume: 0)),
    ])
  func alsa(text: String, state: SoundOutput.State) async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script(
      "bin/amixer", "printf '\(text)\\n' | sed 's/%%/%/g'\n".replacing("%]", with: "%%]"))
    #expect(await output(sandbox).state == state)
  }

  @Test("Without a server that runs, pactl is not asked, because it would start one")
  func noServer() async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script("bin/pactl", "touch '\(sandbox.root)/asked'\necho auto_null\n")
    #expect(await output(sandbox).state == .absent)
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/asked"))
    #expect(await output(sandbox, server: "unix:/none").state == .missing)
  }

  @Test(
    "A server that refuses connections does not respond, unlike one whose client is too old",
    arguments: [
      ("pactl", "Connection failure: Connection refused", SoundOutput.State.unresponsive),
      ("pactl", "No valid command specified.", .unknown),
      ("wpctl", "Could not connect to PipeWire", .unresponsive),
    ])
  func unresponsive(client: String, message: String, state: SoundOutput.State) async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script("bin/\(client)", "echo '\(message)' >&2\nexit 1\n")
    _ = try sandbox.script(client == "pactl" ? "run/pulse/native" : "run/pipewire-0", "")
    #expect(await output(sandbox).state == state)
    #expect(state.isInaudible == (state == .unresponsive))
  }

  @Test("A machine without a server has no sound, unless there is a card")
  func noCard() async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script("bin/amixer", "echo 'Mixer attach default error' >&2\nexit 1\n")
    #expect(await output(sandbox).state == .absent)
    #expect(!SoundOutput.State.absent.isInaudible)
    _ = try sandbox.script("devices/controlC0", "")
    #expect(await output(sandbox).state == .unknown)
  }

  /// Writes a client of PulseAudio with the outputs `n` and `m`, whose mute and volume are files.
  private func pulseAudio(_ sandbox: Sandbox) throws {
    _ = try sandbox.script(
      "bin/pactl",
      """
      cd '\(sandbox.root)/sinks' || exit
      case $1 in
      get-default-sink) cat default ;;
      get-sink-mute) echo "Mute: $(cat "$2-muted")" ;;
      get-sink-volume) echo "Volume: mono: 1 / $(cat "$2-volume") / 0 dB" ;;
      set-sink-mute) [ "$3" = 1 ] && echo yes > "$2-muted" || echo no > "$2-muted" ;;
      set-sink-volume) echo "$3" > "$2-volume" ;;
      esac

      """)
    _ = try sandbox.script("run/pulse/native", "")
    for (name, muted, volume) in [("n", "yes", "5%"), ("m", "yes", "80%")] {
      try set(sandbox, "\(name)-muted", muted)
      try set(sandbox, "\(name)-volume", volume)
    }
    try set(sandbox, "default", "n")
  }

  private func set(_ sandbox: Sandbox, _ name: String, _ text: String) throws {
    try FileManager.default.createDirectory(
      atPath: sandbox.root + "/sinks", withIntermediateDirectories: true)
    try sandbox.write(text + "\n", to: sandbox.root + "/sinks/" + name)
  }

  /// Returns the mute and the volume of an output.
  private func level(_ sandbox: Sandbox, _ name: String) throws -> [String] {
    try ["muted", "volume"].map {
      try String(contentsOfFile: "\(sandbox.root)/sinks/\(name)-\($0)", encoding: .utf8)
        .split(separator: "\n").joined()
    }
  }

  private func unmuting(_ sandbox: Sandbox) -> OutputUnmuting {
    OutputUnmuting(path: sandbox.root + "/state/sound-output") { output(sandbox) }
  }

  @Test("Each output is unmuted once, and all are restored with their volume")
  func unmutesEachOutput() async throws {
    let sandbox = try Sandbox()
    try pulseAudio(sandbox)
    var unmuting = unmuting(sandbox)
    await unmuting.check()
    #expect(try level(sandbox, "n") == ["no", "40%"])
    try set(sandbox, "default", "m")
    await unmuting.check()
    #expect(try level(sandbox, "m") == ["no", "80%"])
    // The user mutes it.
    try set(sandbox, "m-muted", "yes")
    await unmuting.check()
    #expect(try level(sandbox, "m") == ["yes", "80%"])
    try set(sandbox, "m-muted", "no")
    await unmuting.restore()
    #expect(try level(sandbox, "n") == ["yes", "5%"])
    #expect(try level(sandbox, "m") == ["yes", "80%"])
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/state/sound-output"))
  }

  @Test("An output that is muted after a restart of the sound server is unmuted again")
  func unmutesAfterRestart() async throws {
    let sandbox = try Sandbox()
    try pulseAudio(sandbox)
    try set(sandbox, "n-volume", "15%")
    var unmuting = unmuting(sandbox)
    await unmuting.check()
    // A volume that is hardly heard is raised, too.
    #expect(try level(sandbox, "n") == ["no", "40%"])
    try set(sandbox, "n-muted", "yes")
    await unmuting.check()
    #expect(try level(sandbox, "n") == ["yes", "40%"])
    unmuting.forgetChecks()
    await unmuting.check()
    #expect(try level(sandbox, "n") == ["no", "40%"])
    await unmuting.restore()
    #expect(try level(sandbox, "n") == ["yes", "15%"])
  }

  @Test("The output that a killed process has unmuted is restored, unless an alarm sounds")
  func killedWhileSounding() async throws {
    let sandbox = try Sandbox()
    try pulseAudio(sandbox)
    var killed = unmuting(sandbox)
    await killed.check()
    #expect(unmuting(sandbox).isPending)
    // Another process finds an audible output, and keeps the level from before.
    var next = unmuting(sandbox)
    await next.check()
    let lock = sandbox.root + "/lock"
    let sounding = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(flock(sounding, LOCK_EX) == 0)
    await SoundLoop.restore(unmuting(sandbox), lock: lock)
    #expect(try level(sandbox, "n") == ["no", "40%"])
    close(sounding)
    // A process that another test starts at this moment has the lock until it runs its program.
    for _ in 0..<500 where unmuting(sandbox).isPending {
      await SoundLoop.restore(unmuting(sandbox), lock: lock)
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(try level(sandbox, "n") == ["yes", "5%"])
    #expect(!unmuting(sandbox).isPending)
  }

  @Test("The level is kept while the server does not respond")
  func restoresLater() async throws {
    let sandbox = try Sandbox()
    try pulseAudio(sandbox)
    var unmuting = unmuting(sandbox)
    await unmuting.check()
    let (socket, away) = (sandbox.root + "/run/pulse/native", sandbox.root + "/run/native")
    try FileManager.default.moveItem(atPath: socket, toPath: away)
    await unmuting.restore()
    #expect(unmuting.isPending)
    try FileManager.default.moveItem(atPath: away, toPath: socket)
    await unmuting.restore()
    #expect(try level(sandbox, "n") == ["yes", "5%"])
  }

  @Test("An output of PipeWire is restored by its name")
  func pipeWireOutput() async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script(
      "bin/wpctl",
      """
      cd '\(sandbox.root)' || exit
      case $1 in
      get-volume) echo "Volume: $(cat volume)$(cat muted)" ;;
      inspect) printf 'id %s, type PipeWire:Interface:Node\\n  * node.name = "card"\\n' "$(cat id)" ;;
      set-mute) echo "$2" >> set; [ "$3" = 1 ] && echo ' [MUTED]' > muted || : > muted ;;
      set-volume) case $3 in *%) printf '0.%02d\\n' "${3%?}" > volume ;; esac ;;
      esac

      """)
    _ = try sandbox.script("run/pipewire-0", "")
    try sandbox.write("0.05", to: sandbox.root + "/volume")
    try sandbox.write(" [MUTED]", to: sandbox.root + "/muted")
    try sandbox.write("42", to: sandbox.root + "/id")
    var unmuting = unmuting(sandbox)
    await unmuting.check()
    #expect(await output(sandbox).state == .audible(volume: 40))
    await unmuting.restore()
    #expect(await output(sandbox).state == .muted)
    #expect(try String(contentsOfFile: sandbox.root + "/set", encoding: .utf8) == "42\n42\n")
    #expect(try String(contentsOfFile: sandbox.root + "/volume", encoding: .utf8) == "0.05\n")
  }
}
