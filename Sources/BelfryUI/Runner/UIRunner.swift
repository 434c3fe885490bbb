import BelfryCore
import BelfryTerminal
import CLinux
import Glibc
import Synchronization

/// The event loop: waits for the terminal, the store and the clock, updates the state, shows it, and performs effects.
///
/// ```
/// terminal, store, clock ─▶ event ─▶ UIState.update ─▶ effects ─▶ UIBackend ─▶ event
///                                        │
///                                        └▶ render ─▶ difference ─▶ terminal
/// ```
///
/// Nothing polls: without an event, the process sleeps until the next minute.
package final class UIRunner {
  private let backend: any UIBackend
  private let session: TerminalSession
  private let queue = EventQueue()
  /// The thread that reads for the screen.
  private let reading = WorkThread()
  /// The thread that changes the store, in the order of the keys.
  private let changes = WorkThread()
  /// The thread for a sync, which can wait for the network.
  private let network = WorkThread()
  private var state: UIState
  private var isRunning = true
  private let started = ElapsedTime()
  /// The time at which changes are no longer marked; nil if none are.
  private var marksEnd: Int64?
  private let requests = RequestQueue()
  /// The alarm whose details are being read; nil if none are.
  private var expected: Identifier?

  /// The time for which the first frame waits for the list, in milliseconds.
  private static let firstTime: Int64 = 300
  /// The time for which the frame of another selection waits for its details, in milliseconds.
  private static let detailsTime: Int64 = 4
  /// The number of rows of a list whose memory is worth returning.
  private static let longList = 2_000
  /// The time for which changes stay marked, in milliseconds.
  private static let markTime: Int64 = 1500

  package init(
    _ backend: any UIBackend, _ session: TerminalSession, keys: KeyTable,
    purpose: UIState.Purpose = .everything
  ) {
    self.backend = backend
    self.session = session
    state = UIState(size: session.size, keys: keys, purpose: purpose)
  }

  /// Runs until the person quits, or a signal ends the process.
  ///
  /// - Returns: The end of the action of a screen with one purpose; nil if there was none.
  @discardableResult
  package func run() -> UIEvent.Outcome? {
    // The store is read while the terminal is prepared. The first frame shows the list.
    backend.watch { [queue] in queue.send(.changed) }
    for effect in state.begin() { perform(effect) }
    session.begin(.mouse)
    defer { session.end() }
    waitForFirst()
    show()
    while isRunning, session.endingSignal == nil {
      wait()
      if isRunning { waitForDetails() }
      if isRunning { show() }
    }
    // An answer that was given just before is not lost.
    changes.finish {}
    return state.result
  }

  // MARK: Events

  private func wait() {
    var polled = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: session.signalDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    let untilMarksEnd = marksEnd.map { max(0, Int($0 - started.milliseconds)) } ?? .max
    let timeout =
      session.waitingTime ?? state.untilTick ?? min(untilMarksEnd, backend.untilChange())
    let count = poll(&polled, nfds_t(polled.count), Int32(clamping: timeout))
    if let end = marksEnd, started.milliseconds >= end {
      marksEnd = nil
      update(.marksEnded)
      if count == 0 { return }
    }
    if count == 0, session.waitingTime == nil {
      return update(state.untilTick == nil ? .time : .tick)
    }
    if count < 0 { return }
    if polled[2].revents != 0 { takeSignals() }
    if polled[1].revents != 0 { for event in queue.takeAll() { update(event) } }
    if polled[0].revents != 0 || count == 0 {
      for event in session.read(milliseconds: 0).events where isRunning { update(.input(event)) }
    }
  }

  /// Waits for the list, or for the form of a screen with one purpose; for a moment at most.
  private func waitForFirst() {
    waitForEvents(until: UIRunner.firstTime) { !state.isReady }
  }

  /// Waits for the details of another selection, for a moment at most: one frame with both is shorter than two, because
  /// a list that scrolls moves what is beside it.
  private func waitForDetails() {
    waitForEvents(until: started.milliseconds + UIRunner.detailsTime) { expected != nil }
  }

  /// Takes the events of other threads as long as a condition is true, until a time in milliseconds.
  private func waitForEvents(until end: Int64, while condition: () -> Bool) {
    var polled = pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0)
    while condition(), case let left = end - started.milliseconds, left > 0,
      poll(&polled, 1, Int32(left)) > 0
    {
      for event in queue.takeAll() { update(event) }
    }
  }

  private func takeSignals() {
    session.drainSignals()
    if session.size != state.size { update(.resized(session.size)) }
  }

  private func update(_ event: UIEvent) {
    if case .details(expected, _) = event { expected = nil }
    for effect in state.update(event, at: started.milliseconds) { perform(effect) }
    if case .list(let content, _) = event, content.rows.count >= UIRunner.longList {
      // What the reading has used, and the list before.
      reading.add { _ = malloc_trim(0) }
    }
  }

  private func show() { session.show(state.render()) }

  // MARK: Effects

  private func perform(_ effect: UIEffect) {
    let backend = backend
    switch effect {
    case .readList(let filter, let columns):
      request(1) { .list(backend.list(filter: filter, columns: columns), filter: filter) }
    case .readDetails(let id, let columns):
      expected = id
      request(2) { .details(id, backend.details(id, columns: columns)) }
    case .readPage(let tab, let size, let month):
      request(3) { .page(tab, backend.page(tab, size, month: month)) }
    case .preview(let text, let columns):
      request(4) { .preview(text, backend.preview(text, columns: columns)) }
    case .previewEdit(let words, let columns):
      request(4) { .previewedEdit(words, backend.preview(edit: words, columns: columns)) }
    case .readForm(let id): request(6) { .form(id, backend.form(id)) }
    case .complete(let text): request(5) { .completions(text, backend.completions(text)) }
    case .answer(let answer, let ids):
      changes.add { [queue] in queue.send(.ended(backend.answer(answer, ids))) }
    case .run(let words):
      // What a screen with one purpose prints is below the prompt of the shell.
      let columns = state.size.columns - (state.purpose == .everything ? 2 : 0)
      // Answers do not wait for a slow network.
      let line = words.first == "sync" ? network : changes
      line.add { [queue] in queue.send(.ended(backend.run(words, columns: columns))) }
    case .runOnTerminal(let words): leave { backend.runOnTerminal(words) }
    case .editFile(let id): leave { backend.editFile(id) }
    case .endMarks:
      marksEnd = started.milliseconds + UIRunner.markTime
    case .bell: Console.write("\u{7}")
    case .repaint: session.forgetShown()
    case .suspend:
      session.pause()
      raise(SIGTSTP)
      session.resume()
      takeSignals()
    case .quit: isRunning = false
    }
  }

  /// Lets the backend work. Of several requests of a kind, only the newest one is performed.
  private func request(_ kind: Int, _ perform: @escaping @Sendable () -> UIEvent) {
    requests.add(kind, perform)
    reading.add { [requests, queue] in
      if let next = requests.next() { queue.send(next()) }
    }
  }

  /// Leaves the screen for something that needs the terminal, and comes back.
  private func leave(_ perform: () -> UIEvent.Outcome?) {
    session.pause()
    let outcome = changes.finish { perform() }
    session.resume()
    if let outcome { update(.ended(outcome)) } else { update(.changed) }
  }
}

/// The requests for the backend that have not begun.
private final class RequestQueue: Sendable {
  private struct Request: Sendable {
    let kind: Int
    let perform: @Sendable () -> UIEvent
  }

  private let requests = Mutex<[Request]>([])

  /// Adds a request. It replaces one of the same kind.
  func add(_ kind: Int, _ perform: @escaping @Sendable () -> UIEvent) {
    requests.withLock { requests in
      requests.removeAll { $0.kind == kind }
      requests.append(Request(kind: kind, perform: perform))
    }
  }

  /// Returns the next request; nil if another one has replaced it.
  func next() -> (@Sendable () -> UIEvent)? {
    requests.withLock { $0.isEmpty ? nil : $0.removeFirst().perform }
  }
}
