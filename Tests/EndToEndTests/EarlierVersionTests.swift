import Foundation
import TestSupport
import Testing

/// Stores of earlier versions, which `Tests/Faults/run versions --record` has recorded with each of them.
///
/// Each recording contains the branches of two devices that have changed the same alarms apart, the list that each of
/// them showed, and the result of the earlier version's merge.
@Suite struct EarlierVersionTests {
  private static let folder =
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "EarlierVersions")

  /// The values of alarms, each as JSON, by the identifier of the alarm and the key.
  private typealias Alarms = [String: [String: String]]

  private static func alarms(_ json: [String: [String: Any]]) throws -> Alarms {
    try json.mapValues { alarm in
      try alarm.mapValues { value in
        var value = value
        if var ringing = value as? [String: Any] {
          // The recording does not have it, because it depends on the device.
          ringing["delivered"] = nil
          value = ringing
        }
        let data = try JSONSerialization.data(
          withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
        return String(decoding: data, as: UTF8.self)
      }
    }
  }

  @Test(
    "A store of an earlier version is read, merged and changed as that version did",
    arguments: ["0.1.0"])
  func recording(version: String) async throws {
    let folder = EarlierVersionTests.folder.appending(path: version).path
    // The facts that the earlier version recorded about the branches.
    let recording = try #require(
      JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: folder + "/expected.json")))
        as? [String: Any])
    let now = try #require(recording["now"] as? String)
    let lists = try #require(recording["lists"] as? [String: [String: [String: Any]]])
    let before = try EarlierVersionTests.alarms(lists["old"] ?? [:])
    let merged = try EarlierVersionTests.alarms(
      recording["merged"] as? [String: [String: Any]] ?? [:])
    let keys = merged.values.reduce(into: Set<String>()) { $0.formUnion($1.keys) }
    #expect(keys.isSuperset(of: ["note", "tags", "skipped", "pending", "ringing", "missed"]))
    let sandbox = try Sandbox()
    // One remote for each device's branch.
    let remotes = ["old", "new"].map { "\(sandbox.root)/\($0).git" }
    for (remote, branch) in zip(remotes, ["old", "new"]) {
      try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
        .expectSuccess()
      try await sandbox.git(
        "fetch", "-q", folder + "/branches.bundle", "\(branch):main", in: remote
      ).expectSuccess()
    }
    func belfry(_ arguments: String...) async throws -> Sandbox.Output {
      try await sandbox.belfry(arguments, now: now)
    }
    /// Expects that the list shows the alarms with their values. It may have other keys, too.
    func expect(_ expected: EarlierVersionTests.Alarms) async throws {
      let list = try await belfry("list", "--json")
      #expect(list.status == 0 && list.otherErrors.isEmpty, "\(list.err)")
      let json = list.array.map { alarm in (alarm["id"] as? String ?? "", alarm) }
      let shown = try EarlierVersionTests.alarms(Dictionary(uniqueKeysWithValues: json))
      #expect(Set(shown.keys) == Set(expected.keys))
      for (id, values) in expected {
        for (key, value) in values { #expect(shown[id]?[key] == value, "\(id): \(key)") }
      }
    }
    try await belfry("clone", remotes[0]).expectSuccess()
    try await expect(before)
    // The merge with the other branch gives what the earlier version has made of it.
    try await belfry("remote", "add", "desktop", remotes[1]).expectSuccess()
    try await belfry("sync").expectSuccess()
    try await expect(merged)
    for path in ["alarms", "log"] {
      let tree = try await sandbox.git("rev-parse", "HEAD:\(path)").out
      #expect(tree == "\(recording[path] ?? "")\n", "\(path)")
    }
    // The alarms can be changed, and the store is intact.
    let alarm = try #require(merged.keys.sorted().first)
    try await belfry("edit", alarm, "--note", "by this version").expectSuccess()
    #expect(try await belfry("show", alarm).out.contains("by this version"))
    let doctor = try await belfry("doctor", "--json")
    let findings = try #require(doctor.object["findings"] as? [[String: Any]])
    let machine = ["clock", "time zones", "hooks", "notifications", "battery", "calls", "tick"]
    let problems = findings.filter {
      $0["level"] as? String == "problem" && !machine.contains($0["area"] as? String ?? "")
    }
    #expect(problems.isEmpty, "\(problems)")
  }
}
