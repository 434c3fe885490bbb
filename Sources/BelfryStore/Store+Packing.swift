import Git
import Glibc

extension Store {
  /// The number of loose objects above which they are packed, about one month of use.
  private static let maxLooseObjects = 2_000

  /// Packs the loose objects if there are many.
  ///
  /// The sizes of the packs form a geometric series, so packing is cheap and the packs stay few. It keeps every object,
  /// referenced or not. It needs no lock, because objects that are written in the meantime stay as they are.
  ///
  /// - Returns: True if objects were packed.
  /// - Throws: `GitError` if git fails.
  @discardableResult
  public func pack() async throws -> Bool {
    guard Repository.looseObjectEstimate(in: local.objects) > Store.maxLooseObjects else {
      return false
    }
    // If another process is packing, there is nothing left to do.
    guard
      let lock = try? StoreLock(local.packLock, holder: context.process, timeout: 0)
    else { return false }
    let outcome = try await GitCommand.run(
      ["-c", "pack.threads=1", "repack", "-d", "-q", "--geometric=2"], in: path)
    withExtendedLifetime(lock) {}
    guard outcome.status == 0 else {
      throw GitError(.generic, "pack the objects", GitCommand.reason(outcome))
    }
    return true
  }
}
