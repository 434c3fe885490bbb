import Files
import Glibc
import TestSupport
import Testing

/// Tests of locks on files. Two descriptors of one process exclude each other as those of two processes do.
@Suite struct FileLockTests {
  private let sandbox: Sandbox
  private var path: String { sandbox.root + "/lock" }

  init() throws { sandbox = try Sandbox() }

  @Test("A lock excludes others until its object is released, and names its holder meanwhile")
  func exclusion() throws {
    #expect(FileLock.holder(of: path) == nil)
    var lock: FileLock? = try FileLock(path)
    #expect(try lock?.lock(timeout: 0) == true)
    #expect(FileLock.holder(of: path) == "another process")
    lock?.describe("belfry 17")
    #expect(FileLock.holder(of: path) == "belfry 17")
    let other = try FileLock(path)
    #expect(try !other.lock(timeout: 20))
    #expect(other.holder == "belfry 17")
    lock = nil
    #expect(try DurableFile.read(path)?.bytes == [])
    // A process that another test starts at this moment has the lock until it runs its program.
    #expect(try other.lock(timeout: 60_000))
  }

  @Test("A file that was opened without being locked keeps the description of its holder")
  func unlocked() throws {
    let lock = try FileLock(path)
    #expect(try lock.lock(timeout: 0))
    lock.describe("belfry 17")
    do {
      let other = try FileLock(path)
      #expect(try !other.lock(timeout: 0))
    }
    #expect(lock.holder == "belfry 17")
  }

  @Test("A lock notices that its file was replaced")
  func replacement() throws {
    let lock = try FileLock(path)
    #expect(lock.isInPlace)
    try sandbox.write("", to: path + ".new")
    #expect(rename(path + ".new", path) == 0)
    #expect(!lock.isInPlace)
  }

  @Test("A lock file in a missing folder is an error, and its folder is not said to lack locks")
  func missingFolder() throws {
    let missing = sandbox.root + "/missing/lock"
    let error = #expect(throws: FileError.self) { try FileLock(missing) }
    #expect(error == FileError("open", missing, number: ENOENT))
    #expect(FileLock.failure(at: missing) == nil)
    #expect(FileLock.failure(at: path) == nil)
    #expect(access(path, F_OK) != 0)
  }
}
