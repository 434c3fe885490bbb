import BelfryCore
import Glibc

/// A component of an iCalendar document (RFC 5545): an event, a to-do, an alarm, a time zone.
struct CalendarComponent: Sendable {
  /// The name, such as `VEVENT` or `VTODO`.
  let name: String
  var properties: [CalendarProperty] = []
  var components: [CalendarComponent] = []
  /// The lines that libical rejected, without their parameters.
  var rejected: [CalendarProperty] = []

  init(_ name: String) {
    self.name = name
  }

  func first(_ name: String) -> CalendarProperty? { properties.first { $0.name == name } }
  func all(_ name: String) -> [CalendarProperty] { properties.filter { $0.name == name } }
  func components(_ name: String) -> [CalendarComponent] { components.filter { $0.name == name } }

  mutating func add(_ name: String, _ value: String, _ parameters: [String: String] = [:]) {
    properties.append(CalendarProperty(name: name, parameters: parameters, value: value))
  }

  /// The component as unfolded lines.
  var text: String {
    let lines = properties.map { property in
      property.name
        + property.parameters.sorted { $0.key < $1.key }.map { ";\($0.key)=\($0.value)" }.joined()
        + ":" + property.value + "\r\n"
    }
    return "BEGIN:\(name)\r\n" + lines.joined() + components.map(\.text).joined()
      + "END:\(name)\r\n"
  }
}

/// A property of a component.
struct CalendarProperty: Hashable, Sendable {
  let name: String
  /// The parameters that Belfry uses: `TZID`, `VALUE`, `RELATED`, `RANGE`.
  let parameters: [String: String]
  /// The value in iCalendar form, with escapes.
  let value: String
}

/// The library libical, which parses and prints iCalendar documents.
///
/// It is loaded on demand: it depends on parts of ICU, which would add two milliseconds to every command.
struct CalendarLibrary {
  private typealias Component = OpaquePointer
  private typealias Property = OpaquePointer
  private typealias Text = UnsafePointer<CChar>

  private let parse: @convention(c) (Text) -> Component?
  private let free: @convention(c) (Component?) -> Void
  private let kind: @convention(c) (Component?) -> Int32
  private let kindName: @convention(c) (Int32) -> Text?
  private let firstComponent: @convention(c) (Component?, Int32) -> Component?
  private let nextComponent: @convention(c) (Component?, Int32) -> Component?
  private let firstProperty: @convention(c) (Component?, Int32) -> Property?
  private let nextProperty: @convention(c) (Component?, Int32) -> Property?
  private let propertyName: @convention(c) (Property?) -> Text?
  private let propertyValue: @convention(c) (Property?) -> Text?
  private let parameter: @convention(c) (Property?, Text) -> Text?
  private let print: @convention(c) (Component?) -> UnsafeMutablePointer<CChar>?
  private let release: @convention(c) (UnsafeMutableRawPointer?) -> Void
  private let encode: @convention(c) (Text, UnsafeMutablePointer<CChar>, Int32) -> Int32
  private let zone: @convention(c) (Text) -> OpaquePointer?
  private let zoneComponent: @convention(c) (OpaquePointer?) -> Component?
  private let newZone: @convention(c) () -> OpaquePointer?
  private let freeZone: @convention(c) (OpaquePointer?, Int32) -> Void
  private let defineZone: @convention(c) (OpaquePointer?, Component?) -> Int32
  private let expand: @convention(c) (Text, Int, Int32, UnsafeMutablePointer<Int>) -> Int32
  private let zoneOffset:
    @convention(c) (OpaquePointer?, UnsafeMutableRawPointer, UnsafeMutablePointer<Int32>) -> Int32

  private static let name = "libical.so.3"
  /// The values of `ICAL_ANY_COMPONENT` and `ICAL_ANY_PROPERTY` in libical's `icalenums.h`.
  private static let (anyComponent, anyProperty): (Int32, Int32) = (1, 0)

  /// Loads the library.
  ///
  /// - Throws: `ExchangeError` if it is not installed or lacks a function.
  init() throws(ExchangeError) {
    guard let handle = dlopen(CalendarLibrary.name, RTLD_NOW) else {
      throw ExchangeError("\(CalendarLibrary.name) is not installed", .libraryMissing)
    }
    func function<Function>(_ name: String, _ type: Function.Type) throws(ExchangeError) -> Function
    {
      guard let symbol = dlsym(handle, name) else {
        throw ExchangeError("\(CalendarLibrary.name) has no \(name)", .libraryMissing)
      }
      return unsafeBitCast(symbol, to: type)
    }
    parse = try function("icalparser_parse_string", (@convention(c) (Text) -> Component?).self)
    free = try function("icalcomponent_free", (@convention(c) (Component?) -> Void).self)
    kind = try function("icalcomponent_isa", (@convention(c) (Component?) -> Int32).self)
    kindName = try function(
      "icalcomponent_kind_to_string", (@convention(c) (Int32) -> Text?).self)
    typealias Walk = @convention(c) (OpaquePointer?, Int32) -> OpaquePointer?
    firstComponent = try function("icalcomponent_get_first_component", Walk.self)
    nextComponent = try function("icalcomponent_get_next_component", Walk.self)
    firstProperty = try function("icalcomponent_get_first_property", Walk.self)
    nextProperty = try function("icalcomponent_get_next_property", Walk.self)
    typealias Describe = @convention(c) (Property?) -> Text?
    propertyName = try function("icalproperty_get_property_name", Describe.self)
    propertyValue = try function("icalproperty_get_value_as_string", Describe.self)
    parameter = try function(
      "icalproperty_get_parameter_as_string", (@convention(c) (Property?, Text) -> Text?).self)
    print = try function(
      "icalcomponent_as_ical_string_r",
      (@convention(c) (Component?) -> UnsafeMutablePointer<CChar>?).self)
    release = try function(
      "icalmemory_free_buffer", (@convention(c) (UnsafeMutableRawPointer?) -> Void).self)
    encode = try function(
      "icalvalue_encode_ical_string",
      (@convention(c) (Text, UnsafeMutablePointer<CChar>, Int32) -> Int32).self)
    zone = try function(
      "icaltimezone_get_builtin_timezone", (@convention(c) (Text) -> OpaquePointer?).self)
    zoneComponent = try function(
      "icaltimezone_get_component", (@convention(c) (OpaquePointer?) -> Component?).self)
    expand = try function(
      "icalrecur_expand_recurrence",
      (@convention(c) (Text, Int, Int32, UnsafeMutablePointer<Int>) -> Int32).self)
    newZone = try function("icaltimezone_new", (@convention(c) () -> OpaquePointer?).self)
    freeZone = try function(
      "icaltimezone_free", (@convention(c) (OpaquePointer?, Int32) -> Void).self)
    defineZone = try function(
      "icaltimezone_set_component",
      (@convention(c) (OpaquePointer?, Component?) -> Int32).self)
    zoneOffset = try function(
      "icaltimezone_get_utc_offset_of_utc_time",
      (@convention(c) (OpaquePointer?, UnsafeMutableRawPointer, UnsafeMutablePointer<Int32>) ->
        Int32).self)
    // By default libical may abort the process on an error in a document.
    try function("icalerror_set_errors_are_fatal", (@convention(c) (Int32) -> Void).self)(0)
  }

  // MARK: Reading

  /// Returns the calendars of a document.
  ///
  /// - Throws: `ExchangeError` if the bytes are not an iCalendar document.
  func read(_ bytes: [UInt8]) throws(ExchangeError) -> [CalendarComponent] {
    let bytes = CalendarText.wrapped(CalendarText.normalized(bytes))
    guard !bytes.contains(0) else { throw ExchangeError("it contains a NUL byte") }
    let root = (bytes + [0]).withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { parse($0.baseAddress!) }
    }
    guard let root else {
      throw ExchangeError(
        "it is not a complete iCalendar document, from BEGIN:VCALENDAR to its END")
    }
    defer { free(root) }
    let top = component(root)
    // A document with several calendars has a root component around them.
    return top.name == "VCALENDAR" ? [top] : top.components("VCALENDAR")
  }

  private func component(_ pointer: OpaquePointer) -> CalendarComponent {
    var result = CalendarComponent(kindName(kind(pointer)).map { String(cString: $0) } ?? "")
    var property = firstProperty(pointer, CalendarLibrary.anyProperty)
    while let current = property {
      var parameters: [String: String] = [:]
      for name in ["TZID", "VALUE", "RELATED", "RANGE"] {
        parameters[name] = parameter(current, name).map { String(cString: $0) }
      }
      result.properties.append(
        CalendarProperty(
          name: propertyName(current).map { String(cString: $0) } ?? "", parameters: parameters,
          value: propertyValue(current).map { String(cString: $0) } ?? ""))
      if let last = result.properties.last, last.name == "X-LIC-ERROR",
        let property = rejected(last.value)
      {
        result.properties.removeLast()
        result.rejected.append(property)
      }
      property = nextProperty(pointer, CalendarLibrary.anyProperty)
    }
    var child = firstComponent(pointer, CalendarLibrary.anyComponent)
    while let current = child {
      result.components.append(component(current))
      child = nextComponent(pointer, CalendarLibrary.anyComponent)
    }
    return result
  }

  /// Returns the line that an error of libical contains: `Can't parse as RECUR value in RRULE property. Removing entire
  /// property: FREQ=WEEKLY\;UNTIL=`; nil for any other error.
  private func rejected(_ error: String) -> CalendarProperty? {
    let error = CalendarText.unescaped(error)
    guard let end = error.ranges(of: " property. Removing entire property: ").first,
      let name = error[..<end.lowerBound].split(separator: " ").last
    else { return nil }
    return CalendarProperty(
      name: String(name), parameters: [:], value: String(error[end.upperBound...]))
  }

  // MARK: Writing

  /// Returns a text with the escapes of a property value.
  func escaped(_ text: String) -> String {
    var buffer = [CChar](repeating: 0, count: 2 * text.utf8.count + 16)
    guard encode(text, &buffer, Int32(buffer.count)) != 0 else { return text }
    return String(
      decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Returns the document of a calendar with folded lines.
  ///
  /// - Throws: `ExchangeError` if libical rejects the calendar.
  func document(_ calendar: CalendarComponent) throws(ExchangeError) -> [UInt8] {
    guard let component = parse(calendar.text) else {
      throw ExchangeError("libical rejected the calendar")
    }
    defer { free(component) }
    return Array(printed(component).utf8)
  }

  private func printed(_ component: OpaquePointer) -> String {
    guard let text = print(component) else { return "" }
    defer { release(text) }
    return String(cString: text)
  }

  /// Returns a time zone as a component; nil if libical does not know it.
  func timeZone(_ name: String) -> CalendarComponent? {
    guard let zone = zone(name), let pointer = zoneComponent(zone) else { return nil }
    var result = component(pointer)
    // libical puts a path of its own before the name.
    result.properties.removeAll { $0.name == "TZID" }
    result.add("TZID", name)
    return result
  }

  /// Returns the first occurrences of a recurrence rule, as iCalendar defines them.
  ///
  /// - Parameters:
  ///   - rule: The value of a valid RRULE.
  ///   - start: The civil time of the first occurrence.
  ///   - limit: The maximum number of occurrences.
  func occurrences(of rule: String, from start: CivilDateTime, limit: Int) -> [CivilDateTime] {
    // libical returns seconds since 1970 in UTC, which stand for civil times here, and 0 behind the last one.
    var seconds = [Int](repeating: 0, count: limit)
    let first = Int(TimeZoneRules.utc.instant(of: start).seconds)
    guard expand(rule, first, Int32(clamping: limit), &seconds) != 0 else { return [] }
    return seconds.prefix { $0 != 0 }.map {
      TimeZoneRules.utc.civil(at: Instant(seconds: Int64($0)))
    }
  }

  /// Returns the offsets in seconds of a VTIMEZONE at some instants; nil if the definition is not valid.
  func offsets(of definition: CalendarComponent, at instants: [Instant]) -> [Int]? {
    guard let component = parse(definition.text), let zone = newZone() else { return nil }
    guard defineZone(zone, component) != 0 else {
      free(component)
      freeZone(zone, 1)
      return nil
    }
    // The zone owns the component now.
    defer { freeZone(zone, 1) }
    // libical's `struct icaltimetype`: eight integers and a pointer.
    let moment = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
    defer { moment.deallocate() }
    return instants.map { instant in
      let civil = TimeZoneRules.utc.civil(at: instant)
      let (year, month, day) = civil.date.components
      let fields = [year, month, day, civil.time.hour, civil.time.minute, 0, 0, 0]
      moment.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
      for (index, field) in fields.enumerated() {
        moment.storeBytes(of: Int32(field), toByteOffset: 4 * index, as: Int32.self)
      }
      var isDaylight: Int32 = 0
      return Int(zoneOffset(zone, moment, &isDaylight))
    }
  }
}
