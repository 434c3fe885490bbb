import TestSupport
import Testing

@testable import BelfryStore

@Suite struct SmallestTests {
  @Test func elementsAreThoseOfASortedPrefix() {
    for seed in UInt64(1)...300 {
      var generator = SeededGenerator(seed: seed)
      let limit = generator.int(1...20)
      let values = (0..<generator.int(0...200)).map { _ in generator.int(0...100) }
      var smallest = Smallest<Int>(limit)
      for value in values { smallest.insert(value) }
      #expect(smallest.elements() == Array(values.sorted().prefix(limit)), "seed \(seed)")
    }
  }
}
