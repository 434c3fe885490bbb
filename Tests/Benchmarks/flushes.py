"""The part `flushes`: how often a write waits for the disk, and its time with a slow disk."""
import shutil, statistics
from collections import namedtuple
from itertools import count

from cells import figure
from everyday import writing, writing_with_git, writing_with_taskwarrior
from options import SMALL
from sandbox import LIMIT, run, text, work
from stores import site_of

FLUSHES = ("fsync", "fdatasync", "syncfs", "sync")  # the system calls that wait for the disk
SLOW = 5_000  # the additional time of a flush on a slow disk, in microseconds
Flushed = namedtuple("Flushed", "operation tool count milliseconds")

def traced(argv, *options):
    strace = [shutil.which("strace"), "-f", "-qq", "-o", work("trace"), "-e", "trace=" + ",".join(FLUSHES)]
    return [*strace, *options, *argv]

def count_flushes():
    """Counts the flushes of each operation with few alarms, and measures its time if every flush takes longer. The
    tracer stops a process only at a flush."""
    site, rounds = site_of(SMALL._replace(alarms=SMALL.alarms - 1)), count(1)
    results = []
    for cell in writing(site) + writing_with_git(site) + writing_with_taskwarrior(site):
        counts, times = [], []
        for options in [()] * 2 + [("-e", f"inject={','.join(FLUSHES)}:delay_enter={SLOW}")] * 5:
            commands, clock, check = cell.prepare(next(rounds))
            flushes = elapsed = 0
            for argv in commands:
                elapsed += run(traced(argv, *options, "--seccomp-bpf"), clock, LIMIT)
                flushes += len(text(work("trace")).splitlines())
            (times if options else counts).append(elapsed if options else flushes)
            if check:
                check()
        results.append(Flushed(cell.operation, cell.tool, max(counts), statistics.median(times)))
    return results

def print_flushes(results):
    if not results:
        return
    print(f"\nFlushes of one write at {SMALL.label}, and its time in ms if each takes {SLOW // 1000} ms longer")
    for each in results:
        print(f"{each.operation:14}{each.tool:32}{each.count:>8}{figure(each.milliseconds):>12}")
