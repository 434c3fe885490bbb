import BelfryCore
import BelfryStore
import CLinux
import Glibc
import Subprocess
import SystemPackage

/// One firing, as it is handed to whoever delivers it.
public struct FiringNotice: Hashable, Sendable {
  public let alarm: Identifier
  public let title: String
  public let note: String?
  public let occurrence: CivilDateTime
  /// When it was due: RFC 3339 with the device's offset.
  public let due: String
  /// More than a minute late.
  public let late: Bool

  public init(
    alarm: Identifier, title: String, note: String?, occurrence: CivilDateTime, due: String,
    late: Bool
  ) {
    self.alarm = alarm
    self.title = title
    self.note = note
    self.occurrence = occurrence
    self.due = due
    self.late = late
  }

  /// `{alarm, title, note?, occurrence, due, late}`.
  public var json: JSON {
    .object(omittingNil: [
      "alarm": JSON(alarm), "title": .string(title), "note": note.map { .string($0) },
      "occurrence": JSON(occurrence), "due": .string(due), "late": .bool(late),
    ])
  }

  /// The same as variables, for hooks that read no JSON.
  var variables: [String: String] {
    [
      "BELFRY_ALARM": alarm.text, "BELFRY_TITLE": title, "BELFRY_NOTE": note ?? "",
      "BELFRY_OCCURRENCE": occurrence.description, "BELFRY_DUE": due,
      "BELFRY_WHEN": occurrence.spoken, "BELFRY_LATE": late ? "true" : "false",
    ]
  }
}

/// Reaches a person through executables: the user's own first, then the shipped one.
public struct HookDelivery: Sendable {
  /// Where hooks are looked for, in this order; each holds executables named as the delivery is.
  public let folders: [String]
  /// How long a hook may take, in seconds.
  public let timeout: Int

  public init(folders: [String], timeout: Int = 30) {
    self.folders = folders
    self.timeout = timeout
  }

  public enum Outcome: Hashable, Sendable {
    case delivered
    /// Every way was tried; the reason of each, in words.
    case undelivered([String])
  }

  /// Runs the hook `notify` for a firing: the first that works counts.
  public func notify(_ notice: FiringNotice) async -> Outcome {
    var reasons: [String] = []
    for folder in folders {
      let path = "\(folder)/notify"
      guard access(path, F_OK) == 0 else { continue }
      guard let reason = await run(path, notice) else { return .delivered }
      reasons.append(reason)
    }
    return .undelivered(
      reasons.isEmpty
        ? ["there is no hook named notify in \(folders.joined(separator: ", "))"] : reasons)
  }

  /// Runs one hook. Returns nil when it worked, else why not.
  private func run(_ path: String, _ notice: FiringNotice) async -> String? {
    var options = PlatformOptions()
    // A group of its own, so that what it starts ends with it.
    options.processGroupID = 0
    options.teardownSequence = [
      .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
    ]
    var environment: [Environment.Key: String?] = [:]
    for (name, value) in notice.variables {
      if let key = Environment.Key(rawValue: name) { environment[key] = value }
    }
    let configuration = Configuration(
      executable: .path(FilePath(path)), environment: .inherit.updating(environment),
      platformOptions: options)
    // A file and not a pipe: a hook that does not read it must not matter to who writes it.
    guard let input = HookDelivery.file(notice.json.document) else {
      return "\(path): its input could not be written: \(String(cString: strerror(errno)))"
    }
    return await withTaskGroup(of: String?.self) { group in
      group.addTask {
        do {
          let result = try await Subprocess.run(
            configuration, input: .fileDescriptor(input, closeAfterSpawningProcess: true),
            output: .bytes(limit: 64 << 10),
            error: .string(limit: 64 << 10))
          if result.terminationStatus.isSuccess { return nil }
          let words = result.standardError.split(separator: "\n").last.map(String.init)
          return "\(path): \(words ?? "it ended with \(result.terminationStatus)")"
        } catch {
          return "\(path): \(error)"
        }
      }
      group.addTask { [timeout] in
        do {
          try await Task.sleep(for: .seconds(timeout))
          return "\(path): it did not end within \(timeout) seconds"
        } catch {
          return nil
        }
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
  }

  /// An open file in memory that holds some bytes, to be read from its beginning; nil with `errno`.
  private static func file(_ bytes: [UInt8]) -> FileDescriptor? {
    let descriptor = memfd_create("belfry", 1)  // MFD_CLOEXEC
    guard descriptor >= 0 else { return nil }
    guard write(descriptor, bytes, bytes.count) == bytes.count, lseek(descriptor, 0, SEEK_SET) == 0
    else {
      close(descriptor)
      return nil
    }
    return FileDescriptor(rawValue: descriptor)
  }
}
