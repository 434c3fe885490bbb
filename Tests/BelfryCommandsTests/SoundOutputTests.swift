import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler

/// The state of the sound output, with clients that print what real ones do.
@Suite struct SoundOutputTests {
  private func output(_ sandbox: Sandbox, server: String? = nil) -> SoundOutput {
    SoundOutput(
      folders: [sandbox.root + "/bin"], runtimeFolder: sandbox.root + "/run", server: server,
      devices: sandbox.root + "/devices")
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

  @Test("An output is made audible, and restored")
  func makeAudible() async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script(
      "bin/wpctl",
      """
      cd '\(sandbox.root)'
      case $1 in
      get-volume) echo "Volume: $(cat volume)$(cat muted)" ;;
      set-mute) [ "$3" = 1 ] && echo ' [MUTED]' > muted || : > muted ;;
      set-volume) case $3 in *%) echo "0.${3%?}" > volume ;; esac ;;
      esac

      """)
    _ = try sandbox.script("run/pipewire-0", "")
    try sandbox.write("0.05", to: sandbox.root + "/volume")
    try sandbox.write(" [MUTED]", to: sandbox.root + "/muted")
    let output = output(sandbox)
    let before = await output.makeAudible()
    #expect(before == .muted)
    #expect(await output.state == .audible(volume: 40))
    #expect(await output.makeAudible() == nil)
    await output.restore(.muted)
    #expect(await output.state == .muted)
  }
}
