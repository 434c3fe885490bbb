import BelfryCore
import BelfryStore

/// A command's use of its store: opening, finding alarms, and the upkeep after the command.
struct StoreSession {
  private let context: CommandContext

  init(_ context: CommandContext) { self.context = context }

  /// Opens the store, and prints its warnings. If there is no store, creates one and reports that.
  ///
  /// - Parameters:
  ///   - welcome: show the welcome pages before a user's first command.
  ///   - creates: create the store if there is none. Background processes never create one.
  func open(welcome: Bool, creates: Bool) throws -> Store {
    if welcome, !context.isQuiet { try Welcome(context).showOnce() }
    let isBackground = context.environment[CommandContext.backgroundVariable]?.isEmpty == false
    let (store, opening) = try Store.open(
      context.storePath, context: context.storeContext, creates: creates && !isBackground)
    announce(opening, store)
    do {
      try store.maintenance.resolveMergeConflicts()
    } catch {
      context.warnings.warn("a git merge could not be completed: \(CommandError.text(of: error))")
    }
    context.warnings.warn(about: store)
    return store
  }

  private func announce(_ opening: Store.Opening, _ store: Store) {
    let name = Printable.text(context.storeContext.deviceName)
    switch opening {
    case .existing: break
    case .created:
      Console.error(
        "Made a store at \(Printable.text(context.storePath)); this device is called \(name).")
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
    }
  }

  /// Returns the alarms, and prints warnings about invalid records.
  func overview(_ store: Store) throws -> [AlarmSummary] {
    let overview = try store.overview()
    context.warnings.warn(about: overview.problems)
    return overview.summaries
  }

  /// Returns the alarm that a text names: by an identifier prefix, a title, or a part of one.
  ///
  /// - Throws: `StoreError` if no alarm matches, or several.
  func find(_ name: String, in store: Store) throws -> AlarmSummary {
    let (summary, problems) = try store.resolve(name)
    context.warnings.warn(about: problems)
    return summary
  }

  /// Returns the alarm that a text names. If several match, returns the only one of them that is ringing.
  func findRinging(_ name: String, in store: Store) throws -> AlarmSummary {
    do {
      return try find(name, in: store)
    } catch let error as StoreError {
      guard case .ambiguousAlarm(_, let matches) = error else { throw error }
      let ids = Set(matches.map(\.id))
      let ringing = try store.overview().summaries.filter {
        ids.contains($0.id) && $0.status.state == .ringing
      }
      guard ringing.count == 1, let summary = ringing.first else { throw error }
      return summary
    }
  }

  /// Audits the records once a day, and packs objects if there are many. A failure is only a warning.
  func upkeep(_ store: Store) async {
    do {
      try await store.maintenance.auditDaily()
      try await store.maintenance.pack()
    } catch {
      CommandError(error).with(hints: ["No data is lost. See 'belfry doctor'."]).warn()
    }
  }
}
