import Foundation
import TestSupport
import Testing

/// Tests of playback by real players, into a file or a null sink.
@Suite(.serialized) struct SoundPlayingTests {
  /// Configures ALSA to play into a file, and returns the file's path.
  private func alsa(_ sandbox: Sandbox) throws -> String {
    let file = sandbox.root + "/played.raw"
    try sandbox.write(
      "pcm.!default { type file slave.pcm \"null\" file \"\(file)\" format \"raw\" }\n",
      to: sandbox.home + "/.asoundrc")
    return file
  }

  /// Returns the peak, the root mean square (of 32,767) and the number of the 16-bit samples.
  private func loudness(_ file: String) throws -> (peak: Int, mean: Double, count: Int) {
    let data = try Data(contentsOf: URL(filePath: file))
    var (peak, sum, count) = (0, 0.0, 0)
    for index in stride(from: 0, to: data.count - 1, by: 2) {
      let sample = Int16(bitPattern: UInt16(data[index]) | UInt16(data[index + 1]) << 8)
      peak = max(peak, abs(Int(sample)))
      sum += Double(sample) * Double(sample)
      count += 1
    }
    return (peak, count == 0 ? 0 : (sum / Double(count)).squareRoot(), count)
  }

  @Test(arguments: ["bell", "chime", "marimba", "pulse", "tritone"])
  func soundPlaysThroughALSA(_ name: String) async throws {
    let sandbox = try Sandbox()
    // The shipped hook plays the sound.
    try FileManager.default.removeItem(atPath: sandbox.hooks + "/ring")
    let file = try alsa(sandbox)
    let play = try await sandbox.belfry("sounds", "play", name)
    #expect(play.out == "Played \(name).\n", "\(play.err)")
    let (peak, mean, count) = try loudness(file)
    #expect(peak > 20_000 && mean > 500, "\(name): \(peak), \(mean)")
    #expect(count > 22_050 / 2)
  }

  @Test(
    "A sound plays through PulseAudio, which is preferred to ALSA",
    // The test cannot require PulseAudio, because its installation replaces another sound server.
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/pulseaudio")))
  func soundPlaysThroughPulseAudio() async throws {
    let sandbox = try Sandbox()
    // The shipped hook plays the sound.
    try FileManager.default.removeItem(atPath: sandbox.hooks + "/ring")
    let root = sandbox.root
    let script = """
      \(sandbox.waitFor)
      mkdir -p '\(root)/run'; chmod 700 '\(root)/run'
      export XDG_RUNTIME_DIR='\(root)/run'
      pulseaudio -n --daemonize=no --exit-idle-time=-1 --load='module-null-sink sink_name=quiet' \
        --load=module-native-protocol-unix >/dev/null 2>&1 &
      server=$!
      wait_for pactl info
      parec --latency-msec=50 --raw --format=s16le --channels=1 -d quiet.monitor > '\(root)/played.raw' 2>/dev/null &
      recorder=$!
      wait_for [ -s '\(root)/played.raw' ]
      '\(Sandbox.binary)' sounds play pulse
      # The recorder is behind the player: it has ended when silence follows the sound.
      has_ended() {
        [ "$(tr -d '\\0' <'\(root)/played.raw' | wc -c)" -gt 10000 ] &&
          [ "$(tail -c 8820 '\(root)/played.raw' | tr -d '\\0' | wc -c)" = 0 ]
      }
      wait_for has_ended
      kill $recorder $server
      """
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["400", "sh", "-c", script], environment: ["BELFRY_SOUND": "bell"])
    #expect(output.out.contains("Played pulse."), "\(output.err)")
    #expect(try loudness(root + "/played.raw").peak > 10_000)
  }

  @Test(
    "A muted output is reported, and unmuted while an alarm sounds if the setting says so",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/pulseaudio")))
  func mutedOutput() async throws {
    let sandbox = try Sandbox()
    // The shipped hook plays the sound.
    try FileManager.default.removeItem(atPath: sandbox.hooks + "/ring")
    let root = sandbox.root
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "12:00")
    let script = """
      \(sandbox.waitFor)
      mkdir -p '\(root)/run'; chmod 700 '\(root)/run'
      export XDG_RUNTIME_DIR='\(root)/run' TZ=UTC BELFRY_DEVICE=laptop BELFRY_NOW=2026-11-23T08:00:00Z
      unset BELFRY_SOUND
      belfry='\(Sandbox.binary)' log='\(root)/daemon.log'
      pulseaudio -n --daemonize=no --exit-idle-time=-1 --load='module-null-sink sink_name=quiet' \
        --load=module-native-protocol-unix >/dev/null 2>&1 &
      server=$!
      wait_for pactl info
      sound() { "$belfry" doctor --json | grep -E 'sound|hear' ; "$belfry" list 2>&1 | grep -E 'sound output'; }
      echo "1 $(sound)"
      pactl set-sink-mute quiet 1
      "$belfry" daemon 2>"$log" &
      daemon=$!
      wait_for grep -q 'the sound output is muted, so alarms cannot be heard' "$log"
      wait_for [ -e '\(sandbox.store)/.git/belfry/sound-inaudible' ]
      echo "2 $(sound)"
      "$belfry" settings set unmuteSound on
      echo "3 $(sound)"
      pactl set-sink-volume quiet 3%
      "$belfry" sounds play --repeat bell >/dev/null &
      player=$!
      unmuted() { pactl get-sink-mute quiet | grep -q no && pactl get-sink-volume quiet | grep -q 40%; }
      wait_for unmuted
      kill $player; wait $player; echo "player $?"
      wait_for sh -c 'pactl get-sink-mute quiet | grep -q yes'
      kill $daemon $server; wait
      """
    let output = try await sandbox.run("/usr/bin/timeout", ["400", "bash", "-c", script])
    let parts = output.out.split(separator: "\n").map(String.init)
    #expect(parts.first?.hasPrefix("1 ") == true && parts.first?.contains("can be heard") == true)
    #expect(
      output.out.components(separatedBy: "the sound output is muted").count == 3, "\(output.out)")
    #expect(output.out.contains("player 143"), "\(output.out)")
  }

  @Test(
    "A sound plays through PipeWire, which is preferred to all other servers",
    .enabled(
      if: ["pipewire", "pw-record", "wireplumber"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
      }))
  func soundPlaysThroughPipeWire() async throws {
    let sandbox = try Sandbox()
    // The shipped hook plays the sound.
    try FileManager.default.removeItem(atPath: sandbox.hooks + "/ring")
    let root = sandbox.root
    let script = """
      \(sandbox.waitFor)
      mkdir -p '\(root)/run'; chmod 700 '\(root)/run'
      export XDG_RUNTIME_DIR='\(root)/run'
      pipewire >/dev/null 2>&1 &
      server=$!
      wait_for pw-cli info 0
      wireplumber >/dev/null 2>&1 &
      manager=$!
      pw-cli create-node adapter '{ factory.name=support.null-audio-sink node.name=quiet
        media.class=Audio/Sink object.linger=true audio.position=[MONO] }' >/dev/null
      has_port() { pw-link --output | grep -q quiet:monitor; }
      wait_for has_port
      pw-record --target quiet -P '{ stream.capture.sink=true }' --channels 1 --format s16 --rate 22050 \
        '\(root)/played.wav' >/dev/null 2>&1 &
      recorder=$!
      is_linked() { pw-link --links | grep -q quiet:monitor; }
      wait_for is_linked
      '\(Sandbox.binary)' sounds play pulse
      # The recorder is behind the player by less than a quarter of a second.
      sleep 0.5
      kill -INT $recorder; wait $recorder
      kill $manager $server
      """
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["400", "dbus-run-session", "sh", "-c", script],
      environment: ["BELFRY_SOUND": "bell"])
    #expect(output.out.contains("Played pulse."), "\(output.err)")
    #expect(try loudness(root + "/played.wav").peak > 10_000)
  }

  @Test("A sound with rising volume starts quietly")
  func risingVolumeStartsQuietly() async throws {
    let sandbox = try Sandbox()
    // The shipped hook plays the sound.
    try FileManager.default.removeItem(atPath: sandbox.hooks + "/ring")
    let file = try alsa(sandbox)
    let script = """
      \(sandbox.waitFor)
      '\(Sandbox.binary)' sounds play pulse --repeat --rising > '\(sandbox.root)/said' &
      wait_for [ -s '\(sandbox.root)/said' ]
      kill $!; wait $!; cat '\(sandbox.root)/said'
      """
    let output = try await sandbox.run("/usr/bin/timeout", ["400", "sh", "-c", script])
    #expect(output.out == "delivered\n")
    let (peak, _, _) = try loudness(file)
    #expect((1_000..<10_000).contains(peak), "\(peak)")
  }

  @Test("A sound goes on if the daemon that started it has died")
  func soundOutlivesItsReader() async throws {
    let sandbox = try Sandbox()
    let file = try alsa(sandbox)
    let script = """
      \(sandbox.waitFor)
      mkfifo '\(sandbox.root)/pipe'
      : < '\(sandbox.root)/pipe' &
      '\(Sandbox.binary)' sounds play pulse --repeat > '\(sandbox.root)/pipe' &
      player=$!
      is_decided() { [ -s '\(file)' ] || ! kill -0 $player; }
      played() { wait_for is_decided && [ -s '\(file)' ]; }
      # `delivered` is printed after the first of the sounds, which are shorter than two seconds.
      played && sleep 3 && rm '\(file)' && played && echo repeated
      kill $player; wait $player; echo "ended with $?"
      """
    let output = try await sandbox.run("/usr/bin/timeout", ["400", "sh", "-c", script])
    #expect(output.out == "repeated\nended with 143\n", "\(output.err)")
  }

  @Test("Ringing alarms sound one at a time until they are answered")
  func alarmsSoundUntilAnswered() async throws {
    let sandbox = try Sandbox()
    // The shipped hook plays the sound.
    try FileManager.default.removeItem(atPath: sandbox.hooks + "/ring")
    try await sandbox.plus()
    let file = try alsa(sandbox)
    for name in ["Tea", "Rent"] {
      _ = try await sandbox.belfry(
        "add", name, "--daily", "--at", "09:00", now: "2026-11-23T08:00:00Z")
    }
    let script = """
      \(sandbox.waitFor)
      mkdir -p '\(sandbox.root)/run'
      export XDG_RUNTIME_DIR='\(sandbox.root)/run' TZ=UTC BELFRY_DEVICE=laptop BELFRY_SOUND=pulse
      BELFRY_NOW=2026-11-23T08:59:59Z '\(Sandbox.binary)' daemon 2>'\(sandbox.root)/daemon.log' &
      daemon=$!
      rang() { [ "$(grep -c rang '\(sandbox.root)/daemon.log')" = 2 ]; }
      wait_for rang
      # Players that find no server take their time to say so.
      sounded() { [ "$(stat -c %s '\(file)')" -gt 40000 ]; }
      wait_for sounded
      export BELFRY_NOW=2026-11-23T09:00:05Z
      '\(Sandbox.binary)' done tea >/dev/null
      '\(Sandbox.binary)' done rent >/dev/null
      sleep 1
      before=$(stat -c %s '\(file)')
      sleep 2
      [ "$(stat -c %s '\(file)')" = "$before" ] && echo "silent again"
      kill $daemon; wait $daemon; echo "ended with $?"
      """
    let output = try await sandbox.run("/usr/bin/timeout", ["400", "sh", "-c", script])
    #expect(
      output.out == "silent again\nended with 0\n", "\(output.out)\(output.err)\(sandbox.daemonLog)"
    )
    #expect(try loudness(file).peak > 20_000)
    // Simultaneous playback would record twice as many samples.
    #expect(try loudness(file).count < 22_050 * 8)
  }
}
