"""The stores of a run, made by belfry itself, and the same data for the other tools."""
import base64, json, os
from collections import namedtuple
from datetime import datetime, timedelta
from functools import cache
from itertools import chain
from pathlib import Path

from cells import notes
from options import BASE, FIRST, chance
from sandbox import (
    GIT, Failure, belfry, feed, git, instant, minute, output, progress, read, run, task, text, work, write)

Site = namedtuple("Site", "size store ids repository")
Pattern = namedtuple("Pattern", "store id entry")  # a small store, one of its alarms, and a log entry
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

# --- Belfry's stores ---

def alarm(store, identifier): return f"{store}/alarms/{identifier}.json"
def new_id(): return base64.b32encode(chance.randbytes(16)).decode().rstrip("=").lower()
def task_id(number): return f"00000000-0000-4000-8000-{number:012}"

def schedule(number, first=FIRST):
    """Returns the schedule of an alarm by its number, and the same rule in remind's syntax."""
    moment = first + timedelta(minutes=number * 7 % 1080)
    at = f"{moment:%H:%M}"
    days = [DAYS[number % 5], DAYS[number % 5 + 2]]
    day, month = 1 + number % 28, number % 12
    rule, words = [
        ({"kind": "weekly", "days": days}, " ".join(days).title()),
        ({"kind": "monthly", "days": [day]}, str(day)),
        ({"kind": "daily"}, ""),
        ({"kind": "annual", "date": f"{month + 1:02}-{day:02}"}, f"{day} {MONTHS[month]}"),
    ][number % 4]
    rule |= {"interval": 1, "start": f"{moment:%Y-%m-%d}", "times": [at]}
    return rule, f"REM {words} AT {at} MSG Alarm number {number}\n"

def first_alarm(store, clock=BASE, at="09:00"):
    add = belfry(store, "add", "Alarm 0", "--weekly", "mon,fri", "--at", at, "--json")
    return json.loads(output(add, clock))["id"]

@cache
def pattern():
    """Creates a small store whose records serve as patterns."""
    store, due = work("pattern"), BASE + timedelta(minutes=1)
    identifier = first_alarm(store)
    bell = json.loads(output(belfry(store, "add", "Bell", "--once", minute(due), "--json"), BASE))
    run(belfry(store, "done", bell["id"]), due + timedelta(seconds=5))
    entries = [read(path) for path in Path(store).glob("log/*/*/*/*.json")]
    documented = {"action": "done", "device": new_id(), "format": 1}
    return Pattern(store, identifier, next((entry for entry in entries if entry.get("action") == "done"), documented))

def fill_store(store, size, clock=BASE, first=FIRST):
    """Creates a store whose alarms ring from `first` on, and returns their identifiers."""
    identifiers = [first_alarm(store, clock, f"{first + timedelta(hours=8):%H:%M}")]
    # The free tier allows two alarms.
    run(belfry(store, "tier", "plus"), clock)
    identifiers += copy_alarm(store, identifiers[0], size.alarms - 1, first)
    check_store(store, size, clock)
    return identifiers

def copy_alarm(store, identifier, count, first=FIRST):
    """Adds copies of an alarm with other schedules, in one commit of git, and returns their identifiers."""
    template, identifiers = read(alarm(store, identifier)), [new_id() for _ in range(count)]
    for number, each in enumerate(identifiers, 1):
        changed = {"id": each, "title": f"Alarm number {number}", "schedule": schedule(number, first)[0]}
        write(alarm(store, each), template | changed)
    commit(store, f"{count} alarms")
    run(git(store, "gc", "-q"))
    return identifiers

def check_store(store, size, clock=BASE):
    """Checks that a store has all its alarms, and that none is due."""
    run(belfry(store, "list"), clock)
    listed = len(json.loads(output(belfry(store, "list", "--json"), clock)))
    if listed != size.alarms:
        raise Failure(f"belfry lists {listed} of {size.alarms} alarms: {text(work('stderr'))[:300]}")
    if json.loads(output(belfry(store, "tick", "--json"), clock))["fired"]:
        raise Failure("alarms are due in a store that must have none")

def write_entry(store, moment, identifier, title):
    """Writes a log entry as belfry would, and returns its path."""
    entry = pattern().entry | {"alarm": identifier, "title": title, "id": new_id()}
    path = f"{store}/log/{moment:%Y/%m/%d/%H%M%S}000-{entry['id']}.json"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write(path, entry | {"at": instant(moment), "occurrence": minute(moment)})
    return path

def commit(repository, subject):
    run(git(repository, "add", "-A"))
    # Without the hooks that notify belfry, because building is not measured.
    run(git(repository, "-c", "core.hooksPath=/dev/null", "commit", "-qm", subject))

def import_commits(repository, commits):
    """Adds commits to the branch without a work tree. Each has a time, a message, and files by path."""
    branch = output(git(repository, "symbolic-ref", "HEAD"))
    person = output(git(repository, "log", "-1", "--format=%an <%ae>"))
    start = f"reset {branch}\nfrom {branch}^0\n\n".encode()
    parts = chain([start], (imported(branch, person, *each) for each in commits))
    feed(git(repository, "fast-import", "--quiet"), parts)

def imported(branch, person, moment, message, files):
    """Returns a commit in the syntax of git fast-import."""
    seconds = (moment - datetime(1970, 1, 1)) // timedelta(seconds=1)
    parts = [f"commit {branch}\ncommitter {person} {seconds} +0000\n".encode(), data(message)]
    for path, content in files.items():
        parts += [f"M 100644 inline {path}\n".encode(), data(content)]
    return b"".join(parts)

def data(words):
    content = words.encode()
    return b"data %d\n%b\n" % (len(content), content)

def count_commits(repository): return int(output(git(repository, "rev-list", "--count", "HEAD")))

def count_objects(repository):
    lines = output(git(repository, "count-objects", "-v")).split("\n")
    return {name: int(count) for name, count in (line.split(": ") for line in lines)}

# --- The same data for the other tools ---

@cache
def tasks_of(size):
    """Returns a due task per alarm, or None if taskwarrior does not accept them."""
    data = work(f"tasks-{size.alarms}")
    os.makedirs(data)
    tasks = []
    for number in range(size.alarms):
        due = BASE + timedelta(days=1 + number % 28, minutes=number * 7 % 1080)
        times = {"entry": "20261119T000000Z", "due": due.strftime("%Y%m%dT%H%M%SZ")}
        names = {"uuid": task_id(number), "description": f"Alarm number {number}"}
        tasks.append({"status": "pending"} | names | times)
    write(data + ".json", tasks)
    try:
        run(task(data, "import", data + ".json"), limit=180)
        run(task(data, "list"))
    except Failure as failure:
        notes.append(f"taskwarrior is not measured at {size.label}: {failure}.")
        return None
    return data

@cache
def reminders_of(size):
    path = work(f"reminders-{size.alarms}")
    Path(path).write_text("".join(schedule(number)[1] for number in range(size.alarms)))
    return path

@cache
def site_of(size):
    progress(f"building {size.label}")
    store = work(f"store-{size.alarms}")
    identifiers = fill_store(store, size)
    return Site(size, store, identifiers, clone_for_git(store))

def clone_for_git(store):
    """Clones a store for plain git: the same files and history, without the store's hooks and merge driver."""
    run([GIT, "clone", "-q", "--no-hardlinks", "--origin", "store", store, store + "-git"])
    return store + "-git"
