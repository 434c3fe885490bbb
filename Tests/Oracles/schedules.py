"""Random schedules in stores with holidays, with a check of each single day, and their way through `when`, `export` and
`import`."""
import random, warnings
from datetime import date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo
from clock import random_now
from device import PAST, USAGE, Device, Refused, Unusable
from model import Oracle, Schedule, WorkCalendar
import exchange, wording

MOST = 300  # compared dates of one schedule
REGIONS = [("DE", "BE"), ("DE", "BY"), ("US", None), ("GB", None), ("IN", None), ("JP", None), ("FR", None)]

PACKAGES = []

def batch(binary, seed, size, results):
    chance = random.Random(seed)
    with Device(binary, random_now(chance)) as device:
        work = set_up(device, chance)
        alarms = {}  # the schedules and their dates by title
        for number in range(size):
            schedule = random_schedule(chance, device.now, work)
            try_phrase(schedule, device, work, chance, results)
            schedule = random_schedule(chance, device.now, work, is_option=True)
            title = f"Alarm {number:03}"
            expected = try_options(title, schedule, device, work, chance, results)
            if expected:
                alarms[title] = expected
        exchange.compare(binary, device, alarms, results)

def set_up(device, chance):
    """Gives the store holidays and workdays, and returns them."""
    device.must("tier", "premium")
    workdays = set(range(5))
    if chance.random() < 0.3:
        workdays = {day for day in range(7) if chance.random() < 0.5} | {2}
        device.must("settings", "set", "workdays", ",".join(wording.DAYS[day] for day in sorted(workdays)))
    holidays = random_holidays(chance, device.now)
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Belfry//oracles//EN"]
    for number, day in enumerate(sorted(holidays)):
        lines += ["BEGIN:VEVENT", f"UID:{number}", "DTSTAMP:20250101T000000Z", f"DTSTART;VALUE=DATE:{day:%Y%m%d}",
                  f"SUMMARY:Holiday {number}", "END:VEVENT"]
    if holidays:
        device.must("calendar", "import", "de-BE", "-", source="\n".join([*lines, "END:VCALENDAR", ""]))
    return WorkCalendar(frozenset(workdays), frozenset(holidays))

def random_holidays(chance, now):
    if chance.random() < 0.15:
        return set()
    first = now.date() - timedelta(days=400)
    if chance.random() < 0.5:
        found = public_holidays(chance, now)
    else:
        found = {first + timedelta(days=chance.randrange(1600)) for _ in range(chance.randint(1, 150))}
    if chance.random() < 0.3:
        # A row of holidays, which may be longer than the search for a workday.
        begin = first + timedelta(days=chance.randrange(1200))
        found |= {begin + timedelta(days=number) for number in range(chance.randint(5, 40))}
    return found

def public_holidays(chance, now):
    region, part = chance.choice(REGIONS)
    try:
        import holidays
    except ImportError:
        return {date(year, month, day) for year in range(now.year - 1, now.year + 5)
                for month, day in ((1, 1), (5, 1), (12, 25), (12, 26))}
    warnings.simplefilter("ignore")  # about years without known holidays
    return set(holidays.country_holidays(region, subdiv=part, years=range(now.year - 1, now.year + 5)))

# --- Schedules ---

def try_phrase(schedule, device, work, chance, results):
    if chance.random() < 0.1:
        schedule.zone = chance.choice(list(wording.ZONES))
    text = wording.phrase(schedule, chance)
    shown = f"{text} {surroundings(device, work)}"
    count = number_of_dates(schedule)
    # The clock is in UTC, and the dates are in the zone.
    here = device.now.replace(tzinfo=timezone.utc).astimezone(ZoneInfo(schedule.zone or "UTC")).replace(tzinfo=None)
    oracle = Oracle(schedule, here, work)
    expected = oracle.next(count)
    try:
        document = device.when(text, count)
    except Refused as reason:
        results.compare("phrases", shown, f"refused: {reason}", "day by day", expected)
        return
    found = until(document["next"], oracle)
    results.compare("phrases", shown, found, "day by day", expected)
    again = document["understood"]
    # The text of a schedule without a date is not shown, and exceptions are shortened.
    if found == expected and again and "more dates" not in again:
        try:
            repeated = device.when(again, count)["next"]
        except Refused as reason:
            repeated = f"refused: {reason}"
        results.compare("understood texts", f"'{again}' for '{shown}'", repeated, "first phrase", document["next"])

def try_options(title, schedule, device, work, chance, results):
    """Adds an alarm, and returns its dates; nothing if it has none or others."""
    options = wording.options(schedule, chance)
    shown = f"{' '.join(repr(word) if ' ' in word else word for word in options)} {surroundings(device, work)}"
    count = number_of_certain_dates(schedule)
    oracle = Oracle(schedule, device.now, work)
    expected = oracle.next(count)
    outcome = device.run("add", title, *options, "--json")
    if outcome.code == 0:
        found = until(device.next(title, count), oracle)
    elif PAST in outcome.err or "no occurrence" in outcome.err:
        found = []
    elif outcome.code == USAGE:
        found = f"refused: {outcome.err}"
    else:
        raise Unusable(f"belfry add {shown} ended with {outcome.code}: {outcome.err}")
    results.compare("options", shown, found, "day by day", expected)
    return (shown, expected, oracle) if found == expected and found else None

def until(dates, oracle):
    """Returns the dates that the oracle searches."""
    return [date for date in dates if date.date() < oracle.end().date()]

def number_of_dates(schedule): return min(MOST, 8 * len(schedule.times))

def number_of_certain_dates(schedule):
    """Returns the number of dates of an alarm that do not depend on a completion."""
    return 1 if schedule.period else number_of_dates(schedule)

def surroundings(device, work):
    """Returns the clock and the calendar of a comparison as text."""
    days = ",".join(wording.DAYS[day] for day in sorted(work.workdays))
    return f"at {device.now:%Y-%m-%dT%H:%M}, {len(work.holidays)} holidays, workdays {days}"

def random_schedule(chance, now, work, is_option=False):
    kinds = ["once", "after done", *["daily", "weekly"] * 3, *["monthly", "annual"] * 4]
    schedule = Schedule(chance.choice(kinds), [], is_anchored=not is_option)
    random_times(schedule, chance)
    if schedule.kind == "once":
        schedule.start = now.date() + timedelta(days=chance.randint(1, 800))
        schedule.times, schedule.window = schedule.times[:1], None
        return schedule
    if schedule.kind == "after done":
        schedule.period = (chance.randint(1, 60), chance.choice(["day", "week", "month"]))
        schedule.times, schedule.window = schedule.times[:1], None
    elif chance.random() < 0.6:
        schedule.interval = chance.choice([1, 2, 2, 3, 4, 6])
        if schedule.kind == "daily":
            schedule.interval = chance.choice([1, 2, 3, 7, 10, 14, 30, 45])
    if schedule.kind == "weekly":
        schedule.weekdays = frozenset(chance.sample(range(7), chance.randint(1, 5)))
    elif schedule.kind in ("monthly", "annual"):
        schedule.days = random_places(chance, 31 if schedule.kind == "monthly" else 28)
    if schedule.kind == "annual":
        schedule.months = chance.choice([[1, 4, 7, 10], [3, 6, 9, 12], *[None] * 4]) \
            or sorted(chance.sample(range(1, 13), chance.randint(1, 4)))
    if chance.random() < 0.4:
        schedule.start = now.date() + timedelta(days=chance.randint(-500, 200))
    first = max(schedule.start or now.date(), now.date())
    limit(schedule, first, chance, is_option)
    if chance.random() < 0.4:
        schedule.on_holiday = chance.choice(["skip", "before", "after"])
    if not is_option and schedule.kind == "weekly" and schedule.interval == 1:
        other_words(schedule, work, chance)
    return schedule

def other_words(schedule, work, chance):
    """Changes a weekly schedule to one that has other words, too."""
    draw = chance.random()
    if draw < 0.2:
        schedule.is_on_workdays, schedule.weekdays, schedule.on_holiday = True, work.workdays, "skip"
    elif draw < 0.5:
        schedule.omitted = frozenset(chance.sample(range(7), chance.randint(1, 3)))
        schedule.weekdays = frozenset(range(7)) - schedule.omitted

def random_times(schedule, chance):
    if chance.random() < 0.2:
        part = (chance.randrange(600), chance.randrange(700, 1440))
        first, last = chance.choice([(9 * 60, 17 * 60), (0, 1439), part])
        # An interval of the whole day divides it.
        step = chance.choice([20, 30, 60, 120, 180] + ([] if (first, last) == (0, 1439) else [45, 90, 100]))
        schedule.window = (first, last, step)
        minutes = range(first, last + 1, step)
    else:
        minutes = sorted(chance.sample(range(1440), chance.choice([1, 1, 1, 2, 3])))
        if chance.random() < 0.3:
            minutes = sorted({minute // 60 * 60 for minute in minutes})
    schedule.times = [time(minute // 60, minute % 60) for minute in minutes]

def random_places(chance, most):
    found = set()
    for _ in range(chance.choice([1, 1, 2, 3])):
        found.add(chance.choice([
            ("day", chance.randint(1, most)), ("day", chance.randint(1, most)),
            ("end", chance.choice([1, 1, 2, 3, 29, 31])),
            ("weekday", (chance.choice([1, 2, 3, 4, 5, -1, -1, -2]), chance.randrange(7))),
            ("workday", chance.choice([1, 2, 3, 10, 20, -1, -1, -3]))]))
    return sorted(found, key=str)

def limit(schedule, first, chance, is_option):
    """Gives a schedule an end and exceptions."""
    kind = chance.choice(["", "", "until", "moment", "count", "length"])
    last = first + timedelta(days=chance.randint(30, 1500))
    if kind == "until" or kind == "moment" and is_option:
        schedule.until = datetime.combine(last, time(23, 59))
    elif kind == "moment":
        schedule.until = datetime.combine(last, time(chance.randrange(24), 30))
    elif kind == "count" and not schedule.period:
        schedule.count = chance.randint(1, 12)
    elif kind == "length" and not is_option:
        schedule.length = (chance.randint(1, 20), chance.choice(["day", "week", "month", "year"]))
    if chance.random() < 0.3:
        dates = {first + timedelta(days=chance.randrange(120)) for _ in range(chance.randint(1, 8))}
        if chance.random() < 0.4:
            begin = first + timedelta(days=chance.randrange(60))
            dates |= {begin + timedelta(days=number) for number in range(chance.randint(3, 20))}
        schedule.exceptions = frozenset(dates)
