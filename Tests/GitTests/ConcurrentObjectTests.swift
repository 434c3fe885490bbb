import Dispatch
import Files
import Synchronization
import TestSupport
import Testing

@testable import Git

/// Objects that several writers create at the same time in one folder of temporary files.
@Suite struct ConcurrentObjectTests {
  @Test("Writers at the same time neither fail nor mix their contents")
  func writers() async throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/repository"
    _ = try Repository.create(folder)
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { writer in
      do {
        let repository = try Repository.open(folder)
        for number in 0..<100 {
          let size = 10 + (writer * 131 + number * 7_919) % 40_000
          let text = "\(writer) \(number) " + String(repeating: "x", count: size)
          // Half of the objects are the same for all writers.
          _ = try repository.writeBlob(
            Array((number.isMultiple(of: 2) ? text : String(text.dropFirst(2))).utf8))
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    let check = try await sandbox.git("fsck", "--strict", in: folder)
    #expect(check.status == 0, "\(check.err)")
    #expect(DurableFile.names(in: folder + "/.git").filter { $0.hasPrefix("new-") } == [])
  }

  @Test(
    "An object is written if the temporary files are on another file system",
    .enabled(if: TestMachine.otherFileSystem != nil))
  func otherFileSystem() async throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/repository"
    _ = try Repository.create(folder)
    let other = try Sandbox(in: try #require(TestMachine.otherFileSystem))
    let repository = try Repository.open(folder, scratch: other.root)
    let blob = try repository.writeBlob([1, 2, 3])
    #expect(try repository.blob(blob, limit: 10) == [1, 2, 3])
    let check = try await sandbox.git("fsck", "--strict", in: folder)
    #expect(check.status == 0 && !check.err.contains("bad sha1 file"), "\(check.err)")
  }
}
