import Files
import Glibc
import Subprocess
import SystemPackage

/// The state of the channels, for `belfry doctor` and the first start.
extension HookDelivery {
  /// The way on which a firing's visible notification would reach the user.
  public enum Reach: Hashable, Sendable {
    /// Desktop notifications, with the name of the service.
    case desktop(String)
    /// The user's own hook, with its path.
    case ownHook(String)
    /// Terminals only, with the number of open ones and the reason why the desktop cannot be used.
    case terminals(Int, reason: String)
    /// No channel, with the reason.
    case unreachable(String)
  }

  /// Returns the channel that a firing would use, without delivering anything. A hook of the user's own is not run.
  public func reach() async -> Reach {
    let paths = ([own].compactMap { $0 } + shipped).map { "\($0)/notify" }
    guard let path = paths.first(where: { access($0, F_OK) == 0 }) else {
      return .unreachable("none of these hooks exists: \(paths.joined(separator: ", "))")
    }
    guard access(path, X_OK) == 0 else { return .unreachable("\(path) is not executable") }
    if let own, path.hasPrefix(own) { return .ownHook(path) }
    let outcome = await TimedProcess.run(
      .path(FilePath(path)), ["--check"], variables: variables, seconds: timeout)
    let reason: String
    switch outcome {
    case .ended(0, let output, _):
      let line = String(decoding: output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      return .desktop(line.isEmpty ? path : line)
    case .ended(let status, _, let error):
      reason = error.split(separator: "\n").last.map(String.init) ?? "exited with status \(status)"
    case .timedOut: reason = "timed out after \(timeout) s"
    case .failed(let message): reason = message
    }
    let open = terminals?.open.count ?? 0
    return open > 0 ? .terminals(open, reason: reason) : .unreachable(reason)
  }

  /// A file in the folder of the user's own hooks.
  public struct HookFile: Hashable, Sendable {
    /// A defect that prevents the hook from working.
    public enum Fault: Hashable, Sendable {
      /// The file is not executable.
      case notExecutable
      /// The program in the first line does not exist.
      case interpreterMissing(String)
      /// No hook has the file's name.
      case unknownName
    }
    /// The path of the file.
    public let path: String
    /// The defect; nil if there is none.
    public let fault: Fault?
  }

  /// Returns the files in the folder of the user's own hooks.
  public func ownHooks() -> [HookFile] {
    guard let own else { return [] }
    return DurableFile.names(in: own).sorted().map { name in
      let path = "\(own)/\(name)"
      var fault: HookFile.Fault?
      if !HookDelivery.hookNames.contains(name) {
        fault = .unknownName
      } else if access(path, X_OK) != 0 {
        fault = .notExecutable
      } else if let program = HookDelivery.interpreter(of: path), access(program, X_OK) != 0 {
        fault = .interpreterMissing(program)
      }
      return HookFile(path: path, fault: fault)
    }
  }

  /// The first folder with shipped hooks; nil if there is none.
  public var shippedFolder: String? {
    shipped.first { folder in
      HookDelivery.hookNames.contains { access("\(folder)/\($0)", X_OK) == 0 }
    }
  }

  /// Returns the program in the first line of a script; nil for a binary.
  private static func interpreter(of path: String) -> String? {
    guard let file = (try? DurableFile.read(path, limit: 1 << 20)) ?? nil,
      file.bytes.starts(with: "#!".utf8)
    else { return nil }
    let line = String(
      decoding: file.bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return line.split(separator: " ").first.map(String.init)
  }
}
