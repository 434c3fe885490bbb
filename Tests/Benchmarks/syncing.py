"""The parts `syncing` and `pushing`: the exchange of changes with a remote, by path and by ssh."""
from cells import median, rivals, table, target, target_double
from options import LARGEST, QUICK, SMALL
from remotes import DURABLE, FETCHING, OURS, PLAIN, SYNC_TOOLS, WAYS, Pair, exchange

MANY = 100 if QUICK else 1_000  # the alarms that each side changes before a large sync

def syncing():
    def kind(name, size, count, same=False):
        def prepare(pair, round): return pair.diverge(round, count, same)
        return exchange(name, size, [OURS, PLAIN, DURABLE], prepare)
    one = kind("sync 1", SMALL, 1) + kind("sync 1", LARGEST, 1)
    return one + kind(f"sync {MANY:,}", LARGEST, MANY) + kind(f"sync same {MANY:,}", LARGEST, MANY, same=True)

def pushing():
    cells = [cell for size in (SMALL, LARGEST) for cell in exchange("push 1", size, SYNC_TOOLS, Pair.advance)]
    return cells + exchange("push 1 again", SMALL, [OURS], Pair.advance, connected=True)

# --- Reporting ---

def print_exchange_targets(parts):
    exchanges = [(cell.operation, cell.label) for cell in table if cell.is_exchange]
    for operation, label in dict.fromkeys(exchanges):
        target_double(f"{operation} at {label}", *rivals(operation, label))
    if "pushing" in parts and "ssh" in WAYS:
        label = f"{SMALL.label}, ssh"
        ours, plain = median("push 1", label, "belfry"), median("push 1", label, FETCHING.name)
        target(f"push 1 at {label}", ours, "0.6 of git fetch + push", plain and 0.6 * plain)
    for way in WAYS if "syncing" in parts else []:
        label = f"{LARGEST.label}, {way}"
        ours, plain = rivals(f"sync {MANY:,}", label)
        target(f"sync {MANY:,} at {label}", ours, "1.2 of git's", plain and 1.2 * plain)

def exchange_notes():
    yield """sync N: each side has one commit that changes the titles of N alarms, different ones on each side. sync
        same: one side changes the titles and the other side the notes of the same alarms. push 1: this side has one new
        commit with an alarm and a log entry, and the other side has none; again: while the ssh connection of the last
        sync is still open, which lasts 15 seconds. git pulls without rebase and pushes; its garbage collection runs
        between the runs. Belfry starts the packing of its store at the end of a sync."""
    yield """path, ssh: the access to the remote, a bare repository on this machine. Synced to disk: with core.fsync=all
        on this side, where belfry also syncs its writes."""
