"""The commands of the power-loss simulation: belfry, git and an editor, one after the other on one store."""
import json, sys
from pathlib import Path

CHECKED_AT = "2026-11-23T12:00:00.000Z"
EVENTS = 20
# An editor that flushes what it writes, because what it loses is no promise of belfry's. Its temporary file is where
# `git status` does not see it.
EDITOR = """
import os, sys
path, other, old, new = sys.argv[1:]
folder = os.open(os.path.dirname(path), os.O_RDONLY)
with open(path) as file:
    text = file.read()
with open(other, "w") as file:
    file.write(text.replace(old, new))
    file.flush()
    os.fsync(file.fileno())
os.rename(other, path)
os.fsync(folder)
"""

def prepare(device):
    """Creates the store, which is on the disk before the scenario begins."""
    # On the free tier, the write after an early loss would be refused.
    device.must("tier", "plus", now=at("07:59:00"))
    device.must("add", "Rent", "--daily", "--at", "09:10", "--persistent", now=at("08:00:00"))
    device.must("add", "Pills", "--daily", "--at", "20:00", "--note", "With water", now=at("08:00:01"))
    device.must("tick", now=at("08:00:02"))

def steps(device):
    """Returns the commands as (name, kind, argv, environment). Each is prepared when the one before it has ended."""
    def belfry(time, *words):
        return " ".join(words[:3]), "belfry", [device.belfry, *words], {"BELFRY_NOW": at(time)}
    def git(*words):
        dates = {"GIT_AUTHOR_DATE": "2026-11-23T10:00:00Z", "GIT_COMMITTER_DATE": "2026-11-23T10:00:00Z"}
        return " ".join(("git", *words)), "git", ["git", *words], dates
    yield belfry("09:00:00", "tier", "premium")
    yield belfry("09:01:00", "add", "Books", "--monthly", "last", "--at", "17:00")
    yield belfry("09:02:00", "edit", "Rent", "--note", "Landlord, by transfer. " * 40)
    yield belfry("09:03:00", "skip", "--yes", "Pills")
    yield belfry("09:10:30", "tick")
    yield belfry("09:11:00", "snooze", "Rent", "5m")
    yield belfry("09:16:30", "tick")
    yield belfry("09:17:00", "stop", "Rent")
    yield git("commit", "-q", "--allow-empty", "-m", "Commit by git")
    yield belfry("09:18:00", "done", "Rent")
    yield belfry("09:20:00", "import", "--format", "ical", calendar(device))
    yield git("gc", "-q")
    yield belfry("09:21:00", "delete", "--yes", "Books")
    yield belfry("09:22:00", "settings", "set", "snooze", "10m")
    yield belfry("09:23:00", "in", "1h", "Tea")
    files = [record(device, "Pills"), str(device.store / ".git/edited")]
    yield "an editor", "hand", [sys.executable, "-c", EDITOR, *files, "With water", "With milk"], {}
    yield git("commit", "-q", "-a", "-m", "Edit by hand")
    yield belfry("09:24:00", "edit", "Pills", "--title", "Pills and vitamins")
    yield belfry("09:25:00", "undo")
    yield belfry("09:26:00", "add", "Bins", "--weekly", "tue", "--at", "19:00")

def at(time): return f"2026-11-23T{time}.000Z"

def record(device, title):
    """Returns the path of an alarm's record."""
    paths = Path(device.store, "alarms").iterdir()
    return next(str(path) for path in paths if json.loads(path.read_text())["title"] == title)

def calendar(device):
    """Returns the path of a calendar file with future events."""
    alarm = "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT15M\r\nEND:VALARM\r\n"
    events = [f"BEGIN:VEVENT\r\nUID:{number}@example.com\r\nDTSTART:202612{number + 1:02}T100000\r\n"
              f"SUMMARY:Event {number}\r\n{alarm}END:VEVENT\r\n" for number in range(EVENTS)]
    path = device.home / "calendar.ics"
    path.write_text(f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//example//EN\r\n{''.join(events)}END:VCALENDAR\r\n")
    return str(path)
