import Foundation
import TestSupport
import Testing

/// Battery warnings of `enable`, `list`, `battery`, `tick` and the daemon.
@Suite struct BatteryTests {
  /// 23:00, seven hours before 06:00.
  private static let evening = "2026-11-23T23:00:00Z"
  private static let red = "\u{1B}[1;31m▌"
  private static let orange = "\u{1B}[38;5;166m▌"

  /// Returns a laptop with an alarm at 05:00, six hours after `evening`.
  private func laptop(_ level: Double, drain: Double, isCharging: Bool = false) async throws
    -> Sandbox
  {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    try sandbox.battery(level, drain: drain, isCharging: isCharging)
    _ = try await sandbox.belfry(
      "add", "Competition", "--daily", "--at", "05:00", now: "2026-11-23T12:00:00Z")
    return sandbox
  }

  private func list(_ sandbox: Sandbox) async throws -> Sandbox.Output {
    try await sandbox.belfry("list", now: BatteryTests.evening)
  }

  private func batteryWarnings(_ sandbox: Sandbox) async throws -> [String: [String: Any]] {
    let list = try await sandbox.belfry("list", "--json", now: BatteryTests.evening)
    return Dictionary(
      uniqueKeysWithValues: list.array.compactMap { alarm in
        guard let title = alarm["title"] as? String,
          let batteryWarning = alarm["batteryWarning"] as? [String: Any]
        else { return nil }
        return (title, batteryWarning)
      })
  }

  // MARK: Prediction

  @Test(
    "The predicted level and risk follow from level, drain, hours and charger",
    arguments: [
      ("34", "8", "6", false, 0, "critical"), ("34", "8", "6", true, 34, "safe"),
      ("80", "3", "8", false, 56, "safe"), ("55", "6", "7", false, 13, "warning"),
      ("45", "5", "8", false, 5, "critical"), ("25.05", "5", "1", false, 20, "warning"),
    ])
  func prediction(
    _ level: String, _ drain: String, _ hours: String, _ charging: Bool, _ predicted: Int,
    _ risk: String
  ) async throws {
    let sandbox = try Sandbox()
    let arguments = ["battery", "predict", "--level", level, "--drain", drain, "--hours", hours]
    let output = try await sandbox.run(
      Sandbox.binary, arguments + ["--json"] + (charging ? ["--charging"] : []))
    #expect(output.object["predicted"] as? Int == predicted)
    #expect(output.object["risk"] as? String == risk)
  }

  @Test("With an unknown drain the risk is unknown, and an invalid level is refused")
  func unknownPrediction() async throws {
    let sandbox = try Sandbox()
    let unknown = try await sandbox.belfry(
      "battery", "predict", "--level", "3", "--hours", "6", "--json")
    #expect(unknown.object["risk"] as? String == "unknown")
    let text = try await sandbox.belfry("battery", "predict", "--level", "3", "--hours", "6")
    #expect(text.out == "unknown: the drain is unknown, so nothing is predicted.\n")
    #expect(unknown.object["unknown"] as? String == "drain")
    #expect(unknown.object["predicted"] == nil)
    for wrong in [["--level", "101"], ["--level", "x"], ["--level", "nan"]] {
      let output = try await sandbox.run(
        Sandbox.binary, ["battery", "predict", "--hours", "6"] + wrong)
      #expect(output.status == 2, "\(output.err)")
    }
  }

  // MARK: Critical warnings

  @Test("Enabling an alarm at risk shows a red battery warning below it")
  func enabledAlarm() async throws {
    let sandbox = try await laptop(34, drain: 8)
    _ = try await sandbox.belfry("disable", "comp", now: BatteryTests.evening)
    let enable = try await sandbox.onTerminal(
      "enable", "comp", "--no-animation", input: "", now: BatteryTests.evening)
    let lines = enable.out.split(whereSeparator: \.isNewline).map(String.init)
    let first = try #require(lines.firstIndex { $0.contains("Enabled Competition") })
    let summary = Array(lines[(first + 1)...].prefix(3))
    #expect(
      summary.count == 3 && summary.allSatisfy { $0.contains(BatteryTests.red) }, "\(enable.out)")
    #expect(summary[0].contains("⚠ Alarm at Risk"))
    // The only bold line.
    #expect(summary[1].contains("\u{1B}[1mEstimated battery at alarm: 0%\u{1B}[0m"))
    #expect(summary[2].hasSuffix("Plug in now."))
    #expect(!enable.out.contains("\u{1B}[3A"))
  }

  @Test("Disabling an alarm removes its battery warning")
  func disabledAlarm() async throws {
    let sandbox = try await laptop(34, drain: 8)
    #expect(try await list(sandbox).out.contains("Alarm at Risk"))
    let off = try await sandbox.belfry("disable", "comp", now: BatteryTests.evening)
    #expect(off.out == "Disabled Competition.\n")
    #expect(try await !list(sandbox).out.contains("▌"))
  }

  @Test("The list shows the battery warning of an enabled alarm")
  func listedAlarm() async throws {
    let sandbox = try await laptop(34, drain: 8)
    let lines = try await list(sandbox).out.split(separator: "\n").map(String.init)
    #expect(lines.dropFirst().first?.contains("  battery 0%  tomorrow 05:00") == true)
    #expect(
      Array(lines.suffix(3)) == [
        "  ▌ ⚠ Alarm at Risk", "  ▌ Estimated battery at alarm: 0%", "  ▌ Plug in now.",
      ])
    let batteryWarning = try #require(try await batteryWarnings(sandbox)["Competition"])
    #expect(
      NSDictionary(dictionary: batteryWarning) == [
        "risk": "critical", "predicted": 0, "headline": "Estimated battery at alarm: 0%",
        "action": "Plug in now.",
      ])
    for command in [["show", "comp"], ["edit", "comp", "--note", "Early"]] {
      let output = try await sandbox.run(
        Sandbox.binary, command,
        environment: ["BELFRY_NOW": BatteryTests.evening, "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
      #expect(output.out.contains("▌ Plug in now."), "\(command): \(output.out)")
    }
  }

  @Test("The battery warning slides in unless animations are disabled")
  func animation() async throws {
    let sandbox = try await laptop(34, drain: 8)
    func enable(_ options: String...) async throws -> String {
      _ = try await sandbox.belfry("disable", "comp", now: BatteryTests.evening)
      return try await sandbox.onTerminal(
        "enable", "comp", input: "", now: BatteryTests.evening
      ).out
    }
    let moving = try await enable()
    #expect(moving.components(separatedBy: "\u{1B}[3A").count == 7, "\(moving)")
    #expect(moving.hasSuffix("Plug in now.\r\n"))
    _ = try await sandbox.belfry("settings", "set", "reducedMotion", "on")
    #expect(try await !enable().contains("\u{1B}[3A"))
  }

  // MARK: Safe alarms

  @Test("A battery that lasts changes no output")
  func safeAlarm() async throws {
    let sandbox = try await laptop(80, drain: 3)
    let bare = try await laptop(80, drain: 3)
    for name in ["BAT0", "AC"] {
      try FileManager.default.removeItem(atPath: "\(bare.power)/\(name)")
    }
    for command in [["disable", "comp"], ["enable", "comp"], ["list"], ["show", "comp"]] {
      var outputs: [String] = []
      for each in [sandbox, bare] {
        let output = try await each.run(
          Sandbox.binary, command,
          environment: ["BELFRY_NOW": BatteryTests.evening, "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
        // Identifiers differ between the stores.
        outputs.append(
          output.out.replacing(/[a-z2-7]{8,}/, with: "ID") + output.err)
      }
      #expect(outputs[0] == outputs[1])
      #expect(!outputs[0].localizedCaseInsensitiveContains("battery"))
    }
    #expect(try await batteryWarnings(sandbox).isEmpty)
  }

  @Test("Connecting a charger removes the battery warning")
  func connectedCharger() async throws {
    let sandbox = try await laptop(34, drain: 8)
    #expect(try await list(sandbox).out.contains("Alarm at Risk"))
    _ = try await sandbox.belfry("disable", "comp", now: BatteryTests.evening)
    try sandbox.battery(34, isCharging: true)
    let enable = try await sandbox.belfry("enable", "comp", now: BatteryTests.evening)
    #expect(!enable.out.contains("▌"), "\(enable.out)")
    #expect(try await !list(sandbox).out.contains("▌"))
  }

  @Test("Only the alarms at risk show a battery warning")
  func severalAlarms() async throws {
    let sandbox = try await laptop(60, drain: 9)
    for (title, time) in [("Tea", "23:30"), ("School run", "07:00"), ("Weekly review", "10:00")] {
      _ = try await sandbox.belfry(
        "add", title, "--daily", "--at", time, now: "2026-11-23T12:00:00Z")
    }
    let batteryWarnings = try await batteryWarnings(sandbox)
    // The prediction is 6% after 6 hours, and 0% after 8 and 11 hours.
    #expect(batteryWarnings["Competition"]?["risk"] as? String == "warning")
    #expect(batteryWarnings["Competition"]?["predicted"] as? Int == 6)
    #expect(batteryWarnings["School run"]?["risk"] as? String == "critical")
    #expect(batteryWarnings["Weekly review"]?["risk"] as? String == "critical")
    #expect(batteryWarnings["Tea"] == nil && batteryWarnings.count == 3)
    let cards = try await sandbox.belfry("list", "--cards", now: BatteryTests.evening)
    let parts = cards.out.components(separatedBy: "\n\n")
    #expect(parts.map { $0.contains("▌") } == [false, true, true, true], "\(parts)")
    // The table marks each alarm, and shows the worst warning once.
    let table = try await list(sandbox).out
    #expect(table.components(separatedBy: "  battery ").count == 4, "\(table)")
    #expect(table.components(separatedBy: "▌").count == 4)
  }

  // MARK: Low battery warnings

  @Test("A low prediction shows an orange warning that suggests plugging in")
  func lowBattery() async throws {
    let sandbox = try await laptop(49, drain: 6)
    _ = try await sandbox.belfry("disable", "comp", now: BatteryTests.evening)
    let enable = try await sandbox.onTerminal(
      "enable", "comp", "--no-animation", input: "", now: BatteryTests.evening)
    let summary = enable.out.split(whereSeparator: \.isNewline).filter { $0.contains("▌") }
    #expect(summary.count == 3 && summary.allSatisfy { $0.contains(BatteryTests.orange) })
    #expect(summary.first?.contains("⚠ Low Battery Warning") == true)
    #expect(summary.dropFirst().first?.contains("Estimated battery at alarm: 13%") == true)
    #expect(summary.last?.hasSuffix("Consider plugging in.") == true)
    #expect(!enable.out.contains(BatteryTests.red))
  }

  @Test("Critical and low battery warnings have different colors")
  func colors() async throws {
    let sandbox = try await laptop(49, drain: 6)
    _ = try await sandbox.belfry(
      "add", "Later", "--daily", "--at", "08:00", now: "2026-11-23T12:00:00Z")
    let list = try await sandbox.onTerminal("list", "--cards", input: "", now: BatteryTests.evening)
    #expect(list.out.components(separatedBy: BatteryTests.red).count == 4, "\(list.out)")
    #expect(list.out.components(separatedBy: BatteryTests.orange).count == 4)
  }

  // MARK: Alarms without a battery warning

  @Test("Alarms of other devices and of later days have no battery warning")
  func others() async throws {
    let sandbox = try await laptop(34, drain: 8)
    let server = try await sandbox.secondDevice(now: "2026-11-23T12:01:00Z")
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-23T12:02:00Z", store: server, device: "server")
    _ = try await sandbox.belfry("sync", now: "2026-11-23T12:03:00Z")
    let edit = try await sandbox.belfry(
      "edit", "comp", "--on", "server", now: "2026-11-23T12:04:00Z")
    #expect(edit.status == 0, "\(edit.err)")
    _ = try await sandbox.belfry(
      "add", "Rent", "--monthly", "1", "--at", "09:00", now: "2026-11-23T12:05:00Z")
    #expect(try await batteryWarnings(sandbox).isEmpty)
  }

  @Test("A machine without a battery shows no battery warnings, and doctor reports why")
  func server() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "05:00", now: "2026-11-23T12:00:00Z")
    for command in [["list"], ["list", "--json"], ["show", "tea"], ["tick"], ["tick", "--json"]] {
      let output = try await sandbox.run(
        Sandbox.binary, command,
        environment: ["BELFRY_NOW": BatteryTests.evening, "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
      #expect(!(output.out + output.err).localizedCaseInsensitiveContains("batter"))
    }
    #expect(!FileManager.default.fileExists(atPath: sandbox.home + "/.local/state/belfry/battery"))
    func doctor() async throws -> [String: Any]? {
      let doctor = try await sandbox.belfry("doctor", "--json", now: BatteryTests.evening)
      return (doctor.object["findings"] as? [[String: Any]])?
        .first { $0["area"] as? String == "battery" }
    }
    #expect(
      try await doctor()?["message"] as? String == "This machine has no battery.")
    let battery = try await sandbox.belfry("battery", now: BatteryTests.evening)
    #expect(battery.out == "This machine has no battery.\n" && battery.status == 0)
    // Doctor names the missing reading.
    try sandbox.supply("BAT0", ["type": "Battery", "status": "Discharging", "capacity": "50"])
    let unknown = try #require(try await doctor())
    #expect(unknown["level"] as? String == "note")
    #expect((unknown["message"] as? String)?.contains("the drain is not known yet") == true)
    #expect(try await batteryWarnings(sandbox)["Tea"]?["assumed"] as? Bool == true)
  }

  @Test("Belfry reads the battery from UPower when the kernel reports none")
  func upower() async throws {
    let sandbox = try await laptop(80, drain: 1)
    let root = sandbox.root
    try sandbox.write(
      """
      P: /devices/LNXSYSTM:00/BAT0/power_supply/BAT0
      E: POWER_SUPPLY_NAME=BAT0
      E: SUBSYSTEM=power_supply
      A: type=Battery\\n
      A: present=1\\n
      A: status=Discharging\\n
      A: energy_full=50000000\\n
      A: energy_full_design=50000000\\n
      A: energy_now=17000000\\n
      A: power_now=4000000\\n
      A: voltage_now=11400000\\n
      A: capacity=34\\n

      """, to: root + "/bat.umockdev")
    let script = """
      \(sandbox.waitFor)
      cd '\(root)'
      dbus-daemon --session --nofork --address='unix:path=\(root)/bus' 2>/dev/null & bus=$!
      export DBUS_SYSTEM_BUS_ADDRESS='unix:path=\(root)/bus'
      wait_for [ -S bus ]
      umockdev-run -d bat.umockdev -- /usr/libexec/upowerd >/dev/null 2>&1 & power=$!
      wait_for busctl --system status org.freedesktop.UPower
      '\(Sandbox.binary)' list --json
      kill $power $bus
      """
    let list = try await sandbox.run(
      "/usr/bin/timeout", ["400", "sh", "-c", script],
      environment: [
        "BELFRY_NOW": BatteryTests.evening, "TZ": "UTC", "BELFRY_DEVICE": "laptop",
        "BELFRY_POWER_SUPPLY": "/nowhere",
      ])
    let batteryWarning = list.array.first?["batteryWarning"] as? [String: Any]
    #expect(
      batteryWarning?["headline"] as? String == "Estimated battery at alarm: 0%", "\(list.out)")
  }

  // MARK: The battery command

  @Test("`battery` shows level, state, drain and the prediction for each alarm")
  func batteryCommand() async throws {
    let sandbox = try await laptop(49, drain: 6)
    let page = try await sandbox.belfry("battery", now: BatteryTests.evening)
    for words in [
      "level     49%", "state     discharging",
      "drain     6.0% per hour, from the kernel's power reading", "source    the kernel: BAT0",
      "13%  warning", "tomorrow 05:00  Competition", "100% │",
    ] {
      #expect(page.out.contains(words), "\(words): \(page.out)")
    }
    let json = try await sandbox.belfry("battery", "--json", now: BatteryTests.evening)
    #expect(json.object["level"] as? Double == 49)
    #expect(json.object["drain"] as? Double == 6)
    #expect(json.object["drainFrom"] as? String == "kernel")
    #expect((json.object["alarms"] as? [[String: Any]])?.first?["predicted"] as? Int == 13)
  }

  /// Returns a laptop whose kernel reports no power, with one recorded sample.
  private func sampledLaptop() async throws -> Sandbox {
    let sandbox = try await laptop(60, drain: 0)
    _ = try await sandbox.belfry("tick", now: "2026-11-23T22:59:00Z")
    return sandbox
  }

  @Test("A recorded sample is read again")
  func samples() async throws {
    let sandbox = try await sampledLaptop()
    let fresh = try await sandbox.belfry("battery", "--json", now: BatteryTests.evening)
    #expect((fresh.object["samples"] as? [Any])?.count == 1)
    #expect(fresh.object["drainFrom"] as? String == "assumed")
  }

  @Test("Without a measured drain, a typical one is assumed, and the warning says so")
  func assumedDrain() async throws {
    let sandbox = try await laptop(22, drain: 0)
    let list = try await list(sandbox)
    #expect(list.out.contains("Estimated battery at alarm: 0%"), "\(list.out)")
    #expect(list.out.contains("A typical drain is assumed."), "\(list.out)")
    let json = try await sandbox.belfry("list", "--json", now: BatteryTests.evening)
    let warning = json.array.first?["batteryWarning"] as? [String: Any]
    #expect(warning?["assumed"] as? Bool == true, "\(json.out)")
    let page = try await sandbox.belfry("battery", now: BatteryTests.evening)
    #expect(page.out.contains("10.0% per hour, assumed until it is measured"), "\(page.out)")
  }

  @Test(
    "The drain is computed from samples when the kernel reports no power",
    .enabled(if: TestMachine.uptime > 3_700, "the machine has run for less than the samples' hour"))
  func learns() async throws {
    let sandbox = try await sampledLaptop()
    let state = sandbox.home + "/.local/state/belfry/battery"
    _ = try await sandbox.belfry("battery", "--json", now: BatteryTests.evening)
    // Samples of the current boot that lose 1% in five minutes.
    let words = try sandbox.read(state).split(separator: " ").map(String.init)
    let (boot, name) = (words[6], words[5])
    let uptime = try #require(Int(words[7]))
    let now = try #require(Int(words[0]))
    let lines = (1...12).reversed().map { step in
      let past = step * 300_000
      return
        "\(now - past) \(60 + step).0 draining - 50000000 \(name) \(boot) \(uptime - past) \(uptime - past)"
    }
    try sandbox.write(
      lines.joined(separator: "\n") + "\n" + words.joined(separator: " "), to: state)
    let learned = try await sandbox.belfry("battery", "--json", now: BatteryTests.evening)
    #expect(learned.object["drainFrom"] as? String == "measured", "\(learned.out)")
    #expect(abs((learned.object["drain"] as? Double ?? 0) - 12) < 1)
    #expect(try await batteryWarnings(sandbox)["Competition"]?["risk"] as? String == "critical")
  }

  // MARK: Delivery

  /// Installs a hook that records battery warnings.
  private func installHook(_ sandbox: Sandbox) throws {
    try sandbox.write(
      "#!/bin/sh\ncat > '\(sandbox.root)/json'\nprintf '%s\\n' \"$BELFRY_RISK $BELFRY_PREDICTED $BELFRY_TITLE\" >> '\(sandbox.root)/battery-warnings'\n",
      to: sandbox.hooks + "/battery", mode: 0o755)
  }

  private func sentWarnings(_ sandbox: Sandbox) -> [String] {
    ((try? sandbox.read(sandbox.root + "/battery-warnings")) ?? "").split(separator: "\n").map(
      String.init)
  }

  @Test("Each increase of the risk sends one battery warning")
  func worsening() async throws {
    let sandbox = try await laptop(80, drain: 3)
    try installHook(sandbox)
    func tick(_ time: String) async throws {
      let tick = try await sandbox.belfry("tick", now: "2026-11-\(time):00Z")
      #expect(tick.status == 0, "\(tick.err)")
    }
    try await tick("23T23:00")
    #expect(sentWarnings(sandbox) == [])
    // The drain increases.
    for (time, level, drain) in [
      ("23T23:10", 62.0, 8.0), ("23T23:20", 61, 8), ("24T00:10", 40, 8), ("24T00:20", 39, 8),
    ] {
      try sandbox.battery(level, drain: drain)
      try await tick(time)
    }
    #expect(sentWarnings(sandbox).map { $0.split(separator: " ")[0] } == ["warning", "critical"])
    #expect(sentWarnings(sandbox).allSatisfy { $0.hasSuffix(" Competition") })
    let told = try await sandbox.belfry(
      "tick", "--json", now: "2026-11-24T00:21:00Z")
    #expect(told.object["batteryWarning"] == nil)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(sandbox.read(sandbox.root + "/json").utf8))
        as? [String: Any])
    #expect(json["kind"] as? String == "battery")
    #expect((json["headline"] as? String)?.hasPrefix("Estimated battery at alarm: ") == true)
    // A charger clears the risk, so a later risk sends a new warning.
    try sandbox.battery(39, isCharging: true)
    try await tick("24T00:30")
    try sandbox.battery(20, drain: 8)
    let again = try await sandbox.belfry("tick", "--json", now: "2026-11-24T00:40:00Z")
    #expect((again.object["batteryWarning"] as? [String: Any])?["risk"] as? String == "critical")
    #expect(sentWarnings(sandbox).count == 3)
    #expect(FileManager.default.fileExists(atPath: sandbox.home + "/.local/state/belfry/battery"))
  }

  @Test("A battery that is empty more than twelve hours before the alarm sends one warning in time")
  func earlyShutdown() async throws {
    let sandbox = try await laptop(40, drain: 10)
    try installHook(sandbox)
    for (time, level) in [("15:50", 40.0), ("15:55", 9), ("16:20", 5), ("16:40", 2)] {
      try sandbox.battery(level, drain: 10)
      let tick = try await sandbox.belfry("tick", now: "2026-11-23T\(time):00Z")
      #expect(tick.status == 0, "\(tick.err)")
      #expect(sentWarnings(sandbox).count == (level < 40 ? 1 : 0), "\(time)")
    }
    #expect(sentWarnings(sandbox) == ["critical 0 Competition"])
  }

  @Test("The daemon sends a battery warning")
  func daemon() async throws {
    let sandbox = try await laptop(20, drain: 8)
    try installHook(sandbox)
    let script = """
      \(sandbox.waitFor)
      BELFRY_NOW=\(BatteryTests.evening) BELFRY_DEVICE=laptop TZ=UTC '\(Sandbox.binary)' daemon 2>'\(sandbox.root)/daemon.log' &
      daemon=$!
      wait_for [ -s '\(sandbox.root)/battery-warnings' ]
      sleep 1; kill $daemon; wait $daemon
      """
    _ = try await sandbox.run("/usr/bin/timeout", ["400", "sh", "-c", script])
    #expect(sentWarnings(sandbox) == ["critical 0 Competition"], "\(sandbox.daemonLog)")
    #expect(sandbox.daemonLog.contains("sent a battery warning: Estimated battery at alarm: 0%"))
  }
}
