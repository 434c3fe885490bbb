import BelfryCore
import BelfryStore

/// The device that a person means: by its name, or the start of its identifier.
enum DeviceName {
  static func find(_ text: String, _ devices: [Device]) throws -> Identifier {
    let wanted = text.lowercased()
    let named = devices.filter { $0.name.lowercased() == wanted }
    let matches =
      named.isEmpty && !wanted.isEmpty ? devices.filter { $0.id.text.hasPrefix(wanted) } : named
    if matches.count == 1 { return matches[0].id }
    let all = devices.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    let list = (matches.isEmpty ? all : matches)
      .map { "\(Printable.text($0.name)) (\($0.id.short))" }.joined(separator: ", ")
    throw CommandError(
      .usage,
      matches.isEmpty
        ? "there is no device '\(Printable.text(text))'."
        : "several devices are called '\(Printable.text(text))'.",
      hint: "There are: \(list).")
  }
}
