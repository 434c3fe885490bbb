"""Repeated measurements of one operation of one tool, their table, and the targets."""
import math, os, statistics

from options import BASE, EXCHANGE_RUNS, RUNS
from sandbox import LIMIT, Failure, head, peak, progress, run

BUDGET = 60  # seconds for the timed runs of one cell: a slow tool gets fewer runs
FLAT = 1.25  # a cost counts as constant up to this factor
TOOLS = ["belfry", "git", "taskwarrior", "remind"]
DURABLE_GIT = "git, synced to disk"
table, notes = [], []

class Cell:
    """One operation of one tool at one size, measured `runs` times. `prepare(round)` sets up a run, untimed, and
    returns the commands to time together, their clock, and a check to run afterwards (either can be None)."""
    def __init__(self, operation, label, tool, prepare, failure=None, is_exchange=False):
        self.operation, self.label, self.tool, self.prepare = operation, label, tool, prepare
        self.is_exchange = is_exchange
        self.times, self.runs, self.megabytes, self.failure = [], RUNS, 0, failure

    def step(self, round):
        if round <= self.runs and sum(self.times) > BUDGET * 1000:
            return
        commands, clock, check = self.prepare(round)
        # Otherwise the next fsync includes unwritten data of an earlier command of any tool.
        os.sync()
        if round > self.runs:
            self.megabytes = max(peak(argv, clock) for argv in commands)
        else:
            milliseconds = sum(run(argv, clock, LIMIT) for argv in commands)
            self.times += [milliseconds] if round > 0 else []
        if check:
            check()

def measure(what, cells, runs=RUNS, with_memory=True):
    """Runs all cells in turn, repeatedly, so that a drift of the machine affects all of them alike: one warm-up, the
    timed rounds, and one for the memory."""
    table.extend(cells)
    for cell in cells:
        cell.runs = runs
    rounds = runs + (2 if with_memory else 1)
    for round in range(rounds):
        progress(f"{what}: round {round + 1} of {rounds}")
        for cell in cells:
            try:
                if not cell.failure:
                    cell.step(round)
            except Failure as failure:
                cell.failure = str(failure)

def constant(operation, label, tool, argv):
    return Cell(operation, label, tool, lambda round: ([argv], BASE, None))

def moved(repository):
    """Returns a check that a commit was made, so that a failure with exit status 0 does not pass for a fast success."""
    before = head(repository)
    def check():
        if head(repository) == before:
            raise Failure("the command exited with 0, but committed nothing")
    return check

# --- Reporting ---

def median(operation, label, tool):
    for cell in table:
        if (cell.operation, cell.label, cell.tool) == (operation, label, tool) and cell.times and not cell.failure:
            return statistics.median(cell.times)

def rivals(operation, label): return [median(operation, label, tool) for tool in ("belfry", "git")]

def figure(value):
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"

def print_table(tools, shown):
    rows = {}
    for cell in shown:
        rows.setdefault((cell.operation, cell.label), {})[cell.tool] = cell
    order = [operation for operation, _ in rows]  # rows by operation, then by size
    print(f"\n{'':35} " + " ".join(f"{tool:>22}" for tool in tools))
    print(f"{'operation':16} {'alarms':18} " + " ".join(f"{'ms':>8}{'min':>8}{'MB':>6}" for _ in tools))
    for (operation, label), cells in sorted(rows.items(), key=lambda row: order.index(row[0][0])):
        columns = []
        for cell in map(cells.get, tools):
            values = ["–"] * 3 if cell is None else ["failed", "", ""]
            if cell and cell.times and not cell.failure:
                values = [figure(value) for value in (statistics.median(cell.times), min(cell.times), cell.megabytes)]
            columns.append(f"{values[0]:>8}{values[1]:>8}{values[2]:>6}")
        print(f"{operation:16} {label or '–':18} " + " ".join(columns))

def print_tables(exchange_tools):
    exchanges = [cell for cell in table if cell.is_exchange]
    alone = [cell for cell in table if not cell.is_exchange]
    for tools, shown in ((TOOLS, alone), (exchange_tools, exchanges)):
        if shown:
            print_table(tools, shown)
    if table:
        runs = f"{RUNS} runs ({EXCHANGE_RUNS} over a remote)"
        print(f"\nms: median wall time of {runs} after a warm-up; min: the fastest; MB: peak resident memory of")
        print("the largest process, in one more run; –: the tool has no such operation, or no store of that size.")

def percentile(times, share=0.99): return sorted(times)[math.ceil(share * len(times)) - 1]

def target_double(name, ours, plain):
    target(name, ours, "twice git's", plain and 2 * plain)

def target_flat(name, large, small):
    """Compares belfry's times. The report includes git's factor."""
    ours, plain = (below and above and above / below for above, below in zip(large, small))
    target(name, ours, f"git's {plain:.2f}, flat is up to" if plain else "flat is up to", FLAT, "")

def target(name, value, against, bound, unit=" ms"):
    is_measured = value is not None and bound
    verdict = "not measured" if not is_measured else "reached" if value <= bound else "not reached"
    figures = f": {value:.2f}{unit}, {against} {bound:.2f}{unit}" if is_measured else ""
    print(f"  {verdict:12}  {name}{figures}")

def cell_notes():
    failures = {}
    for cell in table:
        name = f"{cell.operation}{' at ' + cell.label if cell.label else ''}, {cell.tool}"
        if cell.failure:
            failures.setdefault(cell.failure, []).append(name)
        elif len(cell.times) < cell.runs:
            yield f"{name}: {len(cell.times)} runs, to limit the time."
    for failure, names in failures.items():
        yield f"{'; '.join(names)} failed: {failure.rstrip('.')}."
