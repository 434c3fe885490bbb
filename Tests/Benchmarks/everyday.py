"""The part `everyday`: reading and writing in stores of several sizes, beside git, taskwarrior and remind."""
import json, os
from datetime import timedelta

from cells import DURABLE_GIT, TOOLS, Cell, constant, figure, measure, median, moved, rivals, table, target
from options import BASE, LARGEST, SIZES
from sandbox import BINARY, GIT, REMIND, TASK, belfry, git, minute, output, read, run, task, write
from stores import alarm, new_id, reminders_of, site_of, task_id, tasks_of

PLEASANT = 100  # milliseconds of any command in the largest store
MOMENT = [BASE.strftime("%Y-%m-%d"), BASE.strftime("%H:%M")]

def measure_everyday():
    sites = [site_of(size) for size in SIZES]
    starts = [[path, "--version"] for path in (BINARY, GIT, TASK)] + [[REMIND, os.devnull]]
    cells = [constant("start-up", None, tool, argv) for tool, argv in zip(TOOLS, starts)]
    measure("reading", cells + [cell for site in sites for cell in reading(site) + reading_with_others(site.size)])
    makers = (writing, writing_with_git, writing_with_taskwarrior)
    measure("writing", [cell for site in sites for maker in makers for cell in maker(site)])

def reading(site):
    commands = [
        ("list", belfry(site.store, "list")),
        ("next 20", belfry(site.store, "next", "--count", "20")),
        ("month", belfry(site.store, "month")),
        ("idle tick", belfry(site.store, "tick")),
    ]
    return [constant(operation, site.size.label, "belfry", argv) for operation, argv in commands]

def reading_with_others(size):
    tasks, reminders = tasks_of(size), reminders_of(size)
    remind = [REMIND, "-n", "-b1", reminders, *MOMENT]
    coming = ["/bin/sh", "-c", '"$@" | sort | head -n 20', "sh", *remind]
    commands = [
        ("list", "taskwarrior", tasks and task(tasks, "list", "limit:none")),
        ("list", "remind", [REMIND, "-n", reminders, *MOMENT]),
        ("next 20", "taskwarrior", tasks and task(tasks, "next", "limit:20")),
        ("next 20", "remind", coming),
        ("idle tick", "remind", [REMIND, "-q", "-a", reminders, *MOMENT]),
    ]
    return [constant(operation, size.label, tool, argv) for operation, tool, argv in commands if argv]

def writing(site):
    def add(round):
        command = belfry(site.store, "add", f"New {round}", "--weekly", "tue", "--at", "10:30")
        return [command], BASE + timedelta(minutes=2 * round), moved(site.store)

    def done(round):
        now = BASE + timedelta(minutes=2 * round)
        due = now + timedelta(minutes=1)
        add = belfry(site.store, "add", f"Bell {round}", "--once", minute(due), "--json")
        command = belfry(site.store, "done", json.loads(output(add, now))["id"])
        return [command], due + timedelta(seconds=5), moved(site.store)

    return [Cell(operation, site.size.label, "belfry", maker) for operation, maker in (("add", add), ("done", done))]

def writing_with_git(site):
    template = read(alarm(site.store, site.ids[1]))

    def commit(record, *options):
        path = alarm(site.repository, record["id"])
        write(path, record)
        steps = [("add", path), ("commit", "-qm", "One record")]
        return [git(site.repository, *options, *step) for step in steps], None, moved(site.repository)

    def add(round, *options):
        return commit(template | {"id": new_id(), "title": f"New {round}"}, *options)

    def done(round):
        identifier = site.ids[(round + 1) % len(site.ids)]
        return commit(read(alarm(site.repository, identifier)) | {"title": f"Changed {round}"})

    def durable_add(round): return add(round, "-c", "core.fsync=all")
    makers = [("add", "git", add), ("add", DURABLE_GIT, durable_add), ("done", "git", done)]
    return [Cell(operation, site.size.label, tool, maker) for operation, tool, maker in makers]

def writing_with_taskwarrior(site):
    tasks = tasks_of(site.size)
    def add(round): return [task(tasks, "add", f"New {round}", "due:2026-12-24T18:00")], None, None

    def done(round):
        identifier = task_id(1_000_000 + round)
        write(tasks + "-new.json", [{"uuid": identifier, "status": "pending", "description": f"Bell {round}"}])
        run(task(tasks, "import", tasks + "-new.json"))
        return [task(tasks, identifier, "done")], None, None

    makers = [("add", add), ("done", done)] if tasks else []
    return [Cell(operation, site.size.label, "taskwarrior", maker) for operation, maker in makers]

# --- Reporting ---

def print_everyday_targets():
    for operation in ("list", "next 20", "idle tick", "add", "done"):
        target(f"{operation} at {LARGEST.label}", median(operation, LARGEST.label, "belfry"), "the limit", PLEASANT)
    for operation, label in [(operation, size.label) for operation in ("add", "done") for size in SIZES]:
        ours, plain = rivals(operation, label)
        target(f"{operation} at {label}", ours, "git add + commit", plain)
    target("start-up", median("start-up", None, "belfry"), "the limit", 5)

def everyday_notes():
    cells = [cell for cell in table if (cell.operation, cell.tool) == ("add", DURABLE_GIT)]
    durable = [(median("add", cell.label, DURABLE_GIT), cell.label) for cell in cells]
    durable = ", ".join(f"{figure(value)} ms at {label}" for value, label in durable if value)
    yield f"""add, done: git adds and commits one record that is already written; belfry's done also writes a log
        entry. Belfry syncs acknowledged writes to disk; git by default leaves most of that to the system. git's add
        with core.fsync=all: {durable or "not measured"}."""
    yield """taskwarrior: a due task for each alarm. remind: list is `remind -n`, next 20 is the same through sort and
        head, idle tick `remind -q -a`. TZ is set, because remind takes longer without it."""
