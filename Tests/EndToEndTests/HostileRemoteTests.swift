import Foundation
import TestSupport
import Testing

/// Somebody writes into the remote, with git's plumbing, what no Belfry would. What is good of it
/// comes in; the rest is left out and named; nothing is written but records, nothing of it is run,
/// and every device works on.
@Suite struct HostileRemoteTests {
  @Test func whatIsGoodComesIn() async throws {
    let world = try await World()
    let commit = try await world.attack()
    let visit = try await world.visit()
    #expect(visit.sync.err.isEmpty, "\(visit.sync.err)")
    try await world.expectContained(visit, of: commit, refused: [])
  }

  // MARK: Names

  @Test(arguments: ["", "alarms", "log/2026/11/20"])
  func aNameThatLeadsElsewhereIsLeftOut(_ folder: String) async throws {
    let world = try await World()
    let names = world.names
    let commit = try await world.attack(raw: [folder: names.map { ($0, Content.text("evil\n")) }])
    try await world.expectContained(
      world.visit(), of: commit, refused: names.map { folder.isEmpty ? $0 : "\(folder)/\($0)" })
  }

  @Test func aFolderOfSuchANameIsLeftOutWithAllThatIsInIt() async throws {
    let world = try await World()
    let script = try await world.write(.text("#!/bin/sh\ntouch PWNED\n", mode: "100755"))
    let hooks = try await world.folder(["post-merge", "post-checkout"], of: script)
    let folder = try await world.folder(["config", "hooks"], of: hooks)
    let names = world.names
    let commit = try await world.attack(
      raw: ["": names.map { ($0, Content.object(folder.id, mode: folder.mode)) }])
    try await world.expectContained(world.visit(), of: commit, refused: names)
  }

  @Test func aNameWithControlCharactersIsLeftOutAndShownEscaped() async throws {
    let world = try await World()
    let names = ["\u{1B}[31m.json", "\u{7}bell.json", "\u{202E}turned.json", "two\nlines.json"]
    let commit = try await world.attack(raw: ["alarms": names.map { ($0, Content.text("evil\n")) }])
    let visit = try await world.visit()
    for part in ["[31m.json", "bell.json", "turned.json", "lines.json"] {
      #expect(visit.sync.err.contains(part), "\(visit.sync.err)")
    }
    // None makes a line of its own.
    #expect(visit.sync.err.split(separator: "\n").allSatisfy { $0.hasPrefix("belfry: ") })
    try await world.expectContained(visit, of: commit, refused: [])
  }

  @Test(arguments: [["First", "Second"], ["First", ""], ["", "First"]])
  func twoEntriesOfOneNameAreToldAndAllDevicesTakeTheSame(_ titles: [String]) async throws {
    let world = try await World()
    let name = "\(id(1)).json"
    let entries = try titles.map { title in
      (name, try title.isEmpty ? Content.text("broken\n") : Content.alarm(id(1), title))
    }
    let commit = try await world.attack(raw: ["alarms": entries])
    try await world.expectContained(
      world.visit(), of: commit, refused: ["alarms/\(name)"],
      mayBring: ["alarms/\(name)": ["First", "Second"]])
  }

  @Test func aFolderThatIsThereTwiceIsTold() async throws {
    let world = try await World()
    let twin = try await world.folder(
      ["\(id(1)).json"], of: world.write(Content.alarm(id(1), "Twin")))
    let commit = try await world.attack(
      raw: ["": [("alarms", Content.object(twin.id, mode: twin.mode))]])
    try await world.expectContained(
      world.visit(), of: commit, refused: ["alarms"], brings: [World.devicePath], titles: ["Rent"],
      mayBring: [World.milkPath: ["Milk"], "alarms/\(id(1)).json": ["Twin"]])
  }

  @Test func treesThatAreNotSortedAreReadAndNeverWritten() async throws {
    let world = try await World()
    let path = "alarms/\(id(1)).json"
    let commit = try await world.attack(
      [path: try .alarm(id(1), "Bells"), "zeal": .text("x\n")], isSorted: false)
    try await world.expectContained(
      world.visit(), of: commit, refused: ["zeal"], brings: World.goodPaths + [path],
      titles: ["Bells", "Milk", "Rent"])
  }

  // MARK: Modes

  @Test func onlyARegularFileIsARecord() async throws {
    let world = try await World()
    let files: [String: Content] = [
      "alarms/\(id(1)).json": .text("/etc/passwd", mode: "120000"),
      "alarms/\(id(2)).json": try .alarm(id(2), "Script").with(mode: "100755"),
      "alarms/\(id(3)).json": .object(nobody, mode: "160000"),
      "alarms/\(id(4)).json": try .alarm(id(4), "Group").with(mode: "100664"),
      "devices/\(id(5)).json": .text("../../escaped", mode: "120000"),
      "settings.json": .text("../escaped", mode: "120000"),
      entryPath(id(6)): try .entry(id(6), "Linked").with(mode: "120000"),
    ]
    let commit = try await world.attack(files)
    try await world.expectContained(world.visit(), of: commit, refused: files.keys.sorted())
  }

  @Test(arguments: [
    ("alarms", "100644"), ("alarms", "160000"), ("alarms", "120000"), ("log", "160000"),
    ("log/2026", "100644"), ("log/2026/11/20", "120000"),
  ])
  func whatStandsInAFoldersPlaceTakesNothingAway(_ path: String, _ mode: String) async throws {
    let world = try await World()
    let commit = try await world.attack([
      path: mode == "160000" ? .object(nobody, mode: mode) : .text("..", mode: mode)
    ])
    let hasAlarms = path != "alarms"
    try await world.expectContained(
      world.visit(), of: commit, refused: [path],
      brings: hasAlarms ? World.goodPaths : [World.devicePath],
      titles: hasAlarms ? ["Milk", "Rent"] : ["Rent"])
  }

  @Test func aFolderInARecordsPlaceIsLeftOut() async throws {
    let world = try await World()
    let paths = [
      "alarms/\(id(1)).json", "devices/\(id(2)).json", "settings.json", entryPath(id(3)),
    ]
    var files: [String: Content] = [:]
    for path in paths { files["\(path)/\(id(4)).json"] = try .alarm(id(4), "Hidden") }
    let commit = try await world.attack(files)
    try await world.expectContained(world.visit(), of: commit, refused: paths)
  }

  // MARK: git's own files

  @Test func noFilterHookOrSubmoduleOfARemoteIsHonoured() async throws {
    let world = try await World()
    let trap = world.sandbox.root + "/PWNED"
    try world.sandbox.write(
      """
      [filter "evil"]
        smudge = "touch '\(trap)'; cat"
        clean = "touch '\(trap)'; cat"
      [submodule]
        recurse = true
      [protocol]
        allow = always
      """, to: world.sandbox.home + "/.gitconfig")
    let hook = Content.text("#!/bin/sh\ntouch '\(trap)'\n", mode: "100755")
    let attributes = Content.text("* filter=evil\n")
    let module = "  path = m\n  url = ext::sh -c touch% \(trap)\n  update = !touch \(trap)\n"
    let files: [String: Content] = [
      ".gitattributes": attributes, "alarms/.gitattributes": attributes,
      ".gitmodules": .text("[submodule \"m\"]\n\(module)"),
      "m": .object(nobody, mode: "160000"), ".gitignore": .text("*\n"), "hooks/post-merge": hook,
      "hooks/reference-transaction": hook,
    ]
    let commit = try await world.attack(files)
    // A checkout would run into it.
    let work = world.sandbox.root + "/work"
    _ = try await world.sandbox.git("clone", "-q", "-b", "main", world.remote, work, in: "/")
    #expect(FileManager.default.fileExists(atPath: trap))
    try FileManager.default.removeItem(atPath: trap)
    try await world.expectContained(
      world.visit(), of: commit,
      refused: [
        ".gitattributes", "alarms/.gitattributes", ".gitmodules", "m", ".gitignore", "hooks",
      ])
    #expect(!FileManager.default.fileExists(atPath: trap))
  }

  @Test func hooksForGitsOwnFolderAreNotWritten() async throws {
    let world = try await World()
    let hook = Content.text("#!/bin/sh\ntouch PWNED\n", mode: "100755")
    let commit = try await world.attack([
      ".git/hooks/post-merge": hook, ".git/config": .text("[core]\n  fsmonitor = touch PWNED\n"),
    ])
    try await world.expectContained(world.visit(), of: commit, refused: [".git"])
  }

  // MARK: Size

  // Longer: 50 MB are fetched twice.
  @Test func aRecordOfFiftyMegabytesIsLeftOut() async throws {
    let world = try await World()
    let path = "alarms/\(id(1)).json"
    let padding = [UInt8](repeating: UInt8(ascii: " "), count: 50 << 20)
    let big = try Content.alarm(id(1), "Big").bytes + padding
    let commit = try await world.attack([path: .file(big)])
    try await world.expectContained(world.visit(), of: commit, refused: [path])
  }

  // Longer: git itself unfolds 100 MB a few times.
  @Test func aSmallPackThatUnfoldsToMuchIsNotUnfolded() async throws {
    let world = try await World()
    let path = "alarms/\(id(1)).json"
    let made = try await world.sandbox.run(
      "/bin/sh",
      ["-c", "head -c 100M /dev/zero | git -C '\(world.remote)' hash-object -w --stdin"])
    let zeros = String(made.out.prefix(40))
    let commit = try await world.attack([path: .object(zeros, mode: "100644")])
    // It is here already, so that all the memory that the sync takes is Belfry's.
    _ = try await world.sandbox.git("fetch", "-q", world.remote, "main", in: world.one)
    let visit = try await world.visit()
    #expect(visit.megabytes < 96)
    try await world.expectContained(visit, of: commit, refused: [path])
  }

  // Longer: 2,000 files are read, and most of them told.
  @Test func oneEntryUnderManyNamesIsThereOnce() async throws {
    let world = try await World()
    let entry = try await world.write(.entry(id(0), "Ghost"))
    var files: [String: Content] = [:]
    for number in 0..<2_000 {
      files[entryPath(id(number))] = .object(entry.id, mode: entry.mode)
    }
    let commit = try await world.attack(files)
    let visit = try await world.visit()
    #expect(lines(of: visit.sync.err, naming: entryPath(id(1))).count == 1)
    #expect(lines(of: visit.sync.err, naming: entryPath(id(0))).isEmpty)
    try await world.expectContained(
      visit, of: commit, refused: [], brings: World.goodPaths + [entryPath(id(0))])
    let log = try await world.sandbox.belfry("log", store: world.one)
    #expect(log.out.split(separator: "\n").filter { $0.contains("Ghost") }.count == 1)
  }

  // Longer: 24,000 paths are looked at.
  @Test func oneYearUnderAThousandNamesComesToAnEnd() async throws {
    let world = try await World()
    func numbers(_ range: ClosedRange<Int>) -> [String] {
      range.map { ($0 < 10 ? "0" : "") + String($0) }
    }
    let entry = try await world.write(.entry(id(0), "Ghost"))
    let day = try await world.folder(
      (0...1).map { "220000000-\(id($0)).json" }, of: entry)
    let month = try await world.folder(numbers(1...2), of: day)
    let year = try await world.folder(numbers(1...6), of: month)
    let log = try await world.folder(numbers(2000...2999), of: year)
    let commit = try await world.attack(["log": .object(log.id, mode: log.mode)])
    let visit = try await world.visit()
    // Told, and not poured out.
    #expect(visit.sync.err.contains("log/2000/01/01/220000000-\(id(0)).json"))
    #expect(visit.sync.err.utf8.count < 500_000)
    #expect(visit.megabytes < 512)
    try await world.expectContained(visit, of: commit, refused: [])
  }

  // Longer: thousands of files are written on two devices.
  @Test func manyRecordsComeInInTime() async throws {
    let world = try await World()
    let alarms = try (1...500).map { number in
      ("alarms/\(id(number)).json", try Content.alarm(id(number), "Many"))
    }
    let entries: [(String, Content)] = try (0..<1_500).map { number in
      let (second, millisecond) = (number / 1_000, String(1_000 + number % 1_000).dropFirst())
      let name = "22000\(second)\(millisecond)-\(id(10_000 + number)).json"
      return (
        "log/2026/11/20/\(name)",
        try Content.entry(
          id(10_000 + number), "Many", ["at": "2026-11-20T22:00:0\(second).\(millisecond)Z"])
      )
    }
    let commit = try await world.importing([alarms + entries])
    let visit = try await world.visit()
    #expect(visit.megabytes < 512)
    try await world.expectContained(
      visit, of: commit, refused: [], brings: (alarms + entries).map { $0.0 },
      titles: alarms.map { _ in "Many" } + ["Rent"])
  }

  // Longer: a thousand refusals, each of a history of hundreds of commits.
  @Test func manyRefusalsOfALongHistoryAreToldInTime() async throws {
    let world = try await World()
    let bad = (0..<1_000).map { ("alarms/bad\($0).json", Content.text("x\n")) }
    let path = "alarms/\(id(1)).json"
    let versions = try (0..<500).map { [(path, try Content.alarm(id(1), "Version \($0)"))] }
    let commit = try await world.importing([bad] + versions)
    let visit = try await world.visit()
    #expect(visit.sync.err.contains("alarms/bad0.json"))
    try await world.expectContained(
      visit, of: commit, refused: [], brings: [path], titles: ["Rent", "Version 499"])
  }

  // MARK: Records

  @Test func aRecordOfAnotherNameIsLeftOut() async throws {
    let world = try await World()
    let files: [String: Content] = [
      "alarms/\(id(1)).json": try .alarm(id(2), "Other"),
      "devices/\(id(3)).json": try .device(id(4), "Other"),
      // Another entry's, and one of another day.
      entryPath(id(5)): try .entry(id(6), "Ghost"),
      "log/2025/11/20/220000000-\(id(7)).json": try .entry(id(7), "Ghost"),
    ]
    let commit = try await world.attack(files)
    try await world.expectContained(world.visit(), of: commit, refused: files.keys.sorted())
    #expect(try await !world.sandbox.belfry("log", store: world.one).out.contains("Ghost"))
  }

  @Test func whatIsNoRecordIsLeftOutWithItsReason() async throws {
    let world = try await World()
    func and(_ text: String, _ more: String) -> String { "\(text.dropLast()),\(more)}" }
    let deep = String(repeating: "[", count: 100_000)
    let closed = deep + String(repeating: "]", count: 100_000)
    let faults: [(String) -> String] = [
      // No document.
      { _ in "" }, { _ in "hello\n" }, { _ in "\0\0\0\0" }, { _ in "[]" }, { $0 + $0 },
      { String($0.dropLast()) }, { _ in deep },
      { _ in String(repeating: "{\"a\":", count: 100_000) },
      { and($0, "\"more\":\(closed)") },
      // Keys and texts.
      { and($0, "\"title\":\"Again\"") }, { $0.replacing("\"Bad\"", with: "\"\\ud800\"") },
      { $0.replacing("\"Bad\"", with: "\"a\\u0000b\"") },
      { $0.replacing("\"format\":1", with: "\"format\":99999999999999999999") },
      // Rules.
      { $0.replacing("[\"08:00\"]", with: "[]") }, { $0.replacing("\"08:00\"", with: "\"25:00\"") },
      { $0.replacing("\"Bad\"", with: "\" \"") },
      { $0.replacing("\"Bad\"", with: "\"\(String(repeating: "x", count: 300))\"") },
      { $0.replacing("2026-11-20", with: "2026-02-30") },
      { $0.replacing("\"format\":1", with: "\"format\":0") },
      { and($0, "\"zone\":\"../../etc/passwd\"") },
      // A text merge's.
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
    let commit = try await world.attack(files)
    try await world.expectContained(world.visit(), of: commit, refused: files.keys.sorted())
  }

  @Test(arguments: ["alarm", "settings", "entry", "device"])
  func aRecordOfALaterFormatIsToldAndHoldsUpNoOther(_ kind: String) async throws {
    let world = try await World()
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
    _ = try await world.attack([path: content])
    for store in [world.one, world.two] {
      let settings = try world.sandbox.read(store + "/settings.json")
      let sync = try await world.sync(store)
      #expect(sync.status == 0, "\(sync.err)")
      #expect(store == world.two || !lines(of: sync.err, naming: path).isEmpty, "\(sync.err)")
      #expect(store == world.two || sync.err.contains("99"), "\(sync.err)")
      #expect(try await world.titles(store) == ["Milk", "Rent"])
      #expect(try world.sandbox.read(store + "/settings.json") == settings)
    }
    // Nobody sends it about in circles.
    let head = try await world.head(world.one)
    for store in [world.one, world.two] {
      let sync = try await world.sync(store)
      #expect(sync.status == 0, "\(sync.err)")
      #expect(try await world.head(store) == head)
    }
  }

  // MARK: Texts

  @Test func noTextOfARemoteReachesTheTerminalRaw() async throws {
    let world = try await World()
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
      // Those that break a rule, so that the reason holds the text.
      files["alarms/\(id(500 + number)).json"] = try .alarm(
        id(500 + number), "Rule", ["schedule": ["kind": "x\(text)y", "start": "2026-11-20"]])
      files["alarms/\(id(600 + number)).json"] = .text("{ \"x\": x\(text)y")
    }
    _ = try await world.attack(files)
    let sync = try await world.sync(world.one)
    #expect(sync.status == 0, "\(sync.err)")
    let sandbox = world.sandbox
    let list = try await sandbox.belfry("list", store: world.one)
    let log = try await sandbox.belfry("log", store: world.one)
    let next = try await sandbox.belfry("next", "--count", "100", store: world.one)
    for output in [sync, list, log, next] { expectPrintable(output) }
    for number in hidden.indices {
      let show = try await sandbox.belfry("show", id(100 + number), store: world.one)
      expectPrintable(show)
      // Each is refused, or shown.
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
    // As documents they hold no control character either.
    for command in ["list", "log", "next"] {
      let output = try await sandbox.belfry(command, "--json", store: world.one)
      #expect(!output.out.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }
  }

  @Test func aDecisionIsShownEscaped() async throws {
    let world = try await World()
    let file = try world.sandbox.alarmFile(store: world.one)
    let text = try world.sandbox.read(file)
    var record = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    var stamps = try #require(record["stamps"] as? [String: Any])
    stamps["title"] = "2026-11-20T22:45:00.000Z-0000-\(World.device)"
    record["stamps"] = stamps
    record["title"] = "Evil\u{202E}live\u{200B}"
    let name = (file as NSString).lastPathComponent
    _ = try await world.attack(["alarms/\(name)": try .json(record)])
    _ = try await world.sandbox.belfry(
      "edit", "rent", "--title", "Mine", now: "2026-11-20T22:43:00Z", store: world.one)
    let sync = try await world.sandbox.belfry(
      "sync", now: "2026-11-20T22:50:00Z", store: world.one)
    #expect(sync.status == 0, "\(sync.err)")
    #expect(sync.out.contains("kept \"Evil") && sync.out.contains("over \"Mine\""), "\(sync.out)")
    expectPrintable(sync)
  }

  @Test(arguments: [0, 1])
  func whatAServerSaysIsShownEscaped(_ status: Int) async throws {
    let world = try await World()
    let hook = world.remote + "/hooks/pre-receive"
    try FileManager.default.createDirectory(
      atPath: world.remote + "/hooks", withIntermediateDirectories: true)
    // ESC, BEL, a turned direction and a space of no width.
    try world.sandbox.write(
      """
      #!/bin/sh
      printf '\\033[2J\\033]0;evil\\007 not today \\342\\200\\256 \\342\\200\\213\\n' >&2
      exit \(status)
      """, to: hook, mode: 0o755)
    _ = try await world.sandbox.belfry("add", "Milk", "--daily", store: world.one)
    let sync = try await world.sync(world.one)
    #expect(sync.status == (status == 0 ? 0 : 6), "\(sync.err)")
    expectPrintable(sync)
    #expect(try await world.titles(world.one) == ["Milk", "Rent"])
    try FileManager.default.removeItem(atPath: hook)
    for store in [world.one, world.two] {
      #expect(try await world.sync(store).status == 0)
      #expect(try await world.titles(store) == ["Milk", "Rent"])
    }
  }

  // MARK: Branches

  @Test func anEmptyRemoteIsFilledAgain() async throws {
    let world = try await World()
    try FileManager.default.removeItem(atPath: world.remote)
    _ = try await world.sandbox.git(
      "init", "-q", "--bare", "-b", "main", world.remote, in: world.sandbox.root)
    let visit = try await world.visit()
    #expect(visit.sync.status == 0, "\(visit.sync.err)")
    #expect(visit.before == visit.after)
    let sent = try await world.sandbox.git("rev-parse", "main", in: world.remote).out
    #expect(sent == world.good + "\n")
    #expect(try await world.sync(world.two).status == 0)
    #expect(try await world.titles(world.two) == ["Rent"])
  }

  @Test(arguments: [
    "project", "project that comes after", "empty tree", "devices is a file", "tag", "blob", "tree",
    "nothing", "commit without its tree", "tree cut short", "commit without its parent",
  ])
  func aBranchThatIsNoStoresIsRefusedAsAWhole(_ what: String) async throws {
    let world = try await World()
    let readme = try await world.folder(["README"], of: world.write(.text("Hello\n"))).id
    let top: String
    switch what {
    case "project": top = try await world.commit(readme, parent: nil)
    case "project that comes after": top = try await world.commit(readme)
    case "empty tree": top = try await world.commit(world.tree([]))
    case "devices is a file": top = try await world.attack(["devices": .text("x\n")])
    case "tag":
      let commit = try await world.attack()
      let text = "object \(commit)\ntype commit\ntag v1\ntagger \(World.mallory)\n\nA tag\n"
      top = try await world.object("tag", Array(text.utf8))
    case "blob": top = try await world.write(.text("x\n")).id
    case "tree": top = readme
    case "nothing": top = nobody
    case "commit without its tree": top = try await world.commit(nobody)
    case "tree cut short":
      top = try await world.commit(world.object("tree", Array("40000 devices\0abc".utf8)))
    default: top = try await world.commit(world.tree(of: [:]), parent: nobody)
    }
    try world.point(top)
    try await world.expectRefused(world.visit(), at: top)
  }

  @Test(arguments: [
    "x", "Mallory", "Mallory <mallory@example.org>", "Mallory <<m>> 1795214500 +0000",
    "Mallory <m@example.org> soon +0000", "Mallory <m@example.org> 99999999999999999999999 +0000",
    "Mallory <m@example.org> 1795214500 +999999999",
  ])
  func aCommitOfAMalformedAuthorJamsNobody(_ author: String) async throws {
    let world = try await World()
    let commit = try await world.attack(by: author)
    let visit = try await world.visit()
    if visit.sync.status == 0 {
      try await world.expectContained(visit, of: commit, refused: [])
    } else {
      try await world.expectRefused(visit, at: commit)
    }
  }

  // 1970, before it, 2099, the last second that has milliseconds in an Int64, the one after it, and
  // the last one.
  @Test(arguments: [
    "0", "-5", "4070908800", "9223372036854775", "9223372036854776", "9223372036854775807",
  ])
  func aCommitOfAnyDateIsTaken(_ seconds: String) async throws {
    let world = try await World()
    // With something to leave out, so that Belfry makes a commit of its own after it.
    let commit = try await world.attack(
      ["junk": .text("x\n")], by: "Mallory <m@example.org> \(seconds) +0000")
    try await world.expectContained(world.visit(), of: commit, refused: ["junk"])
  }

  @Test func aCloneTakesTheGoodRecordsAlone() async throws {
    let world = try await World()
    let commit = try await world.attack(
      ["alarms/\(id(1)).json": .text("broken\n"), "hooks/post-merge": .text("x\n")],
      raw: ["": world.names.map { ($0, Content.text("evil\n")) }])
    let before = try await world.files()
    let three = world.sandbox.root + "/three"
    let clone = try await world.sandbox.belfry("clone", world.remote, store: three, device: "third")
    #expect(clone.status == 0, "\(clone.err)")
    expectPrintable(clone)
    for path in world.names + ["alarms/\(id(1)).json", "hooks"] {
      let named = lines(of: clone.err, naming: path)
      #expect(named.contains { $0.contains(commit.prefix(7)) }, "\(path): \(clone.err)")
    }
    let new = try await world.files().subtracting(before).compactMap(Visit.path)
    #expect(new.allSatisfy { $0 == "three" || $0.hasPrefix("three/") }, "\(new)")
    let records = try await world.sandbox.git("ls-files", in: three).out.split(separator: "\n")
    #expect(
      records.allSatisfy { path in
        ["alarms/", "devices/", "log/"].contains { path.hasPrefix($0) }
          || [".gitattributes", "settings.json"].contains(path)
      })
    #expect(try await world.titles(three) == ["Milk", "Rent"])
    let status = try await world.sandbox.git("status", "--porcelain", "--ignored", in: three)
    #expect(status.out.isEmpty, "\(status.out)")
    for store in [three, world.one, world.two] {
      #expect(try await world.sync(store).status == 0)
      #expect(try await world.titles(store) == ["Milk", "Rent"])
    }
  }

  // MARK: Places

  /// A store whose user lets git run everything, with a trap in what it would run.
  private func trapped() async throws -> Sandbox {
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

  private func trapsThatSnapped(_ sandbox: Sandbox) async throws -> String {
    try await sandbox.run("/usr/bin/find", [sandbox.root, "-name", "PWNED*"]).out
  }

  @Test(arguments: ["ext::sh -c touch% PWNED", "ssh://host/x", "user@host:x"])
  func theTrapsSnapForWhoeverDoesNotLook(_ url: String) async throws {
    let sandbox = try await trapped()
    #expect(try await trapsThatSnapped(sandbox).isEmpty)
    _ = try await sandbox.git("ls-remote", url)
    #expect(try await !trapsThatSnapped(sandbox).isEmpty)
  }

  @Test(arguments: [
    "ext::sh -c touch%20PWNED", "ext::sh -c touch% PWNED", "-oProxyCommand=touch PWNED",
    "ssh://-oProxyCommand=touch${IFS}PWNED/x", "user@-oProxyCommand=x:path", "ssh://host/-oX",
    "file://host/path", "ssh://host/a\nb", "/srv/bells\n.git", "fd::17", "http::http://x",
  ])
  func aPlaceThatWouldRunSomethingIsNeitherAddedNorSyncedWith(_ url: String) async throws {
    let sandbox = try await trapped()
    let add = try await sandbox.belfry("remote", "add", "x", "--", url)
    #expect(add.status == 2, "\(add.err)")
    expectPrintable(add)
    #expect(try await sandbox.git("config", "--get-regexp", "^remote").out.isEmpty)
    // The same, written by hand.
    for (name, value) in [("url", url), ("fetch", "+refs/heads/*:refs/remotes/x/*")] {
      _ = try await sandbox.git("config", "remote.x.\(name)", value)
    }
    let sync = try await sandbox.belfry("sync", "x")
    #expect([2, 6].contains(sync.status), "\(sync.err)")
    expectPrintable(sync)
    #expect(try await trapsThatSnapped(sandbox).isEmpty)
    #expect(try await sandbox.belfry("list", "--json").array.count == 1)
  }

  @Test(arguments: [
    "[url \"ext::sh -c touch% ROOT/PWNED\"]\n  insteadOf = ROOT/remote.git\n",
    "[url \"ext::sh -c touch% ROOT/PWNED\"]\n  pushInsteadOf = ROOT/remote.git\n",
    "[remote \"origin\"]\n  pushurl = ext::sh -c touch% ROOT/PWNED\n",
  ])
  func aConfigurationThatLeadsToACommandIsNotFollowed(_ configuration: String) async throws {
    let world = try await World()
    let sandbox = world.sandbox
    try sandbox.write(
      "[protocol]\n  allow = always\n[protocol \"ext\"]\n  allow = always\n"
        + configuration.replacing("ROOT", with: sandbox.root), to: sandbox.home + "/.gitconfig")
    _ = try await sandbox.belfry("add", "Milk", "--daily", store: world.one)
    let sync = try await world.sync(world.one)
    #expect([2, 6].contains(sync.status), "\(sync.err)")
    expectPrintable(sync)
    #expect(try await trapsThatSnapped(sandbox).isEmpty)
    #expect(try await world.titles(world.one) == ["Milk", "Rent"])
    try FileManager.default.removeItem(atPath: sandbox.home + "/.gitconfig")
    for store in [world.one, world.two] {
      #expect(try await world.sync(store).status == 0)
      #expect(try await world.titles(store) == ["Milk", "Rent"])
    }
  }
}

// MARK: - What somebody writes

/// The name of an object that nobody has.
private let nobody = String(repeating: "1", count: 40)

/// An identifier of a number's own.
private func id(_ number: Int) -> String {
  let digits = String(number).utf8.map { Character(UnicodeScalar($0 + 49)) }
  return "b" + String(repeating: "a", count: 25 - digits.count) + String(digits)
}

/// The place of an entry that `Content.entry` makes.
private func entryPath(_ id: String) -> String { "log/2026/11/20/220000000-\(id).json" }

/// What is at a path of a tree.
private enum Content: Sendable {
  case file([UInt8], mode: String = "100644")
  /// An object that is there already, or nowhere.
  case object(String, mode: String)

  static func text(_ text: String, mode: String = "100644") -> Content {
    .file(Array(text.utf8), mode: mode)
  }

  static func json(_ members: [String: Any]) throws -> Content {
    .file(Array(try JSONSerialization.data(withJSONObject: members, options: .sortedKeys)))
  }

  /// A good record, but for the members that are given.
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
      "format": 1, "id": id, "alarm": World.milk, "title": title, "action": "done",
      "at": "2026-11-20T22:00:00.000Z", "device": World.device,
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

/// An object of git's, and as what a tree names it.
private struct Object: Sendable {
  let id: String
  let mode: String
}

/// An entry of a tree, with whatever name.
private struct TreeEntry: Sendable {
  let name: String
  let object: Object

  /// What git sorts by: a folder as if its name ended in a slash.
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

// MARK: - What is checked

/// The lines of a text that name a path as a whole.
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

/// Expects no character that a terminal obeys, or that turns or hides what is written.
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

/// A sync of the first device, and the files before and after it.
private struct Visit: Sendable {
  let before: Set<String>
  let sync: Sandbox.Output
  /// The most memory that it, or a git of its, had.
  let megabytes: Int
  let after: Set<String>

  /// The path in a line of `World.files()`; nil where it holds a file's content.
  static func path(_ line: String) -> String? {
    line.firstIndex(of: "\t").map { String(line[..<$0]) }
  }
}

/// Two devices, the bare repository that they share, and somebody who writes into it.
private struct World: Sendable {
  let sandbox: Sandbox
  /// The commit at which all of them stood before.
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

  /// Names that lead out of the folder that they stand in, or into git's own.
  var names: [String] {
    [
      "..", ".git", ".GIT", "git~1", "x/../../y", "alarms/../../y", "../escaped",
      sandbox.root + "/escaped",
    ]
  }

  // MARK: Writing

  /// Puts a commit on the remote's branch with all that the branch has, two good records, and more.
  ///
  /// - Parameters:
  ///   - files: what is at a path, instead of what is there.
  ///   - raw: entries beside those, by the path of their folder, whatever their names.
  ///   - isSorted: sorts entries as git does; otherwise the other way round.
  func attack(
    _ files: [String: Content] = [:], raw: [String: [(String, Content)]] = [:],
    isSorted: Bool = true, by author: String = World.mallory
  ) async throws -> String {
    try await commit(tree(of: files, raw: raw, isSorted: isSorted), by: author)
  }

  /// The tree that `attack` commits.
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
      World.milkPath: try .alarm(World.milk, "Milk"),
      World.devicePath: try .device(World.device, "Mallory's"),
    ]
    for (path, content) in records where !files.keys.contains(where: { path.hasPrefix($0 + "/") }) {
      all[path] = content
    }
    // A file and a folder of one name do not go together.
    let above = files.keys.flatMap { path in
      path.indices.filter { path[$0] == "/" }.map { String(path[..<$0]) }
    }
    for path in above { objects[path] = nil }
    let replaced = files.keys.map { $0 + "/" }
    objects = objects.filter { object in !replaced.contains { object.key.hasPrefix($0) } }
    for (path, content) in all { objects[path] = try await write(content) }
    return try await write(objects, raw: raw, isSorted: isSorted, folder: "").id
  }

  /// Writes the trees of some paths, from the bottom up.
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

  /// A folder that has one and the same under several names.
  func folder(_ names: [String], of object: Object) async throws -> Object {
    let entries = names.map { TreeEntry(name: $0, object: object) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    return Object(id: try await tree(entries), mode: "40000")
  }

  /// Writes a tree of entries as they come.
  func tree(_ entries: [TreeEntry]) async throws -> String {
    try await object("tree", entries.flatMap(\.bytes))
  }

  /// Writes an object as it is, whatever it holds, into the remote. Returns its name.
  func object(_ kind: String, _ bytes: [UInt8]) async throws -> String {
    let file = remote + "/new-object"
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    let made = try await sandbox.git(
      "hash-object", "-t", kind, "-w", "--literally", "--no-filters", file, in: remote)
    try #require(made.status == 0, "\(made.err)")
    return String(made.out.prefix(40))
  }

  /// Puts a commit of a tree on the remote's branch.
  func commit(_ tree: String, by author: String = World.mallory) async throws -> String {
    try await commit(tree, by: author, parent: good)
  }

  func commit(
    _ tree: String, by author: String = World.mallory, parent: String?
  ) async throws -> String {
    let text = """
      tree \(tree)
      \(parent.map { "parent \($0)\n" } ?? "")author \(author)
      committer \(author)

      Hostile

      Device: \(World.device)

      """
    let commit = try await object("commit", Array(text.utf8))
    try point(commit)
    return commit
  }

  /// Lets the remote's branch name an object.
  func point(_ object: String) throws {
    try sandbox.write(object + "\n", to: remote + "/refs/heads/main")
  }

  /// Puts a commit for each list of files on the remote's branch, quickly. Returns the last.
  func importing(_ commits: [[(String, Content)]]) async throws -> String {
    var stream = ""
    for (number, files) in commits.enumerated() {
      stream += "commit refs/heads/main\ncommitter \(World.mallory)\ndata 2\nx\n\n"
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

  // MARK: Looking

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

  /// All files, with their kind, mode, target and content: of the work tree, of the folders around
  /// it, and of git's own folder what git obeys or runs.
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

  /// A sync of the first device, which is killed after half a minute.
  func visit() async throws -> Visit {
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
    // Nothing is there when it was killed.
    let megabytes = (try? sandbox.read(peak)).flatMap { Int($0) } ?? .max
    return Visit(before: before, sync: sync, megabytes: megabytes, after: try await files())
  }

  // MARK: Expecting

  /// Expects that a sync took the good records alone, and that both devices are well ever after.
  ///
  /// - Parameters:
  ///   - refused: the paths that were left out, each named with the commit and its device.
  ///   - brings: the files that came in.
  ///   - expected: the titles of all alarms then.
  ///   - optional: files that may have come in as well, with the titles that they may have.
  func expectContained(
    _ visit: Visit, of commit: String, refused: [String], brings: [String] = World.goodPaths,
    titles expected: [String] = ["Milk", "Rent"], mayBring optional: [String: [String]] = [:]
  ) async throws {
    let sync = visit.sync
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
    // Nothing that was there has changed, local alarms least of all.
    let gone = visit.before.subtracting(visit.after)
    #expect(gone.isEmpty, "\(gone.sorted())")
    let new = Set(visit.after.subtracting(visit.before).compactMap(Visit.path))
      .subtracting(optional.keys.map { "one/" + $0 })
    let wanted = Set(brings.map { "one/" + $0 })
    let stray = new.subtracting(wanted).sorted()
    #expect(stray.isEmpty, "\(stray.count): \(stray.prefix(10))")
    let missing = wanted.subtracting(new).sorted()
    #expect(missing.isEmpty, "\(missing.count): \(missing.prefix(10))")
    let extra = Set(optional.values.joined())
    #expect(try await titles(one).filter { !extra.contains($0) } == expected)

    // Calm from now on.
    let head = try await self.head(one)
    let again = try await self.sync(one)
    #expect(again.status == 0)
    #expect(again.err.isEmpty, "\(again.err)")
    #expect(again.out == "Everything is up to date.\n")
    #expect(try await self.head(one) == head)

    // The other device has the same.
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

    // Both work on.
    let add = try await sandbox.belfry("add", "Bread", "--daily", store: two, device: "server")
    #expect(add.status == 0, "\(add.err)")
    for store in [two, one] {
      let sync = try await self.sync(store)
      #expect(sync.status == 0, "\(sync.err)")
      #expect(try await titles(store).contains("Bread"))
    }
  }

  /// Expects no fault in what Belfry wrote after a commit, and in all that it has now.
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

  /// Expects that a sync refused the remote as a whole and changed nothing, and that all is well
  /// when it is mended.
  func expectRefused(_ visit: Visit, at top: String) async throws {
    #expect([1, 2, 6].contains(visit.sync.status), "\(visit.sync.status): \(visit.sync.err)")
    #expect(!visit.sync.err.isEmpty)
    expectPrintable(visit.sync)
    #expect(visit.before == visit.after)
    for store in [one, two] {
      let again = try await self.sync(store)
      #expect(again.status == visit.sync.status, "\(again.err)")
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
