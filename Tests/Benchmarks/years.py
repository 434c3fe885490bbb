"""The part `years`: reading and writing in a store with 30 alarms and years of use, and its growth."""
import shutil, statistics
from collections import namedtuple

from cells import Cell, constant, figure, measure, median, rivals, target
from everyday import reading, writing, writing_with_git
from life import LIVED, build_used_store
from options import BASE, EXCHANGE_RUNS, SPAN, Size
from sandbox import GIT, belfry, git, output, progress, work
from stores import Site, clone_for_git, count_commits, count_objects

USED = Size(f"30, {SPAN}", 30)
SAMPLE = 20  # commands at the start and at the end of the days that belfry runs itself, for a median
Use = namedtuple("Use", "stage git files commits entries loose packed packs")
uses, lived_times = [], {}

def measure_years():
    progress(f"building {USED.label}")
    store = work("store-used")
    identifiers, times = build_used_store(store, lambda stage: note_use(store, stage))
    lived_times.update(times)
    site = Site(USED, store, identifiers, clone_for_git(store))
    measure("reading after years", reading(site) + remembering(site))
    measure("writing after years", writing(site) + writing_with_git(site))
    measure("cloning", cloning(site), EXCHANGE_RUNS)

def note_use(store, stage):
    counts, commits = count_objects(store), count_commits(store)
    entries = len(output(git(store, "ls-files", "log")).split("\n"))
    # A file that du has counted in one folder is not counted again in the next.
    sizes = output(["/bin/du", "-sk", f"{store}/.git", store]).split("\n")
    sizes = [int(line.split()[0]) / 1024 for line in sizes]
    objects = [counts[name] for name in ("count", "in-pack", "packs")]
    uses.append(Use(stage, *sizes, commits, entries, *objects))

def remembering(site):
    """Measures the operations that years of use make slower."""
    commands = [
        ("log 20", "belfry", belfry(site.store, "log", "--count", "20")),
        ("log 20", "git", git(site.repository, "log", "-n", "20")),
        ("log", "belfry", belfry(site.store, "log")),
        ("log", "git", git(site.repository, "log")),
        ("stats", "belfry", belfry(site.store, "stats")),
        ("year", "belfry", belfry(site.store, "year")),
        ("stats 2026", "belfry", belfry(site.store, "stats", "2026")),
        ("export page", "belfry", belfry(site.store, "export", "--format", "html")),
    ]
    return [constant(operation, site.size.label, tool, argv) for operation, tool, argv in commands]

def cloning(site):
    """Measures clones of a repository, whose objects are transferred as from another machine."""
    def cell(tool, command):
        copy = f"{site.store}-clone"
        def prepare(round):
            shutil.rmtree(copy, ignore_errors=True)
            return [command(copy, f"file://{site.store}")], BASE, None
        return Cell("clone", site.size.label, tool, prepare)
    return [
        cell("belfry", lambda copy, url: ["/usr/bin/env", "BELFRY_DEVICE=copy", *belfry(copy, "clone", url)]),
        cell("git", lambda copy, url: [GIT, "clone", "-q", url, copy]),
    ]

# --- Reporting ---

def print_uses():
    if not uses:
        return
    print(f"\n{SPAN.capitalize()} of use: 30 alarms, about eight occurrences a day")
    titles = [".git MB", "files MB", "commits", "log files", "loose", "in packs", "packs"]
    print(f"{'':29} " + "".join(f"{title:>12}" for title in titles))
    for stage, git_size, files_size, *counts in uses:
        values = [figure(git_size), figure(files_size)] + [f"{count:,}" for count in counts]
        print(f"{stage:29} " + "".join(f"{value:>12}" for value in values))
    for verb, times in lived_times.items():
        if len(times) >= 2 * SAMPLE:
            medians = [statistics.median(part) for part in (times[:SAMPLE], times[-SAMPLE:])]
            first, last, longest = map(figure, [*medians, max(times)])
            print(f"{verb}: {first} ms at the start, {last} ms at the end (medians of {SAMPLE}), {longest} ms at most")
    print_growth(*uses[-2:])

def print_growth(before, after):
    commits = after.commits - before.commits
    objects, megabytes = (after.loose - before.loose) / commits, (after.git - before.git) / commits
    if after.packed == before.packed:
        print("Belfry packed nothing in these days.")
        print(f"A commit adds {objects:.1f} loose objects and {megabytes * 1024:.0f} KB to .git.")
        loose, size = objects * after.commits, megabytes * after.commits
        print(f"All commits would add {loose:,.0f} loose objects and {size:,.0f} MB.")

def print_years_targets():
    for name, limit in (("log", 300), ("stats", 150), ("stats 2026", 150), ("export page", 150)):
        target(f"{name} at {USED.label}", median(name, USED.label, "belfry"), "the limit", limit)
    ours, plain = rivals("clone", USED.label)
    target(f"clone at {USED.label}", ours, "1.5 of git's", plain and 1.5 * plain)

def year_notes():
    yield f"""{USED.label}: git imports the commits as belfry would have written them, and packs them; belfry
        itself runs the last {LIVED} days. log 20, log: git lists commits, nearly all of which have one log entry.
        clone: by a file:// URL, so that git sends the objects instead of linking their files."""
