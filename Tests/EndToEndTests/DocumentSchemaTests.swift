import Foundation
import TestSupport
import Testing

/// The real output of `--json`, compared with the article *JSON documents*.
@Suite struct DocumentSchemaTests {
  /// The tables of the article.
  private struct Article {
    struct Key {
      let isOptional: Bool
      let type: String
    }
    /// The keys of each document, by its name.
    var documents: [String: [String: Key]] = [:]
    /// The documents whose keys a document has, too, by its name.
    var bases: [String: String] = [:]
    /// The sentence about each document, by its name.
    var summaries: [String: String] = [:]

    init() throws {
      let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/belfry/belfry.docc/Documents.md")
      var name = ""
      for line in try String(contentsOf: path, encoding: .utf8).split(
        separator: "\n", omittingEmptySubsequences: false)
      {
        if line.hasPrefix("## ") || line.hasPrefix("### ") {
          name = String(line.drop { $0 == "#" || $0 == " " })
        } else if line.hasPrefix("| `") {
          let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
          guard cells.count >= 3 else { continue }
          let key = cells[0].split(separator: "`").first.map(String.init) ?? ""
          documents[name, default: [:]][key] = Key(
            isOptional: cells[0].hasSuffix("?"), type: cells[1])
        } else if line.hasPrefix("| …") {
          bases[name] = line.split(separator: "`").dropFirst().first.map(String.init)
        } else if !line.isEmpty, !line.hasPrefix("|") {
          summaries[name, default: ""] += line + " "
        }
      }
    }

    /// Returns what a value of a document violates.
    func problems(_ value: Value, _ name: String, at path: String) -> [String] {
      guard case .object(let object) = value else { return ["\(path) is not an object"] }
      // The keys of a payload depend on its kind.
      if name == "Log.Payload" { return object["kind"] == nil ? ["\(path) has no kind"] : [] }
      guard let own = documents[name] else { return ["\(path): the article has no \(name)"] }
      let keys = own.merging(bases[name].flatMap { documents[$0] } ?? [:]) { own, _ in own }
      var result: [String] = []
      for (key, value) in object.sorted(by: { $0.key < $1.key }) {
        guard let known = keys[key] else {
          result.append("\(path).\(key) is not in the article (\(name))")
          continue
        }
        result += check(value, known.type, at: "\(path).\(key)")
      }
      for (key, known) in keys where !known.isOptional && object[key] == nil {
        result.append("\(path).\(key) is missing (\(name))")
      }
      return result
    }

    private func check(_ value: Value, _ type: String, at path: String) -> [String] {
      if type.contains(" or ") {
        let results = type.components(separatedBy: " or ").map { check(value, $0, at: path) }
        return results.contains { $0.isEmpty } ? [] : results[0]
      }
      if type.hasPrefix("array of "), case .array(let array) = value {
        let element = String(type.dropFirst("array of ".count))
        return array.enumerated().flatMap {
          check($0.element, element, at: "\(path)[\($0.offset)]")
        }
      }
      if type.hasPrefix("object of "), case .object(let object) = value {
        let element = String(type.dropFirst("object of ".count))
        return object.flatMap { check($0.value, element, at: "\(path).\($0.key)") }
      }
      if type.hasPrefix("`") {
        return problems(value, String(type.dropFirst().prefix { $0 != "`" }), at: path)
      }
      let fits =
        switch (type, value) {
        case ("string", .string), ("boolean", .boolean), ("integer", .integer), ("array", .array),
          ("number", .integer), ("number", .real):
          true
        default: false
        }
      return fits ? [] : ["\(path) is not of the type \(type): \(value)"]
    }
  }

  /// A value of a document.
  private indirect enum Value: Decodable {
    case boolean(Bool)
    case integer(Int)
    case real(Double)
    case string(String)
    case array([Value])
    case object([String: Value])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let value = try? container.decode(Bool.self) {
        self = .boolean(value)
      } else if let value = try? container.decode(Int.self) {
        self = .integer(value)
      } else if let value = try? container.decode(Double.self) {
        self = .real(value)
      } else if let value = try? container.decode(String.self) {
        self = .string(value)
      } else if let value = try? container.decode([Value].self) {
        self = .array(value)
      } else {
        self = .object(try container.decode([String: Value].self))
      }
    }
  }

  // MARK: Commands

  /// A command with its document in the article.
  private struct Call {
    let words: [String]
    let document: String
    let isElement: Bool

    init(_ words: String..., is document: String) {
      (self.words, self.document, isElement) = (words, document, false)
    }

    init(_ words: String..., lists document: String) {
      (self.words, self.document, isElement) = (words, document, true)
    }
  }

  /// Runs commands and compares their documents with the article.
  private func check(
    _ calls: [Call], _ sandbox: Sandbox, now: String, environment: [String: String] = [:]
  ) async throws {
    let article = try Article()
    for call in calls {
      let output = try await sandbox.belfry(
        call.words + ["--json"], now: now, environment: environment)
      let name = call.words.joined(separator: " ")
      let value = try? JSONDecoder().decode(Value.self, from: Data(output.out.utf8))
      guard let value else {
        Issue.record("\(name): no document: \(output.out)\(output.err)")
        continue
      }
      var problems: [String] = []
      if call.isElement {
        guard case .array(let elements) = value, !elements.isEmpty else {
          Issue.record("\(name): not an array with elements: \(output.out)\(output.err)")
          continue
        }
        problems = elements.flatMap { article.problems($0, call.document, at: name) }
      } else {
        problems = article.problems(value, call.document, at: name)
      }
      #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))\n\(output.out)")
    }
  }

  private static let morning = "2026-11-23T09:00:30Z"

  @Test("The documents about alarms and occurrences are as the article says")
  func alarms() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    try sandbox.write(
      """
      BEGIN:VCALENDAR
      VERSION:2.0
      BEGIN:VEVENT
      UID:1
      SUMMARY:Christmas
      DTSTART;VALUE=DATE:20261225
      END:VEVENT
      END:VCALENDAR

      """.replacing("\n", with: "\r\n"), to: sandbox.root + "/days.ics")
    try await check(
      [
        Call("when", "every friday 9am in berlin", is: "When"),
        Call("calendar", "import", "de", sandbox.root + "/days.ics", is: "HolidayCalendar"),
        Call("calendar", "list", lists: "HolidayCalendar"),
        Call("calendar", "show", "de", is: "HolidayCalendar"),
        Call("phone", is: "PhoneStatus"),
        Call(
          "calendar", "follow", sandbox.root + "/days.ics", "--name", "own", "--all", "--tag", "x",
          is: "Refresh"),
        Call("calendar", "refresh", lists: "Refresh"),
        Call("calendar", "refresh", "own", "--restore", lists: "Refresh"),
        Call("calendar", "follow", "--list", lists: "Subscription"),
        Call("calendar", "unfollow", "own", "--yes", is: "Subscription"),
        Call(
          "add", "Tea", "every day 9am until 2027-05-01 except 2026-12-24", "--note", "green",
          "--tag", "home", "--run", "light", "--warn", "1d", "--follow-ups", "30m", is: "Alarm"),
        Call("add", "Rent", "--monthly", "1,last", "--at", "09:00", "--strict", is: "Alarm"),
        Call("add", "Tax", "--annual", "03-15", is: "Alarm"),
        Call("add", "Filter", "--after-done", "90d", is: "Alarm"),
        Call("at", "2026-12-01 18:00", "Call mum", is: "Alarm"),
        Call("in", "20m", "Oven", is: "Alarm"),
        Call("edit", "tea", "--title", "Tea time", is: "Alarm"),
        Call("tag", "+kids", "tea", is: "Alarm"),
        Call("tag", "+kids", "tea", "rent", lists: "Alarm"),
        Call("tag", "tea", is: "Alarm"), Call("tags", lists: "Tag"), Call("tag", lists: "Tag"),
        Call("note", "tea", "black", is: "Alarm"), Call("note", "tea", is: "Alarm"),
        Call("rename", "tax", "Taxes", is: "Alarm"),
        Call("edit", "tea", "rent", "--warn", "2d", "--dry-run", lists: "Alarm"),
        Call("list", lists: "Alarm"), Call("show", "tea", is: "Alarm"), Call("next", lists: "Next"),
        Call("month", "december", is: "Agenda"), Call("week", is: "Agenda"),
        Call("year", is: "Agenda"),
        Call("disable", "tax", is: "Action"), Call("enable", "tax", is: "Action"),
        Call("pause", "rent", "--until", "2026-12-20", lists: "Alarm"),
        Call("week", "next", is: "Agenda"), Call("resume", "rent", lists: "Alarm"),
        Call("skip", "tea", "--yes", is: "Action"), Call("undo", is: "Undo"),
        Call("skip", "tea", "--yes", is: "Action"), Call("unskip", "tea", is: "Action"),
        Call("why", "tea", lists: "Why"),
        Call("explain", "tea", is: "Explanation"), Call("stats", lists: "Statistics"),
        Call("stats", "tea", is: "Statistics"),
      ], sandbox, now: "2026-11-23T08:00:00Z")
    try await check(
      [
        Call("tick", is: "Tick"), Call("list", lists: "Alarm"), Call("snooze", "tea", is: "Action"),
        Call("stop", "tea", is: "Action"), Call("pending", lists: "Pending"),
        Call("done", "tea", is: "Action"), Call("delete", "tax", "--yes", is: "Action"),
        Call("log", lists: "Log"), Call("why", "tea", "2026-11-23", lists: "Why"),
      ], sandbox, now: Self.morning)
    try await check(
      [
        Call("tick", is: "Tick"), Call("list", lists: "Alarm"),
        Call("dismiss", "tea", is: "Action"), Call("dismiss", "oven", is: "Action"),
        Call("delete", "--finished", "--yes", lists: "Action"),
        Call("calendar", "remove", "de", "--yes", is: "HolidayCalendar"),
      ], sandbox, now: "2026-11-26T12:00:00Z")
  }

  @Test("The documents about this device, settings and other programs are as the article says")
  func devices() async throws {
    let sandbox = try Sandbox.init()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    try sandbox.battery(15, drain: 3)
    try sandbox.write(
      #"[{"description":"Milk","due":"20270101T090000Z","status":"pending","uuid":"2b8c5b5a-0f0f-4a8c-8f4b-5d9a7f9a1234"}]"#,
      to: sandbox.root + "/tasks.json")
    try await check(
      [
        Call("tier", "premium", is: "Tier"), Call("tier", is: "Tier"),
        Call("settings", is: "Settings"),
        Call("settings", "set", "grace", "6h", is: "Settings"),
        Call("settings", "get", "grace", is: "Settings"),
        Call("settings", "unset", "grace", is: "Settings"), Call("sounds", lists: "Sound"),
        Call("device", "--owner", "Chris", is: "Device"), Call("device", is: "Device"),
        Call("device", "show", is: "Device"), Call("log", "--commit", "HEAD", is: "Commit"),
        Call("battery", is: "Battery"),
        Call(
          "battery", "predict", "--level", "50", "--drain", "3", "--hours", "5",
          is: "BatteryPrediction"),
        Call("status", is: "Status"), Call("status", "--format", "json", is: "StatusLine"),
        Call("doctor", is: "Doctor"), Call("hooks", lists: "Hook"),
        Call("hooks", "install", lists: "Hook"), Call("hooks", "uninstall", lists: "Hook"),
        Call("calls", is: "Calls"), Call("service", "install", "--dry-run", is: "ServiceUnits"),
        Call("import", sandbox.root + "/tasks.json", "--dry-run", is: "Import"),
        Call("import", sandbox.root + "/tasks.json", is: "Import"),
      ], sandbox, now: Self.morning)
    try await check(
      [
        Call("service", "install", is: "ServiceInstall"),
        Call("service", "status", is: "ServiceStatus"),
        Call("service", "uninstall", is: "ServiceRemoval"),
      ], sandbox, now: Self.morning, environment: try sandbox.systemd())
  }

  @Test("The documents about cascades, remotes and partners are as the article says")
  func others() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("tier", "premium")
    let server = try await sandbox.secondDevice()
    _ = try await sandbox.belfry("tick", store: server, device: "server")
    _ = try await sandbox.belfry("sync", store: server, device: "server")
    _ = try await sandbox.git(
      "init", "-q", "--bare", sandbox.root + "/mailbox.git", in: sandbox.root)
    _ = try await sandbox.git("init", "-q", "--bare", sandbox.root + "/other.git", in: sandbox.root)
    try await check(
      [
        Call("sync", is: "Sync"), Call("add", "Tea", "--daily", "--at", "09:10", is: "Alarm"),
        Call("sync", "--dry-run", lists: "SyncPlan"), Call("sync", is: "Sync"),
        Call("remote", "add", "other", sandbox.root + "/other.git", is: "Remote"),
        Call("remote", "list", lists: "Remote"),
        Call("remote", "add", "new", sandbox.root + "/new.git", "--create", is: "Remote"),
        Call("remote", "remove", "other", is: "RemovedRemote"),
        Call("cascade", "add", "tea", is: "CascadeChoices"),
        Call("cascade", "add", "tea", "device", "server", is: "Cascade"),
        Call("cascade", "add", "tea", "phone", "5551234567", is: "Cascade"),
        Call("cascade", "list", "tea", is: "Cascade"), Call("show", "tea", is: "Alarm"),
        Call("cascade", "move", "tea", "2", "1", is: "Cascade"),
        Call("cascade", "off", "tea", is: "Cascade"), Call("cascade", "on", "tea", is: "Cascade"),
        Call("cascade", "preview", "tea", lists: "CascadePreview"),
        Call("cascade", "status", "tea", lists: "CascadeReadiness"),
        Call("cascade", "remove", "tea", "1", "--yes", is: "Cascade"),
        Call("status", is: "Status"), Call("list", lists: "Alarm"), Call("backup", is: "Backup"),
        Call(
          "partner", "invite", "--remote", sandbox.root + "/mailbox.git", "--yes", "--no-wait",
          is: "Invitation"), Call("partner", "list", lists: "Partner"),
        Call("partner", "sync", is: "PartnerNews"),
      ], sandbox, now: "2026-11-23T09:00:30Z")
  }

  @Test("The article names every command that has --json")
  func everyCommand() async throws {
    let summaries = try Article().summaries.values
    let help = try await Sandbox().belfry("--experimental-dump-help")
    var missing: [String] = []
    func visit(_ command: [String: Any], _ path: [String]) {
      let below = (command["subcommands"] as? [[String: Any]] ?? [])
        .filter { $0["commandName"] as? String != "help" }
      for child in below { visit(child, path + [child["commandName"] as? String ?? ""]) }
      let arguments = command["arguments"] as? [[String: Any]] ?? []
      guard below.isEmpty, command["shouldDisplay"] as? Bool != false,
        arguments.contains(where: { $0["valueName"] as? String == "json" })
      else { return }
      // A sentence names a command in full, or by its last word after another one of its group.
      let isNamed = summaries.contains { summary in
        let parts = summary.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        var group = ""
        return parts.contains { index, part in
          guard index % 2 == 1 else { return false }
          let words = part.split(separator: " ").map(String.init)
          if words.count > 1 { group = words[0] }
          let full = path.joined(separator: " ")
          return part == full || (words.count == 1 && "\(group) \(part)" == full)
            || part.hasPrefix(full + " ")
            || (path.count == 2 && words == [path[0]]
              && ["show", "list", "status"].contains(path[1]))
        }
      }
      if !isNamed { missing.append(path.joined(separator: " ")) }
    }
    visit((help.object["command"] as? [String: Any]) ?? [:], [])
    #expect(missing.isEmpty, "\(missing.joined(separator: ", "))")
  }
}
