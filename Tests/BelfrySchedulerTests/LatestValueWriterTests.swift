import Dispatch
import Testing

@testable import BelfryScheduler

/// The writer of values that change often.
@Suite struct LatestValueWriterTests {
  @Test("While a write hangs, only the latest value waits for it")
  func latest() async {
    let release = DispatchSemaphore(value: 0)
    let (written, sender) = AsyncStream.makeStream(of: Int.self)
    let writer = LatestValueWriter<Int> { value in
      sender.yield(value)
      if value == 0 { release.wait() }
    }
    var values = written.makeAsyncIterator()
    writer.submit(0)
    #expect(await values.next() == 0)
    for value in 1...3 { writer.submit(value) }
    release.signal()
    #expect(await values.next() == 3)
    writer.submit(4)
    #expect(await values.next() == 4)
  }
}
