import Foundation

/// A library that makes system calls of a program under test fail, compiled once from `Tests/Faults/failing.c`.
public enum FaultLibrary {
  /// True if this machine has a C compiler.
  public static let isAvailable = path != nil

  /// Returns the environment variables that make every call of a kind fail on files below a path.
  ///
  /// - Parameters:
  ///   - call: the name of the system call, such as `link` or `flock`.
  ///   - error: the name of the error, such as `EPERM`.
  ///   - prefix: the path. Calls on other files succeed.
  public static func refusing(
    _ call: String, _ error: String, below prefix: String, in sandbox: Sandbox
  ) throws -> [String: String] {
    try variables(
      ["FAIL_KIND": call, "FAIL_ERRNO": error, "FAIL_PREFIX": prefix, "FAIL_ALL": "1"], sandbox)
  }

  /// Returns the environment variables that kill the program's process group before a call on a file below a path.
  ///
  /// - Parameter number: the number of the call, counted from 1.
  public static func killing(
    before call: String, number: Int = 1, below prefix: String, in sandbox: Sandbox
  ) throws -> [String: String] {
    try variables(
      ["FAIL_KIND": call, "FAIL_PREFIX": prefix, "FAIL_N": "\(number)", "FAIL_KILL": "1"], sandbox)
  }

  private static func variables(
    _ variables: [String: String], _ sandbox: Sandbox
  ) throws -> [String: String] {
    let counter = "\(sandbox.root)/counter-\(UUID().uuidString)"
    try sandbox.write(String(repeating: "\0", count: 64), to: counter)
    return variables.merging(["LD_PRELOAD": path ?? "", "FAIL_COUNTER": counter]) { $1 }
  }

  private static let path: String? = {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Faults/failing.c").path
    let library =
      NSTemporaryDirectory() + "belfry-failing-\(ProcessInfo.processInfo.processIdentifier).so"
    for compiler in ["cc", "gcc", "clang"] {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { continue }
      process.waitUntilExit()
      if process.terminationStatus == 0 {
        atexit { FaultLibrary.remove() }
        return library
      }
    }
    return nil
  }()

  private static func remove() {
    if let path { try? FileManager.default.removeItem(atPath: path) }
  }
}
