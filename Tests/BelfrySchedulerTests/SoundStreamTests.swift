import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler

/// The stream of a player in the mixer, with players that end once their stream was corrected.
@Suite struct SoundStreamTests {
  private func log(_ sandbox: Sandbox) throws -> [Substring] {
    try String(contentsOfFile: sandbox.root + "/log", encoding: .utf8).split(separator: "\n")
  }

  @Test(
    "A stream of PulseAudio that was muted and quiet before is corrected, and no other one",
    arguments: [("", 100), (" FLAT_VOLUME", 40)])
  func pulse(flag: String, volume: Int) async throws {
    let sandbox = try Sandbox()
    let folder = "cd '\(sandbox.root)'\n"
    // The state of the stream. A command that does not return in time is repeated, on a busy machine.
    try "yes\n".write(toFile: sandbox.root + "/mute", atomically: false, encoding: .utf8)
    try "3%\n".write(toFile: sandbox.root + "/volume", atomically: false, encoding: .utf8)
    _ = try sandbox.script(
      "bin/paplay",
      """
      \(folder)\(sandbox.waitFor)
      echo $1 > client; echo ${2#--property=} > stream
      wait_for grep -q no mute
      wait_for grep -q '^\(volume)%' volume

      """)
    _ = try sandbox.script(
      "bin/pactl",
      """
      \(folder)case "$*" in
      'list sink-inputs')
        name=$(sed 's/.*=//' stream)
        printf 'Sink Input #3\\n\\tMute: yes\\n\\tVolume: mono: 0 /   0%% / -inf dB\\n'
        printf '\\tProperties:\\n\\t\\tbelfry.stream = "%s0"\\n\\n' "$name"
        printf 'Sink Input #7\\n\\tMute: %s\\n' "$(cat mute)"
        printf '\\tVolume: mono: 1966 /   %s / -91.37 dB\\n' "$(cat volume)"
        printf '\\tProperties:\\n\\t\\tbelfry.stream = "%s"\\n\\n' "$name" ;;
      'list sinks') echo 'Flags: DECIBEL_VOLUME\(flag)' ;;
      'set-sink-input-mute 7 0') echo no > mute ;;
      'set-sink-input-volume 7 '*) echo $3 > volume ;;
      *) echo "$*" >> log ;;
      esac

      """)
    var player = try #require(SoundPlayer(folders: [sandbox.root + "/bin"]))
    #expect(await player.play(Sound.all[0]) == nil)
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/log"))
    let client = try String(contentsOfFile: sandbox.root + "/client", encoding: .utf8)
    #expect(client == "--client-name=Belfry\n")
  }

  @Test("A stream of PipeWire has a role of its own, and is unmuted at full volume")
  func pipeWire() async throws {
    let sandbox = try Sandbox()
    let folder = "cd '\(sandbox.root)'\n"
    _ = try sandbox.script(
      "bin/pw-play",
      "\(folder)echo \"$PIPEWIRE_PROPS\" > properties\n"
        + sandbox.waitFor + "wait_for [ -e corrected ]\n")
    _ = try sandbox.script("bin/pw-cli", "\(folder)echo \"$*\" >> log\ntouch corrected\n")
    var player = try #require(SoundPlayer(folders: [sandbox.root + "/bin"]))
    #expect(await player.play(Sound.all[0]) == nil)
    let name = "belfry-\(getpid())"
    #expect(
      try log(sandbox).first == "set-param \(name) Props { mute: false, channelVolumes: [ 1.0 ] }")
    let properties = try String(contentsOfFile: sandbox.root + "/properties", encoding: .utf8)
    #expect(properties.contains("media.role=Belfry node.name=\(name) "))
  }

  @Test("A sound plays if the mixer cannot be reached")
  func noClient() async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script("bin/paplay", "cat \"$3\" > '\(sandbox.root)/played'\n")
    var player = try #require(SoundPlayer(folders: [sandbox.root + "/bin"]))
    #expect(await player.play(Sound.all[0]) == nil)
    let played = FileManager.default.contents(atPath: sandbox.root + "/played")
    #expect(played.map(Array.init) == Sound.all[0].wav())
  }
}
