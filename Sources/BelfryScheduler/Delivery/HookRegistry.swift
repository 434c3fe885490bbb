import BelfryCore
import BelfryStore
import Files
import Glibc

/// A registry of the running hooks, with a file for each. It outlives the process that runs them.
///
/// If a daemon is killed, its hooks continue, so that the alarm does not fall silent. The next daemon or tick terminates
/// them before it delivers again, and until then each command terminates those that are no longer needed, such as after
/// an answer.
///
/// A file is named after the leader of the hook's process group. Its first line is the name of the lease owner, and each
/// further line names an occurrence that the hook rings for.
public struct HookRegistry: Sendable {
  /// The folder of the files.
  let folder: String
  /// The process that runs the hooks.
  let leaseOwner: LeaseOwner
  /// Writes and removes the files in order. A disk that hangs delays no alarm.
  private let worker = BlockingWorker()

  /// Returns the folder of a store's registry, in its local state.
  public static func folder(of store: Store) -> String { store.localFolder + "/hooks" }

  /// Creates a registry in a folder.
  public init(folder: String, leaseOwner: LeaseOwner) {
    self.folder = folder
    self.leaseOwner = leaseOwner
  }

  /// The entry of a running hook.
  struct Entry: Sendable {
    /// The path of the file.
    let path: String
    fileprivate let worker: BlockingWorker

    /// Removes the entry.
    func remove() { worker.enqueue { [path] in _ = unlink(path) } }
  }

  /// Registers a process group by its leader. A failure is ignored: the entry matters only if this process is killed.
  ///
  /// - Parameter deliveries: the deliveries that the hook works for.
  func register(_ leader: pid_t, for deliveries: [DeliveryID]) -> Entry {
    let path = "\(folder)/\(LeaseOwner.identity(of: "\(leader)"))"
    let lines = [leaseOwner.name] + deliveries.compactMap(\.line)
    worker.enqueue { [folder] in
      _ = mkdir(folder, 0o700)
      let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { return }
      defer { close(file) }
      let text = Array(lines.joined(separator: "\n").utf8)
      _ = write(file, text, text.count)
    }
    return Entry(path: path, worker: worker)
  }

  // MARK: Orphans

  /// A hook whose lease owner is no longer alive.
  private struct Orphan {
    /// The path of its file.
    let path: String
    /// The leader of its process group; nil if it has ended.
    let leader: pid_t?
    /// The deliveries that it works for.
    let deliveries: [DeliveryID]
  }

  /// The maximum size of a file in bytes. A notification of several thousand alarms is below it.
  private static let maxSize = 1 << 20
  /// The time between SIGTERM and SIGKILL.
  private static let grace = Duration.seconds(2)

  private func orphans() -> [Orphan] {
    DurableFile.names(in: folder).compactMap { name in
      let path = "\(folder)/\(name)"
      // An entry that cannot be read is that of a hook that has just started or ended.
      guard let file = (try? DurableFile.read(path, limit: HookRegistry.maxSize)) ?? nil else {
        return nil
      }
      let lines = String(decoding: file.bytes, as: UTF8.self).split(separator: "\n")
      guard let owner = lines.first, !leaseOwner.isAlive(String(owner)) else { return nil }
      // A reused process id has another start time, and so another identity.
      let number = name.split(separator: "-").first.flatMap { pid_t($0) }
      let leader = number.flatMap { number in
        number > 1 && LeaseOwner.identity(of: "\(number)") == name ? number : nil
      }
      return Orphan(
        path: path, leader: leader, deliveries: lines.dropFirst().compactMap(DeliveryID.init(line:))
      )
    }
  }

  /// Terminates the hooks of lease owners that are no longer alive, and kills those that do not end. This may take two
  /// seconds.
  public func terminateOrphans() { HookRegistry.end(terminate(orphans())) }

  /// Terminates the hooks of lease owners that are no longer alive. Those that do not end are killed later, in a thread of
  /// its own.
  func terminateOrphansInBackground() {
    let groups = terminate(orphans())
    if !groups.isEmpty { BackgroundThread.start { HookRegistry.end(groups) } }
  }

  /// Terminates the hooks of lease owners that are no longer alive, if no occurrence of a store needs them any more.
  public static func terminateUnneeded(in store: Store) {
    let registry = HookRegistry(folder: folder(of: store), leaseOwner: .thisProcess)
    let orphans = registry.orphans()
    guard !orphans.isEmpty, let settings = try? store.settings().settings else { return }
    let planner = DeliveryPlanner(store: store, settings: settings)
    let ledger = store.ledger.read()
    let unneeded = orphans.filter { orphan in
      !orphan.deliveries.isEmpty
        && !orphan.deliveries.contains { planner.wants($0, ledger: ledger) }
    }
    end(registry.terminate(unneeded))
  }

  /// Sends SIGTERM to the process groups of some orphans, removes their entries, and returns the groups.
  private func terminate(_ orphans: [Orphan]) -> [pid_t] {
    orphans.compactMap { orphan in
      if let leader = orphan.leader { _ = kill(-leader, SIGTERM) }
      _ = unlink(orphan.path)
      return orphan.leader
    }
  }

  /// The time that killed processes get to end, which takes longer on a busy machine.
  private static let timeAfterKill = Duration.seconds(1)

  /// Waits until process groups have ended, and kills them after the grace period.
  private static func end(_ groups: [pid_t]) {
    for group in wait(for: groups, grace) { _ = kill(-group, SIGKILL) }
    _ = wait(for: groups, timeAfterKill)
  }

  /// Waits until process groups have ended, and returns those that have not.
  private static func wait(for groups: [pid_t], _ time: Duration) -> [pid_t] {
    let deadline = ContinuousClock.now + time
    // A process id is not reused while its group has a member.
    var rest = groups.filter { kill(-$0, 0) == 0 }
    while !rest.isEmpty, ContinuousClock.now < deadline {
      _ = usleep(50_000)
      rest = rest.filter { kill(-$0, 0) == 0 }
    }
    return rest
  }
}

extension DeliveryID {
  /// The delivery of an occurrence as a line: its kind, the alarm, the occurrence and the due time; nil for any other
  /// delivery.
  fileprivate var line: String? {
    guard case .occurrence(let id, let kind) = key else { return nil }
    let name =
      switch kind {
      case .firing: "firing"
      case .followUp(let number): "follow-up-\(number)"
      case .advanceWarning: "warning"
      }
    return "\(name) \(id.alarm.text) \(id.occurrence) \(due.milliseconds)"
  }

  /// Parses a line.
  fileprivate init?(line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 4, let alarm = Identifier(words[1]),
      let occurrence = CivilDateTime(String(words[2])), let due = Int64(words[3])
    else { return nil }
    let kind: DeliveryKey.OccurrenceKind
    switch words[0] {
    case "firing": kind = .firing
    case "warning": kind = .advanceWarning
    default:
      guard words[0].hasPrefix("follow-up-"), let number = Int(words[0].dropFirst(10)) else {
        return nil
      }
      kind = .followUp(number)
    }
    self.init(
      key: .occurrence(OccurrenceID(alarm: alarm, occurrence: occurrence), kind),
      due: Instant(milliseconds: due))
  }
}
