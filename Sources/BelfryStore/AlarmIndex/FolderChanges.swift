import Git
import Glibc

/// A moment in the sequence of changes that the daemon's file watch has seen in the folder `alarms`.
public struct FolderChangeToken: Hashable, Sendable {
  /// A random number of the watch. It is another one after every gap in the sequence, such as a new daemon.
  public let epoch: UInt64
  /// The number of changes before the moment.
  public let number: UInt64

  /// Creates a token.
  public init(epoch: UInt64, number: UInt64) {
    self.epoch = epoch
    self.number = number
  }
}

/// The identity of a folder on this machine.
public struct FolderIdentity: Hashable, Sendable {
  /// The number of the file system.
  let device: UInt64
  /// The number of the folder on it.
  let inode: UInt64

  /// Creates the identity of a folder from its status.
  public init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  fileprivate init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// The answer of the daemon to the question which files in `alarms` have changed since a moment.
///
/// ```
/// command ──[epoch, number, device, inode]───────▶ daemon reads all waiting events of its file watch
///         ◀──[epoch, number, is known, names…]────
/// ```
///
/// The system queues an event before the call that changes a file returns, so the answer includes every change that was
/// completed before the question. A file that is not named has not changed, and a command need not look at it.
public struct FolderChanges: Hashable, Sendable {
  /// The moment of the answer.
  public let token: FolderChangeToken
  /// The names of the files that have changed since the moment of the question; nil if the daemon does not know.
  public let names: Set<String>?

  /// Creates an answer.
  public init(token: FolderChangeToken, names: Set<String>?) {
    self.token = token
    self.names = names
  }

  /// The name of the daemon's socket in the store's local state.
  public static let socketName = "changes.socket"

  /// The time in which a daemon has to answer, in milliseconds. Its thread for this waits for nothing else.
  private static let timeout: Int32 = 20
  /// The maximum size of an answer, in bytes.
  private static let maxSize = 128 << 10

  /// Asks the daemon of a store. Returns nil without a daemon that answers.
  ///
  /// - Parameters:
  ///   - folder: The folder of the store's local state.
  ///   - alarms: The folder `alarms` as this process sees it. The daemon may watch another one at its path.
  ///   - token: The moment since which changes are wanted; nil for the present moment only.
  ///   - timeout: The time in which the daemon has to answer, in milliseconds.
  static func ask(
    _ folder: String, of alarms: FolderIdentity, since token: FolderChangeToken?,
    timeout: Int32 = FolderChanges.timeout
  ) -> FolderChanges? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let isConnected =
      LocalSocketAddress.with(socketName, in: folder) { connect(descriptor, $0, $1) == 0 } ?? false
    guard isConnected,
      LocalSocketAddress.withAutomatic({ bind(descriptor, $0, $1) == 0 })
    else { return nil }
    let question = Question(folder: alarms, token: token).bytes
    guard send(descriptor, question, question.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) > 0 else {
      return nil
    }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, timeout) > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: maxSize)
    let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return count > 0 ? FolderChanges(Array(bytes.prefix(count))) : nil
  }

  // MARK: Coding

  /// The question of a command.
  public struct Question: Hashable, Sendable {
    /// The folder `alarms` as the command sees it.
    public let folder: FolderIdentity
    /// The moment since which changes are wanted; nil for the present moment only.
    public let token: FolderChangeToken?

    init(folder: FolderIdentity, token: FolderChangeToken?) {
      self.folder = folder
      self.token = token
    }

    /// Reads a question; nil if the bytes are none.
    public init?(_ bytes: [UInt8]) {
      guard bytes.count == 32 else { return nil }
      let epoch: UInt64 = CacheCoding.number(bytes, at: 0)
      token =
        epoch == 0
        ? nil : FolderChangeToken(epoch: epoch, number: CacheCoding.number(bytes, at: 8))
      folder = FolderIdentity(
        device: CacheCoding.number(bytes, at: 16), inode: CacheCoding.number(bytes, at: 24))
    }

    var bytes: [UInt8] {
      var bytes: [UInt8] = []
      CacheCoding.append(token?.epoch ?? 0, to: &bytes)
      CacheCoding.append(token?.number ?? 0, to: &bytes)
      CacheCoding.append(folder.device, to: &bytes)
      CacheCoding.append(folder.inode, to: &bytes)
      return bytes
    }
  }

  private init?(_ bytes: [UInt8]) {
    guard bytes.count >= 17 else { return nil }
    token = FolderChangeToken(
      epoch: CacheCoding.number(bytes, at: 0), number: CacheCoding.number(bytes, at: 8))
    let names = bytes[17...].split(separator: UInt8(ascii: "\n"))
    self.names = bytes[16] == 1 ? Set(names.map { String(decoding: $0, as: UTF8.self) }) : nil
  }

  /// The answer as bytes.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    CacheCoding.append(token.epoch, to: &bytes)
    CacheCoding.append(token.number, to: &bytes)
    bytes.append(names == nil ? 0 : 1)
    for name in names ?? [] { bytes += Array(name.utf8) + [UInt8(ascii: "\n")] }
    return bytes
  }
}
