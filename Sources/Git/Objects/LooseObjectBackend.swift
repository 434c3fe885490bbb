// An object database backend of libgit2. libgit2 does the walks through a history, and would loop forever on a truncated
// loose object, so it gets the loose objects from here.

import CLibgit2
import Synchronization

/// A backend that reads loose objects with `LooseObjects`, so that a damaged one is an error.
///
/// Objects in packs are left to libgit2's own backends.
final class LooseObjectBackend: Sendable {
  private let loose: LooseObjects
  /// The last failure, because libgit2 keeps neither its code nor the object's id.
  private let failure = Mutex<GitError?>(nil)

  /// The size in bytes above which an object is refused. Commits and trees are far smaller.
  private static let limit = 64 << 20

  private init(_ loose: LooseObjects) { self.loose = loose }

  /// Calls a closure that makes libgit2 read objects. The error of such a read replaces the closure's error.
  func reporting<Result>(_ body: () throws(GitError) -> Result) throws(GitError) -> Result {
    failure.withLock { $0 = nil }
    do {
      return try body()
    } catch {
      throw failure.withLock { $0 } ?? error
    }
  }

  /// Returns an object, nil if it is not loose, or the reason that it cannot be read.
  private func read(_ oid: git_oid) -> Result<LooseObjects.Object?, GitError> {
    let id = ObjectID(oid)
    let operation = "read the object \(id.short)"
    do {
      return .success(try loose.read(id, limit: LooseObjectBackend.limit))
    } catch let damage as LooseObjects.Damage {
      return .failure(GitError(.damaged, operation, damage.reason))
    } catch {
      return .failure(GitError(.generic, operation, "\(error)"))
    }
  }

  /// Passes an object to a closure, and returns libgit2's code for the result.
  static func read(
    _ backend: UnsafeMutablePointer<git_odb_backend>?, _ id: UnsafePointer<git_oid>?,
    _ body: (LooseObjects.Object, UnsafeMutablePointer<git_odb_backend>) -> Int32
  ) -> Int32 {
    guard let backend, let id else { return GIT_ERROR.rawValue }
    let context = UnsafeMutableRawPointer(backend)
      .assumingMemoryBound(to: belfry_odb_backend.self).pointee.context
    guard let context else { return GIT_ERROR.rawValue }
    let ours = Unmanaged<LooseObjectBackend>.fromOpaque(context).takeUnretainedValue()
    switch ours.read(id.pointee) {
    case .success(nil): return GIT_PASSTHROUGH.rawValue
    case .success(let object?): return body(object, backend)
    case .failure(let error):
      ours.failure.withLock { $0 = error }
      git_error_set_str(Int32(GIT_ERROR_ODB.rawValue), error.message)
      return error.code.rawValue
    }
  }
}

extension LooseObjectBackend {
  /// The priority of the backend, above those of libgit2's own.
  private static let priority: Int32 = 10

  /// Makes a repository's handle read its loose objects from here.
  static func attach(
    _ loose: LooseObjects, to repository: OpaquePointer
  ) throws(GitError) -> LooseObjectBackend {
    let operation = "open the object database"
    var database: OpaquePointer?
    try GitError.check(git_repository_odb(&database, repository), operation)
    defer { git_odb_free(database) }
    let ours = LooseObjectBackend(loose)
    let backend = UnsafeMutablePointer<belfry_odb_backend>.allocate(capacity: 1)
    backend.initialize(to: belfry_odb_backend())
    git_odb_init_backend(&backend.pointee.parent, UInt32(GIT_ODB_BACKEND_VERSION))
    backend.pointee.context = Unmanaged.passRetained(ours).toOpaque()
    backend.pointee.parent.read = { data, size, kind, backend, id in
      LooseObjectBackend.read(backend, id) { object, backend in
        // libgit2's own backends end each object with a NUL byte, so its parsers may rely on one.
        let bytes = object.bytes + [0]
        guard let copy = git_odb_backend_data_alloc(backend, bytes.count) else {
          return GIT_ERROR.rawValue
        }
        UnsafeMutableRawBufferPointer(start: copy, count: bytes.count).copyBytes(from: bytes)
        data?.pointee = copy
        size?.pointee = object.bytes.count
        kind?.pointee = object.kind.code
        return 0
      }
    }
    backend.pointee.parent.read_header = { size, kind, backend, id in
      LooseObjectBackend.read(backend, id) { object, _ in
        size?.pointee = object.bytes.count
        kind?.pointee = object.kind.code
        return 0
      }
    }
    // libgit2 frees its backends together with the repository.
    backend.pointee.parent.free = { backend in
      guard let backend else { return }
      let ours = UnsafeMutableRawPointer(backend).assumingMemoryBound(to: belfry_odb_backend.self)
      if let context = ours.pointee.context {
        Unmanaged<LooseObjectBackend>.fromOpaque(context).release()
      }
      ours.deallocate()
    }
    let code = git_odb_add_backend(database, &backend.pointee.parent, priority)
    if code != 0 { backend.pointee.parent.free(&backend.pointee.parent) }
    try GitError.check(code, operation)
    return ours
  }
}

extension LooseObjects.Kind {
  /// The kind in libgit2's numbering.
  var code: git_object_t {
    switch self {
    case .blob: GIT_OBJECT_BLOB
    case .tree: GIT_OBJECT_TREE
    case .commit: GIT_OBJECT_COMMIT
    case .tag: GIT_OBJECT_TAG
    }
  }
}
