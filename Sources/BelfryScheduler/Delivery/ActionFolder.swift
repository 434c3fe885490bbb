import BelfryCore
import Glibc
import Subprocess
import SystemPackage

/// The folder of the user's actions on this device: executables that alarms run by name when they fire, or when an
/// occurrence is marked as done.
///
/// An action runs without a shell, with a timeout, in its own process group. Its failure never affects the delivery of
/// an alarm.
public struct ActionFolder: Sendable {
  /// The path of the folder.
  public let path: String
  /// The environment variables of all actions. They follow the settings of the moment.
  var variables: [String: String] { currentVariables() }
  private let currentVariables: @Sendable () -> [String: String]
  /// The time that an action may take, in seconds.
  let timeout: Int

  /// The default timeout of an action, in seconds.
  public static let defaultTimeout = 30

  /// Creates the folder.
  ///
  /// - Parameters:
  ///   - variables: returns the environment variables of all actions, besides those of this process.
  ///   - timeout: the time that an action may take, in seconds.
  public init(
    path: String, variables: @escaping @Sendable () -> [String: String] = { [:] },
    timeout: Int = ActionFolder.defaultTimeout
  ) {
    self.path = path
    currentVariables = variables
    self.timeout = timeout
  }

  /// A reason why an action cannot run on this device.
  public enum Fault: Hashable, Sendable {
    /// There is no file of that name.
    case missing
    /// The name belongs to something other than a regular file.
    case notAFile
    /// The file is not executable.
    case notExecutable
    /// The file belongs neither to the user nor to root.
    case foreign
    /// Every user can write the file.
    case writableByOthers
    /// The file cannot be examined, with the system's error number.
    case unreadable(Int32)
  }

  /// An action that cannot run.
  public struct Problem: Hashable, Sendable {
    /// The name of the action.
    public let name: ActionName
    /// The path of the file.
    public let path: String
    /// The reason.
    public let fault: Fault
  }

  /// Returns the path of an action.
  public func path(of name: ActionName) -> String { "\(path)/\(name)" }

  /// Returns the reason why an action cannot run; nil if it can.
  public func fault(of name: ActionName) -> Fault? {
    var status = stat()
    let path = path(of: name)
    guard stat(path, &status) == 0 else {
      return errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable(errno)
    }
    if status.st_mode & S_IFMT != S_IFREG { return .notAFile }
    if status.st_uid != geteuid(), status.st_uid != 0 { return .foreign }
    if status.st_mode & S_IWOTH != 0 { return .writableByOthers }
    return access(path, X_OK) == 0 ? nil : .notExecutable
  }

  /// Returns the actions of an alarm that cannot run on this device.
  ///
  /// - Parameter ringsHere: true if the device rings for the alarm. Otherwise only the action after Done can run here.
  public func problems(of alarm: Alarm, ringsHere: Bool) -> [Problem] {
    let names = [ringsHere ? alarm.delivery.run : nil, alarm.delivery.runDone].compactMap { $0 }
    return names.enumerated().filter { names.firstIndex(of: $0.element) == $0.offset }
      .compactMap { _, name in
        fault(of: name).map { Problem(name: name, path: path(of: name), fault: $0) }
      }
  }

  /// The reason why a run of an action failed.
  public enum Failure: Hashable, Sendable {
    /// The action could not run.
    case fault(Problem)
    /// The action exited with a status other than 0, with its last line on standard error.
    case exited(path: String, status: Int32, message: String?)
    /// The action ran into its timeout, in seconds.
    case timedOut(path: String, seconds: Int)
    /// The action could not be started, or exceeded the output limit, with the reason.
    case notRun(path: String, String)
  }

  /// Runs an action and waits for its end.
  ///
  /// - Parameters:
  ///   - input: the content of standard input.
  ///   - variables: environment variables besides those of all actions.
  /// - Returns: the reason if it failed; nil if it exited with status 0.
  public func run(
    _ name: ActionName, input: [UInt8], variables: [String: String]
  ) async -> Failure? {
    let path = path(of: name)
    if let fault = fault(of: name) {
      return .fault(Problem(name: name, path: path, fault: fault))
    }
    let outcome = await TimedProcess.run(
      .path(FilePath(path)), [], input: input,
      variables: self.variables.merging(variables) { $1 }, seconds: timeout)
    switch outcome {
    case .ended(0, _, _): return nil
    case .ended(let status, _, let error):
      return .exited(
        path: path, status: status, message: error.split(separator: "\n").last.map(String.init))
    case .timedOut: return .timedOut(path: path, seconds: timeout)
    case .failed(let reason): return .notRun(path: path, reason)
    }
  }
}
