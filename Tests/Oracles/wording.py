"""Schedules in the words of the article Input, and as options of `belfry add`."""
from datetime import timedelta

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
LONG_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
PERIODS = {"day": "d", "week": "w", "month": "mo", "year": "y"}
QUARTER_STARTS, QUARTER_ENDS = [1, 4, 7, 10], [3, 6, 9, 12]
ZONES = {"Europe/Berlin": ["berlin time", "in berlin", "Europe/Berlin"],
         "America/New_York": ["new york time", "in new york", "zone America/New_York"],
         "Asia/Tokyo": ["tokyo time", "in tokyo"], "UTC": ["zone utc"]}
ORDINALS = ["first", "second", "third", "fourth", "fifth"]

# --- Phrases ---

def phrase(schedule, chance):
    """Returns a schedule in random words. The clauses have a random order."""
    clauses = [rule(schedule, chance), times(schedule, chance)]
    if schedule.start and schedule.kind != "once":
        # `last fri, first on` would be two days of a month.
        names = ["from", "starting", "beginning"] + ["first on"] * (not schedule.days)
        clauses.append(f"{chance.choice(names)} {schedule.start}")
    until = ""
    if schedule.until:
        moment = schedule.until
        is_whole = (moment.hour, moment.minute) == (23, 59)
        until = f"until {moment:%Y-%m-%d}" + ("" if is_whole else f"T{moment:%H:%M}")
    if schedule.count:
        # `6 times every day` would be the number of times a day.
        is_marked = schedule.kind == "daily" or schedule.omitted or chance.random() < 0.5
        clauses.append(("for " if is_marked else "") + f"{schedule.count} times")
    if schedule.length:
        count, unit = schedule.length
        clauses.append(f"for {count} {unit}" + "s" * (count > 1))
    if schedule.on_holiday and not schedule.is_on_workdays:
        clauses.append(holidays(schedule.on_holiday, chance))
    if schedule.zone:
        clauses.append(chance.choice(ZONES[schedule.zone]))
    if chance.random() < 0.3:
        chance.shuffle(clauses)
    # Days behind the exceptions would be exceptions, too.
    omitted = ""
    if schedule.exceptions or schedule.omitted:
        omitted = chance.choice(["except", "but not", "not on", "without"]) + " " + exceptions(schedule, chance)
    clauses += [clause for clause in chance.sample([until, omitted], 2) if clause]
    text = chance.choice([" ", " ", ", "]).join(clauses)
    return text.upper() if chance.random() < 0.03 else text

def rule(schedule, chance):
    interval = schedule.interval
    if schedule.kind == "once":
        return chance.choice([f"on {schedule.start}", f"{schedule.start}", f"{schedule.start:%d.%m.%Y}",
                              f"{schedule.start.day} {MONTHS[schedule.start.month - 1]} {schedule.start.year}"])
    if schedule.kind == "daily":
        return chance.choice({1: ["every day", "daily"], 2: ["every other day", "every 2 days"]}.get(
            interval, [f"every {interval} days", f"every {interval}d"]))
    if schedule.kind == "after done":
        count, unit = schedule.period
        period = chance.choice([f"{count} {unit}" + "s" * (count > 1), f"{count}{PERIODS[unit]}"])
        again, done = chance.choice(["", "", "again "]), chance.choice(["done", "completion", "it was done"])
        return f"{again}{period} after {done}"
    if schedule.omitted:
        return chance.choice(["every day", "daily"])
    if schedule.is_on_workdays:
        return chance.choice(["every workday", "workdays"])
    if schedule.kind == "weekly":
        days = weekday_list(schedule.weekdays, chance)
        kinds = [f"every {interval} weeks on {days}"]
        if interval == 1:
            kinds = [f"every {days}", f"weekly on {days}", f"every week on {days}"]
            if len(schedule.weekdays) > 1:
                kinds.append(days)
        if interval == 2:
            kinds += [f"every other {days}", f"biweekly on {days}", f"every other week on {days}"]
        return chance.choice(kinds)
    places = place_list(schedule.days, chance)
    if schedule.kind == "monthly":
        kinds = [f"every {interval} months on {places}", f"{places} of every {interval} months"]
        if interval == 1:
            kinds = [f"monthly on {places}", f"{places} of the month", f"{places} of every month"]
        if interval == 2:
            kinds += [f"every other month on {places}", f"{places} of every other month"]
        return chance.choice(kinds)
    months = listed([MONTHS[month - 1] for month in schedule.months], chance)
    if interval > 1:
        return f"every {interval} years on {places} of {months}"
    is_from_start = {kind != "end" and (place[0] if kind == "weekday" else place) > 0 for kind, place in schedule.days}
    # `10th of the quarter` would be ambiguous.
    is_clear = all(kind != "day" or place == 1 for kind, place in schedule.days)
    if schedule.months == QUARTER_STARTS and is_from_start == {True} and is_clear \
            or schedule.months == QUARTER_ENDS and is_from_start == {False}:
        return f"{places} of {chance.choice(['the', 'each', 'every'])} quarter"
    kinds = [f"yearly on {places} of {months}", f"every year on {places} of {months}", f"{months} on {places}"]
    if len(schedule.days) == 1 and schedule.days[0][0] == "day":
        day = schedule.days[0][1]
        kinds.append("every " + listed([f"{day} {MONTHS[month - 1]}" for month in schedule.months], chance))
        kinds.append(f"{day} of {months}" if len(schedule.months) > 1 else f"every {day} {months}")
    return chance.choice(kinds)

def times(schedule, chance):
    if schedule.window:
        first, last, step = schedule.window
        distance = f"{step // 60}h" if step % 60 == 0 else f"{step} min"
        is_whole = (first, last) == (0, 1439)
        return f"every {distance}" + ("" if is_whole else f" from {clock(first)} to {clock(last)}")
    return chance.choice(["at ", ""]) + listed([spoken(moment, chance) for moment in schedule.times], chance)

def spoken(moment, chance):
    hour, half = moment.hour % 12 or 12, "am" if moment.hour < 12 else "pm"
    kinds = [f"{moment:%H:%M}", f"{moment.hour}:{moment:%M}", f"{hour}:{moment:%M}{half}"]
    if moment.minute == 0:
        kinds.append(f"{hour}{half}")
        kinds += {12: ["noon"], 0: ["midnight"]}.get(moment.hour, [])
    return chance.choice(kinds)

def exceptions(schedule, chance):
    dates = sorted(schedule.exceptions)
    parts, first = [], 0
    while first < len(dates):
        last = first
        while last + 1 < len(dates) and dates[last + 1] == dates[last] + timedelta(days=1):
            last += 1
        row = dates[first:last + 1]
        if len(row) > 2:
            parts.append(f"{row[0]}{chance.choice([' - ', ' to '])}{row[-1]}")
        else:
            parts += [str(date) for date in row]
        first = last + 1
    parts += [LONG_DAYS[day] + "s" for day in sorted(schedule.omitted)]
    return listed(parts, chance)

def holidays(rule, chance):
    if rule == "skip":
        return chance.choice(["except holidays", "not on holidays"])
    return chance.choice([f"{rule} a holiday", f"or the workday {rule} a holiday", f"or {rule} holidays"])

def weekday_list(days, chance):
    days = sorted(days)
    if len(days) > 2 and days[-1] - days[0] == len(days) - 1 and chance.random() < 0.5:
        return f"{DAYS[days[0]]}-{DAYS[days[-1]]}"
    names = LONG_DAYS if chance.random() < 0.3 else DAYS
    return listed([names[day] for day in days], chance)

def place_list(places, chance):
    is_numeric = all(kind == "day" for kind, _ in places)
    return listed([place(*item, chance, is_numeric) for item in places], chance)

def place(kind, number, chance, is_numeric):
    the = chance.choice(["", "the "])
    if kind == "day":
        return f"{the}{ordinal(number)}" + ("" if is_numeric else " day")
    if kind == "end":
        return f"{the}{from_end(number, chance)} day"
    if kind == "workday":
        return f"{the}{position(number, chance)} workday"
    return f"{the}{position(number[0], chance)} {DAYS[number[1]]}"

def position(number, chance):
    if number < 0:
        return from_end(-number, chance)
    return chance.choice([ordinal(number), *ORDINALS[number - 1:number]])

def from_end(number, chance):
    if number == 1:
        return "last"
    return chance.choice([f"last-{number - 1}", f"{ordinal(number)}-to-last", f"{ordinal(number)} to last"])

def ordinal(number):
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"

def listed(words, chance):
    if len(words) < 2 or chance.random() < 0.5:
        return ", ".join(words)
    return ", ".join(words[:-1]) + chance.choice([" and ", ", and "]) + words[-1]

def clock(minute): return f"{minute // 60:02}:{minute % 60:02}"

# --- Options ---

def options(schedule, chance):
    """Returns the options of `belfry add`. Their cycles are counted from the start, or from today."""
    found = []
    def add(name, value): found.extend([name, str(value)])
    if schedule.window:
        first, last, step = schedule.window
        is_whole = (first, last) == (0, 1439)
        distance = f"{step // 60}h" if step % 60 == 0 else f"{step}m"
        add("--at", f"/{distance}" if is_whole else f"{clock(first)}-{clock(last)}/{distance}")
    else:
        add("--at", ",".join(f"{moment:%H:%M}" for moment in schedule.times))
    if schedule.kind == "once":
        add("--once", schedule.start)
        return found
    if schedule.start:
        add("--start", schedule.start)
    interval = schedule.interval
    if schedule.kind == "after done":
        add("--after-done", f"{schedule.period[0]}{PERIODS[schedule.period[1]]}")
    elif schedule.kind == "daily" and (interval == 1 or chance.random() < 0.5):
        found.append("--daily")
    elif schedule.kind == "daily":
        add("--days", interval)
        interval = 1
    elif schedule.kind == "weekly":
        add("--weekly", ",".join(DAYS[day] for day in sorted(schedule.weekdays)))
    else:
        places = ",".join(option_place(*item) for item in schedule.days)
        if schedule.kind == "monthly":
            add("--monthly", places)
        else:
            add("--annual", f"{places} of {','.join(MONTHS[month - 1] for month in schedule.months)}")
    if interval > 1:
        add("--every", interval)
    if schedule.until:
        add("--ends", schedule.until.date())
    if schedule.count:
        add("--times", schedule.count)
    if schedule.exceptions:
        add("--except", ",".join(str(date) for date in sorted(schedule.exceptions)))
    if schedule.on_holiday:
        add("--on-holiday", schedule.on_holiday)
    return found

def option_place(kind, number):
    def place(number):
        if number > 0:
            return ORDINALS[number - 1] if number <= 5 else ordinal(number)
        return "last" if number == -1 else f"last-{-number - 1}"
    if kind == "day":
        return str(number)
    if kind == "end":
        # Without the noun, that of the next place would belong to both.
        return f"{place(-number)} day"
    if kind == "workday":
        return f"{place(number)} workday"
    return f"{place(number[0])} {DAYS[number[1]]}"
