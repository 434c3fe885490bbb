"""Makes every call of `add`, `done` and `sync` that writes to a file fail, one after the other, or kills all
processes at that call. The store must then be in its old state or in the new one, and in no other.

failing.c is preloaded into belfry and into the git that it starts. It counts the calls and makes the chosen one fail.
"""
import itertools, os, queue, shutil, subprocess, threading
from collections import Counter, namedtuple
from datetime import timedelta
from pathlib import Path
from sandbox import KILLED, Clock, Device, Unusable, brief, broken_objects, git, play, ranges, tree_files

USUAL = "write,pwrite,writev,fsync,fdatasync,syncfs,rename,link"
EVERY = USUAL + ",open,mkdir,unlink"
WRITES = ("write", "pwrite", "writev")
REASONS = {"ENOSPC": "No space left on device", "EDQUOT": "Disk quota exceeded", "EIO": "Input/output error"}
STEPS = {("sync", "sticky"): 15, ("sync", "short"): 10, ("sync", "killed"): 25}  # with --short; a sync has most calls
MOST_KEPT = 12  # maximum number of guarantees with preserved broken stores
WORKERS = min(4, max(2, os.cpu_count() or 1))

# `kinds`: the counted calls. `call`: the call that fails. `mode`: once, sticky (as on a full disk: all later calls
# that may need space fail too), short (it writes half, and the next one fails), or killed (no call fails, but all
# processes are killed before that call).
Fault = namedtuple("Fault", "kinds call error mode")
State = namedtuple("State", "listed records entries files head")

class World:
    """Two devices and their remote, at constant paths, restored before each attempt."""
    def __init__(self, sandbox, number, library):
        self.folder, self.template = sandbox.data / str(number), sandbox.root / "templates" / str(number)
        self.counter, self.trace = sandbox.root / f"counter-{number}", sandbox.root / f"trace-{number}"
        self.remote, self.library, self.clock = self.folder / "remote.git", library, Clock()
        self.folder.mkdir()
        self.alpha, beta = (
            Device(sandbox, f"{name}-{number}", self.clock, self.folder / name) for name in ("alpha", "beta"))
        self.prepare(beta)
        # The clock is constant in each attempt, so that lists are comparable and no alarm is due.
        self.now, self.later = self.clock.forward(), self.clock.forward()
        subprocess.run(["cp", "-a", self.folder, self.template], check=True)
        self.restore()
        self.old = self.state()

    def prepare(self, beta):
        alpha = self.alpha
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.remote], check=True, env=alpha.environment)
        alpha.must("tier", "plus")
        rent = ["--daily", "--at", "09:10", "--persistent", "--note", "Landlord"]
        self.rent = alpha.must("add", "Rent", *rent)["id"]
        self.pills = alpha.must("add", "Pills", "--daily", "--at", "20:00")["id"]
        alpha.must("add", "Books", "--monthly", "last", "--at", "17:00")
        alpha.must("remote", "add", "origin", str(self.remote))
        alpha.must("sync")
        if beta.run("clone", str(self.remote)).code != 0:
            raise Unusable("`belfry clone` fails")
        # A sync that fetches, merges and pushes: both devices have changed one alarm, and each has added one.
        beta.must("edit", self.rent, "--title", "Rent of the flat")
        beta.must("edit", self.pills, "--note", "With water")
        beta.must("add", "From beta", "--weekly", "mon", "--at", "08:00")
        beta.must("sync")
        alpha.must("edit", self.rent, "--note", "Landlord, by transfer")
        alpha.must("add", "From alpha", "--weekly", "tue", "--at", "08:00")
        self.clock.moment += timedelta(minutes=30)
        alpha.must("tick")
        for folder in (alpha.store, self.remote):
            # One pack, which has fewer files to restore.
            git(folder, "gc", "-q", home=alpha.home)
        self.clock.forward(1)

    def restore(self):
        """Restores the store and the remote.

        A clone with another `.git/belfry` folder (another inode) counts as a copy, and gets an identity and a commit
        of its own. Therefore that folder stays, and only its content is replaced. The restored files have other
        inodes than belfry's alarm index and git's index contain: a tick and a refresh update both, so that the
        command under test starts with a settled store.
        """
        shutil.rmtree(self.remote, ignore_errors=True)
        local = self.alpha.store / ".git/belfry"
        for folder, spared in ((self.alpha.store, ".git"), (local.parent, "belfry"), (local, None)):
            for entry in list(os.scandir(folder)):
                if entry.name == spared:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)
        for name in ("remote.git", "alpha"):
            shutil.copytree(self.template / name, self.folder / name, symlinks=True, dirs_exist_ok=True)
        if self.alpha.run("tick", now=self.now).code != 0:
            raise Unusable("`belfry tick` fails in a restored store")
        self.alpha.git("update-index", "-q", "--refresh")

    def run(self, words, fault=None, now=None):
        """Runs belfry, with a fault if one is given. Also returns the calls."""
        self.counter.write_bytes(bytes(64))
        self.trace.write_bytes(b"")
        more = {}
        if fault:
            more = {"LD_PRELOAD": self.library, "FAIL_PREFIX": f"{self.folder}/", "FAIL_COUNTER": str(self.counter),
                    "FAIL_TRACE": str(self.trace), "FAIL_KIND": fault.kinds, "FAIL_N": str(fault.call),
                    "FAIL_ERRNO": fault.error, "FAIL_STICKY": str(int(fault.mode == "sticky")),
                    "FAIL_SHORT": str(int(fault.mode == "short")), "FAIL_KILL": str(int(fault.mode == "killed"))}
        outcome = self.alpha.run(*words, now=now or self.now, **more)
        return outcome, [line.split(" ", 2)[1:] for line in self.trace.read_text().splitlines()]

    def state(self):
        alpha = self.alpha
        return State(alpha.listed(self.now), alpha.records(), alpha.log(), alpha.files(), alpha.head())

    def remote_files(self): return tree_files(self.remote, "main", self.alpha.home)

    def call(self, calls, fault):
        """Returns the failed call, without the names that vary between runs."""
        if not 0 < fault.call <= len(calls):
            return "after the last call"
        kind, path = calls[fault.call - 1]
        parts = os.path.relpath(path, self.folder).split("/")
        kept = ["…" if len(part) > 22 and part.rstrip(")").isalnum() else part for part in parts]
        return f"{kind} {'/'.join(kept)}"

class Scenario:
    def __init__(self, report, sandbox):
        self.report, self.sandbox, self.counts = report, sandbox, Counter()
        self.broken = sandbox.root / "broken"
        self.failures, self.unclear = {}, {}  # by command and guarantee: the faults, with their details
        library = str(sandbox.root / "failing.so")
        source = Path(__file__).with_name("failing.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
        (sandbox.root / "templates").mkdir()
        self.worlds = [World(sandbox, number, library) for number in range(WORKERS)]
        # Each world has its own alarms, so each gets its own task.
        self.tasks = {"add": lambda world: ["add", "New one", "--daily", "--at", "07:00", "--json"],
                      "done": lambda world: ["done", world.rent, "--json"], "sync": lambda world: ["sync", "--json"]}

    # --- The faults ---

    def calls(self, name, kinds):
        """Returns the calls of a command without a fault, and stores the state that the command produces."""
        world = self.worlds[0]
        world.restore()
        outcome, calls = world.run(self.tasks[name](world), Fault(kinds, 0, "ENOSPC", "once"))
        if outcome.code != 0 or not calls:
            raise Unusable(f"`belfry {name}` without a fault: {len(calls)} calls counted, {brief(outcome)}")
        return calls

    def faults(self, name):
        errors = ["ENOSPC"] if self.report.short else ["ENOSPC", "EIO"] if name == "sync" else list(REASONS)
        ways = [(error, mode) for error in errors for mode in ("once", "sticky")]
        sets = [(USUAL, [*ways, ("ENOSPC", "short")]), (EVERY, [("", "killed")])]
        if not self.report.short:
            sets += [("open,mkdir", [("ENOSPC", "once"), ("ENOSPC", "sticky")]), ("unlink", [("EIO", "once")])]
        for kinds, ways in sets:
            calls = self.calls(name, kinds)
            for error, mode in ways:
                # The whole range, or a part whose start depends on the seed.
                step = STEPS.get((name, mode), 5) if self.report.short else 1
                for call in range(self.report.chance.randrange(1, step + 1), len(calls) + 2, step):
                    if mode != "short" or call <= len(calls) and calls[call - 1][0] in WRITES:
                        yield Fault(kinds, call, error, mode)

    # --- One attempt ---

    def attempt(self, world, name, fault):
        world.restore()
        outcome, calls = world.run(self.tasks[name](world), fault)
        found = {}
        def fail(promise, details): found.setdefault(promise, []).append(details)
        if outcome.code != KILLED or fault.mode != "killed":
            self.judge_ending(fail, world, name, outcome, calls, fault)
        try:
            judge = self.judge_sync if name == "sync" else self.judge_write
            if outcome.code == KILLED:
                judge = self.judge_killed_sync if name == "sync" else self.judge_killed
            result = judge(fail, world, name, outcome)
        except ValueError as reason:
            fail("a store cannot be read after a failure", str(reason))
            result = "else"
        self.counts[name, "else" if found else result] += 1
        for promise, details in found.items():
            seen = f"{world.call(calls, fault)}: {brief(outcome)}; seen: {'; '.join(details)}"
            self.failures.setdefault((name, promise), []).append((fault, seen.replace(f"{world.folder}/", "")))
        if found:
            self.keep(world, "-".join([name, fault.error, fault.mode, str(fault.call), fault.kinds.split(",")[0]]))

    def keep(self, world, label):
        """Keeps a copy of the stores of the first few failures for analysis (including later changes)."""
        if len(self.failures) <= MOST_KEPT and not (self.broken / label).exists():
            shutil.copytree(world.folder, self.broken / label, symlinks=True)
            shutil.copy(world.trace, self.broken / label / "trace")

    def judge_ending(self, fail, world, name, outcome, calls, fault):
        if outcome.code < 0 or outcome.code not in ((0, 1, 6) if name == "sync" else (0, 1)):
            fail("a failure ends with a signal or an unexpected exit code", str(outcome.code))
        elif outcome.code != 0 and not outcome.err.strip():
            fail("a failure prints no message", "standard error is empty")
        elif outcome.code != 0 and REASONS.get(fault.error, "") not in outcome.err:
            seen = f"{world.call(calls, fault)}: {brief(outcome)}".replace(f"{world.folder}/", "")
            self.unclear.setdefault((name, "the message does not contain the system's error"), []).append((fault, seen))

    def judge_write(self, fail, world, name, outcome):
        """Checks `add` and `done`: the store has the old state or the new one."""
        old, state = world.old, world.state()
        for problem in world.alpha.problems():
            fail("the store is inconsistent right after the command", problem)
        new = sorted(state.entries[path]["action"] for path in state.entries.keys() - old.entries.keys())
        if outcome.code != 0:
            for part in State._fields:
                if getattr(state, part) != getattr(old, part):
                    fail("a failed write changed the store", f"{part} {self.difference(old, state, part)}")
        elif name == "add":
            added = [alarm["title"] for id, alarm in state.listed.items() if id not in old.listed]
            if added != ["New one"] or new != ["created"] or state.head == old.head:
                fail("a successful write is missing", f"alarms {added}, log entries {new}")
        elif "ringing" in state.listed[world.rent] or new != ["done"] or state.head == old.head:
            fail("a successful write is missing", f"log entries {new}")
        self.judge_next(fail, world, old if outcome.code else state)
        return "old" if outcome.code else "new"

    def judge_killed(self, fail, world, name, outcome):
        """Checks `add` and `done` after a kill: the next command finds or restores the old state or the new one."""
        old = world.old
        world.alpha.listed(world.now)
        if not self.succeeds(fail, world, ["add", "Next one", "--daily", "--at", "06:00", "--json"]):
            return "else"
        for problem in world.alpha.problems():
            fail("the store is inconsistent after the next command", problem)
        state = world.state()
        titles = sorted(alarm["title"] for id, alarm in state.listed.items() if id not in old.listed)
        actions = sorted(state.entries[path]["action"] for path in state.entries.keys() - old.entries.keys())
        changed = [id for id, record in old.records.items() if state.records.get(id) != record]
        gone = old.entries.keys() - state.entries.keys()
        none, whole = (["Next one"], ["created"], []), {
            "add": (["New one", "Next one"], ["created", "created"], []),
            "done": (["Next one"], ["created", "done"], [world.rent])}[name]
        if (titles, actions, changed) not in (none, whole) or gone:
            fail("a killed change is incomplete after the next command",
                 f"new alarms {titles}, log entries {actions}, records changed {changed}, entries gone {sorted(gone)}")
        return "old" if (titles, actions, changed) == none else "new"

    def judge_killed_sync(self, fail, world, name, outcome):
        """Checks `sync` after a kill: nothing is lost, and the next command and a later sync succeed."""
        lost = world.old.entries.keys() - world.alpha.log().keys()
        if lost or world.old.listed.keys() - world.alpha.listed(world.now).keys():
            fail("an acknowledged change is missing", f"log entries {sorted(lost)}")
        is_old = world.alpha.files() == world.old.files
        # It completes an interrupted write, and has nothing to record by itself. An edit would stamp even equal values.
        if self.succeeds(fail, world, ["tick", "--settle", "--json"]):
            self.judge_both(fail, world, "after the next command")
        if self.succeeds(fail, world, ["sync", "--json"]):
            self.judge_both(fail, world, "after a later sync")
            here, there = world.alpha.files(), world.remote_files()
            if here != world.merged or there != world.merged:
                fail("a later sync does not complete", self.sides(world, here, there))
        return "old" if is_old else "new"

    def succeeds(self, fail, world, words):
        """Runs the next command, which must succeed. It reports the stale locks of the last one."""
        outcome, _ = world.run(words, now=world.later)
        if outcome.code != 0:
            locks = [os.path.relpath(path, world.folder) for path in world.folder.rglob("*.lock")]
            fail(f"the next `{words[0]}` fails", f"{brief(outcome)} (locks: {', '.join(locks) or 'none'})")
        return outcome.code == 0

    def judge_next(self, fail, world, before):
        """Checks that the next write is added to the present state, and changes nothing else."""
        if not self.succeeds(fail, world, ["add", "Next one", "--daily", "--at", "06:00", "--json"]):
            return
        state = world.state()
        titles = [alarm["title"] for id, alarm in state.listed.items() if id not in before.listed]
        actions = [state.entries[path]["action"] for path in state.entries.keys() - before.entries.keys()]
        changed = [id for id, record in before.records.items() if state.records.get(id) != record]
        gone = before.entries.keys() - state.entries.keys()
        if titles != ["Next one"] or actions != ["created"] or changed or gone:
            fail("the next command makes other changes than its own",
                 f"alarms {titles}, log entries {actions}, records changed {changed}, entries gone {sorted(gone)}")
        for problem in world.alpha.problems():
            fail("the store is inconsistent after the next command", problem)

    def judge_sync(self, fail, world, name, outcome):
        """Checks `sync`: this side is unchanged or merged, the remote is unchanged or merged, and a later sync
        completes it."""
        here, there = world.alpha.files(), world.remote_files()
        if outcome.code == 0 and (here != world.merged or there != world.merged):
            fail("a successful sync is incomplete", self.sides(world, here, there))
        if here not in (world.old.files, world.merged):
            fail("a failed sync left an intermediate state on this device", self.side(world, here))
        if there not in (world.old_remote, world.merged):
            fail("a failed sync left an intermediate state on the remote", self.side(world, there))
        self.judge_both(fail, world, "after the sync")
        if self.succeeds(fail, world, ["sync", "--json"]):
            here, there = world.alpha.files(), world.remote_files()
            if here != world.merged or there != world.merged:
                fail("a later sync does not complete", self.sides(world, here, there))
            self.judge_both(fail, world, "after a later sync")
        return "old" if outcome.code else "new"

    def judge_both(self, fail, world, when):
        for problem in world.alpha.problems():
            fail(f"the store is inconsistent {when}", problem)
        for problem in broken_objects(world.remote, world.alpha.home):
            fail(f"the remote is inconsistent {when}", problem)
        world.alpha.listed(world.now)

    def sides(self, world, here, there):
        return f"here {self.side(world, here)}, there {self.side(world, there)}"

    def side(self, world, files):
        if files == world.merged:
            return "merged"
        if files in (world.old.files, world.old_remote):
            return "unchanged"
        lost = sorted(world.old.files.keys() - files.keys())
        other = sorted(path for path in files if files[path] not in (world.old.files.get(path), world.merged.get(path)))
        mixed = sorted(path for path in files if files[path] != world.merged.get(path))
        return f"mixed (missing {lost}, of neither version {other}, not merged {mixed})"

    def difference(self, old, new, part):
        one, two = getattr(old, part), getattr(new, part)
        if not isinstance(one, dict):
            return f"{one[:8]} is {two[:8]}"
        return ", ".join(sorted(key for key in one.keys() | two.keys() if one.get(key) != two.get(key)))

    # --- The run ---

    def play(self):
        for world in self.worlds:
            world.old_remote = world.remote_files()
            if (outcome := world.run(["sync"])[0]).code != 0:
                raise Unusable(f"`belfry sync` without a fault ends with {brief(outcome)}")
            world.merged = world.alpha.files()
        jobs = [(name, fault) for name in self.tasks for fault in self.faults(name)]
        todo, done = queue.SimpleQueue(), itertools.count(1)
        for job in jobs:
            todo.put(job)
        trouble = []
        def work(world):
            while not trouble:
                try:
                    name, fault = todo.get_nowait()
                except queue.Empty:
                    return
                try:
                    self.attempt(world, name, fault)
                except Exception as reason:
                    trouble.append(Unusable(f"{name}, {fault}: {reason!r}"))
                self.report.progress(f"{next(done)} of {len(jobs)}, {len(self.failures)} failures")
        threads = [threading.Thread(target=work, args=(world,), daemon=True) for world in self.worlds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for found, tell in ((self.failures, self.report.fail), (self.unclear, self.report.note)):
            for (name, words), faults in sorted(found.items()):
                tell(f"{name}: {words} ({len(faults)} faults)", *self.told(faults))
        if trouble:
            raise trouble[0]
        return f"{len(jobs):,} faults. " + "; ".join(self.spoken(name) for name in self.tasks)

    def told(self, faults):
        """Returns the faulty calls, grouped by the kind of failure, with the first of them in full."""
        ways = {}
        for fault, _ in faults:
            ways.setdefault((fault.error, fault.mode, fault.kinds), set()).add(fault.call)
        for (error, mode, kinds), calls in ways.items():
            extra = "" if kinds in (USUAL, EVERY) else f" of {kinds}"
            yield f"{error} {mode}{extra}: N = {ranges(calls)}".strip()
        fault, seen = min(faults)
        yield f"for example {' '.join([fault.error, fault.mode]).strip()} {fault.call}, {seen[:800]}"

    def spoken(self, name):
        count = lambda what: self.counts[name, what]
        return f"{name}: {count('old')} failed, {count('new')} succeeded, {count('else')} violated a guarantee"

if __name__ == "__main__":
    play("inject", lambda report, sandbox: Scenario(report, sandbox).play())
