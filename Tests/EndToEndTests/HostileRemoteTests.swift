import Foundation
import TestSupport
import Testing

/// A remote with content that an attacker wrote with git's plumbing. A sync imports the valid records and
/// reports the rest. It writes nothing but records and runs nothing, and every device continues to work.
@Suite struct HostileRemoteTests {
  @Test func validRecordsAreImported() async throws {
    let fixture = try await Fixture()
    let commit = try await fixture.attack()
    let result = try await fixture.syncFirstDevice()
    #expect(result.sync.err.isEmpty, "\(result.sync.err)")
    try await fixture.expectContained(result, of: commit, refused: [])
  }

  // MARK: Names

  @Test(arguments: ["", "alarms", "log/2026/11/20"])
  func pathTraversalNameIsRefused(_ folder: String) async throws {
    let fixture = try await Fixture()
    let names = fixture.names
    let commit = try await fixture.attack(raw: [folder: names.map { ($0, Content.text("evil\n")) }])
    try await fixture.expectContained(
      fixture.syncFirstDevice(), of: commit,
      refused: names.map { folder.isEmpty ? $0 : "\(folder)/\($0)" })
  }

  @Test func folderWithPathTraversalNameIsRefused() async throws {
    let fixture = try await Fixture()
    let script = try await fixture.write(.text("#!/bin/sh\ntouch PWNED\n", mode: "100755"))
    let hooks = try await fixture.folder(["post-merge", "post-checkout"], of: script)
    let folder = try await fixture.folder(["config", "hooks"], of: hooks)
    let names = fixture.names
    let commit = try await fixture.attack(
      raw: ["": names.map { ($0, Content.object(folder.id, mode: folder.mode)) }])
    try await fixture.expectContained(fixture.syncFirstDevice(), of: commit, refused: names)
  }

  @Test func nameWithControlCharactersIsRefusedAndEscaped() async throws {
    let fixture = try await Fixture()
    let names = ["\u{1B}[31m.json", "\u{7}bell.json", "\u{202E}turned.json", "two\nlines.json"]
    let commit = try await fixture.attack(raw: [
      "alarms": names.map { ($0, Content.text("evil\n")) }
    ])
    let result = try await fixture.syncFirstDevice()
    for part in ["[31m.json", "bell.json", "turned.json", "lines.json"] {
      #expect(result.sync.err.contains(part), "\(result.sync.err)")
    }
    // No name starts a line of its own.
    #expect(result.sync.err.split(separator: "\n").allSatisfy { $0.hasPrefix("warning: ") })
    try await fixture.expectContained(result, of: commit, refused: [])
  }

  @Test(arguments: [["First", "Second"], ["First", ""], ["", "First"]])
  func duplicateEntriesAreReportedAndDevicesConverge(_ titles: [String]) async throws {
    let fixture = try await Fixture()
    let name = "\(id(1)).json"
    let entries = try titles.map { title in
      (name, try title.isEmpty ? Content.text("broken\n") : Content.alarm(id(1), title))
    }
    let commit = try await fixture.attack(raw: ["alarms": entries])
    try await fixture.expectContained(
      fixture.syncFirstDevice(), of: commit, refused: ["alarms/\(name)"],
      mayBring: ["alarms/\(name)": ["First", "Second"]])
  }

  @Test func duplicateFolderIsReported() async throws {
    let fixture = try await Fixture()
    let twin = try await fixture.folder(
      ["\(id(1)).json"], of: fixture.write(Content.alarm(id(1), "Twin")))
    let commit = try await fixture.attack(
      raw: ["": [("alarms", Content.object(twin.id, mode: twin.mode))]])
    try await fixture.expectContained(
      fixture.syncFirstDevice(), of: commit, refused: ["alarms"], brings: [Fixture.devicePath],
      titles: ["Rent"],
      mayBring: [Fixture.milkPath: ["Milk"], "alarms/\(id(1)).json": ["Twin"]])
  }

  @Test func unsortedTreeIsReadAndNotWritten() async throws {
    let fixture = try await Fixture()
    let path = "alarms/\(id(1)).json"
    let commit = try await fixture.attack(
      [path: try .alarm(id(1), "Bells"), "zeal": .text("x\n")], isSorted: false)
    try await fixture.expectContained(
      fixture.syncFirstDevice(), of: commit, refused: ["zeal"], brings: Fixture.goodPaths + [path],
      titles: ["Bells", "Milk", "Rent"])
  }

  // MARK: Modes

  @Test func recordMustBeRegularFile() async throws {
    let fixture = try await Fixture()
    let files: [String: Content] = [
      "alarms/\(id(1)).json": .text("/etc/passwd", mode: "120000"),
      "alarms/\(id(2)).json": try .alarm(id(2), "Script").with(mode: "100755"),
      "alarms/\(id(3)).json": .object(missingObject, mode: "160000"),
      "alarms/\(id(4)).json": try .alarm(id(4), "Group").with(mode: "100664"),
      "devices/\(id(5)).json": .text("../../escaped", mode: "120000"),
      "settings.json": .text("../escaped", mode: "120000"),
      entryPath(id(6)): try .entry(id(6), "Linked").with(mode: "120000"),
    ]
    let commit = try await fixture.attack(files)
    try await fixture.expectContained(
      fixture.syncFirstDevice(), of: commit, refused: files.keys.sorted())
  }

  @Test(arguments: [
    ("alarms", "100644"), ("alarms", "160000"), ("alarms", "120000"), ("log", "160000"),
    ("log/2026", "100644"), ("log/2026/11/20", "120000"),
  ])
  func fileInPlaceOfFolderRemovesNothing(_ path: String, _ mode: String) async throws {
    let fixture = try await Fixture()
    let commit = try await fixture.attack([
      path: mode == "160000" ? .object(missingObject, mode: mode) : .text("..", mode: mode)
    ])
    let hasAlarms = path != "alarms"
    try await fixture.expectContained(
      fixture.syncFirstDevice(), of: commit, refused: [path],
      brings: hasAlarms ? Fixture.goodPaths : [Fixture.devicePath],
      titles: hasAlarms ? ["Milk", "Rent"] : ["Rent"])
  }

  @Test func folderInPlaceOfRecordIsRefused() async throws {
    let fixture = try await Fixture()
    let paths = [
      "alarms/\(id(1)).json", "devices/\(id(2)).json", "settings.json", entryPath(id(3)),
    ]
    var files: [String: Content] = [:]
    for path in paths { files["\(path)/\(id(4)).json"] = try .alarm(id(4), "Hidden") }
    let commit = try await fixture.attack(files)
    try await fixture.expectContained(fixture.syncFirstDevice(), of: commit, refused: paths)
  }

  // MARK: git's own files

  @Test func filtersHooksAndSubmodulesAreIgnored() async throws {
    let fixture = try await Fixture()
    let trap = fixture.sandbox.root + "/PWNED"
    try fixture.sandbox.write(
      """
      [filter "evil"]
        smudge = "touch '\(trap)'; cat"
        clean = "touch '\(trap)'; cat"
      [submodule]
        recurse = true
      [protocol]
        allow = always
      """, to: fixture.sandbox.home + "/.gitconfig")
    let hook = Content.text("#!/bin/sh\ntouch '\(trap)'\n", mode: "100755")
    let attributes = Content.text("* filter=evil\n")
    let module = "  path = m\n  url = ext::sh -c touch% \(trap)\n  update = !touch \(trap)\n"
    let files: [String: Content] = [
      ".gitattributes": attributes, "alarms/.gitattributes": attributes,
      ".gitmodules": .text("[submodule \"m\"]\n\(module)"),
      "m": .object(missingObject, mode: "160000"), ".gitignore": .text("*\n"),
      "hooks/post-merge": hook,
      "hooks/reference-transaction": hook,
    ]
    let commit = try await fixture.attack(files)
    // A plain checkout runs the filter.
    let work = fixture.sandbox.root + "/work"
    _ = try await fixture.sandbox.git("clone", "-q", "-b", "main", fixture.remote, work, in: "/")
    #expect(FileManager.default.fileExists(atPath: trap))
    try FileManager.default.removeItem(atPath: trap)
    try await fixture.expectContained(
      fixture.syncFirstDevice(), of: commit,
      refused: [
        ".gitattributes", "alarms/.gitattributes", ".gitmodules", "m", ".gitignore", "hooks",
      ])
    #expect(!FileManager.default.fileExists(atPath: trap))
  }

  @Test func filesBelowDotGitAreRefused() async throws {
    let fixture = try await Fixture()
    let hook = Content.text("#!/bin/sh\ntouch PWNED\n", mode: "100755")
    let commit = try await fixture.attack([
      ".git/hooks/post-merge": hook, ".git/config": .text("[core]\n  fsmonitor = touch PWNED\n"),
    ])
    try await fixture.expectContained(fixture.syncFirstDevice(), of: commit, refused: [".git"])
  }

  // MARK: Size

  // Slow: 50 MB are fetched twice.
  @Test func recordOf50MBIsRefused() async throws {
    let fixture = try await Fixture()
    let path = "alarms/\(id(1)).json"
    let padding = [UInt8](repeating: UInt8(ascii: " "), count: 50 << 20)
    let big = try Content.alarm(id(1), "Big").bytes + padding
    let commit = try await fixture.attack([path: .file(big)])
    try await fixture.expectContained(fixture.syncFirstDevice(), of: commit, refused: [path])
  }

  // Slow: git decompresses 100 MB several times.
  @Test func compressedLargeRecordIsNotDecompressed() async throws {
    let fixture = try await Fixture()
    let path = "alarms/\(id(1)).json"
    let made = try await fixture.sandbox.run(
      "/bin/sh",
      ["-c", "head -c 100M /dev/zero | git -C '\(fixture.remote)' hash-object -w --stdin"])
    let zeros = String(made.out.prefix(40))
    let commit = try await fixture.attack([path: .object(zeros, mode: "100644")])
    // Fetched in advance, so that the measured memory is Belfry's.
    _ = try await fixture.sandbox.git("fetch", "-q", fixture.remote, "main", in: fixture.one)
    let result = try await fixture.syncFirstDevice()
    #expect(result.megabytes < 96)
    try await fixture.expectContained(result, of: commit, refused: [path])
  }

  // Slow: 800 files are read, and most of them reported.
  @Test func entryUnderManyNamesIsImportedOnce() async throws {
    let fixture = try await Fixture()
    let entry = try await fixture.write(.entry(id(0), "Ghost"))
    var files: [String: Content] = [:]
    for number in 0..<800 {
      files[entryPath(id(number))] = .object(entry.id, mode: entry.mode)
    }
    let commit = try await fixture.attack(files)
    let result = try await fixture.syncFirstDevice()
    #expect(lines(of: result.sync.err, naming: entryPath(id(1))).count == 1)
    #expect(lines(of: result.sync.err, naming: entryPath(id(0))).isEmpty)
    try await fixture.expectContained(
      result, of: commit, refused: [], brings: Fixture.goodPaths + [entryPath(id(0))])
    let log = try await fixture.sandbox.belfry("log", store: fixture.one)
    #expect(log.out.split(separator: "\n").filter { $0.contains("Ghost") }.count == 1)
  }

  // Slow: 9,600 paths are checked.
  @Test func repeatedFoldersAreProcessedInTime() async throws {
    let fixture = try await Fixture()
    func numbers(_ range: ClosedRange<Int>) -> [String] {
      range.map { ($0 < 10 ? "0" : "") + String($0) }
    }
    let entry = try await fixture.write(.entry(id(0), "Ghost"))
    let day = try await fixture.folder(
      (0...1).map { "220000000-\(id($0)).json" }, of: entry)
    let month = try await fixture.folder(numbers(1...2), of: day)
    let year = try await fixture.folder(numbers(1...6), of: month)
    let log = try await fixture.folder(numbers(2000...2399), of: year)
    let commit = try await fixture.attack(["log": .object(log.id, mode: log.mode)])
    let result = try await fixture.syncFirstDevice()
    // The report is limited in size.
    #expect(result.sync.err.contains("log/2000/01/01/220000000-\(id(0)).json"))
    #expect(result.sync.err.utf8.count < 500_000)
    #expect(result.megabytes < 512)
    try await fixture.expectContained(result, of: commit, refused: [])
  }

  // Slow: thousands of files are written on two devices.
  @Test func manyRecordsAreImportedInTime() async throws {
    let fixture = try await Fixture()
    let alarms = try (1...200).map { number in
      ("alarms/\(id(number)).json", try Content.alarm(id(number), "Many"))
    }
    let entries: [(String, Content)] = try (0..<600).map { number in
      let (second, millisecond) = (number / 1_000, String(1_000 + number % 1_000).dropFirst())
      let name = "22000\(second)\(millisecond)-\(id(10_000 + number)).json"
      return (
        "log/2026/11/20/\(name)",
        try Content.entry(
          id(10_000 + number), "Many", ["at": "2026-11-20T22:00:0\(second).\(millisecond)Z"])
      )
    }
    let commit = try await fixture.importing([alarms + entries])
    let result = try await fixture.syncFirstDevice()
    #expect(result.megabytes < 512)
    try await fixture.expectContained(
      result, of: commit, refused: [], brings: (alarms + entries).map { $0.0 },
      titles: alarms.map { _ in "Many" } + ["Rent"])
  }

  // Slow: 400 refused records are located in a history of hundreds of commits.
  @Test func manyRefusalsInLongHistoryAreReportedInTime() async throws {
    let fixture = try await Fixture()
    let bad = (0..<400).map { ("alarms/bad\($0).json", Content.text("x\n")) }
    let path = "alarms/\(id(1)).json"
    let versions = try (0..<200).map { [(path, try Content.alarm(id(1), "Version \($0)"))] }
    let commit = try await fixture.importing([bad] + versions)
    let result = try await fixture.syncFirstDevice()
    #expect(result.sync.err.contains("alarms/bad0.json"))
    try await fixture.expectContained(
      result, of: commit, refused: [], brings: [path], titles: ["Rent", "Version 199"])
  }

  // MARK: Records

  @Test func recordWithOtherIdentifierIsRefused() async throws {
    let fixture = try await Fixture()
    let files: [String: Content] = [
      "alarms/\(id(1)).json": try .alarm(id(2), "Other"),
      "devices/\(id(3)).json": try .device(id(4), "Other"),
      // The id of another entry, and the date of another day.
      entryPath(id(5)): try .entry(id(6), "Ghost"),
      "log/2025/11/20/220000000-\(id(7)).json": try .entry(id(7), "Ghost"),
    ]
    let commit = try await fixture.attack(files)
    try await fixture.expectContained(
      fixture.syncFirstDevice(), of: commit, refused: files.keys.sorted())
    #expect(try await !fixture.sandbox.belfry("log", store: fixture.one).out.contains("Ghost"))
  }

  @Test func invalidRecordIsRefusedWithReason() async throws {
    let fixture = try await Fixture()
    func and(_ text: String, _ more: String) -> String { "\(text.dropLast()),\(more)}" }
    let deep = String(repeating: "[", count: 100_000)
    let closed = deep + String(repeating: "]", count: 100_000)
    let faults: [(String) -> String] = [
      // Invalid documents.
      { _ in "" }, { _ in "hello\n" }, { _ in "\0\0\0\0" }, { _ in "[]" }, { $0 + $0 },
      { String($0.dropLast()) }, { _ in deep },
      { _ in String(repeating: "{\"a\":", count: 100_000) },
      { and($0, "\"more\":\(closed)") },
      // Invalid keys and strings.
      { and($0, "\"title\":\"Again\"") }, { $0.replacing("\"Bad\"", with: "\"\\ud800\"") },
      { $0.replacing("\"Bad\"", with: "\"a\\u0000b\"") },
      { $0.replacing("\"format\":1", with: "\"format\":99999999999999999999") },
      // Values that break a rule.
      { $0.replacing("[\"08:00\"]", with: "[]") }, { $0.replacing("\"08:00\"", with: "\"25:00\"") },
      { $0.replacing("\"Bad\"", with: "\" \"") },
      { $0.replacing("\"Bad\"", with: "\"\(String(repeating: "x", count: 300))\"") },
      { $0.replacing("2026-11-20", with: "2026-02-30") },
      { $0.replacing("\"format\":1", with: "\"format\":0") },
      { and($0, "\"zone\":\"../../etc/passwd\"") },
      // Conflict markers of a text merge.
      { "<<<<<<< HEAD\n\($0)\n=======\n\($0)\n>>>>>>> theirs\n" },
    ]
    var files: [String: Content] = [:]
    for (number, fault) in faults.enumerated() {
      let record = String(decoding: try Content.alarm(id(number), "Bad").bytes, as: UTF8.self)
      let text = fault(record)
      #expect(text != record, "fault \(number) is none")
      files["alarms/\(id(number)).json"] = .text(text)
    }
    let latin = try Content.alarm(id(faults.count), "Bad").bytes.map {
      $0 == UInt8(ascii: "B") ? 0xFF : $0
    }
    files["alarms/\(id(faults.count)).json"] = .file(latin)
    let commit = try await fixture.attack(files)
    try await fixture.expectContained(
      fixture.syncFirstDevice(), of: commit, refused: files.keys.sorted())
  }

  @Test(arguments: ["alarm", "settings", "entry", "device"])
  func recordOfLaterFormatIsReportedAndDelaysNoOther(_ kind: String) async throws {
    let fixture = try await Fixture()
    let newer: [String: Any] = ["format": 99]
    let path: String
    let content: Content
    switch kind {
    case "alarm":
      path = "alarms/\(id(1)).json"
      content = try .alarm(id(1), "Newer", newer)
    case "settings":
      path = "settings.json"
      content = try .json(newer)
    case "entry":
      path = entryPath(id(1))
      content = try .entry(id(1), "Newer", newer)
    default:
      path = "devices/\(id(1)).json"
      content = try .device(id(1), "Newer", newer)
    }
    _ = try await fixture.attack([path: content])
    for store in [fixture.one, fixture.two] {
      let settings = try fixture.sandbox.read(store + "/settings.json")
      let sync = try await fixture.sync(store)
      #expect(sync.status == 0, "\(sync.err)")
      #expect(store == fixture.two || !lines(of: sync.err, naming: path).isEmpty, "\(sync.err)")
      #expect(store == fixture.two || sync.err.contains("99"), "\(sync.err)")
      #expect(try await fixture.titles(store) == ["Milk", "Rent"])
      // The newer version is kept as it is, and the settings that this version can read stay in use.
      let kept = try fixture.sandbox.read(store + "/settings.json")
      #expect(kind == "settings" ? kept.contains("99") : kept == settings)
    }
    // Further syncs create no commits.
    let head = try await fixture.head(fixture.one)
    for store in [fixture.one, fixture.two] {
      let sync = try await fixture.sync(store)
      #expect(sync.status == 0, "\(sync.err)")
      #expect(try await fixture.head(store) == head)
    }
  }

  // MARK: Texts

  @Test func remoteTextIsEscaped() async throws {
    let fixture = try await Fixture()
    let hidden = [
      "\u{1B}[2J", "\u{9B}2J", "\u{7}", "\u{202E}", "\u{2066}", "\u{200B}", "\u{200F}", "\u{61C}",
      "\u{2028}",
    ]
    var files: [String: Content] = [:]
    for (number, text) in hidden.enumerated() {
      let (titled, noted, device) = (id(number), id(100 + number), id(200 + number))
      files["alarms/\(titled).json"] = try .alarm(titled, "Title\(number) x\(text)y")
      files["alarms/\(noted).json"] = try .alarm(
        noted, "Note\(number)", ["note": "Note\(number) x\(text)y", "more\(text)": "x\(text)y"])
      files["devices/\(device).json"] = try .device(device, "Device\(number) x\(text)y")
      files[entryPath(id(300 + number))] = try .entry(
        id(300 + number), "Entry\(number)", ["device": device])
      files[entryPath(id(400 + number))] = try .entry(
        id(400 + number), "Entry\(number) x\(text)y",
        ["payload": ["kind": "note", "text": "Detail\(number) x\(text)y"]])
      // Records that break a rule, so that the reason contains the text.
      files["alarms/\(id(500 + number)).json"] = try .alarm(
        id(500 + number), "Rule", ["schedule": ["kind": "x\(text)y", "start": "2026-11-20"]])
      files["alarms/\(id(600 + number)).json"] = .text("{ \"x\": x\(text)y")
    }
    _ = try await fixture.attack(files)
    let sync = try await fixture.sync(fixture.one)
    #expect(sync.status == 0, "\(sync.err)")
    let sandbox = fixture.sandbox
    let list = try await sandbox.belfry("list", store: fixture.one)
    let log = try await sandbox.belfry("log", store: fixture.one)
    let next = try await sandbox.belfry("next", "--count", "100", store: fixture.one)
    for output in [sync, list, log, next] { expectPrintable(output) }
    for number in hidden.indices {
      let show = try await sandbox.belfry("show", id(100 + number), store: fixture.one)
      expectPrintable(show)
      // Each record is either refused or shown.
      let expectations = [
        ("alarms/\(id(number)).json", list.out, "Title\(number) x"),
        ("alarms/\(id(number)).json", next.out, "Title\(number) x"),
        ("alarms/\(id(100 + number)).json", show.out, "Note\(number) x"),
        ("devices/\(id(200 + number)).json", log.out, "Device\(number) x"),
        (entryPath(id(400 + number)), log.out, "Entry\(number) x"),
        (entryPath(id(400 + number)), log.out, "Detail\(number) x"),
      ]
      for (path, output, text) in expectations {
        #expect(!lines(of: sync.err, naming: path).isEmpty || output.contains(text), "\(text)")
      }
    }
    // JSON output contains no control character either.
    for command in ["list", "log", "next"] {
      let output = try await sandbox.belfry(command, "--json", store: fixture.one)
      #expect(!output.out.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }
  }

  @Test func mergeDecisionIsEscaped() async throws {
    let fixture = try await Fixture()
    let file = try fixture.sandbox.alarmFile(store: fixture.one)
    let text = try fixture.sandbox.read(file)
    var record = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    var stamps = try #require(record["stamps"] as? [String: Any])
    stamps["title"] = "2026-11-20T22:45:00.000Z-0000-\(Fixture.device)"
    record["stamps"] = stamps
    record["title"] = "Evil\u{202E}live\u{200B}"
    let name = (file as NSString).lastPathComponent
    _ = try await fixture.attack(["alarms/\(name)": try .json(record)])
    _ = try await fixture.sandbox.belfry(
      "edit", "rent", "--title", "Mine", now: "2026-11-20T22:43:00Z", store: fixture.one)
    let sync = try await fixture.sandbox.belfry(
      "sync", now: "2026-11-20T22:50:00Z", store: fixture.one)
    #expect(sync.status == 0, "\(sync.err)")
    #expect(sync.out.contains("kept \"Evil") && sync.out.contains("over \"Mine\""), "\(sync.out)")
    expectPrintable(sync)
  }

  @Test(arguments: [0, 1])
  func serverMessageIsEscaped(_ status: Int) async throws {
    let fixture = try await Fixture()
    let hook = fixture.remote + "/hooks/pre-receive"
    try FileManager.default.createDirectory(
      atPath: fixture.remote + "/hooks", withIntermediateDirectories: true)
    // ESC, BEL, a right-to-left override and a zero-width space.
    try fixture.sandbox.write(
      """
      #!/bin/sh
      printf '\\033[2J\\033]0;evil\\007 not today \\342\\200\\256 \\342\\200\\213\\n' >&2
      exit \(status)
      """, to: hook, mode: 0o755)
    _ = try await fixture.sandbox.belfry("add", "Milk", "--daily", store: fixture.one)
    let sync = try await fixture.sync(fixture.one)
    #expect(sync.status == (status == 0 ? 0 : 6), "\(sync.err)")
    expectPrintable(sync)
    #expect(try await fixture.titles(fixture.one) == ["Milk", "Rent"])
    try FileManager.default.removeItem(atPath: hook)
    for store in [fixture.one, fixture.two] {
      #expect(try await fixture.sync(store).status == 0)
      #expect(try await fixture.titles(store) == ["Milk", "Rent"])
    }
  }

  // MARK: Branches

  @Test func syncRefillsEmptyRemote() async throws {
    let fixture = try await Fixture()
    try FileManager.default.removeItem(atPath: fixture.remote)
    _ = try await fixture.sandbox.git(
      "init", "-q", "--bare", "-b", "main", fixture.remote, in: fixture.sandbox.root)
    let result = try await fixture.syncFirstDevice()
    #expect(result.sync.status == 0, "\(result.sync.err)")
    #expect(result.before == result.after)
    let sent = try await fixture.sandbox.git("rev-parse", "main", in: fixture.remote).out
    #expect(sent == fixture.good + "\n")
    #expect(try await fixture.sync(fixture.two).status == 0)
    #expect(try await fixture.titles(fixture.two) == ["Rent"])
  }

  @Test(arguments: [
    "project", "project that comes after", "empty tree", "devices is a file", "tag", "blob", "tree",
    "nothing", "commit without its tree", "tree cut short", "commit without its parent",
  ])
  func branchWithoutStoreIsRefused(_ what: String) async throws {
    let fixture = try await Fixture()
    let readme = try await fixture.folder(["README"], of: fixture.write(.text("Hello\n"))).id
    let top: String
    switch what {
    case "project": top = try await fixture.commit(readme, parent: nil)
    case "project that comes after": top = try await fixture.commit(readme)
    case "empty tree": top = try await fixture.commit(fixture.tree([]))
    case "devices is a file": top = try await fixture.attack(["devices": .text("x\n")])
    case "tag":
      let commit = try await fixture.attack()
      let text = "object \(commit)\ntype commit\ntag v1\ntagger \(Fixture.mallory)\n\nA tag\n"
      top = try await fixture.object("tag", Array(text.utf8))
    case "blob": top = try await fixture.write(.text("x\n")).id
    case "tree": top = readme
    case "nothing": top = missingObject
    case "commit without its tree": top = try await fixture.commit(missingObject)
    case "tree cut short":
      top = try await fixture.commit(fixture.object("tree", Array("40000 devices\0abc".utf8)))
    default: top = try await fixture.commit(fixture.tree(of: [:]), parent: missingObject)
    }
    try fixture.point(top)
    try await fixture.expectRefused(fixture.syncFirstDevice(), at: top)
  }

  @Test(arguments: [
    "x", "Mallory", "Mallory <mallory@example.org>", "Mallory <<m>> 1795214500 +0000",
    "Mallory <m@example.org> soon +0000", "Mallory <m@example.org> 99999999999999999999999 +0000",
    "Mallory <m@example.org> 1795214500 +999999999",
  ])
  func malformedAuthorDoesNotBlockSync(_ author: String) async throws {
    let fixture = try await Fixture()
    let commit = try await fixture.attack(by: author)
    let result = try await fixture.syncFirstDevice()
    if result.sync.status == 0 {
      try await fixture.expectContained(result, of: commit, refused: [])
    } else {
      try await fixture.expectRefused(result, at: commit)
    }
  }

  // 1970, before 1970, 2099, the last second whose milliseconds fit in an Int64, the next second, and the last
  // second of an Int64.
  @Test(arguments: [
    "0", "-5", "4070908800", "9223372036854775", "9223372036854776", "9223372036854775807",
  ])
  func commitOfAnyDateIsMerged(_ seconds: String) async throws {
    let fixture = try await Fixture()
    // Contains an invalid file, so that Belfry creates a commit of its own.
    let commit = try await fixture.attack(
      ["junk": .text("x\n")], by: "Mallory <m@example.org> \(seconds) +0000")
    try await fixture.expectContained(fixture.syncFirstDevice(), of: commit, refused: ["junk"])
  }

  @Test func cloneImportsOnlyValidRecords() async throws {
    let fixture = try await Fixture()
    let commit = try await fixture.attack(
      ["alarms/\(id(1)).json": .text("broken\n"), "hooks/post-merge": .text("x\n")],
      raw: ["": fixture.names.map { ($0, Content.text("evil\n")) }])
    let before = try await fixture.files()
    let three = fixture.sandbox.root + "/three"
    let clone = try await fixture.sandbox.belfry(
      "clone", fixture.remote, store: three, device: "third")
    #expect(clone.status == 0, "\(clone.err)")
    expectPrintable(clone)
    for path in fixture.names + ["alarms/\(id(1)).json", "hooks"] {
      let named = lines(of: clone.err, naming: path)
      #expect(named.contains { $0.contains(commit.prefix(7)) }, "\(path): \(clone.err)")
    }
    let new = try await fixture.files().subtracting(before).compactMap(SyncResult.path)
    #expect(new.allSatisfy { $0 == "three" || $0.hasPrefix("three/") }, "\(new)")
    let records = try await fixture.sandbox.git("ls-files", in: three).out.split(separator: "\n")
    #expect(
      records.allSatisfy { path in
        ["alarms/", "devices/", "log/"].contains { path.hasPrefix($0) }
          || [".gitattributes", "settings.json"].contains(path)
      })
    #expect(try await fixture.titles(three) == ["Milk", "Rent"])
    let status = try await fixture.sandbox.git("status", "--porcelain", "--ignored", in: three)
    #expect(status.out.isEmpty, "\(status.out)")
    for store in [three, fixture.one, fixture.two] {
      #expect(try await fixture.sync(store).status == 0)
      #expect(try await fixture.titles(store) == ["Milk", "Rent"])
    }
  }

  // MARK: Remote URLs

  /// Returns a store whose user allows all git protocols, with an SSH command that creates a marker file.
  private func storeWithTrap() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.write(
      """
      [protocol]
        allow = always
      [protocol "ext"]
        allow = always
      [core]
        sshCommand = "touch '\(sandbox.root)/PWNED'; false"
      """, to: sandbox.home + "/.gitconfig")
    _ = try await sandbox.belfry("add", "Rent", "--daily")
    return sandbox
  }

  private func triggeredTraps(_ sandbox: Sandbox) async throws -> String {
    try await sandbox.run("/usr/bin/find", [sandbox.root, "-name", "PWNED*"]).out
  }

  @Test(arguments: ["ext::sh -c touch% PWNED", "ssh://host/x", "user@host:x"])
  func plainGitTriggersTraps(_ url: String) async throws {
    let sandbox = try await storeWithTrap()
    #expect(try await triggeredTraps(sandbox).isEmpty)
    _ = try await sandbox.git("ls-remote", url)
    #expect(try await !triggeredTraps(sandbox).isEmpty)
  }

  @Test(arguments: [
    "ext::sh -c touch%20PWNED", "ext::sh -c touch% PWNED", "-oProxyCommand=touch PWNED",
    "ssh://-oProxyCommand=touch${IFS}PWNED/x", "user@-oProxyCommand=x:path", "ssh://host/-oX",
    "file://host/path", "ssh://host/a\nb", "/srv/bells\n.git", "fd::17", "http::http://x",
  ])
  func remoteURLThatRunsCommandIsRefused(_ url: String) async throws {
    let sandbox = try await storeWithTrap()
    let add = try await sandbox.belfry("remote", "add", "x", "--", url)
    #expect(add.status == 2, "\(add.err)")
    expectPrintable(add)
    #expect(try await sandbox.git("config", "--get-regexp", "^remote").out.isEmpty)
    // The same remote in a hand-edited configuration.
    for (name, value) in [("url", url), ("fetch", "+refs/heads/*:refs/remotes/x/*")] {
      _ = try await sandbox.git("config", "remote.x.\(name)", value)
    }
    let sync = try await sandbox.belfry("sync", "x")
    #expect([2, 6].contains(sync.status), "\(sync.err)")
    expectPrintable(sync)
    #expect(try await triggeredTraps(sandbox).isEmpty)
    #expect(try await sandbox.belfry("list", "--json").array.count == 1)
  }

  @Test(arguments: [
    "[url \"ext::sh -c touch% ROOT/PWNED\"]\n  insteadOf = ROOT/remote.git\n",
    "[url \"ext::sh -c touch% ROOT/PWNED\"]\n  pushInsteadOf = ROOT/remote.git\n",
    "[remote \"origin\"]\n  pushurl = ext::sh -c touch% ROOT/PWNED\n",
  ])
  func configuredURLThatRunsCommandIsRefused(_ configuration: String) async throws {
    let fixture = try await Fixture()
    let sandbox = fixture.sandbox
    try sandbox.write(
      "[protocol]\n  allow = always\n[protocol \"ext\"]\n  allow = always\n"
        + configuration.replacing("ROOT", with: sandbox.root), to: sandbox.home + "/.gitconfig")
    _ = try await sandbox.belfry("add", "Milk", "--daily", store: fixture.one)
    let sync = try await fixture.sync(fixture.one)
    #expect([2, 6].contains(sync.status), "\(sync.err)")
    expectPrintable(sync)
    #expect(try await triggeredTraps(sandbox).isEmpty)
    #expect(try await fixture.titles(fixture.one) == ["Milk", "Rent"])
    try FileManager.default.removeItem(atPath: sandbox.home + "/.gitconfig")
    for store in [fixture.one, fixture.two] {
      #expect(try await fixture.sync(store).status == 0)
      #expect(try await fixture.titles(store) == ["Milk", "Rent"])
    }
  }
}

// MARK: - Content of the attacker

/// The name of an object that does not exist.
private let missingObject = String(repeating: "1", count: 40)

/// Returns a unique identifier for a number.
private func id(_ number: Int) -> String {
  let digits = String(number).utf8.map { Character(UnicodeScalar($0 + 49)) }
  return "b" + String(repeating: "a", count: 25 - digits.count) + String(digits)
}

/// Returns the path of an entry that `Content.entry` creates.
private func entryPath(_ id: String) -> String { "log/2026/11/20/220000000-\(id).json" }

/// The content of a path in a tree.
private enum Content: Sendable {
  case file([UInt8], mode: String = "100644")
  /// An object that already exists, or that does not exist.
  case object(String, mode: String)

  static func text(_ text: String, mode: String = "100644") -> Content {
    .file(Array(text.utf8), mode: mode)
  }

  static func json(_ members: [String: Any]) throws -> Content {
    .file(Array(try JSONSerialization.data(withJSONObject: members, options: .sortedKeys)))
  }

  /// Returns a valid alarm record in which the given members are replaced.
  static func alarm(
    _ id: String, _ title: String, _ members: [String: Any] = [:]
  ) throws -> Content {
    let schedule: [String: Any] = ["kind": "daily", "start": "2026-11-20", "times": ["08:00"]]
    let good: [String: Any] = ["format": 1, "id": id, "title": title, "schedule": schedule]
    return try json(good.merging(members) { $1 })
  }

  static func device(
    _ id: String, _ name: String, _ members: [String: Any] = [:]
  ) throws -> Content {
    let good: [String: Any] = [
      "format": 1, "id": id, "name": name, "created": "2026-11-20T22:00:00.000Z",
    ]
    return try json(good.merging(members) { $1 })
  }

  static func entry(
    _ id: String, _ title: String, _ members: [String: Any] = [:]
  ) throws -> Content {
    let good: [String: Any] = [
      "format": 1, "id": id, "alarm": Fixture.milk, "title": title, "action": "done",
      "at": "2026-11-20T22:00:00.000Z", "device": Fixture.device,
    ]
    return try json(good.merging(members) { $1 })
  }

  var bytes: [UInt8] {
    switch self {
    case .file(let bytes, _): bytes
    case .object: []
    }
  }

  func with(mode: String) -> Content {
    switch self {
    case .file(let bytes, _): .file(bytes, mode: mode)
    case .object(let id, _): .object(id, mode: mode)
    }
  }
}

/// A git object and its mode in a tree.
private struct Object: Sendable {
  let id: String
  let mode: String
}

/// An entry of a tree, with any name.
private struct TreeEntry: Sendable {
  let name: String
  let object: Object

  /// The sort key of git, in which the name of a folder ends in a slash.
  var key: [UInt8] { Array((object.mode == "40000" ? name + "/" : name).utf8) }

  var bytes: [UInt8] {
    var bytes = Array("\(object.mode) \(name)\0".utf8)
    var digits = object.id[...]
    while !digits.isEmpty {
      bytes.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
      digits = digits.dropFirst(2)
    }
    return bytes
  }
}

// MARK: - Checks

/// Returns the lines of a text that contain a complete path.
private func lines(of text: String, naming path: String) -> [Substring] {
  func isPart(_ character: Character?) -> Bool {
    character.map { $0.isLetter || $0.isNumber || "/_-".contains($0) } ?? false
  }
  return text.split(separator: "\n").filter { line in
    line.ranges(of: path).contains { range in
      !isPart(line[..<range.lowerBound].last) && !isPart(line[range.upperBound...].first)
    }
  }
}

/// Expects no control, direction or invisible character.
private func expectPrintable(_ output: Sandbox.Output) {
  var hidden: Set<String> = []
  for scalar in (output.out + output.err).unicodeScalars {
    switch scalar.value {
    case 0x0A: break
    case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
      hidden.insert(String(scalar.value, radix: 16))
    default: break
    }
  }
  #expect(hidden.isEmpty, "\(hidden.sorted())")
}

/// The result of a sync of the first device, with the files before and after it.
private struct SyncResult: Sendable {
  let before: Set<String>
  let sync: Sandbox.Output
  /// The peak memory of the sync and its git processes, in MB.
  let megabytes: Int
  let after: Set<String>

  /// Returns the path in a line of `Fixture.files()`, or nil for the checksum of a file's content.
  static func path(_ line: String) -> String? {
    line.firstIndex(of: "\t").map { String(line[..<$0]) }
  }
}

/// Two devices and their shared bare repository, into which an attacker writes.
private struct Fixture: Sendable {
  let sandbox: Sandbox
  /// The commit that both devices and the remote share before the attack.
  let good: String
  var one: String { sandbox.root + "/one" }
  var two: String { sandbox.root + "/two" }
  var remote: String { sandbox.root + "/remote.git" }

  static let mallory = "Mallory <mallory@example.org> 1795214500 +0000"
  static let device = "malloryaaaaaaaaaaaaaaaaaaa"
  static let devicePath = "devices/\(device).json"
  static let milk = "milkaaaaaaaaaaaaaaaaaaaaaa"
  static let milkPath = "alarms/\(milk).json"
  static let goodPaths = [devicePath, milkPath]

  init() async throws {
    sandbox = try Sandbox()
    let (one, two) = (sandbox.root + "/one", sandbox.root + "/two")
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    _ = try await sandbox.belfry("add", "Rent", "--weekly", "mon", "--at", "09:00", store: one)
    try await sandbox.plus(store: one)
    _ = try await sandbox.belfry("remote", "add", "origin", remote, store: one)
    _ = try await sandbox.belfry("sync", store: one)
    _ = try await sandbox.belfry("clone", "file://" + remote, store: two, device: "server")
    for store in [two, one] {
      let sync = try await sandbox.belfry("sync", store: store)
      try #require(sync.status == 0, "\(sync.err)")
    }
    let head = try await sandbox.git("rev-parse", "HEAD", in: one).out
    let sent = try await sandbox.git("rev-parse", "main", in: remote).out
    try #require(head == sent)
    good = String(head.prefix(40))
  }

  /// Names that lead out of their folder or into `.git`.
  var names: [String] {
    [
      "..", ".git", ".GIT", "git~1", "x/../../y", "alarms/../../y", "../escaped",
      sandbox.root + "/escaped",
    ]
  }

  // MARK: Writing

  /// Adds a commit to the remote's branch with the existing files, two valid records and the given content.
  ///
  /// - Parameters:
  ///   - files: the content that replaces a path.
  ///   - raw: additional entries with any name, by the path of their folder.
  ///   - isSorted: true to sort entries like git, false to reverse the order.
  func attack(
    _ files: [String: Content] = [:], raw: [String: [(String, Content)]] = [:],
    isSorted: Bool = true, by author: String = Fixture.mallory
  ) async throws -> String {
    try await commit(tree(of: files, raw: raw, isSorted: isSorted), by: author)
  }

  /// Writes the tree that `attack` commits, and returns its name.
  func tree(
    of files: [String: Content], raw: [String: [(String, Content)]] = [:], isSorted: Bool = true
  ) async throws -> String {
    var objects: [String: Object] = [:]
    let list = try await sandbox.git("ls-tree", "-r", good, in: remote).out
    for line in list.split(separator: "\n") {
      let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
      objects[words[3]] = Object(id: words[2], mode: words[0])
    }
    var all = files
    let records: [String: Content] = [
      Fixture.milkPath: try .alarm(Fixture.milk, "Milk"),
      Fixture.devicePath: try .device(Fixture.device, "Mallory's"),
    ]
    for (path, content) in records where !files.keys.contains(where: { path.hasPrefix($0 + "/") }) {
      all[path] = content
    }
    // A file and a folder cannot have the same name.
    let above = files.keys.flatMap { path in
      path.indices.filter { path[$0] == "/" }.map { String(path[..<$0]) }
    }
    for path in above { objects[path] = nil }
    let replaced = files.keys.map { $0 + "/" }
    objects = objects.filter { object in !replaced.contains { object.key.hasPrefix($0) } }
    for (path, content) in all { objects[path] = try await write(content) }
    return try await write(objects, raw: raw, isSorted: isSorted, folder: "").id
  }

  /// Writes the trees of the paths bottom-up, and returns the top one.
  private func write(
    _ objects: [String: Object], raw: [String: [(String, Content)]], isSorted: Bool,
    folder: String
  ) async throws -> Object {
    var entries: [TreeEntry] = []
    var folders: [String: [String: Object]] = [:]
    for (path, object) in objects {
      if let slash = path.firstIndex(of: "/") {
        let rest = String(path[path.index(after: slash)...])
        folders[String(path[..<slash]), default: [:]][rest] = object
      } else {
        entries.append(TreeEntry(name: path, object: object))
      }
    }
    for (name, below) in folders {
      let object = try await write(
        below, raw: raw, isSorted: isSorted, folder: folder.isEmpty ? name : "\(folder)/\(name)")
      entries.append(TreeEntry(name: name, object: object))
    }
    for (name, content) in raw[folder] ?? [] {
      entries.append(TreeEntry(name: name, object: try await write(content)))
    }
    entries.sort { $0.key.lexicographicallyPrecedes($1.key) }
    if !isSorted { entries.reverse() }
    return Object(id: try await tree(entries), mode: "40000")
  }

  func write(_ content: Content) async throws -> Object {
    switch content {
    case .file(let bytes, let mode): return Object(id: try await object("blob", bytes), mode: mode)
    case .object(let id, let mode): return Object(id: id, mode: mode)
    }
  }

  /// Writes a folder that contains the same object under several names.
  func folder(_ names: [String], of object: Object) async throws -> Object {
    let entries = names.map { TreeEntry(name: $0, object: object) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    return Object(id: try await tree(entries), mode: "40000")
  }

  /// Writes a tree with the entries in the given order.
  func tree(_ entries: [TreeEntry]) async throws -> String {
    try await object("tree", entries.flatMap(\.bytes))
  }

  /// Writes an object into the remote without validation, and returns its name.
  func object(_ kind: String, _ bytes: [UInt8]) async throws -> String {
    let file = remote + "/new-object"
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    let made = try await sandbox.git(
      "hash-object", "-t", kind, "-w", "--literally", "--no-filters", file, in: remote)
    try #require(made.status == 0, "\(made.err)")
    return String(made.out.prefix(40))
  }

  /// Adds a commit of a tree to the remote's branch, and returns its name.
  func commit(_ tree: String, by author: String = Fixture.mallory) async throws -> String {
    try await commit(tree, by: author, parent: good)
  }

  func commit(
    _ tree: String, by author: String = Fixture.mallory, parent: String?
  ) async throws -> String {
    let text = """
      tree \(tree)
      \(parent.map { "parent \($0)\n" } ?? "")author \(author)
      committer \(author)

      Hostile

      Device: \(Fixture.device)

      """
    let commit = try await object("commit", Array(text.utf8))
    try point(commit)
    return commit
  }

  /// Points the remote's branch to an object.
  func point(_ object: String) throws {
    try sandbox.write(object + "\n", to: remote + "/refs/heads/main")
  }

  /// Adds a commit for each list of files to the remote's branch with `git fast-import`, and returns the last one.
  func importing(_ commits: [[(String, Content)]]) async throws -> String {
    var stream = ""
    for (number, files) in commits.enumerated() {
      stream += "commit refs/heads/main\ncommitter \(Fixture.mallory)\ndata 2\nx\n\n"
      if number == 0 { stream += "from \(good)\n" }
      for (path, content) in files {
        let text = String(decoding: content.bytes, as: UTF8.self)
        stream += "M 100644 inline \(path)\ndata \(text.utf8.count)\n\(text)\n"
      }
    }
    let file = remote + "/stream"
    try sandbox.write(stream, to: file)
    let made = try await sandbox.run(
      "/bin/sh", ["-c", "git -C '\(remote)' fast-import --quiet < '\(file)'"])
    try #require(made.status == 0, "\(made.err)")
    return String(try await sandbox.git("rev-parse", "main", in: remote).out.prefix(40))
  }

  // MARK: Reading

  func sync(_ store: String) async throws -> Sandbox.Output {
    try await sandbox.belfry("sync", store: store)
  }

  func titles(_ store: String) async throws -> [String] {
    try await sandbox.belfry("list", "--json", store: store).array
      .compactMap { $0["title"] as? String }.sorted()
  }

  func head(_ store: String) async throws -> String {
    String(try await sandbox.git("rev-parse", "HEAD", in: store).out.prefix(40))
  }

  /// Returns the type, mode, target and content of all files: in the work tree, in the folders around it, and the
  /// configuration and hooks in `.git`.
  func files() async throws -> Set<String> {
    let script = """
      cd "$1" && set -- -path ./remote.git -prune -o -path ./two -prune -o \
        -path './one/.git/*' ! -path './one/.git/hooks*' ! -path './one/.git/info*' \
        ! -path './one/.git/config*' -prune -o
      find . "$@" -printf '%P\\t%y%m %l\\n'; find . "$@" -type f -exec sha256sum {} +
      """
    let list = try await sandbox.run("/bin/sh", ["-c", script, "sh", sandbox.root])
    try #require(list.status == 0, "\(list.err)")
    return Set(list.out.split(separator: "\n").map(String.init))
  }

  /// Syncs the first device with a time limit, and returns the result.
  func syncFirstDevice() async throws -> SyncResult {
    let before = try await files()
    let peak = remote + "/peak"
    let script = """
      import resource, subprocess, sys
      status = subprocess.call(sys.argv[2:])
      with open(sys.argv[1], "w") as file:
          file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10))
      sys.exit(status if status >= 0 else 128 - status)
      """
    let sync = try await sandbox.run(
      "/usr/bin/timeout",
      ["-s", "KILL", "150", "python3", "-c", script, peak, Sandbox.binary, "sync"],
      environment: [
        "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:41:00Z",
        "BELFRY_STORE": one,
      ])
    // The file is missing if the sync was killed.
    let megabytes = (try? sandbox.read(peak)).flatMap { Int($0) } ?? .max
    return SyncResult(before: before, sync: sync, megabytes: megabytes, after: try await files())
  }

  // MARK: Expecting

  /// Expects that a sync imported only the valid records, and that both devices continue to work.
  ///
  /// - Parameters:
  ///   - refused: the refused paths, each reported with the commit and its device.
  ///   - brings: the imported files.
  ///   - expected: the titles of all alarms after the sync.
  ///   - optional: files that the sync may import, with their possible titles.
  func expectContained(
    _ result: SyncResult, of commit: String, refused: [String],
    brings: [String] = Fixture.goodPaths,
    titles expected: [String] = ["Milk", "Rent"], mayBring optional: [String: [String]] = [:]
  ) async throws {
    let sync = result.sync
    #expect(sync.status == 0, "\(sync.err)")
    expectPrintable(sync)
    for path in refused {
      let named = lines(of: sync.err, naming: path)
      #expect(!named.isEmpty, "\(path) is not named: \(sync.err)")
      let isLocated = named.contains {
        $0.contains(commit.prefix(7)) && $0.lowercased().contains("mallory")
      }
      #expect(isLocated, "\(path) is not located: \(named)")
    }
    // All existing files are unchanged, including local alarms.
    let gone = result.before.subtracting(result.after)
    #expect(gone.isEmpty, "\(gone.sorted())")
    let new = Set(result.after.subtracting(result.before).compactMap(SyncResult.path))
      .subtracting(optional.keys.map { "one/" + $0 })
    let wanted = Set(brings.map { "one/" + $0 })
    let stray = new.subtracting(wanted).sorted()
    #expect(stray.isEmpty, "\(stray.count): \(stray.prefix(10))")
    let missing = wanted.subtracting(new).sorted()
    #expect(missing.isEmpty, "\(missing.count): \(missing.prefix(10))")
    let extra = Set(optional.values.joined())
    #expect(try await titles(one).filter { !extra.contains($0) } == expected)

    // A second sync changes nothing.
    let head = try await self.head(one)
    let again = try await self.sync(one)
    #expect(again.status == 0)
    #expect(again.err.isEmpty, "\(again.err)")
    #expect(again.out == "Everything is up to date.\n")
    #expect(try await self.head(one) == head)

    // The other device converges.
    let other = try await self.sync(two)
    #expect(other.status == 0, "\(other.err)")
    expectPrintable(other)
    #expect(try await self.head(two) == head)
    #expect(try await titles(two) == titles(one))
    for store in [one, two] {
      let status = try await sandbox.git("status", "--porcelain", "--ignored", in: store)
      #expect(status.out.isEmpty, "\(status.out)")
      try await expectSound(store, after: commit)
    }

    // Both devices exchange further changes.
    let add = try await sandbox.belfry("add", "Bread", "--daily", store: two, device: "server")
    #expect(add.status == 0, "\(add.err)")
    for store in [two, one] {
      let sync = try await self.sync(store)
      #expect(sync.status == 0, "\(sync.err)")
      #expect(try await titles(store).contains("Bread"))
    }
  }

  /// Expects that fsck finds no fault in the commits since another and in the current tree.
  private func expectSound(_ store: String, after commit: String) async throws {
    let commits = try await sandbox.git(
      "rev-list", "--objects", "--no-object-names", "HEAD", "--not", commit, in: store)
    let tree = try await sandbox.git(
      "rev-list", "--objects", "--no-object-names", "HEAD^{tree}", in: store)
    #expect(commits.status == 0 && tree.status == 0, "\(commits.err)\(tree.err)")
    let own = Set((commits.out + tree.out).split(separator: "\n").map(String.init))
    let fsck = try await sandbox.git("fsck", "--strict", "--no-dangling", in: store)
    let words = (fsck.out + fsck.err).split(whereSeparator: { !$0.isHexDigit })
    let faults = words.filter { $0.count == 40 }.map(String.init)
    #expect(own.isDisjoint(with: faults), "\(fsck.err)")
  }

  /// Expects that a sync refused the whole remote and changed nothing, and that syncs succeed after the remote is
  /// repaired.
  func expectRefused(_ result: SyncResult, at top: String) async throws {
    #expect([1, 2, 6].contains(result.sync.status), "\(result.sync.status): \(result.sync.err)")
    #expect(!result.sync.err.isEmpty)
    expectPrintable(result.sync)
    #expect(result.before == result.after)
    for store in [one, two] {
      let again = try await self.sync(store)
      #expect(again.status == result.sync.status, "\(again.err)")
      expectPrintable(again)
      #expect(try await head(store) == good)
      #expect(try await titles(store) == ["Rent"])
      let status = try await sandbox.git("status", "--porcelain", "--ignored", in: store)
      #expect(status.out.isEmpty, "\(status.out)")
    }
    #expect(try sandbox.read(remote + "/refs/heads/main") == top + "\n")

    try point(good)
    let add = try await sandbox.belfry("add", "Bread", "--daily", store: two, device: "server")
    #expect(add.status == 0, "\(add.err)")
    for store in [two, one] {
      let sync = try await self.sync(store)
      #expect(sync.status == 0, "\(sync.err)")
      #expect(try await titles(store) == ["Bread", "Rent"])
    }
  }
}
