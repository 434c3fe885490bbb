import BelfryCore

/// The names of time zones that an input can use.
public struct ZoneNames: Sendable {
  /// Returns the names of all zones: the usual ones first, then the aliases.
  private let load: @Sendable () -> [String]
  /// Returns the rules of a zone; nil if the system does not have it.
  public let rules: @Sendable (String) -> TimeZoneRules?

  /// No zones.
  public static let none = ZoneNames(load: { [] }, rules: { _ in nil })

  /// Creates the names.
  ///
  /// - Parameters:
  ///   - load: Returns the names of all zones, the usual ones before the aliases. It is called when an input needs them.
  ///   - rules: Returns the rules of a zone by its exact name.
  public init(
    load: @escaping @Sendable () -> [String],
    rules: @escaping @Sendable (String) -> TimeZoneRules?
  ) {
    self.load = load
    self.rules = rules
  }

  /// Returns the name of a zone by its name, its city or its abbreviation, in any case: `berlin` is `Europe/Berlin`.
  ///
  /// - Throws: `InputError.unknownZone` with similar names if no zone matches.
  public func name(_ text: String) throws(InputError) -> String {
    if rules(text) != nil { return text }
    // `GMT+2` is also the city of `Etc/GMT+2`, which is two hours behind.
    if let offset = ZoneNames.offset(text) {
      throw .unknownZone(text, suggestions: rules(offset) == nil ? [] : [offset])
    }
    let names = load()
    let wanted = ZoneNames.key(text)
    if let name = names.first(where: { ZoneNames.key($0) == wanted }) { return name }
    if let name = names.first(where: { ZoneNames.city($0) == wanted }) { return name }
    throw .unknownZone(text, suggestions: similar(to: wanted, in: names))
  }

  /// Returns the zone of a fixed offset, whose name has the other sign: `Etc/GMT-2` for `UTC+2`.
  private static func offset(_ text: String) -> String? {
    let text = text.lowercased()
    guard ["utc", "gmt"].contains(text.prefix(3)), let sign = text.dropFirst(3).first,
      sign == "+" || sign == "-", let hours = Int(text.dropFirst(4)), (1...12).contains(hours)
    else { return nil }
    return "Etc/GMT\(sign == "+" ? "-" : "+")\(hours)"
  }

  /// Returns a form of a name in which case and spaces do not count.
  private static func key(_ text: String) -> String {
    text.lowercased().replacing(" ", with: "_")
  }

  /// Returns the city of a name: `new_york`.
  private static func city(_ name: String) -> String {
    key(name.split(separator: "/").last.map(String.init) ?? name)
  }

  private func similar(to wanted: String, in names: [String]) -> [String] {
    let city = ZoneNames.city(wanted)
    guard city.count >= 3 else { return [] }
    let distances = names.map { name in
      let other = ZoneNames.city(name)
      return (
        name, other.hasPrefix(city) ? 0 : EditDistance.between(other, city)
      )
    }
    return Array(
      distances.filter { $0.1 <= 2 && $0.1 <= city.count / 3 }.sorted {
        ($0.1, $0.0) < ($1.1, $1.0)
      }
      .prefix(3).map(\.0))
  }
}
