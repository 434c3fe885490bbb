import BelfryCore
import BelfryStore
import Glibc
import TestSupport

extension Sandbox {
  /// Opens or creates the store of a laptop in UTC, with reproducible identifiers.
  func openStore(at now: Instant) throws -> Store {
    try Store.open(
      root + "/store",
      context: StoreContext(
        now: now, zones: ZoneLibrary(variable: "UTC"), deviceName: "laptop", user: geteuid(),
        makeIdentifier: TestIdentifier.make, random: { $0.lowerBound })
    ).store
  }
}
