"""Random lines of cron, with croniter."""
import random
from clock import random_now
from device import Device, Refused

COUNT = 6  # compared dates
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

PACKAGES = ["croniter"]

def batch(binary, seed, size, results):
    from croniter import croniter
    chance = random.Random(seed)
    with Device(binary, random_now(chance)) as device:
        for _ in range(size):
            line = text(chance)
            try:
                found = device.when(line, COUNT)["next"]
            except Refused:
                results.skip("refused")
                continue
            try:
                oracle = croniter(line, device.now)
                expected = [oracle.get_next(type(device.now)) for _ in range(COUNT)]
            except ValueError as reason:
                expected = f"refused: {reason}"
            results.compare("lines", f"{line} at {device.now:%Y-%m-%dT%H:%M}", found, "croniter", expected)

def text(chance):
    if chance.random() < 0.03:
        return chance.choice(["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"])
    minute = field(chance, 0, 59, chance.choice([1, 1, 1, 2, 3]))
    hour = field(chance, 0, 23, chance.choice([1, 1, 2, 3]))
    days = months = weekdays = "*"
    draw = chance.random()
    if draw < 0.4:
        # Days that only some months have are mostly refused.
        days = field(chance, 1, 28 if chance.random() < 0.7 else 31, chance.choice([1, 1, 2, 3]))
    elif draw < 0.8:
        weekdays = named(chance, field(chance, 0, 7, chance.choice([1, 2, 3])), WEEKDAYS)
    if chance.random() < 0.3:
        months = named(chance, field(chance, 1, 12, chance.choice([1, 2, 3])), [None, *MONTHS])
    line = " ".join([minute, hour, days, months, weekdays])
    if chance.random() < 0.05:
        # A text that is not valid, most of the time.
        place = chance.randrange(len(line))
        line = line[:place] + chance.choice("9-/,*x") + line[place + 1:]
    return line.upper() if chance.random() < 0.05 else line

def field(chance, least, most, length):
    return ",".join(element(chance, least, most) for _ in range(length))

def element(chance, least, most):
    # croniter reads `5-5` as all values.
    first = chance.randint(least, most - 1)
    last = chance.randint(first + 1, most)
    step = chance.randint(1, max(1, (most - least) // 2))
    ranges = [f"{first}-{last}", f"*/{step}", f"{first}-{last}/{step}", "*"]
    return chance.choice([str(chance.randint(least, most))] * 6 + [f"{last:02}", *ranges])

def named(chance, text, names):
    """Replaces the number of a text that is a single one by its name."""
    return names[int(text)] if text.isdecimal() and int(text) < len(names) and chance.random() < 0.5 else text
