import BelfryCore
import BelfryStore
import Files
import Git
import Glibc

/// The preparation of a folder for tasks, and its end.
public struct PhoneSetup: Sendable {
  /// The kind of server that a new folder is made for.
  public enum Kind: String, CaseIterable, Sendable {
    /// Radicale: the folder is in its storage, `…/collection-root/USER/NAME`.
    case radicale
    /// Xandikos: the folder is a git repository.
    case xandikos
    /// vdirsyncer, or any other program that reads `.ics` files.
    case files
  }

  /// The reason why a folder cannot be set up.
  public enum Failure: Error, Hashable, Sendable {
    /// The folder is the store, or is in it, or contains it.
    case insideStore
    /// The folder has other folders, so it is no collection of tasks.
    case hasFolders(path: String)
    /// Files cannot be written in the folder.
    case notWritable(path: String, number: Int32)
    /// Another program than Belfry has to create the folder first, such as Radicale its storage.
    case noStorage(path: String)
    /// git could not create the repository of Xandikos.
    case git(reason: String)
    /// Another device has set the folder up, and the store does not know yet that it publishes.
    case otherDevice(Identifier)
  }

  let store: Store
  /// The absolute path of the folder.
  public let folder: String

  /// Creates a setup. It changes nothing yet.
  public init(_ store: Store, folder: String) {
    self.store = store
    self.folder =
      folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
  }

  /// Prepares the folder, and writes the configuration.
  ///
  /// Files that are in the folder already, and that are not Belfry's, stay as they are and become no alarms.
  ///
  /// - Parameters:
  ///   - kind: The kind of server; nil to detect it.
  ///   - collection: The name of a collection that another device publishes to, too; nil for a new one, or for that of the
  ///     folder.
  /// - Returns: The configuration, and the number of files that are left alone.
  public func perform(
    _ kind: Kind? = nil, collection: String? = nil, options: PhoneOptions, url: String? = nil
  ) async throws -> (configuration: PhoneConfiguration, leftAlone: Int) {
    let isOutside =
      !"\(folder)/".hasPrefix(store.path + "/")
      && folder != "/" && !"\(store.path)/".hasPrefix(folder + "/")
    guard isOutside else { throw Failure.insideStore }
    if kind == .radicale, TaskServer(of: folder).name != kind?.rawValue {
      throw Failure.noStorage(path: folder)
    }
    let lock = try PhoneState.lock(of: store)
    defer { withExtendedLifetime(lock) {} }
    let earlier = PhoneConfiguration.read(of: store)
    if earlier?.folder != folder, hasFolders { throw Failure.hasFolders(path: folder) }
    try writing { try DurableFile.makeFolder(folder) }
    if kind == .xandikos { try await makeRepository() }
    let tasks = TaskFolder(folder)
    if case .radicale = tasks.server { try writing { try writeProperties() } }
    if let owner = tasks.markedDevice, owner != store.device,
      !store.devices.phonePublishers.contains(where: { $0.id == owner && $0.phone == tasks.mark })
    {
      throw Failure.otherDevice(owner)
    }
    let isSame = earlier?.folder == folder && tasks.mark == earlier?.collection
    let name =
      collection ?? tasks.mark ?? "belfry-\(store.context.makeIdentifier().short)"
    // Before anything is removed: it shows that the folder can be written.
    if tasks.mark != name { try writing { try tasks.setMark(name, by: store.device) } }
    if let earlier, earlier.folder != folder {
      _ = try await PhoneSetup.removeTasks(earlier, of: store)
    }
    let configuration = PhoneConfiguration(
      folder: folder, collection: name, options: options, url: url ?? (isSame ? earlier?.url : nil),
      device: store.device)
    var leftAlone = 0
    if !isSame {
      var state = PhoneState()
      for (file, signature) in try tasks.list(known: { _ in false }).files {
        let document = ((try? tasks.read(file)) ?? nil).flatMap { try? TaskDocument($0.bytes) }
        if let task = document?.task, TaskProperty.identity(of: task) != nil { continue }
        state.entries[file] = PhoneState.Entry(
          signature: signature, problem: PhoneState.earlier)
        leftAlone += 1
      }
      try PhoneState.file(of: store).replace(with: state)
    }
    try configuration.write(to: store)
    try store.devices.publish(to: name)
    return (configuration, leftAlone)
  }

  /// The names of tasks of this store that the folder has already: another device publishes to it.
  public func hasTasksOfStore() -> Bool {
    let tasks = TaskFolder(folder)
    let names = (try? tasks.list(known: { _ in false }).files.keys.sorted()) ?? []
    return names.compactMap { TaskProperty.identity(fileName: $0) }.prefix(20)
      .contains { ((try? store.alarm($0.alarm)) ?? nil) != nil }
  }

  /// True if the folder exists and has folders whose names begin with no dot.
  private var hasFolders: Bool {
    DurableFile.names(in: folder).contains { name in
      var status = stat()
      return !name.hasPrefix(".") && lstat("\(folder)/\(name)", &status) == 0
        && status.st_mode & S_IFMT == S_IFDIR
    }
  }

  private func writing(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as FileError {
      throw Failure.notWritable(path: folder, number: error.number)
    }
  }

  private func writeProperties() throws {
    let path = "\(folder)/\(TaskServer.radicaleProperties)"
    if access(path, F_OK) == 0 { return }
    let properties = JSON.object([
      "tag": "VCALENDAR", "C:supported-calendar-component-set": "VTODO", "D:displayname": "Belfry",
    ])
    try DurableFile.write(
      Array(properties.line.utf8), to: path, temporary: "\(folder)/.belfry-properties")
  }

  private func makeRepository() async throws {
    var status = stat()
    if lstat(folder + "/.git", &status) == 0 { return }
    for arguments in [
      ["init", "--quiet"], ["config", "xandikos.type", "calendar"],
      ["config", "xandikos.displayname", "Belfry"],
    ] {
      let outcome = try await GitCommand.run(arguments, in: folder)
      guard outcome.status == 0 else { throw Failure.git(reason: outcome.error) }
    }
  }

  /// Ends the publication. The open tasks of this store are removed from the folder, unless it is missing or replaced.
  ///
  /// - Parameter keepsTasks: True to leave the tasks in the folder, which then ring as they are.
  /// - Returns: The number of removed tasks.
  public static func remove(
    _ configuration: PhoneConfiguration, of store: Store, keepingTasks keepsTasks: Bool
  ) async throws -> Int {
    let lock = try PhoneState.lock(of: store)
    defer { withExtendedLifetime(lock) {} }
    let count = keepsTasks ? 0 : try await removeTasks(configuration, of: store)
    try PhoneState.file(of: store).replace(with: PhoneState())
    try store.devices.publish(to: nil)
    PhoneConfiguration.remove(of: store)
    return count
  }

  /// Removes the tasks of this store and the mark from a folder, unless it is missing or replaced.
  ///
  /// - Returns: The number of removed tasks.
  private static func removeTasks(
    _ configuration: PhoneConfiguration, of store: Store
  ) async throws -> Int {
    let folder = TaskFolder(configuration.folder)
    guard (try? folder.check(collection: configuration.collection)) != nil else { return 0 }
    var removed: Set<String> = []
    let lock = try folder.lock()
    for (name, entry) in PhoneState.file(of: store).read().entries where entry.id != nil {
      guard let signature = entry.signature else { continue }
      if try folder.remove(name, expecting: signature) { removed.insert(name) }
    }
    folder.removeTemporaries()
    folder.removeMark()
    withExtendedLifetime(lock) {}
    if folder.server == .xandikos { try await folder.commit(removed) }
    return removed.count
  }
}
