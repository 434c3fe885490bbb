"""The part `phone`: alarms as tasks in a folder, written at first and after a change, and the answers in the folder."""
import os, statistics, time
from pathlib import Path

from cells import figure, target
from daemon import PATIENCE, Daemon
from options import BASE, QUICK, RUNS
from sandbox import Failure, belfry, progress, read, run, running, work, write
from stores import alarm, commit, first_alarm, new_id

COUNTS = [30] if QUICK else [30, 200]  # alarms that ring each day, of which the folder has 30 days
FOREIGN = 1_000 if QUICK else 100_000  # files in the folder that are not Belfry's
EDIT, ANSWER = "from the end of 'belfry edit' to the last task", "from a completed task to its log entry"
FIRST, AGAIN, CROWDED = "'belfry phone setup'", "'belfry phone sync', unchanged", f"the same beside {FOREIGN:,} other files"

class Phone:
    """A store with alarms that ring each day, and its folder of tasks."""

    def __init__(self, count):
        self.count, self.times, self.tasks, self.writes, self.failure = count, {}, 0, 0, None
        self.store, self.folder, self.said = (work(f"phone-{name}-{count}") for name in ("store", "tasks", "said"))

    def measure(self):
        progress(f"phone: {self.count} alarms")
        first = first_alarm(self.store, None)
        run(belfry(self.store, "tier", "plus"))
        template = read(alarm(self.store, first))
        for number in range(self.count):
            # Nothing is due within the next hours.
            clock = time.gmtime(time.time() + 4 * 3600 + number % 16 * 3600)
            identifier = first if number == 0 else new_id()
            schedule = {"kind": "daily", "interval": 1, "start": f"{BASE:%Y-%m-%d}"}
            schedule["times"] = [f"{clock.tm_hour:02}:{number % 60:02}"]
            changed = {"id": identifier, "title": f"Alarm number {number}", "schedule": schedule}
            write(alarm(self.store, identifier), template | changed)
        commit(self.store, f"{self.count} alarms")
        run(belfry(self.store, "list"))
        setup = belfry(self.store, "phone", "setup", "--folder", self.folder, "--yes")
        self.times[FIRST] = [run(setup)]
        self.tasks = len(self.files())
        before = self.files()
        self.times[AGAIN] = [run(belfry(self.store, "phone", "sync")) for _ in range(RUNS)]
        self.writes = sum(before[path] != changed for path, changed in self.files().items())
        with running(belfry(self.store, "daemon", "--no-sync"), self.said) as pid:
            daemon = Daemon(pid, self.said)
            alarms = sorted(path.stem for path in Path(self.store, "alarms").glob("*.json"))
            self.times[EDIT], self.times[ANSWER] = [], []
            for number in range(RUNS):
                progress(f"phone: {self.count} alarms, change {number + 1} of {RUNS}")
                daemon.settle()
                self.edit(alarms[number % self.count], number)
                daemon.settle()
                self.complete(alarms[number % self.count])
        self.crowd()

    def files(self, identifier=""):
        """Returns the times of the last changes of the tasks of an alarm, or of all."""
        with os.scandir(self.folder) as entries:
            return {entry.path: entry.stat().st_mtime_ns for entry in entries
                    if entry.name.endswith(".ics") and entry.name.startswith(identifier)}

    def edit(self, identifier, number):
        """Measures a new title, which changes all tasks of an alarm."""
        before = self.files(identifier)
        run(belfry(self.store, "edit", identifier, "--title", f"Another title {number}"))
        edited, until = time.time(), time.time() + PATIENCE
        while time.time() < until:
            changed = self.files(identifier)
            if all(changed.get(path) != moment for path, moment in before.items()):
                self.times[EDIT].append(max(changed.values()) / 1e6 - edited * 1000)
                return
            time.sleep(0.005)
        raise Failure(f"a new title is not in all tasks within {PATIENCE} s")

    def complete(self, identifier):
        """Measures an answer: the first task of an alarm is completed as a server does it for an app."""
        path = min(self.files(identifier))
        content = Path(path).read_bytes()
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        closed = f"STATUS:COMPLETED\r\nCOMPLETED:{moment}\r\nPERCENT-COMPLETE:100\r\n"
        if b"STATUS:NEEDS-ACTION\r\n" not in content:
            raise Failure(f"{os.path.basename(path)} is not an open task")
        Path(path + ".new").write_bytes(content.replace(b"STATUS:NEEDS-ACTION\r\n", closed.encode()))
        before = self.entries()
        start = time.perf_counter()
        os.replace(path + ".new", path)
        while time.perf_counter() < start + PATIENCE:
            if self.entries() > before:
                self.times[ANSWER].append((time.perf_counter() - start) * 1000)
                return
            time.sleep(0.002)
        raise Failure(f"a completed task is not recorded within {PATIENCE} s")

    def entries(self):
        """Returns the number of log entries, which are one file each."""
        return sum(len(files) for _, _, files in os.walk(f"{self.store}/log"))

    def crowd(self):
        """Measures the first reading of many files of others."""
        for number in range(FOREIGN):
            Path(self.folder, f"other-{number}.ics").write_text("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n")
        self.times[CROWDED] = [run(belfry(self.store, "phone", "sync"))]

def measure_phone():
    measured = [Phone(count) for count in COUNTS]
    for phone in measured:
        try:
            phone.measure()
        except (Failure, OSError) as failure:
            phone.failure = str(failure)
    return measured

# --- Reporting ---

def print_phone(measured):
    if not measured:
        return
    print("\nAlarms as tasks in a folder, 30 days of them")
    print(f"{'':48}{'alarms':>8}{'tasks':>8}{'number':>8}{'median ms':>11}{'worst':>9}")
    for phone in measured:
        for name, times in phone.times.items():
            if times:
                values = f"{figure(statistics.median(times)):>11}{figure(max(times)):>9}"
                print(f"{name:48}{phone.count:>8}{phone.tasks:>8,}{len(times):>8}{values}")
        if phone.failure:
            print(f"{phone.count} alarms failed: {phone.failure}")

def print_phone_targets(measured):
    for phone in measured:
        def worst(name): return max(phone.times.get(name, []), default=None)
        label = f"of {phone.count} alarms"
        target(f"the tasks {label} written at first", worst(FIRST), "the limit", 1000)
        target(f"{EDIT}, {label}", worst(EDIT), "the limit", 200)
        target(f"{ANSWER}, {label}", worst(ANSWER), "the limit", 200)
        written = None if AGAIN not in phone.times else phone.writes
        print(f"  {'not measured' if written is None else 'not reached' if written else 'reached':12}  "
              f"tasks written by runs without a change: {written or 0}, the limit 0")
