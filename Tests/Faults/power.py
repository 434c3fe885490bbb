"""Cuts the power at every moment of a scenario: each acknowledged command must survive the loss of any subset of what
was not flushed.

The scenario runs once, under strace. The recorded operations then give the folders that a power loss can leave
(power_model.py). In each of them, on a machine with another boot identifier, belfry must read the store, find no
problem, have every acknowledged command in its history, and write again.

The states are numbered: first one per operation with nothing lost, then one per operation with everything lost that
was not flushed, then random subsets. A random state depends on its number and the seed.

    Tests/Faults/run power --state N --seed S --recording FILE    checks one state of a kept recording, and keeps it

What the model leaves out: inode numbers and times of a rebuilt store differ from the recorded ones, so no cache of file
attributes (git's index, belfry's alarm index) takes a torn file for an unchanged one. Modes are not restored.
"""
import argparse, json, multiprocessing, os, pickle, random, re, shutil, sys, tempfile
from collections import namedtuple
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from power_model import FLUSHES, Disk, Image, check_model
from power_recorder import Recorder
from power_scenario import CHECKED_AT, prepare, steps
from sandbox import AROUND, Clock, Device, Unusable, brief, broken_objects, play, run

WORKERS = 2
SHORT, FULL = 90, 10_000
CONTROLS = 40  # states without flushes: the check must find losses in them
KEPT = 5  # maximum number of kept states
LIMIT = 30  # seconds until a command counts as hanging
BEFORE, AFTER = {"BELFRY_BOOT_ID": "before"}, {"BELFRY_BOOT_ID": "after"}
HISTORY = "--format=%H %T %s"

# A step: `kind` is belfry, git or hand. `first` and `last` are the range of its operations, and `history` is the number
# of commits after it.
Step = namedtuple("Step", "name kind first last history")
State = namedtuple("State", "number point way")
Result = namedtuple("Result", "number lost_operations lost_commands failures notes")

class Recording:
    """The operations of the scenario, and what each command acknowledged."""
    def __init__(self, device, trace):
        self.start, self.steps, self.folder = Image.read(device.store), [], identity(device.store)
        recorder = Recorder(device.store, trace)
        base = len(history(device))
        for name, kind, argv, options in steps(device):
            first = len(recorder.operations)
            outcome = recorder.run(argv, device.environment | options, device.store)
            if outcome.code != 0:
                raise Unusable(f"`{name}` ended with {brief(outcome)}")
            # Also makes sure that the command left a store of which each later check can be expected.
            if kind != "hand" and (problems := device.problems()):
                raise Unusable(f"`{name}` leaves a store that is inconsistent: {problems[:3]}")
            self.steps.append(Step(name, kind, first, len(recorder.operations), len(history(device))))
        self.operations = recorder.operations
        self.commits, self.base = history(device), base
        self.git_objects = {
            match[1] + match[2] for operation in self.operations if operation.is_gits
            for match in [re.search("([0-9a-f]{2})/([0-9a-f]{38})$", self.target(operation))] if match}

    def target(self, operation):
        """Returns the path that a link or a rename creates, with its folder, as far as objects need it."""
        kind, arguments = operation.kind, operation.arguments
        folder, name = arguments[3:5] if kind == "rename" else arguments[:2] if kind == "link" else (None, "")
        return f"{self.folder_names().get(folder, '')}/{name}"

    def folder_names(self):
        if not hasattr(self, "names"):
            self.names = {inode: name for names in self.start.folders.values() for name, inode in names.items()}
            for operation in self.operations:
                if operation.kind == "mkdir":
                    self.names[operation.arguments[2]] = operation.arguments[1]
        return self.names

    # --- What a loss at a point must leave ---

    def begun(self, point): return [step for step in self.steps if step.first < point]

    def acknowledged(self, point): return [step for step in self.steps if step.last <= point and step.kind == "belfry"]

    def is_unsettled(self, point):
        """Returns true if git or an editor changed the store after the last acknowledged command of belfry."""
        acknowledged = self.acknowledged(point)
        since = acknowledged[-1].last if acknowledged else 0
        return any(step.kind != "belfry" and step.last > since for step in self.begun(point))

    def lengths(self, point):
        """Returns the least and the greatest number of commits."""
        acknowledged, begun = self.acknowledged(point), self.begun(point)
        return acknowledged[-1].history if acknowledged else self.base, begun[-1].history if begun else self.base

    def describe(self, state):
        step = next((step for step in self.steps if step.first < state.point < step.last), None)
        after = [step.name for step in self.steps if step.last <= state.point]
        where = (f"in `{step.name}` after {state.point - step.first} of {step.last - step.first} operations" if step
                 else f"after `{after[-1]}`" if after else "before the first command")
        return f"{where}, {state.way}"

    # --- States ---

    def state(self, number, seed):
        points = len(self.operations) + 1
        if number < 2 * points:
            return State(number, number % points, "nothing lost" if number < points else "everything lost")
        choice = random.Random(f"{seed} {number}")
        step = choice.choice(self.steps)
        point = step.last if choice.random() < 0.4 else choice.randint(step.first, step.last)
        return State(number, point, choice.choice(("a subset lost", "a subset lost", "the end lost, in order")))

    def numbers(self, count, choice):
        """Returns the numbers of the states of a run: a third to a half are those of one operation."""
        prefixes = 2 * (len(self.operations) + 1)
        few = min(prefixes, count // 2 if count > SHORT else count // 3)
        chosen = choice.sample(range(prefixes), few)
        return sorted(chosen) + list(range(prefixes, prefixes + count - few))

    def image(self, state, seed, is_control=False):
        """Returns the folder's image after a loss, and the number of lost operations."""
        disk = Disk(self.start, self.operations[:state.point], state.way.endswith("order"),
                    FLUSHES + ("syncfs",) if is_control else ())
        if not state.way.startswith(("a subset", "the end")):
            return disk.image(keep=state.way == "nothing lost")
        return disk.image(random.Random(f"{seed} {state.number} loss"))

def identity(store):
    """Returns the inode of the store's local state. A store with another one counts as a copy."""
    return os.stat(store / ".git/belfry").st_ino

def history(device):
    """Returns the commits, the oldest first, as (id, tree and subject)."""
    log = device.git("log", "--reverse", HISTORY)
    return [tuple(line.split(" ", 1)) for line in log.out.splitlines()] if log.code == 0 else []

# --- Checking ---

class Checker:
    """Rebuilds states in one folder, and checks them."""
    def __init__(self, sandbox, recording, seed, name, kept=None, keeps_all=False):
        self.recording, self.seed, self.kept, self.keeps_all = recording, seed, kept, keeps_all
        self.device = Device(sandbox, name, Clock())
        self.lists = {}  # the alarms after each command, by the number of commits

    def rebuild(self, image, store=None):
        store = store or self.device.store
        shutil.rmtree(store, ignore_errors=True)
        store.mkdir(parents=True)
        image.write(store)
        # The identity of the local state is the inode of its folder, which a power loss does not change.
        path = store / ".git/belfry/device.json"
        if path.exists():
            old, new = (f'"folder": {inode}'.encode() for inode in (self.recording.folder, identity(store)))
            path.write_bytes(path.read_bytes().replace(old, new))

    def belfry(self, *words):
        device = self.device
        surroundings = device.environment | AFTER | {"BELFRY_NOW": CHECKED_AT}
        return run([device.belfry, *words], surroundings, device.home, limit=LIMIT)

    def check(self, number, is_control=False):
        recording = self.recording
        state = recording.state(number, self.seed)
        image, lost = recording.image(state, self.seed, is_control)
        self.rebuild(image)
        self.failures, self.notes = [], []
        self.is_unsettled = recording.is_unsettled(state.point)
        try:
            missing = self.check_store(state)
        except Unusable as reason:
            self.fail("a command hangs", str(reason))
            missing = 0
        if self.kept and (self.failures or self.keeps_all):
            if len(os.listdir(self.kept)) < KEPT:
                self.rebuild(image, self.kept / str(number))
        return Result(number, lost, missing, self.failures, self.notes)

    def fail(self, words, details=""):
        suffix = " (after a command of git or an editor)" if self.is_unsettled else ""
        self.failures.append((words + suffix, details))

    def check_store(self, state):
        """Checks the rebuilt store. Returns the number of lost commands."""
        listed = self.belfry("list", "--json")
        if listed.code != 0:
            self.fail("`belfry list` fails", brief(listed))
        if not self.is_unsettled:
            self.check_health()
            self.check_history(state, listed)
        before = history(self.device)
        added = self.belfry("add", "After the loss", "--daily", "--at", "22:00", "--json")
        if added.code != 0:
            self.fail("`belfry add` fails after the loss", brief(added))
        elif self.is_unsettled:
            # A tick imports an edit by hand that is in no commit, or whose commit is lost.
            settled = self.belfry("tick", "--settle", "--json")
            if settled.code != 0:
                self.fail("`belfry tick` fails after the loss", brief(settled))
            self.check_health()
        after = history(self.device)
        if added.code == 0 and not self.is_unsettled:
            if after[:-1] != before:
                self.fail("the next write makes other commits than its own", str([line for _, line in after[-3:]]))
        return self.check_commands(state, after)

    def check_health(self):
        doctor = self.belfry("doctor", "--json")
        try:
            found = [finding for finding in json.loads(doctor.out)["findings"]
                     if finding["level"] == "problem" and finding["area"] not in AROUND]
            for finding in found:
                self.fail("`belfry doctor` reports a problem", f"{finding['area']}: {finding['message']}")
        except (ValueError, KeyError):
            self.fail("`belfry doctor` fails", brief(doctor))
        device = self.device
        reachable = device.git("rev-list", "--objects", "--quiet", "HEAD") if self.is_unsettled else None
        if reachable and reachable.code != 0:
            self.fail("the history has an object that is missing", brief(reachable))
        for line in broken_objects(device.store, device.home):
            # What git wrote and did not flush is git's to lose, if the history does not need it.
            if reachable and reachable.code == 0 and any(name in line for name in self.recording.git_objects):
                self.notes.append("git's own objects are damaged, as git did not flush them")
            else:
                self.fail("`git fsck` reports damage", line)
        status = device.git("--no-optional-locks", "status", "--porcelain", "--untracked-files=all")
        if status.code != 0 or status.out:
            self.fail("`git status` is not clean", brief(status))

    def check_history(self, state, listed):
        """Compares the history, the files and the list with those that the recorded commands left."""
        recording, found = self.recording, history(self.device)
        least, most = recording.lengths(state.point)
        expected = recording.commits[:len(found)]
        if not least <= len(found) <= most or [line for _, line in found] != [line for _, line in expected]:
            own = {line for _, line in recording.commits}
            more = [line for _, line in found if line not in own]
            words = "the history has a commit that no command made" if more else "the history is not that of a command"
            self.fail(words, f"{len(found)} commits, expected {least} to {most}; {more[:2]}")
            return
        # The work tree equals HEAD if git's status is clean, and HEAD's tree is the recorded one.
        wanted = self.lists.get(len(found))
        if wanted is not None and listed.code == 0 and shown(listed) != wanted:
            self.fail("`belfry list` shows other alarms than the history", difference(wanted, shown(listed)))

    def check_commands(self, state, after):
        """Returns the number of acknowledged commands whose commits are not in the history."""
        lines, missing, least = {line for _, line in after}, [], self.recording.base
        for step in self.recording.acknowledged(state.point):
            own, least = self.recording.commits[least:step.history], step.history
            if any(line not in lines for _, line in own):
                missing.append(step.name)
        if missing:
            self.fail("an acknowledged command is lost", f"{len(missing)} commands: {', '.join(missing)}")
        return len(missing)

    def expected_lists(self):
        """Returns the alarms after each command, by the number of commits, from the states in which nothing is lost."""
        recording, lists = self.recording, {}
        steps = [(step.history, step.last) for step in recording.steps if step.kind == "belfry"]
        for length, point in [(recording.base, 0), *steps]:
            # The number of a state with nothing lost is its point.
            image, _ = recording.image(recording.state(point, self.seed), self.seed)
            self.rebuild(image)
            listed = self.belfry("list", "--json")
            if listed.code != 0:
                raise Unusable(f"`belfry list` fails in a store without a loss: {brief(listed)}")
            lists[length] = shown(listed)
        return lists

def shown(listed):
    """Returns the alarms of `belfry list`, without the deliveries, which are in no commit and can be repeated."""
    def without(value):
        if isinstance(value, dict):
            return {key: without(inner) for key, inner in value.items() if key != "delivered"}
        return [without(inner) for inner in value] if isinstance(value, list) else value
    return without(json.loads(listed.out))

def difference(wanted, found):
    """Describes the first difference of two lists of alarms."""
    if len(wanted) != len(found):
        return f"{len(found)} alarms instead of {len(wanted)}"
    one, two = next(pair for pair in zip(wanted, found) if pair[0] != pair[1])
    keys = [key for key in one.keys() | two.keys() if one.get(key) != two.get(key)]
    return f"{one['title']}: " + ", ".join(f"{key} is {two.get(key)} instead of {one.get(key)}" for key in sorted(keys))

# --- The run ---

class Scenario:
    def __init__(self, report, sandbox, options):
        self.report, self.sandbox, self.options = report, sandbox, options

    def record(self):
        """Returns the recording of an earlier run, or a new one."""
        if self.options.recording:
            return pickle.loads(Path(self.options.recording).read_bytes())
        device = Device(self.sandbox, "alpha", Clock())
        # The store is created in the boot in which it is recorded.
        device.environment |= BEFORE
        prepare(device)
        trace = self.sandbox.root / "trace"
        recording = Recording(device, trace)
        trace.unlink()
        (self.sandbox.root / "recording").write_bytes(pickle.dumps(recording))
        return recording

    def play(self):
        check_model()
        self.report.progress("recording")
        self.recording = self.record()
        # A state that was asked for outlives the sandbox.
        asked = self.options.state is not None
        self.kept = Path(tempfile.mkdtemp(prefix="belfry-power-")) if asked else self.sandbox.root / "states"
        self.kept.mkdir(exist_ok=True)
        if asked:
            self.report.note("the store after the loss is kept", f"{self.kept}/{self.options.state}")
        lists = Checker(self.sandbox, self.recording, self.report.seed, "calibration").expected_lists()
        chosen = self.chosen()
        results = self.results(chosen, lists, self.options.control)
        lost = sum(result.lost_commands for result in results)
        if self.options.control:
            self.expect_losses(results)
        else:
            self.collect(results)
            if self.options.state is None:
                controls = self.report.chance.sample(self.random_numbers(), CONTROLS)
                self.expect_losses(self.results(controls, lists, True))
        operations = sum(result.lost_operations for result in results)
        recorded = f"{len(self.recording.steps)} commands, {len(self.recording.operations)} operations"
        return f"{recorded}, {len(results)} states, {operations} lost operations, {lost} lost commands"

    def chosen(self):
        if self.options.state is not None:
            return [self.options.state]
        if self.options.control:
            return self.random_numbers()[:CONTROLS]
        return self.recording.numbers(SHORT if self.report.short else FULL, self.report.chance)

    def random_numbers(self):
        first = 2 * (len(self.recording.operations) + 1)
        return range(first, first + FULL)

    def results(self, numbers, lists, is_control):
        """Checks states in several processes."""
        results = []
        workers = min(WORKERS, len(numbers))
        # Unlike multiprocessing.Pool, an executor fails instead of waiting forever if one of its processes is killed.
        with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), start_worker,
                                 (self, lists, is_control)) as executor:
            for future in as_completed([executor.submit(check_in_worker, number) for number in numbers]):
                results.append(future.result())
                self.report.progress(f"{len(results)} of {len(numbers)} states")
        return results

    def collect(self, results):
        """Reports the failures, at most once per state and guarantee."""
        for result in sorted(results, key=lambda result: result.number):
            state = self.recording.state(result.number, self.report.seed)
            for words, details in dict(reversed(result.failures)).items():
                self.report.fail(words, f"state {result.number}, {self.recording.describe(state)}: {details[:300]}")
            for words in set(result.notes):
                self.report.note(words, f"state {result.number}")
        failed = [result.number for result in results if result.failures]
        if failed:
            path = self.options.recording or self.sandbox.root / "recording"
            self.report.note("to check one state again", f"Tests/Faults/run power --seed {self.report.seed} "
                             f"--state {failed[0]} --recording {path} {self.report.binary}")

    def expect_losses(self, results):
        """Without flushes, acknowledged commands must be lost. Otherwise the check finds nothing."""
        if not any(result.lost_commands for result in results):
            self.report.fail("the check finds no lost command although no flush counts", f"{len(results)} states")

def start_worker(scenario, lists, is_control):
    global checker, control
    name = f"worker-{multiprocessing.current_process()._identity[0]}"
    kept = None if is_control else scenario.kept
    checker = Checker(scenario.sandbox, scenario.recording, scenario.report.seed, name, kept,
                      scenario.options.state is not None)
    checker.lists, control = lists, is_control

def check_in_worker(number): return checker.check(number, control)

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=int)
    parser.add_argument("--recording")
    parser.add_argument("--control", action="store_true")
    return parser.parse_args(sys.argv[5:])

if __name__ == "__main__":
    play("power", lambda report, sandbox: Scenario(report, sandbox, options()).play())
