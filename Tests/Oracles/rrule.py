"""Random rules of iCalendar in `when` and in imported events, with dateutil."""
import random
from datetime import datetime, timedelta
from clock import random_now
from device import Device, Refused

COUNT = 8  # compared dates
INVALID = [
    "UNTIL=soon", "INTERVAL=x", "BYDAY=XX", "BYDAY=", "BYMONTH=13", "BYHOUR=24", "BYMONTHDAY=0", "SPEED=1",
    "BYSETPOS=0"]
FREQUENCIES = ["DAILY", *["WEEKLY"] * 3, *["MONTHLY"] * 3, *["YEARLY"] * 2, "HOURLY", "MINUTELY"]
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
LAST = datetime(2065, 1, 1)  # compared dates are before

PACKAGES = ["dateutil"]

def batch(binary, seed, size, results):
    chance = random.Random(seed)
    with Device(binary, random_now(chance)) as device:
        device.must("tier", "premium")
        for _ in range(size // 2):
            try_phrase(chance, results, device)
        try_events(chance, results, device, size - size // 2)

# --- Phrases ---

def try_phrase(chance, results, device):
    """Compares a rule in `when`, which counts from the named start, otherwise from today, at the named time, otherwise
    at the current one. Its count is that of the occurrences in the future."""
    rule, count = text(chance, device.now), None
    phrase, start = rule, device.now
    if "UNTIL" not in rule and chance.random() < 0.3:
        count = chance.randint(1, 12)
        phrase += f";COUNT={count}"
    if chance.random() < 0.2:
        phrase = f"RRULE:{phrase}"
    # A time behind the rule replaces those of the rule.
    has_times = any(part in rule for part in ("BYHOUR", "BYMINUTE", "HOURLY", "MINUTELY"))
    if not has_times and chance.random() < 0.5:
        start = start.replace(hour=chance.randrange(24), minute=chance.randrange(60))
        phrase += f" at {start:%H:%M}"
    if chance.random() < 0.3:
        date = device.now + timedelta(days=chance.randint(-40, 100))
        start = start.replace(year=date.year, month=date.month, day=date.day)
        phrase += f" from {start:%Y-%m-%d}"
        if has_times:
            start = earliest(rule, start)
    try:
        found = device.when(phrase, COUNT)["next"]
    except Refused:
        results.skip("refused")
        return
    expected = dates(rule, start, device.now, min(count or COUNT, COUNT))
    compare(results, "phrases", f"{phrase} at {device.now:%Y-%m-%dT%H:%M}", found, expected)

def earliest(rule, start):
    """Returns the moment from which a rule with times of its own counts on the day of its start: every time of that day
    belongs to it."""
    parts = dict(part.split("=") for part in rule.split(";"))
    if parts["FREQ"] in ("HOURLY", "MINUTELY"):
        interval = parts.get("INTERVAL", "1")
        # Some rules are not valid.
        period = (int(interval) if interval.isdecimal() else 1) * (60 if parts["FREQ"] == "HOURLY" else 1)
        minute = (start.hour * 60 + start.minute) % period
        if parts["FREQ"] == "HOURLY" and "BYMINUTE" in parts:
            minute -= minute % 60
        return start.replace(hour=minute // 60 % 24, minute=minute % 60)
    return start.replace(hour=0 if "BYHOUR" in parts else start.hour, minute=0 if "BYMINUTE" in parts else start.minute)

# --- Events ---

def try_events(chance, results, device, size):
    """Compares the rules of events. They begin with an occurrence of their rule, and their count begins there. Of some of
    them, one occurrence is moved."""
    lines, expected = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Belfry//oracles//EN"], {}
    for number in range(size):
        rule = text(chance, device.now)
        start = device.now + timedelta(days=chance.randint(-400, 100), minutes=chance.randrange(1440))
        first = dates(rule, start, start - timedelta(minutes=1), 1)
        if not isinstance(first, list) or not first:
            continue
        if "UNTIL" not in rule and chance.random() < 0.3:
            rule += f";COUNT={chance.randint(1, 60)}"
        title = f"Event {number:03}"
        lines += ["BEGIN:VEVENT", f"UID:{number}", "DTSTAMP:20250101T000000Z", f"SUMMARY:{title}",
                  f"DTSTART:{first[0]:%Y%m%dT%H%M%S}", f"RRULE:{rule}", "END:VEVENT"]
        shown, moments = f"DTSTART:{first[0]:%Y%m%dT%H%M} RRULE:{rule}", dates(rule, first[0], device.now, COUNT)
        moved = move(rule, first[0], device.now)
        if moved:
            own, new, moments = moved
            shown += f" RECURRENCE-ID:{own:%Y%m%dT%H%M} to {new:%Y%m%dT%H%M}"
            lines += ["BEGIN:VEVENT", f"UID:{number}", "DTSTAMP:20250101T000000Z", f"SUMMARY:{title}",
                      f"RECURRENCE-ID:{own:%Y%m%dT%H%M%S}", f"DTSTART:{new:%Y%m%dT%H%M%S}", "END:VEVENT"]
        expected[title] = (shown, moments)
    source = "\n".join([*lines, "END:VCALENDAR", ""])
    messages = device.run("import", "-", source=source).err
    for title, (shown, moments) in expected.items():
        if f"{title}: it ended" in messages:
            found = []
        elif title in messages:
            # Left out, or imported with a loss that the message names.
            results.skip("refused")
            continue
        else:
            found = device.next(title, COUNT)
        compare(results, "events", f"{shown} at {device.now:%Y-%m-%dT%H:%M}", found, moments)

def move(rule, start, now):
    """Returns one of the next dates of some rules, its new time, and the next dates with it. There is no other date at the
    new time. The choice depends on the rule alone, so that earlier seeds keep their rules."""
    chance = random.Random(f"{rule} {start}")
    found = dates(rule, start, now, COUNT + 1)
    if chance.random() < 0.5 or not isinstance(found, list) or not found:
        return None
    own = chance.choice(found)
    new = own + timedelta(minutes=chance.choice([chance.randint(1, 300), chance.randint(1, 20_000)]))
    if dates(rule, start, new - timedelta(minutes=1), 1) == [new] or new >= LAST:
        return None
    return own, new, sorted([*(date for date in found if date != own), new])[:COUNT]

def compare(results, kind, shown, found, expected):
    """Compares the dates within the horizon."""
    if isinstance(expected, list) and len(expected) < len(found):
        found = found[:len(expected)] + [date for date in found[len(expected):] if date < LAST]
    results.compare(kind, shown, found, "dateutil", expected)

# --- Rules ---

def dates(rule, start, after, count):
    """Returns the first dates of a rule after a moment."""
    from dateutil.rrule import rrulestr
    found = []
    try:
        # dateutil takes no end in UTC for a start without a zone. The clock is in UTC.
        for date in rrulestr(rule.replace("Z", ""), dtstart=start).xafter(after):
            if len(found) == count or date >= LAST:
                break
            found.append(date)
    except (TypeError, ValueError) as reason:  # a TypeError for hours that a rule never reaches
        return f"refused: {reason}"
    return found

def text(chance, now):
    frequency = chance.choice(FREQUENCIES)
    parts = [f"FREQ={frequency}"]
    def add(name, value): parts.append(f"{name}={value}")
    def several(values, most=3):
        chosen = chance.sample(values, chance.randint(1, min(most, len(values))))
        return ",".join(str(value) for value in chosen)
    if chance.random() < 0.4:
        add("INTERVAL", chance.choice([2, 2, 3, 4, 5, 6, 12, 20]))
    if frequency in ("DAILY", "HOURLY", "MINUTELY"):
        if chance.random() < 0.3:
            add("BYDAY", several(DAYS, 6))
        if chance.random() < 0.1:
            add("BYMONTH", several(range(1, 13)))
    elif frequency == "WEEKLY":
        if chance.random() < 0.8:
            add("BYDAY", several(DAYS, 5))
        if chance.random() < 0.5:
            add("WKST", chance.choice(DAYS))
    else:
        if frequency == "YEARLY" and chance.random() < 0.8 or chance.random() < 0.1:
            add("BYMONTH", chance.choice([several(range(1, 13), 4), "3,6,9,12", "1,7"]))
        draw = chance.random()
        if draw < 0.3:
            add("BYMONTHDAY", several([*range(1, 29), *range(-28, 0), 31, 30]))
        elif draw < 0.5:
            add("BYDAY", several([f"{place}{day}" for place in (1, 2, 3, 4, 5, -1, -2) for day in DAYS]))
        elif draw < 0.7:
            add("BYDAY", chance.choice(["MO,TU,WE,TH,FR", "MO,TU,WE,TH,FR,SA,SU", chance.choice(DAYS), "SA,SU"]))
            add("BYSETPOS", several([1, 2, 3, 5, -1, -2, -3], 2))
        elif draw < 0.8:
            add("BYDAY", chance.choice(DAYS))
            first = chance.choice([1, 8, 15, 22])
            add("BYMONTHDAY", ",".join(str(day) for day in range(first, first + 7)))
        elif draw < 0.85:
            add("BYDAY", several(DAYS))
        elif draw < 0.9:
            add("BYMONTHDAY", chance.choice(["28,29,30", "28,29,30,31", "-31,-30,-29,-28"]))
            add("BYSETPOS", chance.choice([1, -1]))
    if chance.random() < 0.25:
        add("BYHOUR", several(range(24)))
    if chance.random() < 0.15:
        add("BYMINUTE", several(range(60), 2))
    if chance.random() < 0.2:
        until = now + timedelta(days=chance.randint(1, 900), minutes=chance.randrange(1440))
        add("UNTIL", until.strftime("%Y%m%dT%H%M00") + chance.choice(["", "Z"]))
    if chance.random() < 0.05:
        invalid = chance.choice(INVALID)
        parts = [part for part in parts if part.split("=")[0] != invalid.split("=")[0]] + [invalid]
    first, *rest = parts
    chance.shuffle(rest)
    return ";".join([first, *rest])
