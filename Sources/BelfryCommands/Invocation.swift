import ArgumentParser
import BelfryStore
import BelfryTerminal
import CLinux
import Dispatch
import Files
import Glibc

/// One process of the command line tool.
public enum Invocation {
  /// The number of file descriptors that Dispatch opens for the first task, plus one spare.
  private static let descriptorsOfDispatch = 5

  /// Runs the command in the process's arguments, and ends the process with the command's exit status.
  ///
  /// Call it on the main thread. Synchronous commands run on this thread; a second one only loads a library for them.
  public static func run() -> Never {
    // A hook that does not read, or a closed pipe, is an error to handle; it must not end the process.
    signal(SIGPIPE, SIG_IGN)
    #if compiler(>=6.3) && compiler(<6.4)
      ThreadPool.install()
    #endif
    let arguments = Invocation.expanded(Array(CommandLine.arguments.dropFirst()))
    if arguments == ["--version"] {
      // Scripts call it often, and its answer needs no parser.
      Console.write(BuildVersion.text + "\n")
      end(0)
    }
    if let page = HelpPage.text(for: arguments, Style(CommandEnvironment.processVariables())) {
      Console.write(page)
      end(0)
    }
    // Most commands read the caches. Their library is loaded on another core while this one parses the arguments.
    if arguments.first?.hasPrefix("-") == false {
      _ = BackgroundThread.tryStart { Store.preloadCaches() }
    }
    do {
      var command = try Belfry.parse(process: arguments)
      if ChildOfScreen.isThisProcess, needsTerminal(command) { end(ChildOfScreen.needsTerminal) }
      guard let parsed = command as? any AsyncParsableCommand else {
        Invocation.keepMemory()
        try command.run()
        let isWritten = Console.endPaging()
        if Welcome.isPending { Blocking.run { await Welcome.showPending() } }
        end(isWritten ? 0 : 1)
      }
      // Dispatch aborts the process if no file descriptor is left for it.
      try Descriptors.ensure(Invocation.descriptorsOfDispatch)
      // Sound: the task below is the only user of the command from here on; this thread does not touch it again.
      nonisolated(unsafe) let transferred = parsed
      Task.detached {
        var asynchronous = transferred
        do {
          try await asynchronous.run()
          let isWritten = Console.endPaging()
          await Welcome.showPending()
          end(isWritten ? 0 : 1)
        } catch {
          fail(error, arguments)
        }
      }
      dispatchMain()
    } catch {
      fail(error, arguments)
    }
  }

  private static func needsTerminal(_ command: any ParsableCommand) -> Bool {
    (command as? any TerminalCommand)?.needsTerminal == true
  }

  /// Reports an error, and ends the process.
  private static func fail(_ error: any Error, _ arguments: [String]) -> Never {
    Console.endPaging()
    if ChildOfScreen.isThisProcess, (error as? CommandError)?.needsTerminal == true {
      end(ChildOfScreen.needsTerminal)
    }
    end(Belfry.report(error, arguments: arguments))
  }

  /// Returns the arguments with the command that `belfry` alone stands for: on a terminal, the full screen, or the list if
  /// the terminal cannot show that.
  private static func expanded(_ arguments: [String]) -> [String] {
    guard Belfry.withoutRootOptions(arguments).isEmpty, isatty(STDOUT_FILENO) == 1 else {
      return arguments
    }
    let terminal = getenv("TERM").map { String(cString: $0) }
    let canShow = isatty(STDIN_FILENO) == 1 && !Style.isDumb(terminal)
    return arguments + (canShow ? ["ui"] : ["list", "--start"])
  }

  /// Makes the allocator keep freed memory for the next allocation, however large it is.
  ///
  /// By default it returns large blocks to the system and requests them again, and the kernel clears their pages each
  /// time. A command ends before the memory is missed elsewhere.
  private static func keepMemory() {
    let limit: Int32 = 1 << 25
    _ = mallopt(M_MMAP_THRESHOLD, limit)
    _ = mallopt(M_TRIM_THRESHOLD, limit)
    _ = mallopt(M_TOP_PAD, 1 << 20)
  }

  /// Ends the process at once, without exit handlers and destructors of libraries.
  ///
  /// These would run while other threads, such as those of tasks and watches, still use the libraries, and could wait
  /// for them forever. `Console` buffers nothing, so there is no output to flush
  /// behind `Console.endPaging()`.
  private static func end(_ code: Int32) -> Never { _exit(code) }
}
