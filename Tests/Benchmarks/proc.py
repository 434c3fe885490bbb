"""The memory, the CPU time and the wake-ups of other processes, from /proc."""
import os, time
from collections import namedtuple
from contextlib import suppress
from pathlib import Path

from sandbox import text

Memory = namedtuple("Memory", "rss pss peak")  # of one process, in megabytes

def memory(pid):
    return Memory(*(kilobytes(f"/proc/{pid}/{file}", name) / 1024 for file, name in
        (("status", "VmRSS"), ("smaps_rollup", "Pss"), ("status", "VmHWM"))))

def kilobytes(path, name):
    return next(int(line.split()[1]) for line in text(path).split("\n") if line.startswith(name + ":"))

def stat(pid): return text(f"/proc/{pid}/stat").rpartition(")")[2].split()  # from its state on, the third field

def wakes(pid):
    """Returns how often the threads of a process have waited for something."""
    lines = [line for path in Path(f"/proc/{pid}/task").glob("*/status") for line in text(path).split("\n")]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))

def cpu(pid):
    """Returns the CPU seconds of a process and of its children that have ended."""
    return sum(map(int, stat(pid)[11:15])) / os.sysconf("SC_CLK_TCK")

def exact_cpu(pid):
    """Returns the same, but that of the process itself to the microsecond, from the kernel's clock for it."""
    return time.clock_gettime(~pid << 3 | 2) + sum(map(int, stat(pid)[13:15])) / os.sysconf("SC_CLK_TCK")

def has_children(pid):
    for other in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it may have ended
            # The daemon watches its remotes through ssh.
            if int(stat(other)[1]) == pid and text(f"/proc/{other}/comm") != "ssh":
                return True
    return False

def descendants(pid):
    """Returns the processes below a process."""
    found = []
    for other in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with suppress(OSError):  # it may have ended
            if int(stat(other)[1]) == pid:
                found += [other, *descendants(other)]
    return found

def matching(words):
    """Returns the processes whose command line contains a text."""
    found = []
    for other in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with suppress(OSError):
            if words in text(f"/proc/{other}/cmdline") and other != os.getpid():
                found.append(other)
    return found
