/// The owner of leases in the delivery ledger: a process, with a name that no earlier or later process has.
public struct LeaseOwner: Sendable {
  /// The name in the ledger.
  public let name: String
  /// Returns true if the process with a name is alive.
  public let isAlive: @Sendable (String) -> Bool

  /// Creates an owner.
  public init(name: String, isAlive: @escaping @Sendable (String) -> Bool) {
    self.name = name
    self.isAlive = isAlive
  }
}
