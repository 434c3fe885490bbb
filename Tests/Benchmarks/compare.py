"""Compares two binaries in one run: the time of commands in stores of several sizes, the daemon at rest, the size of
the binary, and the time of a build. Each binary has its own stores, made by itself."""
import os, shutil, statistics, sys, time
from collections import namedtuple
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path

from cells import Cell, constant, figure, measure
from everyday import reading, writing
from life import build_used_store
from options import BASE, BINARY, MIDDLE, QUICK, RUNS, SEED, SIZES, SMALL, SPAN, YEARS, Size, chance
from proc import cpu, exact_cpu, memory, wakes
from sandbox import (
    ENVIRONMENT, GIT, LIMIT, Failure, belfry, environment, git, machine, main, progress, run, running, text, use, work)
from stores import Site, check_store, copy_alarm, fill_store, first_alarm

OTHER, COMMITS = sys.argv[5], sys.argv[6:]
SLOWER, NOTICEABLE = 1.2, 0.5  # a command fails if both its ratio and its difference in milliseconds are larger
LOGGED = [Size(f"{size.label}, {SPAN}", size.alarms) for size in (SMALL, MIDDLE)] if YEARS else []
JUDGED = [None, *(size.label for size in (SMALL, MIDDLE, *LOGGED))]  # the start-up has no size
IDLE = 1 if QUICK else 5  # minutes of the daemon at rest
HOURS_AHEAD = 3  # the daemon has the real clock: no alarm rings before
RELEASED = 12  # seconds after which it has returned the memory that its start needed
EPOCH = datetime(1970, 1, 1)
REPOSITORY = Path(__file__).parents[2]
BUILDING = 3600  # timeout of one build in seconds

Side = namedtuple("Side", "name binary environment")
Row = namedtuple("Row", "name unit before after spreads is_slower", defaults=[("", ""), False])
failures = []

def compare():
    sides = [make_side(*each) for each in (("before", BINARY), ("after", OTHER))]
    rows = compare_commands(sides) + compare_daemons(sides)
    rows.append(Row("binary", "MB", *(os.path.getsize(side.binary) / 1e6 for side in sides)))
    if COMMITS:
        rows.append(Row("build of Tests/demo, empty HOME", "s", *(build(commit) for commit in COMMITS)))
    progress("")
    return report(rows)

def make_side(name, binary):
    """Returns a copy of a binary with its own home, so that both have the same disk and configuration."""
    runtime = os.path.join(ENVIRONMENT["XDG_RUNTIME_DIR"], name)
    for folder in (work(name), runtime):
        os.mkdir(folder, mode=0o700)
    return Side(name, shutil.copy(binary, work(name, "belfry")), environment(f"{name}/home", runtime))

# --- Commands ---

def compare_commands(sides):
    both = list(zip(*map(cells_of, sides)))
    readers = [pair for pair in both if pair[0].operation not in ("add", "done")]
    writers = [pair for pair in both if pair not in readers]
    # The clock of writes moves forward, so they come last. Each operation of one binary runs directly after that of the
    # other one.
    for what, pairs in (("reading", readers), ("writing", writers)):
        measure(f"comparing {what}", [cell for pair in pairs for cell in pair], with_memory=False)
    return [row for pair in both if (row := row_of(*pair))]

def cells_of(side):
    """Builds the stores of a binary, and returns its cells."""
    use(side.binary, side.environment)
    chance.seed(SEED)
    sites = []
    for size in SIZES:
        progress(f"building {size.label} with the binary {side.name}")
        store = work(side.name, f"store-{size.alarms}")
        sites.append(Site(size, store, fill_store(store, size), None))
    cells = [constant("start-up", None, side.name, [side.binary, "--version"])]
    for site in sites + (used_sites(side) if LOGGED else []):
        cells += reading(site) + writing(site)
    return [with_side(side, cell) for cell in cells]

def used_sites(side):
    """Builds a store after years of use, and a copy of it with more alarms."""
    small, middle = LOGGED
    progress(f"building {small.label} with the binary {side.name}")
    store, larger = (work(side.name, f"used-{size.alarms}") for size in LOGGED)
    identifiers, _ = build_used_store(store)
    run(["/bin/cp", "-a", store, larger])
    added = [first_alarm(larger)]
    added += copy_alarm(larger, added[0], middle.alarms - small.alarms - 1)
    check_store(larger, middle)
    return [Site(small, store, identifiers, None), Site(middle, larger, identifiers + added, None)]

def with_side(side, cell):
    """Returns a cell that runs a binary in its environment."""
    def prepare(round):
        use(side.binary, side.environment)
        return cell.prepare(round)
    return Cell(cell.operation, cell.label, side.name, prepare)

def row_of(before, after):
    name = before.operation + (f" at {before.label}" if before.label else "")
    if failure := before.failure or after.failure:
        failures.append(f"{name}: {failure}")
        return None
    medians = [statistics.median(cell.times) for cell in (before, after)]
    is_slower = medians[1] > medians[0] * SLOWER and medians[1] - medians[0] > NOTICEABLE
    spreads = (spread(before.times), spread(after.times))
    return Row(name, "ms", *medians, spreads, is_slower and before.label in JUDGED)

def spread(times):
    """Returns the quartiles."""
    if len(times) < 2:
        return ""
    low, _, high = statistics.quantiles(times, method="inclusive")
    return f"{figure(low)}–{figure(high)}"

# --- The daemon at rest ---

def compare_daemons(sides):
    """Runs the daemons of all sizes and both binaries at the same time."""
    first = EPOCH + timedelta(seconds=time.time() // 60 * 60, hours=HOURS_AHEAD)
    with ExitStack() as stack:
        pids = {}
        for size in SIZES:
            for side in sides:
                progress(f"building {size.label} for the daemon {side.name}")
                use(side.binary, side.environment)
                store = work(side.name, f"daemon-{size.alarms}")
                fill_store(store, size, None, first)
                said = store + "-said"
                pids[size, side.name] = stack.enter_context(running(belfry(store, "daemon", "--no-sync"), said)), said
        settle([pid for pid, _ in pids.values()])
        figures = rest(pids)
    rows = []
    for number, (name, unit) in enumerate([("memory", "MB"), ("wake-ups", "/min"), ("CPU", "ms/min")]):
        for size in SIZES:
            values = [figures[size, side.name][number] for side in sides]
            rows.append(Row(f"daemon, {name} at {size.label}", unit, *values))
    return rows

def settle(pids):
    """Waits until daemons have finished the work of their start. One that never rests is measured all the same."""
    used, since, start = None, 0, time.monotonic()
    while time.monotonic() < min(since + RELEASED, start + LIMIT) or used is None:
        now = [cpu(pid) for pid in pids]
        if now != used:
            used, since = now, time.monotonic()
        time.sleep(0.5)

def rest(pids):
    """Returns the resident memory, and per minute the wake-ups and the CPU time in milliseconds."""
    before = {key: (wakes(pid), exact_cpu(pid)) for key, (pid, _) in pids.items()}
    for number in range(IDLE):
        progress(f"daemons: idle minute {number + 1} of {IDLE}")
        time.sleep(60)
    figures = {}
    for key, (pid, said) in pids.items():
        if os.waitpid(pid, os.WNOHANG)[0]:
            raise Failure("a daemon has exited: " + text(said).split("\n")[-1])
        woken, used = wakes(pid) - before[key][0], exact_cpu(pid) - before[key][1]
        figures[key] = memory(pid).rss, woken / IDLE, used * 1000 / IDLE
    return figures

# --- The build ---

def build(commit):
    """Runs the demo of a commit in a new clone with an empty home, and returns the seconds."""
    progress(f"building {commit}")
    clone, home = work("clone"), work("empty")
    run([GIT, "clone", "-q", "--no-checkout", str(REPOSITORY), clone])
    run(git(clone, "checkout", "-q", "--detach", commit))
    os.mkdir(home)
    # As a person would run it: with the environment of this script, for the compiler and the network.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "BELFRY_"))}
    use(BINARY, kept | {"HOME": home})
    seconds = run([f"{clone}/Tests/demo"], limit=BUILDING) / 1000
    for folder in (clone, home):
        shutil.rmtree(folder)
    return seconds

# --- Reporting ---

def report(rows):
    """Prints one table, and returns the exit status."""
    print(f"\n{'':36}{'':8}{'before':>10}{'quartiles':>16}{'after':>10}{'quartiles':>16}{'ratio':>8}")
    for row in rows:
        ratio = f"{row.after / row.before:.2f}" if row.before else "–"
        mark = "  slower" if row.is_slower else ""
        columns = [f"{value:>10}{each:>16}" for value, each in zip(map(figure, (row.before, row.after)), row.spreads)]
        print(f"{row.name:36}{row.unit:8}{''.join(columns)}{ratio:>8}{mark}")
    print(f"\nms: median wall time of {RUNS} runs of each binary, in turn, after a warm-up")
    print(f"daemon: at rest for {IDLE} min, all daemons at the same time")
    for failure in failures:
        print(f"failed: {failure}")
    slower = [row.name for row in rows if row.is_slower]
    print(f"slower by more than a fifth with 30 or 1,000 alarms: {'; '.join(slower) or 'nothing'}")
    print(f"Machine: {machine()}")
    return 1 if slower or failures else 0

main(compare)
