import Dispatch
import Testing

@testable import BelfryStore

/// The results of work in other threads and tasks.
@Suite struct BackgroundJobTests {
  @Test("A wait ends with the result, in a thread and in a task")
  func result() async {
    let job = BackgroundJob { 7 }
    #expect(job.wait() == 7)
    #expect(job.wait(within: .seconds(60)) == 7)
    #expect(await job.value(within: .seconds(60)) == 7)
    let later = BackgroundJob<Int>()
    Task.detached { later.finish(8) }
    #expect(await later.value(within: .seconds(60)) == 8)
  }

  @Test("A wait ends at its timeout, and the job continues")
  func timeout() async {
    let release = DispatchSemaphore(value: 0)
    let job = BackgroundJob {
      release.wait()
      return 7
    }
    #expect(job.wait(within: .milliseconds(1)) == nil)
    #expect(await job.value(within: .milliseconds(1)) == nil)
    release.signal()
    #expect(await job.value(within: .seconds(60)) == 7)
  }
}
