import BelfryCore
import BelfryStore

/// The names of time zones in Windows and Outlook, with their IANA names (Unicode CLDR, windowsZones).
package enum WindowsZones {
  package static let names: [String: String] = [
    "Dateline Standard Time": "Etc/GMT+12",
    "Hawaiian Standard Time": "Pacific/Honolulu",
    "Alaskan Standard Time": "America/Anchorage",
    "Pacific Standard Time": "America/Los_Angeles",
    "US Mountain Standard Time": "America/Phoenix",
    "Mountain Standard Time": "America/Denver",
    "Central America Standard Time": "America/Guatemala",
    "Central Standard Time": "America/Chicago",
    "Central Standard Time (Mexico)": "America/Mexico_City",
    "Canada Central Standard Time": "America/Regina",
    "SA Pacific Standard Time": "America/Bogota",
    "Eastern Standard Time": "America/New_York",
    "US Eastern Standard Time": "America/Indiana/Indianapolis",
    "Venezuela Standard Time": "America/Caracas",
    "Atlantic Standard Time": "America/Halifax",
    "SA Western Standard Time": "America/La_Paz",
    "Pacific SA Standard Time": "America/Santiago",
    "Newfoundland Standard Time": "America/St_Johns",
    "E. South America Standard Time": "America/Sao_Paulo",
    "Argentina Standard Time": "America/Buenos_Aires",
    "Greenland Standard Time": "America/Godthab",
    "Azores Standard Time": "Atlantic/Azores",
    "UTC": "UTC",
    "GMT Standard Time": "Europe/London",
    "Greenwich Standard Time": "Atlantic/Reykjavik",
    "Morocco Standard Time": "Africa/Casablanca",
    "W. Europe Standard Time": "Europe/Berlin",
    "Central Europe Standard Time": "Europe/Budapest",
    "Romance Standard Time": "Europe/Paris",
    "Central European Standard Time": "Europe/Warsaw",
    "W. Central Africa Standard Time": "Africa/Lagos",
    "Jordan Standard Time": "Asia/Amman",
    "GTB Standard Time": "Europe/Bucharest",
    "Middle East Standard Time": "Asia/Beirut",
    "Egypt Standard Time": "Africa/Cairo",
    "E. Europe Standard Time": "Europe/Chisinau",
    "South Africa Standard Time": "Africa/Johannesburg",
    "FLE Standard Time": "Europe/Kiev",
    "Turkey Standard Time": "Europe/Istanbul",
    "Israel Standard Time": "Asia/Jerusalem",
    "Arabic Standard Time": "Asia/Baghdad",
    "Belarus Standard Time": "Europe/Minsk",
    "Arab Standard Time": "Asia/Riyadh",
    "Russian Standard Time": "Europe/Moscow",
    "E. Africa Standard Time": "Africa/Nairobi",
    "Iran Standard Time": "Asia/Tehran",
    "Arabian Standard Time": "Asia/Dubai",
    "Azerbaijan Standard Time": "Asia/Baku",
    "Georgian Standard Time": "Asia/Tbilisi",
    "Caucasus Standard Time": "Asia/Yerevan",
    "Afghanistan Standard Time": "Asia/Kabul",
    "West Asia Standard Time": "Asia/Tashkent",
    "Pakistan Standard Time": "Asia/Karachi",
    "India Standard Time": "Asia/Calcutta",
    "Sri Lanka Standard Time": "Asia/Colombo",
    "Nepal Standard Time": "Asia/Katmandu",
    "Bangladesh Standard Time": "Asia/Dhaka",
    "Myanmar Standard Time": "Asia/Rangoon",
    "SE Asia Standard Time": "Asia/Bangkok",
    "China Standard Time": "Asia/Shanghai",
    "Singapore Standard Time": "Asia/Singapore",
    "W. Australia Standard Time": "Australia/Perth",
    "Taipei Standard Time": "Asia/Taipei",
    "Tokyo Standard Time": "Asia/Tokyo",
    "Korea Standard Time": "Asia/Seoul",
    "Cen. Australia Standard Time": "Australia/Adelaide",
    "AUS Central Standard Time": "Australia/Darwin",
    "E. Australia Standard Time": "Australia/Brisbane",
    "AUS Eastern Standard Time": "Australia/Sydney",
    "Tasmania Standard Time": "Australia/Hobart",
    "New Zealand Standard Time": "Pacific/Auckland",
    "Fiji Standard Time": "Pacific/Fiji",
    "Aleutian Standard Time": "America/Adak",
    "Altai Standard Time": "Asia/Barnaul",
    "Astrakhan Standard Time": "Europe/Astrakhan",
    "Aus Central W. Standard Time": "Australia/Eucla",
    "Bahia Standard Time": "America/Bahia",
    "Bougainville Standard Time": "Pacific/Bougainville",
    "Cape Verde Standard Time": "Atlantic/Cape_Verde",
    "Central Asia Standard Time": "Asia/Bishkek",
    "Central Brazilian Standard Time": "America/Cuiaba",
    "Central Pacific Standard Time": "Pacific/Guadalcanal",
    "Chatham Islands Standard Time": "Pacific/Chatham",
    "Cuba Standard Time": "America/Havana",
    "Easter Island Standard Time": "Pacific/Easter",
    "Eastern Standard Time (Mexico)": "America/Cancun",
    "Ekaterinburg Standard Time": "Asia/Yekaterinburg",
    "Haiti Standard Time": "America/Port-au-Prince",
    "Kaliningrad Standard Time": "Europe/Kaliningrad",
    "Kamchatka Standard Time": "Asia/Kamchatka",
    "Libya Standard Time": "Africa/Tripoli",
    "Line Islands Standard Time": "Pacific/Kiritimati",
    "Lord Howe Standard Time": "Australia/Lord_Howe",
    "Magadan Standard Time": "Asia/Magadan",
    "Magallanes Standard Time": "America/Punta_Arenas",
    "Marquesas Standard Time": "Pacific/Marquesas",
    "Mauritius Standard Time": "Indian/Mauritius",
    "Montevideo Standard Time": "America/Montevideo",
    "Mountain Standard Time (Mexico)": "America/Mazatlan",
    "N. Central Asia Standard Time": "Asia/Novosibirsk",
    "Namibia Standard Time": "Africa/Windhoek",
    "Norfolk Standard Time": "Pacific/Norfolk",
    "North Asia East Standard Time": "Asia/Irkutsk",
    "North Asia Standard Time": "Asia/Krasnoyarsk",
    "North Korea Standard Time": "Asia/Pyongyang",
    "Omsk Standard Time": "Asia/Omsk",
    "Pacific Standard Time (Mexico)": "America/Tijuana",
    "Paraguay Standard Time": "America/Asuncion",
    "Qyzylorda Standard Time": "Asia/Qyzylorda",
    "Russia Time Zone 10": "Asia/Srednekolymsk",
    "Russia Time Zone 11": "Asia/Kamchatka",
    "Russia Time Zone 3": "Europe/Samara",
    "SA Eastern Standard Time": "America/Cayenne",
    "Saint Pierre Standard Time": "America/Miquelon",
    "Sakhalin Standard Time": "Asia/Sakhalin",
    "Samoa Standard Time": "Pacific/Apia",
    "Sao Tome Standard Time": "Africa/Sao_Tome",
    "Saratov Standard Time": "Europe/Saratov",
    "South Sudan Standard Time": "Africa/Juba",
    "Sudan Standard Time": "Africa/Khartoum",
    "Syria Standard Time": "Asia/Damascus",
    "Tocantins Standard Time": "America/Araguaina",
    "Tomsk Standard Time": "Asia/Tomsk",
    "Tonga Standard Time": "Pacific/Tongatapu",
    "Transbaikal Standard Time": "Asia/Chita",
    "Turks And Caicos Standard Time": "America/Grand_Turk",
    "Ulaanbaatar Standard Time": "Asia/Ulaanbaatar",
    "UTC+12": "Etc/GMT-12",
    "UTC+13": "Etc/GMT-13",
    "UTC-02": "Etc/GMT+2",
    "UTC-08": "Etc/GMT+8",
    "UTC-09": "Etc/GMT+9",
    "UTC-11": "Etc/GMT+11",
    "Vladivostok Standard Time": "Asia/Vladivostok",
    "Volgograd Standard Time": "Europe/Volgograd",
    "W. Mongolia Standard Time": "Asia/Hovd",
    "West Bank Standard Time": "Asia/Hebron",
    "West Pacific Standard Time": "Pacific/Port_Moresby",
    "Yakutsk Standard Time": "Asia/Yakutsk",
    "Yukon Standard Time": "America/Whitehorse",
  ]

  /// The regions that Windows displays instead of cities.
  private static let regions: [String: String] = [
    "Alaska": "America/Anchorage", "Aleutian Islands": "America/Adak",
    "Arizona": "America/Phoenix", "Atlantic Time (Canada)": "America/Halifax",
    "Baja California": "America/Tijuana", "Central America": "America/Guatemala",
    "Central Time (US & Canada)": "America/Chicago", "Chatham Islands": "Pacific/Chatham",
    "Coordinated Universal Time": "UTC", "Easter Island": "Pacific/Easter",
    "Eastern Time (US & Canada)": "America/New_York", "Greenland": "America/Nuuk",
    "Hawaii": "Pacific/Honolulu", "Indiana (East)": "America/Indiana/Indianapolis",
    "Marquesas Islands": "Pacific/Marquesas", "Mountain Time (US & Canada)": "America/Denver",
    "New Caledonia": "Pacific/Noumea", "Newfoundland": "America/St_Johns",
    "Pacific Time (US & Canada)": "America/Los_Angeles", "Saskatchewan": "America/Regina",
    "West Central Africa": "Africa/Lagos", "Yukon": "America/Whitehorse",
    "Islamabad": "Asia/Karachi", "Beijing": "Asia/Shanghai", "Wellington": "Pacific/Auckland",
    "Osaka": "Asia/Tokyo", "Chennai": "Asia/Kolkata", "New Delhi": "Asia/Kolkata",
    "Abu Dhabi": "Asia/Dubai", "St. Petersburg": "Europe/Moscow", "Hanoi": "Asia/Bangkok",
    "Georgetown": "America/La_Paz", "City of Buenos Aires": "America/Argentina/Buenos_Aires",
    "Brasilia": "America/Sao_Paulo", "Pretoria": "Africa/Johannesburg", "Fiji": "Pacific/Fiji",
    "Bern": "Europe/Zurich", "Jerusalem": "Asia/Jerusalem", "Kyiv": "Europe/Kiev",
  ]

  /// Returns the zone that Windows displays under a name, such as `(UTC+01:00) Amsterdam, Berlin, Bern, Rome`; nil if
  /// it is unknown.
  static func zone(displayedAs name: String, _ library: ZoneLibrary) -> String? {
    guard let end = name.firstIndex(of: ")"), name.hasPrefix("(UTC") || name.hasPrefix("(GMT"),
      let offset = offset(String(name[..<end].dropFirst(4)))
    else { return nil }
    let places = String(name[name.index(after: end)...])
    // A library without old names has Europe/Kyiv only.
    func usable(_ zone: String) -> Bool {
      guard let rules = library.zone(named: zone) else { return false }
      let offsets = [1_767_225_600, 1_782_864_000].map {
        rules.offset(at: Instant(seconds: $0))  // January and July 2026
      }
      return offsets.contains(offset)
    }
    let words = places.split { ",/:;".contains($0) }.map {
      $0.split(separator: " ").joined(separator: " ")
    }
    let region = places.split(separator: " ").joined(separator: " ")
    if let zone = regions[region], usable(zone) { return zone }
    let names = library.names
    for word in words {
      if let zone = regions[word], usable(zone) { return zone }
      let city = "/" + word.replacing(" ", with: "_")
      if let zone = names.first(where: { $0.hasSuffix(city) && usable($0) }) { return zone }
    }
    return nil
  }

  /// Returns an offset in seconds: `+01:00`, `-0330`, `+1`, `+01.00`, or nothing for 0; nil for any other text.
  static func offset(_ text: String) -> Int? {
    let digits = text.filter { !" :.".contains($0) }
    guard let sign = digits.first else { return 0 }
    let number = digits.dropFirst()
    guard "+-".contains(sign), (1...4).contains(number.count), let value = Int(number),
      number.allSatisfy({ $0.isASCII && $0.isNumber })
    else { return nil }
    let minutes = number.count <= 2 ? value * 60 : value / 100 * 60 + value % 100
    guard minutes <= 15 * 60 else { return nil }
    return (sign == "-" ? -minutes : minutes) * 60
  }
}
