import ArgumentParser
import BelfryCore
import BelfryStore
import Git

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the alarms, ringing ones first.",
    discussion: """
      Finished alarms, which have no further occurrence and need no answer, are left out. Words select alarms: a tag, a
      state, the time when they ring next, or a part of the title or note.

        belfry list +home pending
        belfry list due:week
        belfry list rent
      """)

  @Argument(help: "+tag, a state, due:today, due:week, due:DATE, or text.")
  var words: [String] = []

  @Flag(help: "List only the finished alarms.")
  var finished = false

  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open()
    context.warnings.warnAboutDaemon(of: store)
    let all = try context.overview(store)
    let filter = try AlarmFilter(words, InputParser(context))
    // A filter for finished alarms lists them, too.
    let finished = finished || filter.terms.contains(.state(.finished))
    let summaries = AlarmOrder.sorted(
      all.filter { $0.status.isFinished == finished && filter.matches($0) })
    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, summaries.map { ($0.id, $0.status) }))
    SilentDeviceWarning.print(store)
    if common.json {
      let alarms = try store.alarms(summaries)
      var output = output
      output.actions = ActionCheck(context, store)
      return try Console.write(
        summaries.compactMap { summary in
          alarms[summary.id].map { output.document($0, summary.status) }
        })
    }
    if summaries.isEmpty {
      return words.isEmpty
        ? Console.write(all.isEmpty ? output.empty : output.empty(finished: finished))
        : Console.line(
          "No alarm matches '\(Printable.text(URLMask.masked(words.joined(separator: " "))))'.")
    }
    let parts = Chunks.map(summaries.count) { range in
      var text = ""
      for index in range {
        if index > 0 { text += "\n" }
        output.append(summaries[index], to: &text)
      }
      return [text]
    }
    for part in parts { Console.write(part) }
  }
}

/// The order of the list: by state, the most urgent first, then by the next occurrence, title and id.
private enum AlarmOrder {
  static func sorted(_ summaries: [AlarmSummary]) -> [AlarmSummary] {
    // Sorting small keys is faster than moving whole summaries.
    let keys = summaries.enumerated().map { index, summary in
      (
        rank: rank(summary.status.state), next: summary.status.next?.at.milliseconds ?? .max,
        index: index
      )
    }
    return keys.sorted { a, b in
      if a.rank != b.rank { return a.rank < b.rank }
      if a.next != b.next { return a.next < b.next }
      let (x, y) = (summaries[a.index], summaries[b.index])
      return x.title != y.title ? x.title < y.title : x.id < y.id
    }.map { summaries[$0.index] }
  }

  private static func rank(_ state: AlarmStatus.State) -> Int {
    switch state {
    case .ringing: 0
    case .snoozed: 1
    case .missed: 2
    case .pending: 3
    case .active: 4
    case .paused: 5
    case .disabled: 6
    case .finished: 7
    }
  }
}
