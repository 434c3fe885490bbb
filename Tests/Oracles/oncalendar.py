"""Random texts of OnCalendar, with systemd-analyze."""
import os, random, re, subprocess
from datetime import datetime
from zoneinfo import ZoneInfo
from clock import random_now
from device import Device, Refused

COUNT = 6  # compared dates
WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"]

PACKAGES = []
PROGRAM = "systemd-analyze"

def batch(binary, seed, size, results):
    chance = random.Random(seed)
    accepted = {}
    with Device(binary, random_now(chance)) as device:
        for _ in range(size):
            event = text(chance)
            try:
                accepted[event] = device.when(event, COUNT)
            except Refused:
                results.skip("refused")
        for event, expected in oracle(list(accepted), device.now).items():
            found, zone = accepted[event]["next"], accepted[event].get("zone")
            if zone and isinstance(expected, list):
                expected = [date.replace(tzinfo=ZoneInfo("UTC")).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
                            for date in expected]
            results.compare("texts", f"{event} at {device.now:%Y-%m-%dT%H:%M}", found, PROGRAM, expected)

def oracle(events, now):
    """Returns the next dates of each event, in UTC, or 'refused'."""
    if not events:
        return {}
    finished = subprocess.run(
        [PROGRAM, "calendar", f"--iterations={COUNT}", f"--base-time={now:%Y-%m-%d %H:%M:00}", *events],
        env=os.environ | {"TZ": "UTC", "LC_ALL": "C.UTF-8"}, capture_output=True, text=True, timeout=60)
    failed = set(re.findall(r"calendar (?:specification|expression) '([^']*)'", finished.stderr))
    found = {event: "refused" for event in events if event in failed}
    blocks = finished.stdout.split("Normalized form:")[1:]
    for event, block in zip([event for event in events if event not in failed], blocks, strict=True):
        found[event] = [datetime.strptime(date, "%Y-%m-%d %H:%M:%S") for date in re.findall(
            r"(?:Next elapse|Iter. #\d+): \w+ (\d+-\d\d-\d\d \d\d:\d\d:\d\d) UTC", block)]
    return found

def text(chance):
    if chance.random() < 0.02:
        return "minutely"
    date, weekdays = random_date(chance)
    time = random_time(chance)
    # Either may be left out. A text without a pattern is no event in Belfry, but a phrase.
    if date == "*-*-*" and chance.random() < 0.4 and re.search(r"[*/]|\.\.", weekdays + time):
        date = ""
    elif time == "00:00" and "*" in date and chance.random() < 0.5:
        time = ""
    parts = [weekdays, date, time]
    if chance.random() < 0.1:
        parts.append(chance.choice(ZONES))
    return " ".join(part for part in parts if part)

def random_date(chance):
    """Returns the date and the weekdays."""
    month = chance.choice(["*", "*", "*", component(chance, 1, 12, 2)])
    draw = chance.random()
    if draw < 0.3:
        return f"*-{month}-*", random_weekdays(chance)
    if draw < 0.5:
        # A week of each month, where Belfry has a weekday of the month.
        first = chance.choice([1, 8, 15, 22])
        return f"*-{month}-{first:02}..{first + 6:02}", random_weekdays(chance) or "Mon"
    if draw < 0.6:
        return f"*-{month}~{chance.choice(['01..07', '07/1', '7/1'])}", random_weekdays(chance) or "Sun"
    if draw < 0.75:
        return f"*-{month}~{days_from_end(chance)}", ""
    if draw < 0.8:
        return f"{chance.randint(2025, 2040)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}", ""
    if draw < 0.85:
        return f"{component(chance, 1, 12, 1)}-{component(chance, 1, 28, 2)}", ""
    return f"*-{month}-{component(chance, 1, chance.choice([28, 31]), 3)}", ""

def days_from_end(chance):
    """Returns days that are counted from the end of the month. In a list, systemd refuses most of those over 22. A step
    leads towards the end of the month."""
    first = chance.randint(2, 28)
    several = ",".join(str(chance.randint(1, 22)) for _ in range(chance.randint(2, 3)))
    kinds = [f"{first:02}"] * 4 + [several, f"01..{first:02}", f"{first}/{chance.randint(1, first - 1)}"]
    return chance.choice(kinds)

def random_weekdays(chance):
    first = chance.randrange(7)
    last = chance.randrange(first, 7)
    several = ",".join(chance.sample(WEEKDAYS, chance.randint(2, 4)))
    return chance.choice(["", WEEKDAYS[first], several, f"{WEEKDAYS[first]}..{WEEKDAYS[last]}",
                          f"{WEEKDAYS[first]}..{WEEKDAYS[last]},{chance.choice(WEEKDAYS)}"])

def random_time(chance):
    if chance.random() < 0.2:
        return "00:00"
    hour, minute = component(chance, 0, 23, 2), component(chance, 0, 59, 2)
    return f"{hour}:{minute}" + chance.choice(["", "", ":00", ":0"])

def component(chance, least, most, length):
    # `*` is no element of a list.
    if chance.random() < 0.1:
        return "*"
    return ",".join(element(chance, least, most) for _ in range(chance.randint(1, length)))

def element(chance, least, most):
    first = chance.randint(least, most - 1)
    last = chance.randint(first + 1, most)
    step = chance.randint(1, last - first)  # a step leads to another value
    kinds = [f"{first:02}"] * 6 + [str(last), f"{first}..{last}", f"{first}/{step}", f"{first}..{last}/{step}"]
    return chance.choice(kinds)
