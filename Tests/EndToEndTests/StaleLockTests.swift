import Foundation
import TestSupport
import Testing

/// Tests of locks whose process is gone: a write does not wait for them.
@Suite struct StaleLockTests {
  private func store() async throws -> Sandbox {
    let sandbox = try await Sandbox.withTea()
    return sandbox
  }

  private func add(_ sandbox: Sandbox) async throws -> Sandbox.Output {
    try await sandbox.belfry(
      "add", "Milk", "--daily", "--at", "10:00", environment: ["BELFRY_LOCK_TIMEOUT": "0"])
  }

  @Test(.enabled(if: FaultLibrary.isAvailable))
  func lockOfKilledWriteIsRemovedUnderAnotherHostName() async throws {
    let sandbox = try await store()
    let git = sandbox.store + "/.git"
    let variables = try FaultLibrary.killing(
      before: "link", below: git + "/index.lock", in: sandbox)
    // The command has its own process group, so that the kill ends the whole group.
    let killed = try await sandbox.run(
      "/usr/bin/setsid", ["-w", Sandbox.binary, "add", "Bread", "--daily", "--at", "08:00"],
      environment: variables.merging(["BELFRY_NOW": "2026-11-20T22:42:00Z", "TZ": "UTC"]) { $1 })
    #expect(killed.status != 0)
    let lock = try sandbox.read(git + "/gc.pid")
    let text = "\(lock.split(separator: " ")[0]) oldhost"
    try sandbox.write(text, to: git + "/gc.pid")
    let note = try sandbox.read(git + "/gc.pid.belfry")
    try sandbox.write(note.replacing(lock, with: text), to: git + "/gc.pid.belfry")

    let doctor = try await sandbox.belfry("doctor", now: "2026-11-20T22:43:00Z")
    #expect(!doctor.out.contains("gc.pid"), "\(doctor.out)")
    let add = try await add(sandbox)
    #expect(add.status == 0, "\(add.err)")
    // The next write also completes the killed write.
    let titles = try await sandbox.belfry("list", "--json").array
      .compactMap { $0["title"] as? String }
    #expect(titles.sorted() == ["Bread", "Milk", "Tea"])
    #expect(!FileManager.default.fileExists(atPath: git + "/gc.pid"))
  }

  @Test(
    "The lock of a git that commits through another mount, and waits for its editor, is not removed",
    .enabled(if: TestMachine.mounts))
  func lockOfCommitThroughAnotherMount() async throws {
    let sandbox = try await store()
    let (root, store) = (sandbox.root, sandbox.store)
    try sandbox.write(
      """
      #!/bin/sh
      \(sandbox.waitFor)
      touch '\(root)/open'
      wait_for [ -e '\(root)/enough' ]
      echo Edit > "$1"
      """, to: root + "/editor", mode: 0o755)
    let file = try sandbox.alarmFile()
    try sandbox.write(try sandbox.read(file).replacing("\"Tea\"", with: "\"Coffee\""), to: file)
    async let commit = sandbox.run(
      "/usr/bin/unshare",
      [
        "--mount", "/bin/sh", "-c",
        "mkdir '\(root)/other' && mount --bind '\(store)' '\(root)/other' && cd '\(root)/other/alarms' && GIT_EDITOR='\(root)/editor' git -c user.name=a -c user.email=b commit -a",
      ])
    #expect(try await sandbox.waitForFile(root + "/open"))
    let lock = store + "/.git/index.lock"
    _ = try await sandbox.run("/usr/bin/touch", ["-d", "1 hour ago", lock])
    let add = try await add(sandbox)
    #expect(add.status == 7, "\(add.err)")
    #expect(add.err.contains("git (process"), "\(add.err)")
    #expect(FileManager.default.fileExists(atPath: lock))
    try sandbox.write("", to: root + "/enough")
    let done = try await commit
    #expect(done.status == 0, "\(done.err)")
    #expect(try await self.add(sandbox).status == 0)
  }

  @Test func lockOfGitOnAnotherHostIsReportedAndRemovedByDoctor() async throws {
    let sandbox = try await store()
    try sandbox.write("4711 oldhost", to: sandbox.store + "/.git/gc.pid")
    let refused = try await add(sandbox)
    #expect(refused.status == 7)
    #expect(refused.err.contains("git gc (process 4711 on oldhost)"), "\(refused.err)")
    #expect(refused.err.contains("belfry doctor --repair"))
    let doctor = try await sandbox.belfry("doctor")
    #expect(doctor.out.contains("git gc (process 4711 on oldhost) has locked the store"))
    let repair = try await sandbox.belfry("doctor", "--repair")
    #expect(repair.out.contains("repaired") && repair.out.contains("gc.pid"), "\(repair.out)")
    #expect(try await add(sandbox).status == 0)
  }

  @Test func processNamedGiteaDoesNotProtectStaleLock() async throws {
    let sandbox = try await store()
    let program = sandbox.root + "/gitea"
    _ = try await sandbox.run("/bin/cp", ["/bin/sh", program])
    let script = try sandbox.script(
      "serve", "\(sandbox.waitFor)touch ../running\nwait_for [ -e ../enough ]\n")
    async let server = sandbox.run(
      "/bin/sh", ["-c", "cd '\(sandbox.store)' && exec '\(program)' '\(script)'"])
    let folder = (sandbox.store as NSString).deletingLastPathComponent
    #expect(try await sandbox.waitForFile(folder + "/running"))
    let lock = sandbox.store + "/.git/index.lock"
    try sandbox.write("", to: lock)
    _ = try await sandbox.run("/usr/bin/touch", ["-d", "1 hour ago", lock])
    let add = try await add(sandbox)
    #expect(add.status == 0, "\(add.err)")
    try sandbox.write("", to: folder + "/enough")
    _ = try await server
  }
}
