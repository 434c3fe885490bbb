"""A store after years of use: the commits and the log of one person."""
import json, os
from collections import namedtuple
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import Path
from string import Template

from options import BASE, SMALL, YEARS, chance
from sandbox import Failure, belfry, document, git, instant, minute, output, progress, read, run, text, work, write
from stores import DAYS, alarm, import_commits, new_id

# Belfry itself performs the commands of the last days before BASE.
LIVED = 20
RANG = timedelta(seconds=2)  # after the due time
UNANSWERED = timedelta(minutes=31)  # the same: it rings for half an hour, then it is missed
REMEMBERED = timedelta(days=400)  # the time for which belfry's ledger keeps rings of a device
KEPT, KEPT_TIME = 4, timedelta(days=7)  # an alarm keeps this number of settled occurrences, and all of that time
VERBS = {"fired": "tick", "missed": "tick", "done": "done", "skipped": "skip", "snoozed": "snooze", "stopped": "stop"}

Habit = namedtuple("Habit", "identifier title record times rings")
Event = namedtuple("Event", "moment action habit occurrence")
# The form in which belfry writes an action: the commit message and the log entry, with placeholders for variable
# parts, the new state of the occurrence (None if the alarm's record does not change), the stamps on which the state is
# based (None for an answer), and the length of its snooze.
Shape = namedtuple("Shape", "message entry state basis pause")
STAMPED = len("2026-11-20T20:00:00.000Z")  # the time in a stamp, before the counter and the device

def rhythm(number):
    """Returns the schedule of a person's alarm by its number, as `add` accepts it, with its times and days.

    Two ring daily, two twice daily, ten weekly, ten monthly and six once a year: about eight rings a day. Each has
    distinct minutes, so that each firing is a separate commit.
    """
    hour, minutes, day, month = 6 + number % 12, 2 * number, 1 + number % 28, 1 + number % 12
    times = [f"{each:02}:{minutes:02}" for each in ([hour, hour + 9] if number in (2, 3) else [hour])]
    days = {number % 7, number * 2 % 7} if number in (4, 5) else {number % 7}
    if number < 4:
        words, rings = ["--daily"], lambda date: True
    elif number < 14:
        words, rings = ["--weekly", ",".join(DAYS[each] for each in sorted(days))], lambda date: date.weekday() in days
    elif number < 24:
        words, rings = ["--monthly", str(day)], lambda date: date.day == day
    else:
        words, rings = ["--annual", f"{month:02}-{day:02}"], lambda date: (date.month, date.day) == (month, day)
    return [*words, "--at", ",".join(times)], times, rings

def add_habits(store, moment):
    habits = []
    for number in range(SMALL.alarms):
        words, times, rings = rhythm(number)
        add = belfry(store, "add", f"Alarm number {number}", *words, "--json")
        identifier = json.loads(output(add, moment + timedelta(minutes=number)))["id"]
        if not habits:
            run(belfry(store, "tier", "plus"), moment)
        record = read(alarm(store, identifier))
        habits.append(Habit(identifier, record["title"], record, times, rings))
    return habits

def events_of(day, habits):
    """Returns the events of a day, in order."""
    events = []
    for habit in habits:
        for at in habit.times if habit.rings(day) else []:
            due = datetime.fromisoformat(f"{day:%Y-%m-%d}T{at}")
            events += [Event(moment, action, habit, minute(due)) for moment, action in life_of(due, habit)]
    return sorted(events, key=lambda event: event.moment)

def life_of(due, habit):
    """Returns the events of an occurrence: usually it rings and is done."""
    rang = due + RANG
    soon = rang + timedelta(seconds=chance.randrange(20, 300))
    later = soon + timedelta(seconds=chance.randrange(600, 1200))
    luck = chance.random()
    if luck < 0.03:
        return [(rang, "fired"), (soon, "snoozed"), (soon + timedelta(minutes=9) + RANG, "fired"), (later, "done")]
    if luck < 0.06:
        return [(rang, "fired"), (soon, "stopped"), (later, "done")]
    if luck < 0.08:
        return [(rang, "fired"), (soon, "skipped")]
    # A missed occurrence is shown until a later one is done, and at the end none must be shown.
    if luck < 0.10 and habit.record["schedule"]["kind"] == "daily" and due < BASE - timedelta(days=3):
        return [(rang, "fired"), (due + UNANSWERED, "missed")]
    return [(rang, "fired"), (soon, "done")]

def learn_shapes(store):
    """Runs each action of belfry once, in a separate store, and returns the shapes by action."""
    shapes = {}
    add = belfry(store, "add", "Learned", "--daily", "--at", "21:00", "--json")
    identifier = json.loads(output(add, BASE))["id"]
    run(belfry(store, "tier", "plus"), BASE)
    for day, action in enumerate(["done", "skipped", "missed", "snoozed", "stopped"]):
        due = BASE.replace(hour=21) + timedelta(days=day)
        answered = due + (UNANSWERED if action == "missed" else timedelta(minutes=1))
        words = {"tick": [], "skip": [identifier, "--yes"]}.get(VERBS[action], [identifier])
        run(belfry(store, "tick"), due + RANG)
        shapes["fired"] = learn_shape(store, identifier, due)
        run(belfry(store, VERBS[action], *words), answered)
        shapes[action] = learn_shape(store, identifier, due)
    return shapes

def learn_shape(store, identifier, due):
    """Returns the shape of the latest commit, which belongs to this occurrence."""
    changed = output(git(store, "show", "--format=", "--name-only", "HEAD")).split("\n")
    path = os.path.join(store, next(path for path in changed if path.startswith("log/")))
    entry, record, occurrence = read(path), read(alarm(store, identifier)), minute(due)
    state = record["progress"]["occurrences"][occurrence] if f"alarms/{identifier}.json" in changed else None
    names = {"at": entry["at"], "occurrence": occurrence, "spoken": occurrence.replace("T", " "), "id": entry["id"]}
    names |= {"alarm": identifier, "title": record["title"], "device": entry["device"]}
    pause = timedelta()
    if state and "until" in state:
        names["until"] = state["until"]
        pause = datetime.fromisoformat(state["until"][:-1]) - datetime.fromisoformat(state["since"][:-1])

    def named(words):
        # The longest first: an instant starts with the text of the occurrence of that minute.
        for name, value in sorted(names.items(), key=lambda item: -len(item[1])):
            words = words.replace(value, f"${{{name}}}")
        return Template(words + "\n")

    basis = record["progress"]["bases"][state["basis"]] if state and "basis" in state else None
    return Shape(named(output(git(store, "log", "-1", "--format=%B"))), named(text(path)), state, basis, pause)

def happened(event, shape, device):
    """Returns the commit of an event, as `import_commits` accepts it."""
    moment, _, habit, occurrence = event
    identifier = new_id()
    names = {"at": instant(moment), "until": instant(moment + shape.pause), "id": identifier, "device": device}
    names |= {"occurrence": occurrence, "spoken": occurrence.replace("T", " ")}
    names |= {"alarm": habit.identifier, "title": habit.title}
    files = {f"log/{moment:%Y/%m/%d/%H%M%S}000-{identifier}.json": shape.entry.substitute(names)}
    if shape.state:
        settle(habit.record, moment, occurrence, shape)
        files[f"alarms/{habit.identifier}.json"] = document(habit.record)
    return moment, shape.message.substitute(names), files

def settle(record, moment, occurrence, shape):
    """Records a response in an alarm, and raises the floor over old settled occurrences, as belfry does."""
    progress = record["progress"]
    states = progress.setdefault("occurrences", {})
    state = shape.state | {"since": instant(moment)}
    if "stamp" in state:
        state["stamp"] = moment.isoformat(timespec="milliseconds") + "Z" + state["stamp"][STAMPED:]
    if "until" in state:
        state["until"] = instant(moment + shape.pause)
    if "snoozes" in states.get(occurrence, {}):
        state["snoozes"] = states[occurrence]["snoozes"]
    states[occurrence] = state
    recent = instant(moment - KEPT_TIME)
    settled = takewhile(lambda each: states[each]["state"] in ("done", "missed", "skipped"), sorted(states))
    for each in list(settled)[:-KEPT]:
        if max(f"{each}:00Z", states[each]["since"]) >= recent:
            break
        progress["floor"] = each
        del states[each]
    if shape.basis:
        # Nobody edits the alarm, so that all its outcomes have the same basis.
        progress["bases"] = [{name: record["stamps"].get(name, stamp) for name, stamp in shape.basis.items()}]
        state["basis"] = 0
    if not any("basis" in each for each in states.values()):
        progress.pop("bases", None)

def write_ledger(store, events):
    """Writes the delivery ledger of a device that was online all the time."""
    rung = {}
    for moment, action, habit, occurrence in events:
        if action == "fired" and moment >= BASE - REMEMBERED:
            firing = {"kind": "firing", "alarm": habit.identifier, "occurrence": occurrence}
            rung[habit.identifier, occurrence] = firing | {"at": instant(moment), "due": instant(moment - RANG)}
    write(f"{store}/.git/belfry/ledger.json", [rung[key] for key in sorted(rung)])

def live(store, events):
    """Runs belfry for each event, and returns the durations by verb."""
    times = {}
    os.sync()
    for moment, action, habit, _ in events:
        verb = VERBS[action]
        words = {"tick": [], "skip": [habit.identifier, "--yes"]}.get(verb, [habit.identifier])
        command = belfry(store, verb, *words)
        times.setdefault(verb, []).append(run(command, moment))
    return times

def check_use(store):
    """Checks that no alarm is due or missed, and that no problem exists, in the store of the idle tick."""
    # Without a tick, every command warns that nothing rings.
    report = json.loads(output(belfry(store, "tick", "--json"), BASE))
    listed = json.loads(output(belfry(store, "list", "--json"), BASE))
    words = text(work("stderr")) + output(git(store, "status", "--porcelain"))
    happened = {name: items for name, items in report.items() if isinstance(items, list) and items}
    shown = output(belfry(store, "list"), BASE)
    if len(listed) != SMALL.alarms or words or happened or "RINGING" in shown or "Missed" in shown:
        raise Failure(f"the store with years of use is not in the expected state: {happened} {words[:300]}\n{shown}")

def build_used_store(store, at_stage=lambda stage: None):
    """Builds a store after years of use. Returns the identifiers of its alarms, and the times of belfry's commands.

    Running belfry for all of them would take hours: git imports and packs the commits as belfry would have written
    them, and belfry runs the remaining days. Calls `at_stage` with the name of each stage that has ended.
    """
    start = BASE.replace(year=BASE.year - YEARS)
    habits = add_habits(store, start)
    days = [start + timedelta(days=number) for number in range(1, (BASE - start).days + 1)]
    past = [event for day in days[:-LIVED] for event in events_of(day, habits)]
    lived = [event for day in days[-LIVED:] for event in events_of(day, habits)]
    shapes, device = learn_shapes(store + "-shapes"), next(Path(store, "devices").iterdir()).stem
    import_commits(store, (happened(event, shapes[event.action], device) for event in past))
    run(git(store, "reset", "-q", "--hard"))
    # Belfry's own records of the files and the branch, in any version. Without them, belfry trusts HEAD.
    for name in ("alarm-index", "cache.db", "seen"):
        Path(store, ".git/belfry", name).unlink(missing_ok=True)
    write_ledger(store, past)
    at_stage("imported by git fast-import")
    run(git(store, "repack", "-adfq"))
    at_stage("packed by git repack -adf")
    run(belfry(store, "list"), lived[0].moment)
    progress(f"belfry runs the last {LIVED} days")
    times = live(store, lived)
    at_stage(f"and {len(lived)} commands of belfry")
    check_use(store)
    return [habit.identifier for habit in habits], times
