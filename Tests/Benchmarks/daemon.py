"""The parts `daemon` and `lateness`: an idle daemon, alarms that become due, and hand edits."""
import math, os, statistics, time
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from cells import figure, notes, percentile, target
from hooks import make_hooks
from options import LARGEST, QUICK, chance
from proc import cpu, has_children, memory, wakes
from remotes import OURS
from sandbox import LIMIT, REMIND, Failure, belfry, document, minute, progress, read, run, running, text, work, write
from stores import alarm, fill_store, new_id, schedule

# The idle time of the daemon in minutes, the number of edits of an alarm while it runs, and then, minute by minute,
# the number of alarms that are due, and of further alarms that are due because of an edit in the last seconds.
IDLE, EDITS = (1, 5) if QUICK else (10, 10)
IDLES = f"{IDLE} idle minute{'s' * (IDLE != 1)}"
FIRINGS = [(1, 0), (200, 2)] if QUICK else [(10, 0), (1000, 0)] * 3 + [(0, 4)]
SNOOZES = 5 if QUICK else 1000  # snoozes of one alarm, each of which ends alone
# The daemon uses the real clock, because a simulated clock's offset during the start is not known precisely enough.
# Therefore all alarms except the measured ones ring hours from now, for the next 18 hours.
HOURS_AHEAD = 3
MAKING = 10  # seconds for the creation of alarms; if it takes longer, they are due a minute later
EDITING = 20  # seconds before a minute in which alarms are edited to be due at that minute
PATIENCE = 20  # seconds in which a due alarm must ring
SETTLED = 2  # seconds without any work after which the daemon counts as idle
RELEASED = 12  # seconds after which it has returned the memory that its start or many deliveries needed
EPOCH = datetime(1970, 1, 1)

class Daemon:
    """A running daemon, observed from outside."""

    def __init__(self, pid, said):
        self.pid, self.said = pid, said
        self.wait(self.find_timer, 0.02, "set its timer")

    def wait(self, holds, pause, what):
        until = time.monotonic() + LIMIT
        while True:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                raise Failure("the daemon has exited: " + text(self.said).split("\n")[-1])
            if holds():
                return
            if time.monotonic() > until:
                raise Failure(f"the daemon does not {what} within {LIMIT} s")
            time.sleep(pause)

    def find_timer(self):
        """Finds the file in which the kernel reports the state of the daemon's timer: the one that notices clock
        changes. The timer is set after all records are read."""
        for path in Path(f"/proc/{self.pid}/fdinfo").iterdir():
            with suppress(FileNotFoundError):  # it may have been closed
                lines = text(path)
                if "clockid: 0\n" in lines and "settime flags: 03\n" in lines:
                    self.timer = path
                    return True
        return False

    def armed(self):
        """Returns the time at which its timer expires."""
        now, lines = time.time(), text(self.timer)
        seconds, nanoseconds = lines.partition("it_value: (")[2].partition(")")[0].split(", ")
        return now + int(seconds) + int(nanoseconds) / 1e9

    def settle(self):
        """Waits until the daemon and its commands have finished all work."""
        used, since = None, 0

        def rests():
            nonlocal used, since
            now = cpu(self.pid)
            if now != used or self.armed() < time.time() + 5 or has_children(self.pid):
                used, since = now, time.monotonic()
            return time.monotonic() > since + SETTLED
        self.wait(rests, 0.1, "become idle")

    def edit(self, path, due, latest, in_place):
        """Edits an alarm by hand. Returns the milliseconds until the daemon has set its timer after reading the file
        (first for the command that imports the edit), and until the timer has the new time (or that of the next
        wake-up in any case)."""
        self.settle()
        before, expected = self.armed(), min(due, latest)
        start = rewrite(path, due, in_place)
        ends = []
        for holds in (lambda armed: abs(armed - before) > 1, lambda armed: abs(armed - expected) < 1):
            self.wait(lambda: holds(self.armed()), 0.001, "detect a hand edit")
            ends.append((time.perf_counter() - start) * 1000)
        return ends

def rewrite(path, due, in_place):
    """Changes an alarm's due time as an editor would, and returns the time of the change."""
    content = document(read(path) | {"schedule": once(due)})
    if not in_place:
        Path(path + ".new").write_text(content)
    start = time.perf_counter()
    if in_place:
        Path(path).write_text(content)
    else:
        os.replace(path + ".new", path)
    return start

def once(due):
    date, _, at = occurrence(due).partition("T")
    return {"kind": "once", "date": date, "times": [at]}

def occurrence(due): return minute(EPOCH + timedelta(seconds=due))

class Vigil:
    """The measurements of a daemon with a large store, and of a remind that waits for the same alarms."""

    def __init__(self):
        self.store, self.said, self.rung = (work(f"daemon-{name}") for name in ("store", "said", "rung"))
        self.cpu, self.wakes, self.memory, self.delays, self.edits = {}, {}, {}, {}, []
        self.edited = self.edited_rung = 0
        self.failure = None

    def measure(self, hooks, parts):
        progress(f"daemon: building {LARGEST.label}")
        first = EPOCH + timedelta(seconds=time.time() // 60 * 60, hours=HOURS_AHEAD)
        self.ids = fill_store(self.store, LARGEST, None, first)
        self.template = read(alarm(self.store, self.ids[0]))
        reminders = Path(work("daemon-reminders"))
        reminders.write_text("".join(schedule(number, first)[1] for number in range(LARGEST.alarms)))
        variables = [f"XDG_CONFIG_HOME={hooks}", f"BENCHMARK_RUNG={self.rung}"]
        watch = ["/usr/bin/env", *variables, *belfry(self.store, "daemon", "--no-sync")]
        remind = [REMIND, "-z1", "-a", str(reminders)]
        with running(remind, self.said + "-remind") as other, running(watch, self.said) as pid:
            self.daemon = Daemon(pid, self.said)
            self.daemon.settle()
            if "daemon" in parts:
                self.memory["belfry daemon, just started"] = memory(pid)
                time.sleep(RELEASED)
                self.rest(pid, other)
                self.edit()
                for number, (count, edits) in enumerate(FIRINGS):
                    self.fire(count, edits, f"daemon: firing {number + 1} of {len(FIRINGS)}")
                self.daemon.settle()
                time.sleep(RELEASED)
                self.memory["belfry daemon, after the firings"] = memory(pid)
            if "lateness" in parts:
                self.snooze()

    def rest(self, pid, other):
        """Measures an idle period."""
        pids = {"belfry daemon": pid, "remind -z1": other}
        if os.waitpid(other, os.WNOHANG)[0]:
            reason = text(self.said + "-remind").split("\n")[-1]
            notes.append("remind -z1 is not measured, because it has exited: " + reason)
            del pids["remind -z1"]
        self.memory |= {f"{name}, loaded": memory(pid) for name, pid in pids.items()}
        before, woken = ({name: count(pid) for name, pid in pids.items()} for count in (cpu, wakes))
        for number in range(IDLE):
            progress(f"daemon: idle minute {number + 1} of {IDLE}")
            time.sleep(60)
        for name, each in pids.items():
            if os.waitpid(each, os.WNOHANG)[0]:
                raise Failure(f"{name} has exited")
        self.cpu = {name: cpu(pid) - before[name] for name, pid in pids.items()}
        self.wakes = {name: wakes(pid) - woken[name] for name, pid in pids.items()}
        self.memory |= {f"{name}, after {IDLES}": memory(pid) for name, pid in pids.items()}
        # The check of all files, which these minutes do not contain.
        before = cpu(pid)
        run(belfry(self.store, "poke"))
        self.daemon.settle()
        self.look = cpu(pid) - before

    def edit(self):
        """Moves an alarm by hand, to a minute or more ahead, and back."""
        path, due = alarm(self.store, self.ids[1]), None
        original, latest = read(path)["schedule"], self.daemon.armed()
        for number in range(EDITS):
            progress(f"daemon: edit {number + 1} of {EDITS}")
            soon = time.time() // 60 * 60 + 120
            due = soon if due != soon else soon + 60
            self.edits.append(self.daemon.edit(path, due, latest, number % 2 == 1))
        self.daemon.settle()
        write(path, read(path) | {"schedule": original})
        self.daemon.settle()

    def fire(self, count, edits, what):
        """Lets alarms become due at a full minute, and others that are edited by hand shortly before."""
        margin = EDITING + 1 if edits else 2
        for _ in range(5):
            progress(what)
            due = math.ceil((time.time() + MAKING + margin) / 60) * 60
            titles = [f"Due at {occurrence(due)}, number {number}" for number in range(count)]
            records = [{"id": new_id(), "title": title, "schedule": once(due)} for title in titles]
            if records:
                OURS.edit(self.store, [self.template | record for record in records], None)
            self.daemon.settle()
            if time.time() < due - margin:
                break
        else:
            raise Failure(f"{count} alarms could not be created in less than a minute")
        numbers = range(self.edited + 2, self.edited + 2 + edits)
        moments = sorted(due - chance.uniform(1, EDITING) for _ in numbers)
        for number, moment in zip(numbers, moments):
            time.sleep(max(0, moment - time.time()))
            rewrite(alarm(self.store, self.ids[number]), due, number % 2 == 1)
        self.edited += edits
        edited = {f"Alarm number {number}" for number in numbers}
        time.sleep(max(0, due + 1 - time.time()))
        rung = self.rung_at(due, len(titles) + len(edited))
        self.edited_rung += len(edited & rung.keys())
        if missing := set(titles) - rung.keys():
            raise Failure(f"{len(missing)} of {count} alarms did not ring within {PATIENCE} s")
        self.delays.setdefault(count, []).extend((rung[title] - due) * 1000 for title in titles)

    def rings(self):
        """Returns the recorded rings: the moment, the title, the occurrence, and the time at which it was due."""
        with suppress(FileNotFoundError):
            return [line.split("\t") for line in text(self.rung).split("\n") if line.count("\t") == 3]
        return []

    def snooze(self):
        """Lets one alarm ring again and again, alone and at moments that are no full minute."""
        due = math.ceil((time.time() + 3) / 60) * 60
        record = {"id": new_id(), "title": "Snoozed", "schedule": once(due)}
        OURS.edit(self.store, [self.template | record], None)
        self.daemon.settle()
        self.rung_at(due, 1)
        delays = self.delays.setdefault(1, [])
        for number in range(SNOOZES):
            progress(f"lateness: snooze {number + 1} of {SNOOZES}")
            known = len(self.rings())
            time.sleep(chance.uniform(0.5, 1))
            run(belfry(self.store, "snooze", record["id"], "1s"))
            until = time.time() + PATIENCE
            while len(self.rings()) == known:
                if time.time() > until:
                    raise Failure(f"a snoozed alarm did not ring within {PATIENCE} s")
                time.sleep(0.05)
            moment, _, _, due = self.rings()[-1]
            delays.append((float(moment) - datetime.fromisoformat(due.replace("Z", "+00:00")).timestamp()) * 1000)
        run(belfry(self.store, "stop", record["id"]))
        self.daemon.settle()

    def rung_at(self, due, count):
        """Returns the ring times of a minute's alarms by title, after the expected number of rings."""
        while True:
            rung = {title: float(moment) for moment, title, when, _ in self.rings() if when == occurrence(due)}
            if len(rung) >= count or time.time() > due + PATIENCE:
                return rung
            time.sleep(0.1)

def measure_daemon(parts):
    """Measures a daemon. Returns None if its hooks cannot be compiled."""
    hooks = make_hooks("the daemon is", "daemon-config")
    if not hooks:
        return None
    vigil = Vigil()
    try:
        vigil.measure(hooks, parts)
    except (Failure, OSError) as failure:  # files in /proc vanish with their process
        vigil.failure = str(failure)
    return vigil

# --- Reporting ---

def print_vigil(vigil):
    if not vigil:
        return
    print(f"\nA daemon over {LARGEST.label} alarms, and remind over as many reminders")
    if vigil.memory:
        print(f"{'':44}" + "".join(f"{column:>10}" for column in ("RSS MB", "PSS MB", "peak MB")))
    for name, values in vigil.memory.items():
        print(f"{name:44}" + "".join(f"{figure(value):>10}" for value in values))
    for name, seconds in vigil.cpu.items():
        print(f"{name + ', CPU s over ' + IDLES:44}{seconds:>10.2f}")
    for name, count in vigil.wakes.items():
        print(f"{name + ', wake-ups in ' + IDLES:44}{count:>10,}")
    rows = [(f"from due to hook start, {count} due", delays) for count, delays in vigil.delays.items() if delays]
    if vigil.edits:
        rows += zip(["from hand edit to read by the daemon", "from hand edit to timer set for it"], zip(*vigil.edits))
    if rows:
        print(f"\n{'':44}" + "".join(f"{column:>10}" for column in ("number", "median ms", "99%", "99.9%", "worst")))
    for name, times in rows:
        values = [statistics.median(times), percentile(times) if len(times) >= 100 else None,
            percentile(times, 0.999) if len(times) >= 1000 else None, max(times)]
        shown = ["–" if value is None else figure(value) for value in values]
        print(f"{name:44}" + "".join(f"{value:>10}" for value in [f"{len(times):,}", *shown]))

def print_vigil_targets(vigil, parts):
    for name, (rss, *_) in vigil.memory.items():
        if name.startswith("belfry"):
            target(f"RSS of {name}", rss, "the limit", 25, " MB")
    if "lateness" in parts:
        one = vigil.delays.get(1)
        target("from due to hook start, 1 due, median", one and statistics.median(one), "the limit", 5)
        target("from due to hook start, 1 due, 99.9%", one and percentile(one, 0.999), "the limit", 20)
    if "daemon" not in parts:
        return
    target(f"CPU of belfry daemon over {IDLES}", vigil.cpu.get("belfry daemon"), "the limit", 0.1, " s")
    target(f"wake-ups of belfry daemon in {IDLES}", vigil.wakes.get("belfry daemon"), "the limit", 0.5, "")
    many = vigil.delays.get(FIRINGS[1][0])
    target(f"from due to hook start, {FIRINGS[1][0]:,} due, worst", many and max(many), "the limit", 1000)

def vigil_notes(vigil):
    if vigil.failure:
        yield f"daemon failed: {vigil.failure.rstrip('.')}."
    if vigil.cpu:
        yield f"""daemon: where the system does not report all changes, it also checks all files every 15 minutes, which
            takes {vigil.look:.2f} s of CPU. More than ten due: one notification. remind: it keeps today's timed
            reminders in memory, and wakes up every minute. PSS: memory that several processes share is divided among
            them."""
    if 1 in vigil.delays:
        yield f"from due to hook start, 1 due: an alarm that is snoozed {SNOOZES:,} times for a second."
    if vigil.edits:
        yield """hand edit: alternately by rename and in place. Read by the daemon: the daemon has read the file and set
            its timer to the commit half a second later. It then starts the command that commits the edit, and sets the
            timer to the alarm's time. If that time is earlier, it is set at once."""
    if vigil.edited:
        yield f"""{vigil.edited_rung} of {vigil.edited} alarms that were edited by hand 1 to {EDITING} seconds before
            a minute rang at that minute."""
