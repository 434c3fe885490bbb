import Foundation
import TestSupport
import Testing

/// Completions in real shells.
@Suite struct ShellCompletionTests {
  /// Returns a sandbox with alarms, one of which has a title that a shell could execute.
  private func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("tier", "premium")
    for arguments in [
      ["Take pills", "daily", "9am", "--tag", "health"], ["Take tea", "daily", "10am"],
      ["Mum's: call", "every", "sun", "at", "17:00", "--tag", "home"],
      ["Zap $(touch pwned)", "daily", "11am"],
    ] {
      let added = try await sandbox.belfry(["add"] + arguments)
      #expect(added.status == 0, "\(added)")
    }
    _ = try await sandbox.belfry("disable", "Take tea")
    return sandbox
  }

  /// Writes the completion script of a shell, and returns its path.
  private func script(_ shell: String, _ sandbox: Sandbox) async throws -> String {
    let generated = try await sandbox.belfry("--generate-completion-script", shell)
    #expect(generated.status == 0, "\(generated)")
    let path = "\(sandbox.root)/completion.\(shell)"
    try sandbox.write(generated.out + "\necho LOADED\n", to: path)
    return path
  }

  @Test(
    "A title that Tab completes and Enter runs is the alarm's",
    arguments: [
      ("bash", "bash --norc --noprofile -i"), ("zsh", "zsh -f -i"), ("fish", "fish --no-config -i"),
    ])
  func titles(shell: String, command: String) async throws {
    let sandbox = try await sandbox()
    let path = try await script(shell, sandbox)
    let prepare = shell == "zsh" ? "autoload -U compinit && compinit -u; " : ""
    // Without the welcome.
    let state = sandbox.home + "/.local/state/belfry"
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    try sandbox.write("", to: state + "/welcomed")
    let shown = "\(sandbox.root)/screen"
    // bash offers the identifier instead of a title that it would not quote.
    let alarm = try await sandbox.belfry("show", "Zap", "--json")
    let id = alarm.out.firstMatch(of: /"id": "(\w{6})/)?.output.1
    let unsafe = try shell == "bash" ? String(#require(id)) : "Zap"
    try sandbox.write("", to: shown)
    let steps = [
      ("\(prepare)source \(path)\r", "LOADED"), ("belfry show Mum\t", "call"),
      ("--json\r", "\"Mum's: call\""), ("belfry show \(unsafe)\t", ""),
      ("--json\r", "\"Zap $(touch pwned)\""), ("belfry enable Ta\t", "tea"),
      ("\r", "Enabled Take tea"),
      ("exit\r", "Script done on"),
    ]
    let typing = steps.map { input, answer in
      let keys = input.replacing("'", with: "'\\''")
      let wanted = answer.replacing("'", with: "'\\''")
      return """
        printf '%s' '\(keys)'
        wait_for grep -qF -e '\(wanted)' -e 'Script done on' '\(shown)'
        sleep 0.2
        """
    }.joined(separator: "\n")
    let folder = URL(filePath: Sandbox.binary).deletingLastPathComponent().path()
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "\(sandbox.waitFor){ sleep 0.5\n\(typing)\n} | timeout 300 script -qfec 'cd \(sandbox.root); stty cols 100 rows 40; \(command)' '\(shown)'",
      ],
      environment: [
        "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:41:00Z",
        "TERM": "xterm", "PATH": "\(folder):/usr/bin:/bin", "SHELL": "/usr/bin/\(shell)",
      ])
    let screen = try sandbox.read(shown)
    for (_, answer) in steps where !answer.isEmpty {
      #expect(screen.contains(answer), "\(answer) in \(screen)")
    }
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/pwned"))
  }

  @Test(
    "The shell offers values of the store and of this machine",
    arguments: [
      (["show", "Ta"], "Take pills|Take tea"), (["show", "ta"], "take pills|take tea"),
      (["list", "+HE"], "+HEalth"), (["completion", ""], "bash|fish|zsh"),
      (["enable", ""], "Take tea"),
      (["disable", "Ta"], "Take pills"), (["list", "+"], "+health|+home"),
      (["list", "pen"], "pending"), (["add", "x", "--tag", ""], "health|home"),
      (["add", "x", "--tag", "home,"], "home,health"),
      (["edit", "Take", "--tag", "+he"], "+health"),
      (["settings", "set", "so"], "sound|soundRising"),
      (["settings", "set", "sound", "c"], "chime"),
      (["settings", "set", "snoozeEnabled", ""], "off|on"),
      (["add", "x", "--zone", "Europe/Berl"], "Europe/Berlin"),
      (["add", "x", "--on", ""], "laptop"),
      (["sync", ""], "origin"), (["remote", "remove", ""], "origin"), (["sn"], "snooze"),
      (["stop", "--occ"], "--occurrence"), (["tier", "p"], "plus|premium"), (["when", ""], ""),
    ])
  func values(words: [String], expected: String) async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.belfry("remote", "add", "origin", sandbox.root + "/hub.git")
    let path = try await script("bash", sandbox)
    let line = (["belfry"] + words).map { "'\($0)'" }.joined(separator: " ")
    let folder = URL(filePath: Sandbox.binary).deletingLastPathComponent().path()
    let out = try await sandbox.run(
      "/bin/bash",
      [
        "--norc", "-c",
        """
        source \(path) >/dev/null
        COMP_WORDS=(\(line)); COMP_CWORD=\(words.count); COMP_LINE="${COMP_WORDS[*]}"
        COMP_POINT=${#COMP_LINE}
        _belfry belfry "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        for reply in "${COMPREPLY[@]}"; do echo "$reply"; done
        """,
      ],
      environment: [
        "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:41:00Z",
        "PATH": "\(folder):/usr/bin:/bin",
      ])
    let replies = out.out.split(separator: "\n").sorted().joined(separator: "|")
    #expect(replies == expected, "\(out)")
  }

  @Test("The command prints the scripts that the option prints")
  func command() async throws {
    let sandbox = try Sandbox()
    for shell in ["bash", "zsh", "fish"] {
      let option = try await sandbox.belfry("--generate-completion-script", shell)
      let command = try await sandbox.belfry("completion", shell)
      #expect(command.status == 0 && command.out == option.out)
      let own = try await sandbox.belfry(
        "completion", environment: ["SHELL": "/usr/bin/\(shell)"])
      #expect(own.out == option.out)
    }
    let unknown = try await sandbox.belfry("completion", "tcsh")
    #expect(unknown.status == 2 && unknown.err.contains("hint: Name one of "), "\(unknown.err)")
  }

  @Test("Without a store, nothing is offered, printed or created")
  func noStore() async throws {
    let sandbox = try Sandbox()
    let out = try await sandbox.belfry(
      "---completion", "why", "--", "positional@0", "2", "0", "belfry", "why", "")
    #expect(out.out.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty)
    #expect(out.err.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: sandbox.home + "/.local/share/belfry"))
  }
}
