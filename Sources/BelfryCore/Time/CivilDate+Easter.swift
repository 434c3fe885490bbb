extension CivilDate {
  /// Returns Easter Sunday of a year in the Gregorian calendar, by the algorithm of Meeus, Jones and Butcher.
  public static func easter(of year: Int) -> CivilDate {
    let (century, yearOfCentury) = (year / 100, year % 100)
    let golden = year % 19
    let correction = (century + 8) / 25
    let epact =
      (19 * golden + century - century / 4 - (century - correction + 1) / 3 + 15) % 30
    let weekday =
      (32 + 2 * (century % 4) + 2 * (yearOfCentury / 4) - epact - yearOfCentury % 4) % 7
    let shift = (golden + 11 * epact + 22 * weekday) / 451
    let days = epact + weekday - 7 * shift + 114
    return CivilDate(year: year, month: days / 31, day: days % 31 + 1)
  }
}
