import CLibgit2
import Crypto
import Files
import Glibc

/// A loose object's file whose content doesn't match its name.
public struct DamagedObject: Hashable, Sendable {
  /// The path of the file.
  public let path: String
  /// The reason as a clause about the object: `it is truncated`.
  public let reason: String
}

extension Repository {
  // MARK: Objects

  /// Returns the loose objects that cannot be read: truncated, empty, or with content that doesn't match their id.
  ///
  /// - Complexity: Reads every loose object.
  public func damagedLooseObjects() -> [DamagedObject] {
    var damaged: [DamagedObject] = []
    for folder in DurableFile.names(in: loose.folder) where folder.utf8.count == 2 {
      for name in DurableFile.names(in: "\(loose.folder)/\(folder)") {
        guard let id = ObjectID(hexadecimal: folder + name) else { continue }
        do {
          _ = try loose.read(id, limit: 256 << 20)
        } catch let error as LooseObjects.Damage {
          damaged.append(DamagedObject(path: loose.path(id), reason: error.reason))
        } catch let error as FileError {
          damaged.append(
            DamagedObject(path: loose.path(id), reason: String(cString: strerror(error.number))))
        } catch {
          damaged.append(DamagedObject(path: loose.path(id), reason: "\(error)"))
        }
      }
    }
    return damaged.sorted { $0.path < $1.path }
  }

  /// Returns an estimate of the number of loose objects, from four of the 256 folders. Doesn't need libgit2.
  ///
  /// - Parameter objects: The path of an `objects` folder.
  public static func looseObjectEstimate(in objects: String) -> Int {
    64
      * ["17", "5c", "a2", "e9"].reduce(0) { sum, folder in
        sum + DurableFile.names(in: "\(objects)/\(folder)").count { !$0.hasPrefix(".") }
      }
  }

  /// Returns true if every tree and file of a commit can be read.
  public func isWhole(_ commit: ObjectID) -> Bool {
    guard let tree = try? self.commit(commit).tree else { return false }
    return isWhole(tree: tree)
  }

  /// Returns true if a commit's trees can be read, and all files that differ from another commit.
  ///
  /// - Parameter known: The other commit; nil for none.
  public func isWhole(_ commit: ObjectID, besides known: ObjectID?) -> Bool {
    guard let tree = try? self.commit(commit).tree else { return false }
    let other = known.flatMap { try? self.commit($0).tree }
    if known != nil, other == nil { return false }
    return isReadable(tree, besides: other)
  }

  private func isWhole(tree: ObjectID) -> Bool {
    guard let entries = try? self.tree(tree).entries() else { return false }
    return entries.allSatisfy { entry in
      switch entry.mode {
      case .folder: isWhole(tree: entry.id)
      case .file: (try? blob(entry.id, limit: 64 << 20)) != nil
      case .other: true
      }
    }
  }

  /// Copies an object of any kind from another repository. Returns true if the other repository has it.
  public func adopt(_ id: ObjectID, from other: Repository) throws -> Bool {
    for kind in [LooseObjects.Kind.blob, .tree, .commit, .tag] {
      guard let bytes = try? other.read(id, kind, limit: 256 << 20) else { continue }
      unsynced.insert(try loose.write(kind, bytes).file)
      return true
    }
    return false
  }

  /// Removes a loose object that this value has created and that nothing references. An object that existed before
  /// stays, because its writer may need it.
  ///
  /// - Precondition: The content is unique, and the caller holds the lock that all writers of objects take.
  public func discard(_ id: ObjectID) {
    if created.withLock({ $0.remove(id) }) != nil { _ = unlink(loose.path(id)) }
  }

  /// Removes the temporary files of objects that dead processes have left.
  ///
  /// - Precondition: The caller holds the lock that all writers of objects take.
  public func removeTemporaryObjects() { loose.removeTemporaryFiles() }

  /// Makes all written objects durable.
  public func flush() throws { try unsynced.flush() }

  // MARK: The index

  /// Returns the reason that git's index cannot be used, or nil if it can be used or doesn't exist.
  ///
  /// - Parameter acceptsZeros: True to accept zeros in the place of the checksum, which `index.skipHash` writes.
  public func indexDamage(acceptsZeros: Bool = true) -> String? {
    let content: [UInt8]
    do {
      guard let file = try DurableFile.read(gitDirectory + "index") else { return nil }
      content = file.bytes
    } catch {
      return String(cString: strerror(error.number))
    }
    guard content.count > 12 + ObjectID.byteCount, content.starts(with: "DIRC".utf8) else {
      return content.isEmpty ? "it is empty" : "it is truncated"
    }
    let sum = Array(content.suffix(ObjectID.byteCount))
    if acceptsZeros, sum.allSatisfy({ $0 == 0 }) { return nil }
    let computed = Array(Insecure.SHA1.hash(data: content.dropLast(ObjectID.byteCount)))
    return computed == sum ? nil : "its checksum is wrong"
  }

  // MARK: References

  /// Returns the commits of a reference's reflog, latest first.
  public func reflog(_ reference: String) -> [ObjectID] {
    let path = (reference == "HEAD" ? gitDirectory : commonDirectory) + "logs/\(reference)"
    guard let file = (try? DurableFile.read(path, limit: 256 << 20)) ?? nil else { return [] }
    var commits: [ObjectID] = []
    for line in file.bytes.split(separator: UInt8(ascii: "\n")).reversed() where line.count > 81 {
      for range in [
        line.startIndex + 41..<line.startIndex + 81, line.startIndex..<line.startIndex + 40,
      ] {
        guard
          let id = ObjectID(hexadecimal: String(decoding: line[range].prefix(40), as: UTF8.self))
        else { continue }
        if id != ObjectID.zero, commits.last != id { commits.append(id) }
      }
    }
    return commits
  }

  /// Returns the remote-tracking branches as of the last fetch. A commit that cannot be read is nil.
  public func trackedCommits() -> [(reference: String, commit: ObjectID?)] {
    let names: [String]? = try? with { repository throws(GitError) in
      var list = git_strarray()
      try GitError.check(git_reference_list(&list, repository), "list the references")
      defer { git_strarray_dispose(&list) }
      return (0..<list.count).compactMap { list.strings[$0].map { String(cString: $0) } }
    }
    return (names ?? []).filter { $0.hasPrefix("refs/remotes/") }.sorted().map { name in
      let commit = (try? commit(of: name)) ?? nil
      return (name, commit.flatMap { (try? self.commit($0)) == nil ? nil : $0 })
    }
  }

  /// Returns the reflogs with entries of unreadable commits, each with its content without them.
  ///
  /// - Parameter known: Commits that can be read entirely, for a search after a power failure: the trees and files of each
  ///   reflog's latest commits are then read, too. Empty to read only the commits.
  public func brokenReflogs(
    since known: Set<ObjectID> = []
  ) -> [(path: String, content: [UInt8])] {
    var readable: [ObjectID: Bool] = [ObjectID.zero: true]
    var whole: [ObjectID: Bool] = [ObjectID.zero: true]
    let knownTree = known.lazy.compactMap { (try? self.commit($0))?.tree }.first
    func isThere(_ id: ObjectID, isRecent: Bool) -> Bool {
      if known.contains(id) { return true }
      if let answer = whole[id] ?? (isRecent ? nil : readable[id]) { return answer }
      guard let tree = (try? commit(id))?.tree else {
        readable[id] = false
        return false
      }
      guard isRecent else {
        readable[id] = true
        return true
      }
      let answer = isReadable(tree, besides: knownTree)
      whole[id] = answer
      return answer
    }
    var broken: [(path: String, content: [UInt8])] = []
    for path in Repository.files(in: commonDirectory + "logs") {
      guard let file = (try? DurableFile.read(path, limit: 256 << 20)) ?? nil else { continue }
      let lines = file.bytes.split(separator: UInt8(ascii: "\n"))
      let good = lines.reversed().enumerated().filter { number, line in
        let isRecent = !known.isEmpty && number < Repository.maxRecentMoves
        let ids = [line.prefix(40), line.dropFirst(41).prefix(40)].compactMap {
          ObjectID(hexadecimal: String(decoding: $0, as: UTF8.self))
        }
        guard line.count > 81, ids.count == 2 else { return false }
        return ids.allSatisfy { isThere($0, isRecent: isRecent) }
      }.map(\.element)
      if good.count < lines.count {
        broken.append((path, good.reversed().flatMap { $0 + [UInt8(ascii: "\n")] }))
      }
    }
    return broken
  }

  /// The number of moves of a reference since the last flush of the file system, after which the others count as older.
  private static let maxRecentMoves = 200

  /// Returns true if all files of a tree can be read that differ from another tree.
  private func isReadable(_ tree: ObjectID, besides known: ObjectID?) -> Bool {
    guard let changes = try? changedFiles(from: known, to: tree) else { return false }
    return changes.allSatisfy { change in
      change.after.map { (try? blob($0, limit: 64 << 20)) != nil } ?? true
    }
  }

  /// Returns the path and first line of a reference's own file, or nil if it has none, as when it is packed.
  public func referenceFile(_ name: String) -> (path: String, text: String)? {
    let path = (name == "HEAD" ? gitDirectory : commonDirectory) + name
    return DurableFile.firstLine(of: path).map { (path, $0) }
  }
}
