// The interface for custom executors is not stable yet. Other compilers use Swift's default executor, Dispatch.
#if compiler(>=6.3) && compiler(<6.4)
  @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency
  import BelfryStore
  import CLinux
  import Glibc
  import Synchronization

  /// An executor that runs the program's tasks on a few threads, which sleep while there are no jobs.
  ///
  /// It replaces Dispatch, which wakes the process once a second after its first task to check for blocked threads, and
  /// writes a message if the system refuses it a thread priority.
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
    private let available = Semaphore()
    private let timer = JobTimer()
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
      timer.add(job, after: delay) { [self] job in add(job) }
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

  /// A timer for delayed jobs, with one thread that sleeps until the first of them is due.
  private final class JobTimer: Sendable {
    private struct Entry {
      /// The time on the monotonic clock, in nanoseconds.
      let due: Int64
      let job: UnownedJob
    }
    private struct State {
      /// The waiting jobs, in descending order of their time.
      var entries: [Entry] = []
      var isRunning = false
    }
    private let state = Mutex(State())
    private let changed = Semaphore()

    func add(
      _ job: UnownedJob, after delay: Duration, _ resume: @escaping @Sendable (UnownedJob) -> Void
    ) {
      let (seconds, attoseconds) = delay.components
      // Limited to more than the lifetime of a process, so that it cannot overflow.
      let length = min(seconds, 1 << 32) * 1_000_000_000 + attoseconds / 1_000_000_000
      let due = JobTimer.now + length
      let (isFirst, starts) = state.withLock { state in
        var (low, high) = (0, state.entries.count)
        while low < high {
          let middle = (low + high) / 2
          if state.entries[middle].due > due { low = middle + 1 } else { high = middle }
        }
        state.entries.insert(Entry(due: due, job: job), at: low)
        defer { state.isRunning = true }
        return (low == state.entries.count - 1, !state.isRunning)
      }
      if starts {
        guard BackgroundThread.tryStart({ [self] in run(resume) }) else {
          fatalError("no thread can be started: \(String(cString: strerror(EAGAIN)))")
        }
      } else if isFirst {
        changed.signal()
      }
    }

    private static var now: Int64 {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private func run(_ resume: @Sendable (UnownedJob) -> Void) {
      while true {
        let now = JobTimer.now
        var due: [UnownedJob] = []
        let next: Int64? = state.withLock { state in
          while let last = state.entries.last, last.due <= now {
            due.append(last.job)
            state.entries.removeLast()
          }
          return state.entries.last?.due
        }
        for job in due { resume(job) }
        if let next { changed.wait(nanoseconds: next - now) } else { changed.wait() }
      }
    }
  }

  /// A counting semaphore.
  // Sound: the pointer never changes, any thread may call `sem_post` and `sem_wait` on the semaphore, and `deinit` runs
  // after the last use.
  private final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
      sem_destroy(semaphore)
      semaphore.deallocate()
    }

    func signal() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0, errno == EINTR {} }

    /// Waits for a signal or a timeout.
    func wait(nanoseconds: Int64) {
      guard nanoseconds > 0 else { return }
      // The monotonic clock, as changes of the wall clock must not affect the timeout.
      var limit = timespec()
      clock_gettime(CLOCK_MONOTONIC, &limit)
      let end = Int64(limit.tv_nsec) + nanoseconds
      limit.tv_sec += Int(end / 1_000_000_000)
      limit.tv_nsec = Int(end % 1_000_000_000)
      while sem_clockwait(semaphore, CLOCK_MONOTONIC, &limit) != 0, errno == EINTR {}
    }
  }
#endif
