import Glibc
import TestSupport
import Testing

@testable import Files

/// Tests of the names in a folder's listing.
@Suite struct FolderEntryTests {
  @Test("The name of an entry at the end of the memory of a listing is read without what follows")
  func lastEntry() throws {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let memory = try #require(
      mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(memory, 2 * page) }
    // Reading the second page ends the process.
    try #require(mprotect(memory + page, page, PROT_NONE) == 0)
    let offset = try #require(MemoryLayout<dirent>.offset(of: \.d_name))
    let text: [UInt8] = Array("rent.json".utf8) + [0]
    let size = (offset + text.count + 7) / 8 * 8
    let entry = memory + page - size
    (entry + offset).copyMemory(from: text, byteCount: text.count)
    let name = FolderEntry.name(UnsafePointer(entry.assumingMemoryBound(to: dirent.self)))
    #expect(String(decoding: name, as: UTF8.self) == "rent.json")
  }

  @Test("A listing contains names of every length, without the folder and its parent")
  func names() throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/names"
    try DurableFile.makeFolder(folder)
    let names = (1...255).map { String(repeating: "n", count: $0) }
    for name in names { try sandbox.write("", to: "\(folder)/\(name)") }
    #expect(DurableFile.names(in: folder).sorted() == names)
  }
}
