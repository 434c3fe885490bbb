"""The phrases of the tests of the parser, with recurrent and dateparser."""
import re, warnings
from datetime import datetime
from pathlib import Path
from device import Device

PHRASES = Path(__file__).resolve().parents[1] / "BelfryInputTests/Phrases/accepted.txt"
NOW = datetime(2026, 11, 23, 10, 0)  # that of the file
COUNT = 3
# Texts of other programs, which neither tool reads.
FOREIGN = re.compile(r"[*@~]|\.\.|^(\S+ ){4}\S+$(?<=[\d*])|^[\d*/,-]+ [\d*/,-]+ [\d*/,-]+ ")
# recurrent reads a time only after `at`.
BARE_TIME = re.compile(
    r"(?<!at )(?<!from )(?<!to )(?<![\d.:/-])\b(\d{1,2}(?::\d\d)? ?[ap]m|\d{1,2}:\d\d)\b(?! [a-z]*\.)")

PACKAGES = ["dateparser", "recurrent", "dateutil"]

def batch(binary, seed, size, results):
    warnings.simplefilter("ignore")  # of dateparser about its own dependencies
    lines = [line.split(" | ") for line in PHRASES.read_text().splitlines() if not line.startswith("#")]
    with Device(binary, NOW) as device:
        for phrase, schedule, _ in lines:
            if FOREIGN.search(phrase):
                continue
            found = device.when(phrase, COUNT)["next"]
            is_once = schedule.startswith("once")
            if expected := recurrent_dates(phrase, is_once):
                results.compare("phrases with recurrent", phrase, found, "recurrent", expected)
            if is_once and (expected := dateparser_dates(phrase)):
                results.compare("phrases with dateparser", phrase, found, "dateparser", expected)

def recurrent_dates(phrase, is_once):
    """Returns the next dates; nothing if recurrent does not understand the phrase, or only a date in a rule."""
    from dateutil.rrule import rrulestr
    from recurrent import RecurringEvent
    try:
        event = RecurringEvent(now_date=NOW).parse(BARE_TIME.sub(r"at \1", phrase))
    except Exception:  # recurrent fails in many ways
        return []
    if isinstance(event, datetime):
        return [event] if is_once else []
    if not event:
        return []
    try:
        rule, dates = rrulestr(event, dtstart=NOW), []
    except ValueError as reason:
        return f"an invalid rule: {reason}"
    while len(dates) < COUNT and (date := rule.after(dates[-1] if dates else NOW)):
        dates.append(date)
    return dates or "no date"

def dateparser_dates(phrase):
    import dateparser
    date = dateparser.parse(
        phrase, languages=["en"], settings={"RELATIVE_BASE": NOW, "PREFER_DATES_FROM": "future"})
    return [date.replace(second=0, microsecond=0)] if date else []
