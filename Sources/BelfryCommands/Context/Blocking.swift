import BelfryStore

/// A bridge that runs asynchronous work from synchronous commands.
///
/// Use it on the main thread only. A blocked thread of the task pool may wait for work that never gets a thread.
enum Blocking {
  /// Runs asynchronous work and blocks until it returns.
  static func run<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) -> Result {
    let job = BackgroundJob<Result>()
    Task.detached { job.finish(await work()) }
    return job.wait()
  }
}
