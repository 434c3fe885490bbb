import BelfryCore

/// The generator of identifiers for tests that don't depend on particular ones.
public enum TestIdentifier {
  /// Returns a random identifier.
  @Sendable public static func make() -> Identifier {
    var generator = SystemRandomNumberGenerator()
    return .random(using: &generator)
  }
}
