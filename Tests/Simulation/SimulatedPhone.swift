import BelfryCore
import Foundation

/// A phone with a task app, which has a copy of the tasks in a folder and rings by the reminders in its own copy.
///
/// It syncs as a CalDAV client does: it uploads what its person has changed if the server still has the version that it
/// knows, and otherwise takes the server's; then it takes what has changed there.
final class SimulatedPhone {
  /// The app, which decides how answers are written.
  enum App: CaseIterable {
    /// Snoozes by a property, and has no stop.
    case tasksOrg
    /// Snoozes by another time of the reminder.
    case jtx
    /// Snoozes by a property, stops, and drops the properties and reminders that it does not know.
    case forgetful
  }

  /// A task in the copy.
  struct Item: Equatable {
    var task: PhoneTaskText
    /// The text on the server when it was last synced; nil for a new one.
    var base: String
    var isChanged = false
    var isDeleted = false
  }

  /// A reminder that has sounded.
  struct Ring: Hashable {
    let id: OccurrenceID
    let at: Instant
  }

  let app: App
  private let folder: String
  private(set) var items: [String: Item] = [:]
  /// The reminders that have sounded, in order.
  private(set) var heard: [Ring] = []
  /// The true time until which the phone cannot sync.
  var offlineUntil = Instant(seconds: 0)
  /// The true time of the next sync by its schedule.
  var nextSync: Instant
  private var backup: [String: Item] = [:]
  /// The files that it has deleted on the server.
  private(set) var removals = 0

  init(_ app: App, folder: String, at time: Instant) {
    self.app = app
    self.folder = folder
    nextSync = time
  }

  // MARK: Ringing

  /// Returns the reminders that sound in a period, in order.
  func rings(after from: Instant, until to: Instant) -> [Ring] {
    items.values.filter { !$0.isDeleted }.flatMap { item -> [Ring] in
      guard let id = item.task.id else { return [] }
      return item.task.rings.filter { $0 > from && $0 <= to }.map { Ring(id: id, at: $0) }
    }.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
  }

  /// Returns true if a reminder of the period still sounds after what happened in the meantime.
  func sounds(_ ring: Ring) -> Bool {
    guard let name = name(of: ring.id), let item = items[name], !item.isDeleted else {
      return false
    }
    return item.task.rings.contains(ring.at)
  }

  func hear(_ ring: Ring) { heard.append(ring) }

  func name(of id: OccurrenceID) -> String? { items.first { $0.value.task.id == id }?.key }

  /// The occurrences of the open tasks, in order.
  var open: [OccurrenceID] {
    items.values.filter { !$0.isDeleted && $0.task.isOpen }.compactMap { $0.task.id }.sorted()
  }

  // MARK: The person

  /// Changes the task of an occurrence. Returns false if the phone has none.
  @discardableResult
  func change(_ id: OccurrenceID, losesProperties: Bool, _ body: (inout PhoneTaskText) -> Void)
    -> Bool
  {
    guard let name = name(of: id), items[name]?.isDeleted == false else { return false }
    items[name]?.isChanged = true
    if var task = items[name]?.task {
      body(&task)
      if app == .tasksOrg { task.setProgram("+//IDN tasks.org//android-140500//EN") }
      if app == .forgetful, losesProperties {
        task.loseForeignProperties()
        task.loseReminders()
      }
      items[name]?.task = task
    }
    return true
  }

  func delete(_ id: OccurrenceID) {
    if let name = name(of: id) { items[name]?.isDeleted = true }
  }

  // MARK: Faults

  /// Removes the app's data: the next sync begins anew.
  func reset() { items = [:] }

  /// Deletes all open tasks, as if the person had emptied the list. Returns their number.
  func deleteAll() -> Int {
    for (name, item) in items where item.task.isOpen { items[name]?.isDeleted = true }
    return items.values.count(where: \.isDeleted)
  }

  func makeBackup() { backup = items }

  /// Restores the copy of the last backup, with what it knew of the server then.
  func restore() { items = backup }

  // MARK: The sync

  /// The files of the folder, by name.
  private func listing() -> [String: String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    var files: [String: String] = [:]
    for name in names where name.hasSuffix(".ics") && !name.hasPrefix(".") {
      files[name] = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
    return files
  }

  /// Syncs with the folder.
  ///
  /// - Parameters:
  ///   - limit: the number of uploads after which the connection is lost; nil for none.
  ///   - accepted: is called for each task of which the server has accepted the change.
  /// - Returns: True if the sync came to its end.
  @discardableResult
  func sync(limit: Int? = nil, accepted: (Item) -> Void) throws -> Bool {
    let server = listing()
    var uploads = 0
    for (name, item) in items.sorted(by: { $0.key < $1.key })
    where item.isChanged || item.isDeleted {
      if let limit, uploads >= limit { return false }
      guard server[name] == item.base else {
        // The server has another version, or none: it wins.
        items[name] = nil
        continue
      }
      uploads += 1
      let path = "\(folder)/\(name)"
      if item.isDeleted {
        try FileManager.default.removeItem(atPath: path)
        removals += 1
        items[name] = nil
      } else {
        try item.task.text.write(toFile: path, atomically: true, encoding: .utf8)
        items[name] = Item(task: item.task, base: item.task.text)
      }
      accepted(item)
    }
    let present = listing()
    for (name, text) in present where items[name]?.base != text {
      items[name] = Item(task: PhoneTaskText(text), base: text)
    }
    items = items.filter { present[$0.key] != nil }
    return true
  }
}
