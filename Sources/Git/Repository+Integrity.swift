import CLibgit2
import Crypto
import Glibc

/// A loose object's file that is not what its name promises.
public struct DamagedObject: Hashable, Sendable {
  public let path: String
  public let reason: String
}

extension Repository {
  // MARK: Objects

  /// The loose objects that cannot be read: cut short, empty, of another content than their name's.
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

  /// How many loose objects a folder `objects` has, about: of four folders of 256, times 64. Costs four looks,
  /// and not the start of libgit2.
  public static func looseObjectEstimate(in objects: String) -> Int {
    64
      * ["17", "5c", "a2", "e9"].reduce(0) { sum, folder in
        sum + DurableFile.names(in: "\(objects)/\(folder)").count { !$0.hasPrefix(".") }
      }
  }

  /// Whether every tree and file of a commit is there and can be read.
  public func isWhole(_ commit: ObjectID) -> Bool {
    guard let tree = try? self.commit(commit).tree else { return false }
    return isWhole(tree: tree)
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

  /// Takes over an object of any kind that another repository has; returns whether it has it.
  public func adopt(_ id: ObjectID, from other: Repository) throws -> Bool {
    for kind in [LooseObjects.Kind.blob, .tree, .commit, .tag] {
      guard let bytes = try? other.read(id, kind, limit: 256 << 20) else { continue }
      unsynced.insert(try loose.write(kind, bytes).file)
      return true
    }
    return false
  }

  /// Removes an object that was written here and that nothing names, as long as it is loose.
  public func discard(_ id: ObjectID) {
    _ = unlink(loose.path(id))
  }

  /// Makes everything that was written durable.
  public func flush() throws { try unsynced.flush() }

  // MARK: The index

  /// Why git's index cannot be used; nil when it can be, or there is none.
  public func indexDamage() -> String? {
    let content: [UInt8]
    do {
      guard let file = try DurableFile.read(gitDirectory + "index") else { return nil }
      content = file.bytes
    } catch {
      return String(cString: strerror(error.number))
    }
    guard content.count > 12 + ObjectID.byteCount, content.starts(with: "DIRC".utf8) else {
      return content.isEmpty ? "it is empty" : "it is cut short"
    }
    let sum = Array(content.suffix(ObjectID.byteCount))
    // Zeros where git was told not to compute it.
    if sum.allSatisfy({ $0 == 0 }) { return nil }
    let computed = Array(Insecure.SHA1.hash(data: content.dropLast(ObjectID.byteCount)))
    return computed == sum ? nil : "its checksum is wrong"
  }

  // MARK: References

  /// The commits at which a reference has stood, the latest first, as its reflog tells.
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

  /// What the remotes' branches were when they were last fetched; nil for one that names no commit that
  /// is there.
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

  /// The reflogs with entries of commits that cannot be read, each with what it would be without them.
  public func brokenReflogs() -> [(path: String, mended: [UInt8])] {
    var known: [ObjectID: Bool] = [ObjectID.zero: true]
    func isThere(_ digits: ArraySlice<UInt8>) -> Bool {
      guard let id = ObjectID(hexadecimal: String(decoding: digits, as: UTF8.self)) else {
        return false
      }
      if let answer = known[id] { return answer }
      let answer = (try? commit(id)) != nil
      known[id] = answer
      return answer
    }
    func files(_ folder: String) -> [String] {
      DurableFile.names(in: folder).sorted().flatMap { name -> [String] in
        let path = "\(folder)/\(name)"
        var status = stat()
        guard lstat(path, &status) == 0 else { return [] }
        return status.st_mode & S_IFMT == S_IFDIR ? files(path) : [path]
      }
    }
    var broken: [(path: String, mended: [UInt8])] = []
    for path in files(commonDirectory + "logs") {
      guard let file = (try? DurableFile.read(path, limit: 256 << 20)) ?? nil else { continue }
      let lines = file.bytes.split(separator: UInt8(ascii: "\n"))
      let good = lines.filter { line in
        line.count > 81 && isThere(line.prefix(40)) && isThere(line.dropFirst(41).prefix(40))
      }
      if good.count < lines.count {
        broken.append((path, good.flatMap { $0 + [UInt8(ascii: "\n")] }))
      }
    }
    return broken
  }

  /// What a reference's own file says; nil when it has none, as when it is packed.
  public func referenceFile(_ name: String) -> (path: String, text: String)? {
    let path = (name == "HEAD" ? gitDirectory : commonDirectory) + name
    return DurableFile.firstLine(of: path).map { (path, $0) }
  }
}
