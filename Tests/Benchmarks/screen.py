"""The part `screen`: the full screen on a pseudo-terminal, and other full-screen programs beside it."""
import fcntl, os, pty, select, shutil, signal, statistics, struct, termios, time
from contextlib import suppress
from datetime import timedelta

from cells import figure, percentile, target
from life import build_used_store
from options import BASE, MIDDLE, QUICK, SIZES, SMALL, SPAN, YEARS
from proc import memory, wakes
from sandbox import ENVIRONMENT, Failure, belfry, git, instant, progress, run, work
from stores import clone_for_git, copy_alarm, fill_store, first_alarm, import_commits

STARTS, KEYS = (3, 40) if QUICK else (11, 400)
IDLE = 10 if QUICK else 60  # seconds without a key
SETTLED = 8  # seconds after the last key in which threads without work end
REST = 0.15  # seconds without output after which a frame is complete
OTHERS = ["calcurse", "lazygit"]

class Terminal:
    """A program on a terminal of 24 rows and 80 columns."""

    def __init__(self, argv):
        self.start = time.perf_counter()
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(argv[0], argv, ENVIRONMENT | {"TERM": "xterm-256color"})
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def read(self, timeout):
        """Returns the next output; nothing at the end of the time."""
        if not select.select([self.master], [], [], timeout)[0]:
            return b""
        with suppress(OSError):
            return os.read(self.master, 1 << 16)
        return b""

    def first(self, least):
        """Returns the milliseconds until the first output of at least some bytes."""
        shown = b""
        while len(shown) < least:
            part = self.read(5)
            if not part:
                raise Failure(f"a full screen shows only {len(shown)} bytes")
            shown += part
        elapsed = (time.perf_counter() - self.start) * 1000
        self.rest()
        return elapsed

    def rest(self):
        while self.read(REST):
            pass

    def key(self, key):
        """Returns the milliseconds until a key has an effect, and the bytes of the effect."""
        start = time.perf_counter()
        os.write(self.master, key)
        shown = self.read(2)
        if not shown:
            raise Failure(f"the key {key} changes nothing")
        elapsed = (time.perf_counter() - start) * 1000
        while part := self.read(0.01):
            shown += part
        return elapsed, len(shown)

    def end(self):
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.master)

class Screen:
    """The measurements of one program."""

    def __init__(self, name, label, argv, least=300, keys=(b"j", b"k"), opening=()):
        self.name, self.label, self.argv, self.least, self.keys, self.opening = name, label, argv, least, keys, opening
        self.firsts, self.delays, self.bytes, self.wakes, self.memory, self.failure = [], [], [], None, None, None

    def measure(self):
        for _ in range(STARTS):
            terminal = Terminal(self.argv)
            try:
                self.firsts.append(terminal.first(self.least))
            finally:
                terminal.end()
        terminal = Terminal(self.argv)
        try:
            terminal.first(self.least)
            for key in self.opening:
                terminal.key(key)
                terminal.rest()
            for number in range(KEYS):
                delay, length = terminal.key(self.keys[number // 15 % 2])
                self.delays.append(delay)
                self.bytes.append(length)
            time.sleep(SETTLED)
            before = wakes(terminal.pid)
            time.sleep(IDLE)
            self.wakes = (wakes(terminal.pid) - before) * 60 / IDLE
            self.memory = memory(terminal.pid)
        finally:
            terminal.end()

def lazygit_options():
    path = work("lazygit.yml")
    with open(path, "w") as file:
        file.write("disableStartupPopups: true\nupdate:\n  method: never\n")
    return path

def commits(size):
    """Creates a repository of git with many commits."""
    store = work("screen-commits")
    run(belfry(store, "add", "Alarm 0", "--weekly", "mon,fri", "--at", "09:00"), BASE)
    repository = clone_for_git(store)
    import_commits(repository, ((BASE + timedelta(minutes=number), f"Alarm number {number}", {f"notes/{number % 30}": f"{number}\n"})
                                for number in range(size.alarms)))
    run(git(repository, "reset", "-q", "--hard"))
    return repository

def appointments(size):
    """Creates calcurse's folder with many weekly appointments."""
    folder = work("calcurse")
    os.makedirs(folder)
    with open(f"{folder}/apts", "w") as file:
        for number in range(size.alarms):
            day = BASE.replace(hour=1, minute=0) + timedelta(days=number % 7, minutes=number % 1080)
            file.write(f"{day:%m/%d/%Y @ %H:%M} -> {day + timedelta(minutes=5):%m/%d/%Y @ %H:%M} {{1W}} |Alarm number {number}\n")
    return folder

def years_of_use():
    """Returns a screen of a store with as many alarms as in the middle size, and years of log."""
    progress(f"screen: building {MIDDLE.label} alarms with {SPAN} of use")
    store = work("screen-years")
    build_used_store(store)
    # The other alarms are new, so that none of them is due.
    copy_alarm(store, first_alarm(store), MIDDLE.alarms - SMALL.alarms - 1)
    # Belfry takes over the commit of git.
    run(belfry(store, "tick"), BASE)
    return Screen("belfry ui", f"{MIDDLE.label}, {SPAN}", ["/usr/bin/env", f"BELFRY_NOW={instant(BASE)}", *belfry(store, "ui")])

def measure_screens():
    measured = []
    for size in SIZES:
        progress(f"screen: building {size.label} alarms")
        store = work(f"screen-{size.alarms}")
        fill_store(store, size, None)
        measured.append(Screen("belfry ui", size.label, belfry(store, "ui")))
    if YEARS:
        measured.append(years_of_use())
    if path := shutil.which("lazygit"):
        # Its panel of commits, with as many commits as alarms.
        measured.append(Screen("lazygit", MIDDLE.label, [path, "-ucf", lazygit_options(), "-p", commits(MIDDLE)], opening=(b"4",)))
    if path := shutil.which("calcurse"):
        measured.append(Screen("calcurse", MIDDLE.label, [path, "-D", appointments(MIDDLE)], keys=(b"l", b"h")))
    for screen in measured:
        progress(f"screen: {screen.name}, {screen.label} alarms")
        try:
            screen.measure()
        except (Failure, OSError) as failure:
            screen.failure = str(failure)
    return measured

# --- Reporting ---

def print_screens(measured):
    if not measured:
        return
    print(f"\nFull screens of 80 columns and 24 rows: {STARTS} starts, {KEYS} keys that move the selection")
    columns = ["first ms", "key ms", "99%", "bytes", "wakes/min", "MB", "peak MB"]
    print(f"{'':20}{'alarms':>16}" + "".join(f"{column:>11}" for column in columns))
    for each in measured:
        if each.failure:
            print(f"{each.name:20}{each.label:>16}    failed: {each.failure}")
            continue
        values = [statistics.median(each.firsts), statistics.median(each.delays), percentile(each.delays)]
        values += [statistics.median(each.bytes), each.wakes, each.memory.rss, each.memory.peak]
        print(f"{each.name:20}{each.label:>16}" + "".join(f"{figure(value):>11}" for value in values))
    for name in OTHERS:
        if not any(each.name == name for each in measured):
            print(f"{name} is not installed.")

def print_screen_targets(measured):
    for each in measured:
        if each.name != "belfry ui":
            continue
        label = f"with {each.label} alarms"
        first = statistics.median(each.firsts) if each.firsts else None
        target(f"the first frame {label}", first, "the limit", 60 if each.label == "10,000" else 25)
        if each.delays:
            target(f"from a key to the frame {label}, median", statistics.median(each.delays), "the limit", 8)
            target(f"from a key to the frame {label}, 99%", percentile(each.delays), "the limit", 16)
            target(f"bytes of a moved selection {label}, median", statistics.median(each.bytes), "the limit", 600, "")
        target(f"memory at rest {label}", each.memory.rss if each.memory else None, "the limit", 30, " MB")
