/// The colors of a page in one color scheme, as `#rrggbb`.
struct PagePalette: Sendable {
  let background: String
  /// The background of cells, tiles and charts.
  let surface: String
  /// The background of today's cell.
  let today: String
  let text: String
  let muted: String
  let border: String
  let link: String
  let done: String
  let automatic: String
  let skipped: String
  let missed: String
  /// The color of days without an occurrence, which carry no information.
  let idle: String

  static let light = PagePalette(
    background: "#ffffff", surface: "#f6f7f9", today: "#e6effd", text: "#1b1f24", muted: "#535c66",
    border: "#d5dae0", link: "#0a58ca", done: "#18733a", automatic: "#0b6273", skipped: "#7a5600",
    missed: "#b3261e", idle: "#e4e7eb")

  static let dark = PagePalette(
    background: "#0f1419", surface: "#171d24", today: "#182b45", text: "#e6e9ed", muted: "#a3adb8",
    border: "#2f3842", link: "#8abfff", done: "#56c878", automatic: "#5cc8dc", skipped: "#e3b341",
    missed: "#ff8f85", idle: "#29323b")

  /// The backgrounds on which texts stand.
  var backgrounds: [String] { [background, surface, today] }
  /// The colors of texts and marks.
  var foregrounds: [String] { [text, muted, link, done, automatic, skipped, missed] }

  /// The colors as variables of a style sheet.
  var variables: String {
    let values = [
      ("bg", background), ("surface", surface), ("today", today), ("text", text), ("muted", muted),
      ("border", border), ("link", link), ("done", done), ("auto", automatic),
      ("skipped", skipped), ("missed", missed), ("idle", idle),
    ]
    return values.map { "--\($0.0):\($0.1)" }.joined(separator: ";")
  }
}
