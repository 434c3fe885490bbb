import BelfryCore
import BelfryTerminal
import Glibc

/// The linear mode: the alarms as lines, each change as a line, and answers that are typed as commands.
///
/// It needs no terminal: a screen reader, a braille line or a pipe reads it from top to bottom.
package final class PlainRunner {
  private let backend: any UIBackend
  private let queue = EventQueue()
  private var list = PlainList()
  private var typed: [UInt8] = []

  /// A width that no line reaches, so that nothing is cut.
  private static let columns = 400

  package init(_ backend: any UIBackend) { self.backend = backend }

  /// Runs until the end of the input, or the word `quit`.
  package func run() {
    backend.watch { [queue] in queue.send(.changed) }
    list = PlainList(backend.list(filter: "", columns: PlainRunner.columns))
    for line in list.lines { Console.line(line) }
    Console.line("Type a command, such as: done 1, add Rent every friday 9am, list, help, quit.")
    while takeLines() {
      var polled = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&polled, nfds_t(polled.count), Int32(clamping: backend.untilChange()))
      if count < 0, errno != EINTR { return }
      if polled[1].revents != 0 { _ = queue.takeAll() }
      if count == 0 || polled[1].revents != 0 { report() }
      guard count > 0, polled[0].revents != 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let length = read(STDIN_FILENO, &buffer, buffer.count)
      if length <= 0 { return }
      typed += buffer.prefix(length)
    }
  }

  /// Prints what has changed.
  private func report() {
    let new = PlainList(backend.list(filter: "", columns: PlainRunner.columns), after: list)
    for line in new.changes(since: list) { Console.line(line) }
    list = new
  }

  /// Performs the complete lines. Returns false at the end.
  private func takeLines() -> Bool {
    while let end = typed.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: typed[..<end], as: UTF8.self)
      typed.removeFirst(end + 1)
      let words = list.command(line)
      switch words.first {
      case nil: continue
      case "quit", "q", "exit": return false
      case "list" where words.count == 1:
        list = PlainList(backend.list(filter: "", columns: PlainRunner.columns))
        for line in list.lines { Console.line(line) }
      case "help" where words.count == 1:
        Console.line(
          "Commands are those of belfry; behind the verb, the number of an alarm stands for its title."
        )
        Console.line(
          "done 1, stop 1, snooze 1 20m, skip 1, undo, add TITLE WHEN, 1 for all details, list, quit."
        )
      default: perform(words)
      }
    }
    return true
  }

  private func perform(_ words: [String]) {
    let outcome = backend.run(words, columns: PlainRunner.columns)
    if let words = outcome.terminalCommand { _ = backend.runOnTerminal(words) }
    for line in outcome.lines { Console.line(StyledText.plain(line)) }
    // The result was said already. Numbers that were printed keep their meaning.
    list = PlainList(backend.list(filter: "", columns: PlainRunner.columns), after: list)
  }
}
