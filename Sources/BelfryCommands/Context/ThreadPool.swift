// The interface for custom executors is not stable yet. Other compilers use Swift's default executor, Dispatch.
#if compiler(>=6.3) && compiler(<6.4)
  @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency
  import BelfryScheduler
  import BelfryStore
  import Dispatch
  import Glibc
  import Synchronization

  /// An executor that runs the program's tasks on a few threads, which sleep while there are no jobs.
  ///
  /// It replaces Swift's default executor: after the first task, Dispatch wakes the process 60 times a minute to check
  /// for blocked threads; with this pool, a daemon at rest does not wake. An executor preference of single tasks is not
  /// enough, because each run of Subprocess starts an unstructured task and sleeps, both on the default executor. The
  /// threads of the pool stay, because the system may refuse new ones when an alarm is due.
  final class ThreadPool: TaskExecutor, SchedulingExecutor {
    private struct State {
      var ready: [UnownedJob] = []
      /// The number of leading jobs in `ready` that were taken.
      var taken = 0
      var threads = 0
      /// The number of threads that wait at the semaphore and were not signaled.
      var waiting = 0
    }
    private let state = Mutex(State())
    private let available = DispatchSemaphore(value: 0)
    private let limit: Int

    /// - Parameter limit: the maximum number of threads.
    init(limit: Int) { self.limit = limit }

    // MARK: Enqueuing

    func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job)) }

    private func add(_ job: UnownedJob) {
      var wakes = false
      let starts = state.withLock { state in
        state.ready.append(job)
        if state.waiting > 0 {
          state.waiting -= 1
          wakes = true
        } else if state.threads < limit {
          state.threads += 1
          return true
        }
        return false
      }
      if wakes { available.signal() }
      guard starts else { return }
      let isStarted = BackgroundThread.tryStart { [self] in work() }
      if isStarted { return }
      // Other threads run the job. Without any thread the process cannot continue.
      let isAlone = state.withLock { state in
        state.threads -= 1
        return state.threads == 0
      }
      if isAlone { fatalError("no thread can be started: \(String(cString: strerror(EAGAIN)))") }
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
      add(UnownedJob(job), after: delay as? Duration ?? .zero)
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
      add(UnownedJob(job), after: clock.now.duration(to: instant) as? Duration ?? .zero)
    }

    private func add(_ job: UnownedJob, after delay: Duration) {
      if delay <= .zero { return add(job) }
      TimerThread.shared.run(after: delay) { [self] in add(job) }
    }

    // MARK: Running

    private func work() {
      while true {
        let job: UnownedJob? = state.withLock { state in
          guard state.taken < state.ready.count else {
            state.waiting += 1
            return nil
          }
          let job = state.ready[state.taken]
          state.taken += 1
          if state.taken == state.ready.count {
            // Releases the memory of a burst of jobs.
            state.ready.removeAll(keepingCapacity: state.ready.count <= 256)
            state.taken = 0
          }
          return job
        }
        guard let job else {
          available.wait()
          continue
        }
        job.runSynchronously(on: ThreadPool.generic)
      }
    }

    /// The serial executor of nonisolated code. Both of its words are zero.
    private static let generic = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)

    // MARK: Installing

    private static let shared = ThreadPool(
      limit: max(4, min(16, sysconf(Int32(_SC_NPROCESSORS_ONLN)))))

    private struct Factory: ExecutorFactory {
      static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
      static var defaultExecutor: any TaskExecutor { ThreadPool.shared }
    }

    /// Makes this pool the executor of all tasks. Call it before the first task starts.
    static func install() { _createExecutors(factory: Factory.self) }
  }
#endif
