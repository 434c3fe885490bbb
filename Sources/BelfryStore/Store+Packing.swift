import Git
import Glibc

extension Store {
  /// More loose objects than this are packed: what a month or so of use leaves.
  private static let enoughLooseObjects = 2_000

  /// Packs loose objects, when there are many, so that years of use stay fast.
  ///
  /// The packs grow as a geometric series: packing costs little each time, and there are never many. No object
  /// is lost by it, whether a reference names it or not. Needs no lock: what is written meanwhile stays as it is.
  ///
  /// - Returns: whether there was anything to do.
  @discardableResult
  public func pack() async throws -> Bool {
    guard Repository.looseObjectEstimate(in: local.objects) > Store.enoughLooseObjects else {
      return false
    }
    // One at a time; who comes second has nothing to do.
    guard
      let lock = try? StoreLock(local.packLock, holder: context.process, patience: 0)
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
