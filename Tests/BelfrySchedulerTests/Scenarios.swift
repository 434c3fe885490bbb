extension Scenario {
  /// All scenarios.
  static let all: [Scenario] =
    answering + skipping + pausing + editing + clocks + merging

  private static let daily = Step.run("add Pills --daily --at 09:00")

  // MARK: Answers

  private static let answering: [Scenario] = [
    Scenario(
      "An alarm without an answer is missed, and rings again the next day",
      [daily, .until("2026-11-21T09:10:00Z")],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:30 missed Pills 2026-11-20T09:00",
        "11-21 09:00 firing Pills 2026-11-21T09:00",
      ]),
    Scenario(
      "A stopped occurrence is followed up three times",
      [daily, .until("2026-11-20T09:01:00Z"), .run("stop Pills"), .until("2026-11-20T12:00:00Z")],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:31 follow-up Pills 2026-11-20T09:00",
        "11-20 10:01 follow-up Pills 2026-11-20T09:00",
        "11-20 10:31 follow-up Pills 2026-11-20T09:00",
      ]),
    Scenario(
      "A done occurrence is not followed up",
      [
        daily, .until("2026-11-20T09:01:00Z"), .run("stop Pills"), .until("2026-11-20T09:40:00Z"),
        .run("done Pills"), .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:31 follow-up Pills 2026-11-20T09:00",
      ]),
    Scenario(
      "A snoozed occurrence rings again",
      [
        daily, .until("2026-11-20T09:01:00Z"), .run("snooze Pills 10m"),
        .until("2026-11-20T09:12:00Z"), .run("done Pills"), .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:11 firing Pills 2026-11-20T09:00",
      ]),
    Scenario(
      "An undone answer rings again",
      [
        daily, .until("2026-11-20T09:01:00Z"), .run("done Pills"), .until("2026-11-20T09:05:00Z"),
        .run("undo"), .until("2026-11-20T09:20:00Z"), .run("done Pills"),
        .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:05 firing Pills 2026-11-20T09:00",
      ]),
    Scenario(
      "A persistent alarm rings until it is answered",
      [
        .run("add Pills --daily --at 09:00 --persistent"), .until("2026-11-20T11:00:00Z"),
        .run("done Pills"), .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A strict alarm rings again after a stop",
      [
        .run("add Pills --daily --at 09:00 --strict"), .until("2026-11-20T09:01:00Z"),
        .run("stop Pills"), .until("2026-11-20T09:40:00Z"), .run("done Pills"),
        .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:31 firing Pills 2026-11-20T09:00",
      ]),
    Scenario(
      "The next occurrence completes a pending one",
      [
        daily, .until("2026-11-20T09:01:00Z"), .run("stop Pills"), .until("2026-11-21T09:01:00Z"),
        .run("done Pills"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:31 follow-up Pills 2026-11-20T09:00",
        "11-20 10:01 follow-up Pills 2026-11-20T09:00",
        "11-20 10:31 follow-up Pills 2026-11-20T09:00",
        "11-21 09:00 firing Pills 2026-11-21T09:00",
      ]),
    Scenario(
      "An alarm that follows completions is postponed by an early one",
      [
        .run("add Filter --after-done 3d --at 09:00"), .until("2026-11-23T09:01:00Z"),
        .run("done Filter"), .until("2026-11-25T10:00:00Z"), .run("done Filter --early"),
        .until("2026-11-29T09:01:00Z"),
      ],
      delivers: [
        "11-23 09:00 firing Filter 2026-11-23T09:00",
        "11-28 09:00 firing Filter 2026-11-28T09:00",
        "11-28 09:30 missed Filter 2026-11-28T09:00",
        "11-29 09:00 firing Filter 2026-11-29T09:00",
      ]),
    Scenario(
      "A one-time alarm rings once, after advance warnings",
      [
        .run("add Dentist --once 2026-11-22 --at 09:00 --warn 1d,2h"),
        .until("2026-11-22T09:01:00Z"), .run("done Dentist"), .until("2026-11-24T09:00:00Z"),
      ],
      delivers: [
        "11-21 09:00 warning Dentist 2026-11-22T09:00",
        "11-22 07:00 warning Dentist 2026-11-22T09:00",
        "11-22 09:00 firing Dentist 2026-11-22T09:00",
      ]),
    Scenario(
      "A dismissed missed occurrence stays silent",
      [
        daily, .until("2026-11-20T10:00:00Z"), .run("dismiss Pills"),
        .until("2026-11-20T20:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:30 missed Pills 2026-11-20T09:00",
      ]),
    Scenario(
      "A missed occurrence that was done late stays silent",
      [daily, .until("2026-11-20T10:00:00Z"), .run("done Pills"), .until("2026-11-20T20:00:00Z")],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:30 missed Pills 2026-11-20T09:00",
      ]),
  ]

  // MARK: Skips

  private static let skipping: [Scenario] = [
    Scenario(
      "An occurrence that was skipped ahead does not ring",
      [daily, .run("skip Pills --yes"), .until("2026-11-21T09:01:00Z"), .run("done Pills")],
      delivers: [
        "11-21 09:00 firing Pills 2026-11-21T09:00"
      ]),
    Scenario(
      "A persistent occurrence that was skipped ahead does not ring",
      [
        .run("add Pills --daily --at 09:00 --persistent"), .run("skip Pills --count 2 --yes"),
        .until("2026-11-22T09:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-22 09:00 firing Pills 2026-11-22T09:00"
      ]),
    Scenario(
      "A skip ahead of an alarm that follows completions does not ring",
      [
        .run("add Filter --after-done 3d --at 09:00"), .run("skip Filter --yes"),
        .until("2026-11-27T09:01:00Z"), .run("done Filter"),
      ],
      delivers: [
        "11-26 09:00 firing Filter 2026-11-26T09:00",
        "11-26 09:30 missed Filter 2026-11-26T09:00",
        "11-27 09:00 firing Filter 2026-11-27T09:00",
      ]),
    Scenario(
      "A restored occurrence rings",
      [
        daily, .run("skip Pills --yes"), .until("2026-11-20T08:30:00Z"), .run("unskip Pills"),
        .until("2026-11-20T09:01:00Z"), .run("done Pills"), .until("2026-11-20T10:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A ringing occurrence that is skipped ends",
      [
        daily, .until("2026-11-20T09:01:00Z"), .run("skip Pills --yes"),
        .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A skip under an earlier schedule does not silence the new one",
      [
        daily, .run("skip Pills --yes"), .run("edit Pills --at 09:30"),
        .until("2026-11-20T09:31:00Z"), .run("done Pills"), .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:30 firing Pills 2026-11-20T09:30"
      ]),
    Scenario(
      "A skip of one time of a day leaves the other",
      [
        .run("add Pills --daily --at 09:00,10:00"), .run("skip Pills --yes"),
        .until("2026-11-20T10:01:00Z"), .run("done Pills"), .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 10:00 firing Pills 2026-11-20T10:00"
      ]),
  ]

  // MARK: Pauses

  private static let pausing: [Scenario] = [
    Scenario(
      "A pause silences what falls into it",
      [
        daily, .run("pause Pills --until 2026-11-22"), .until("2026-11-22T09:01:00Z"),
        .run("done Pills"),
      ],
      delivers: [
        "11-22 09:00 firing Pills 2026-11-22T09:00"
      ]),
    Scenario(
      "A pause that ends early lets the alarm ring",
      [
        daily, .run("pause Pills --until 2026-11-25"), .until("2026-11-21T08:00:00Z"),
        .run("resume Pills"), .until("2026-11-21T09:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-21 09:00 firing Pills 2026-11-21T09:00"
      ]),
    Scenario(
      "A disabled alarm is silent, and rings after it was enabled again",
      [
        daily, .run("disable Pills"), .until("2026-11-20T10:00:00Z"), .run("enable Pills"),
        .until("2026-11-21T09:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-21 09:00 firing Pills 2026-11-21T09:00"
      ]),
    Scenario(
      "A ringing alarm that is disabled ends",
      [
        daily, .until("2026-11-20T09:01:00Z"), .run("disable Pills"),
        .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A pending occurrence of a disabled alarm is not followed up",
      [
        daily, .until("2026-11-20T09:01:00Z"), .run("stop Pills"), .run("disable Pills"),
        .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
  ]

  // MARK: Edits

  private static let editing: [Scenario] = [
    Scenario(
      "An edit to a later time moves the firing",
      [
        daily, .run("edit Pills --at 09:30"), .until("2026-11-20T09:31:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-20 09:30 firing Pills 2026-11-20T09:30"
      ]),
    Scenario(
      "An edit to a time that has passed does not ring today",
      [
        daily, .until("2026-11-20T08:50:00Z"), .run("edit Pills --at 08:30"),
        .until("2026-11-21T08:31:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-21 08:30 firing Pills 2026-11-21T08:30"
      ]),
    Scenario(
      "An alarm that is made persistent while it rings goes on",
      [
        daily, .until("2026-11-20T09:05:00Z"), .run("edit Pills --persistent"),
        .until("2026-11-20T11:00:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A longer ring timeout postpones the end",
      [
        daily, .until("2026-11-20T09:05:00Z"), .run("settings set ringTimeout 2h"),
        .until("2026-11-20T10:30:00Z"), .run("done Pills"), .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "Other follow-ups apply to a pending occurrence",
      [
        daily, .until("2026-11-20T09:01:00Z"), .run("stop Pills"),
        .run("settings set followUps 10m"), .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:11 follow-up Pills 2026-11-20T09:00",
      ]),
    Scenario(
      "A deleted alarm is silent",
      [
        daily, .until("2026-11-20T08:30:00Z"), .run("delete Pills --yes"),
        .until("2026-11-20T10:00:00Z"),
      ],
      delivers: []),
    Scenario(
      "A deletion that was undone rings at its time",
      [
        daily, .until("2026-11-20T08:30:00Z"), .run("delete Pills --yes"), .run("undo"),
        .until("2026-11-20T09:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A new title is shown by a follow-up",
      [
        daily, .until("2026-11-20T09:01:00Z"), .run("stop Pills"),
        .run("edit Pills --title Vitamins"),
        .until("2026-11-20T09:40:00Z"), .run("done Vitamins"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:31 follow-up Vitamins 2026-11-20T09:00",
      ]),
    Scenario(
      "An alarm for another device is silent here",
      [
        daily, .elsewhere("list"), .exchange, .run("edit Pills --on desktop"),
        .until("2026-11-20T09:10:00Z"),
      ],
      delivers: []),
  ]

  // MARK: Clocks

  private static let clocks: [Scenario] = [
    Scenario(
      "A persistent alarm rings on where it was due earlier",
      [
        .run("add Pills --daily --at 10:00 --persistent"), .until("2026-11-20T10:05:00Z"),
        .move("Europe/Berlin"), .until("2026-11-21T03:00:00Z"), .run("done Pills"),
        .until("2026-11-21T05:00:00Z"),
      ],
      delivers: ["11-20 10:00 firing Pills 2026-11-20T10:00"]),
    Scenario(
      "An alarm rings late after a sleep",
      [daily, .jump("2026-11-20T11:00:00Z"), .until("2026-11-20T11:01:00Z"), .run("done Pills")],
      delivers: [
        "11-20 11:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "Two days of sleep end in one late firing and one summary",
      [daily, .jump("2026-11-22T10:00:00Z"), .until("2026-11-22T10:01:00Z"), .run("done Pills")],
      delivers: [
        "11-22 10:00 firing Pills 2026-11-22T09:00",
        "11-22 10:00 missed Pills 2026-11-20T09:00",
      ]),
    Scenario(
      "A clock that is set back by an hour before the alarm",
      [
        daily, .until("2026-11-20T08:50:00Z"), .jump("2026-11-20T07:50:00Z"),
        .until("2026-11-20T09:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A skip that a wrong clock made stays one",
      [
        .jump("2026-11-19T20:00:00Z"), daily, .run("skip Pills --yes"),
        .jump("2026-11-20T08:00:00Z"), .until("2026-11-21T09:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-21 09:00 firing Pills 2026-11-21T09:00"
      ]),
    Scenario(
      "A device that travels rings by its wall clock",
      [
        .run("add Pills --daily --at 10:00"), .move("Europe/Berlin"),
        .until("2026-11-20T09:01:00Z"), .run("done Pills"), .move("America/New_York"),
        .until("2026-11-21T15:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T10:00",
        "11-21 15:00 firing Pills 2026-11-21T10:00",
      ]),
    Scenario(
      "A skip ahead holds in another zone",
      [
        daily, .run("skip Pills --yes"), .move("America/New_York"),
        .until("2026-11-21T14:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-21 14:00 firing Pills 2026-11-21T09:00"
      ]),
  ]

  // MARK: Merges

  private static let merging: [Scenario] = [
    Scenario(
      "An answer on another device ends the firing here",
      [
        daily, .exchange, .until("2026-11-20T09:01:00Z"), .elsewhere("done Pills"), .exchange,
        .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A skip ahead on another device holds here",
      [
        daily, .exchange, .elsewhere("skip Pills --yes"), .exchange,
        .until("2026-11-21T09:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-21 09:00 firing Pills 2026-11-21T09:00"
      ]),
    Scenario(
      "A skip ahead here and an edit of the title elsewhere",
      [
        daily, .exchange, .run("skip Pills --yes"), .elsewhere("edit Pills --title Vitamins"),
        .exchange, .until("2026-11-21T09:01:00Z"), .run("done Vitamins"),
      ],
      delivers: [
        "11-21 09:00 firing Vitamins 2026-11-21T09:00"
      ]),
    Scenario(
      "A stop here and a done elsewhere",
      [
        daily, .exchange, .until("2026-11-20T09:01:00Z"), .run("stop Pills"),
        .elsewhere("done Pills"), .exchange, .until("2026-11-20T12:00:00Z"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A snooze elsewhere rings here",
      [
        daily, .exchange, .until("2026-11-20T09:01:00Z"), .elsewhere("snooze Pills 20m"),
        .exchange, .until("2026-11-20T09:22:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:21 firing Pills 2026-11-20T09:00",
      ]),
    Scenario(
      "A pause elsewhere silences here",
      [
        daily, .exchange, .elsewhere("pause Pills --until 2026-11-22"), .exchange,
        .until("2026-11-22T09:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-22 09:00 firing Pills 2026-11-22T09:00"
      ]),
    Scenario(
      "A pause here that was ended elsewhere before the alarm",
      [
        daily, .run("pause Pills --until 2026-11-25"), .exchange, .elsewhere("resume Pills"),
        .exchange, .until("2026-11-20T09:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A deletion that loses to an edit elsewhere",
      [
        daily, .exchange, .run("delete Pills --yes"), .elsewhere("edit Pills --note new"),
        .exchange, .until("2026-11-20T09:01:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00"
      ]),
    Scenario(
      "A new alarm from elsewhere that is due soon",
      [
        daily, .exchange, .elsewhere("add Tea --daily --at 08:30"), .exchange,
        .until("2026-11-20T08:31:00Z"), .run("done Tea"),
      ],
      delivers: [
        "11-20 08:30 firing Tea 2026-11-20T08:30"
      ]),
    Scenario(
      "An undo elsewhere of a done there rings again here",
      [
        daily, .exchange, .until("2026-11-20T09:01:00Z"), .elsewhere("done Pills"), .exchange,
        .until("2026-11-20T09:05:00Z"), .elsewhere("undo"), .exchange,
        .until("2026-11-20T09:10:00Z"), .run("done Pills"),
      ],
      delivers: [
        "11-20 09:00 firing Pills 2026-11-20T09:00",
        "11-20 09:05 firing Pills 2026-11-20T09:00",
      ]),
  ]
}
