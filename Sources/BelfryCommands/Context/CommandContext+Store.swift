import BelfryCore
import BelfryStore
import BelfryTerminal
import Git
import Glibc

/// What a command does with its store.
enum StoreUse: Sendable {
  /// Reads it. Creates no store, gives a clone no device identity, completes no merge of git, and changes no record.
  case reading
  /// Changes it if an alarm is due, which is rare.
  case evaluating
  /// Changes it.
  case writing
  /// Changes it, and creates it if there is none.
  case creating
}

/// A command's access to its store: opening, finding alarms, and the maintenance after the command.
extension CommandContext {
  /// Opens the store, and prints its warnings.
  ///
  /// - Parameters:
  ///   - use: what the command does with the store.
  ///   - welcome: show the welcome below the result of a user's first command.
  /// - Throws: `StoreError.noStore` if there is none, unless the command creates one; `CommandError`, `StoreError`.
  func open(_ use: StoreUse, welcome: Bool = true) throws -> Store {
    if use == .writing || use == .creating {
      // On a second core, while this one reads the store.
      BackgroundThread.start { LibGit2.preload() }
    }
    if welcome, !isQuiet { Welcome.prepare(self) }
    let store = use == .reading ? try openForReading() : try openForWriting(use)
    warnings.warn(about: store)
    return store
  }

  /// Opens the store for a command that lists what is in it.
  ///
  /// - Returns: The store; nil for a new user, who has nothing at the default path yet. A hint says so.
  /// - Throws: `StoreError.noStore` if there is none at a path that the user has named, or if its folder is empty,
  ///   because its disk may not be mounted.
  func openIfAny() throws -> Store? {
    do {
      return try open(.reading, welcome: true)
    } catch StoreError.noStore(let path) {
      var status = stat()
      guard environment.isDefaultStore, lstat(path, &status) != 0, errno == ENOENT else {
        throw StoreError.noStore(path: path)
      }
      Console.error(
        "hint: there is no store at \(Printable.text(path)) yet. Make one with your first alarm: belfry add Rent every friday 9am. Or copy the store of another device: belfry clone URL."
      )
      return nil
    }
  }

  private func openForReading() throws -> Store {
    guard let store = try Store.existing(storePath, context: storeContext) else {
      throw StoreError.noStore(path: storePath)
    }
    if store.maintenance.hasMergeConflicts { warnings.warnAboutMerge() }
    if !store.hasIdentity {
      warnings.warn(
        "this clone of the store has no device identity yet.",
        remedy: "The scheduler and the first change give it one: belfry service install")
    }
    return store
  }

  private func openForWriting(_ use: StoreUse) throws -> Store {
    // If the disk of the store is not mounted, a new store in its place would hide it.
    let isBackground = environment[CommandContext.backgroundVariable]?.isEmpty == false
    let (store, opening) = try Store.open(
      storePath, context: storeContext, creates: use == .creating && !isBackground)
    announce(opening, store)
    do {
      try store.maintenance.resolveMergeConflicts()
    } catch {
      warnings.warn("a git merge could not be completed: \(CommandError.text(of: error))")
    }
    return store
  }

  private func announce(_ opening: Store.Opening, _ store: Store) {
    let name = Printable.text(storeContext.deviceName)
    switch opening {
    case .existing: break
    case .created:
      Console.error(
        "Made a store at \(Printable.text(storePath)); this device is called \(name).")
    case .adopted:
      Console.error("This clone of the store has a new device identity: \(name).")
      offerAdoption(store)
    }
  }

  /// Prints the devices that this device, which has a new identity, may have replaced.
  func offerAdoption(_ store: Store) {
    for old in store.devices.adoptable() {
      Console.error(
        "hint: If it replaces \(Printable.text(old.name)) (\(old.id.short)): belfry device adopt \(old.id.short)"
      )
      if old.name == environment.deviceName {
        Console.error("hint: Otherwise, give it a name of its own: belfry device --name NAME")
      }
    }
  }

  /// Returns the alarms, and prints warnings about invalid records.
  func overview(_ store: Store) throws -> [AlarmSummary] {
    shown(try store.overview())
  }

  /// Returns all alarms for a list, and prints warnings about invalid records.
  func listing(_ store: Store) throws -> AlarmListing {
    let (listing, problems) = try store.listing()
    warnings.warn(about: problems)
    return listing
  }

  /// Returns the alarms that ring next, in the order of their next occurrences, and prints warnings about invalid records.
  ///
  /// - Parameter limit: the maximum number of alarms.
  func overview(_ store: Store, ringingFirst limit: Int) throws -> [AlarmSummary] {
    shown(try store.overview(ringingFirst: limit))
  }

  private func shown(_ overview: Store.Overview) -> [AlarmSummary] {
    warnings.warn(about: overview.problems)
    return overview.summaries
  }

  /// Audits the records once a day, and packs objects if there are many. A failure is only a warning.
  ///
  /// - Parameter isDetached: true to pack in a process of its own, for a command that somebody waits for.
  func maintain(_ store: Store, isDetached: Bool = false) async {
    do {
      try await store.maintenance.runDaily()
      if isDetached {
        try await store.maintenance.startPacking()
      } else {
        try await store.maintenance.pack()
      }
    } catch {
      CommandError(error).with(hints: ["No data is lost. See 'belfry doctor'."]).warn()
    }
  }
}
