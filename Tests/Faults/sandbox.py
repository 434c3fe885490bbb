"""The shared parts of the scenarios: devices with a home and a clock, a check of a store that does not depend on
belfry alone, and the report."""
import hashlib, json, os, random, select, shutil, signal, subprocess, sys, tempfile, time
from collections import Counter, namedtuple
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

LIMIT = 120  # timeout of one process in seconds
SHOWN = 10  # printed instances of one failure
SILENCE = 60  # seconds between two lines of progress without a terminal
Outcome = namedtuple("Outcome", "code out err seconds")  # a negative code is the signal that ended it
KILLED = -signal.SIGKILL
AROUND = ("clock", "time zones", "hooks", "notifications", "deliveries", "battery", "cascade", "calls", "tick")  # the checks of `doctor` outside the store

class Unusable(Exception):
    """The scenario cannot continue."""

# --- Processes ---

def run(argv, environment, folder, kill_after=None, limit=LIMIT):
    """Runs a command in its own process group, and kills the whole group after a number of seconds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            argv, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        is_late = not ended(process, limit if kill_after is None else kill_after)
        if is_late:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        seconds = time.perf_counter() - start
        if code == KILLED:
            # Hooks have their own groups. The remaining processes end after belfry, which must not see them end.
            kill_family(process.pid)
        if is_late and kill_after is None:
            raise Unusable(f"`{' '.join(argv[:4])}` took over {limit} s")
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        return Outcome(code, *texts, seconds)

def ended(process, seconds):
    """Waits, and returns true if the process has ended. The process stays waitable."""
    try:
        file = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([file], [], [], seconds)[0])
    finally:
        os.close(file)

def kill_family(leader):
    """Kills the remaining processes that a process has started, and waits until they have ended."""
    until = time.monotonic() + 10
    while left := members(leader):
        if time.monotonic() > until:
            raise Unusable(f"processes {left} do not end")
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)

def members(leader):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                state, _, _, number = Path("/proc", name, "stat").read_text().rsplit(")", 1)[1].split()[:4]
                if int(number) == leader and state not in "ZX":
                    found.append(int(name))
    return found

# --- Devices ---

class Clock:
    """The time of all devices, which only moves forward."""
    def __init__(self, start=datetime(2026, 11, 23, 9, 0)):
        self.moment = start

    def forward(self, seconds=1):
        self.moment += timedelta(seconds=seconds)
        return self.text()

    def text(self): return self.moment.isoformat(timespec="milliseconds") + "Z"

class Sandbox:
    """A folder for one scenario, with a belfry that finds no hooks except those of the test."""
    def __init__(self, name, binary):
        # In memory if there is space, because a run starts thousands of processes. TMPDIR overrides it.
        roomy = "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK) and room("/dev/shm") > 1 << 30
        self.root = Path(tempfile.mkdtemp(prefix=f"belfry-faults-{name}-", dir="/dev/shm" if roomy else None))
        # Other users must be able to reach their stores below.
        self.root.chmod(0o711)
        self.belfry = str(self.root / "bin" / "belfry")
        os.mkdir(self.root / "bin")
        # A copy, so that the files beside the shipped binary, such as the real notification hooks, are not found from
        # here.
        shutil.copy(binary, self.belfry)
        shipped = self.root / "libexec/belfry/hooks/deliver"
        shipped.mkdir(parents=True)
        for hook in ("notify", "follow-up"):
            # They exist, and are never used as a delivery channel.
            (shipped / hook).write_text("#!/bin/sh\nexit 1\n")
            (shipped / hook).chmod(0o755)
        self.data = self.root / "data"
        self.data.mkdir()

    def remove(self): shutil.rmtree(self.root, ignore_errors=True)

def room(folder):
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize

def environment(home, **more):
    """Isolates belfry from the user's environment, and the user from belfry."""
    chosen = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return chosen | {"HOME": str(home), "TZ": "UTC", "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1", **more}

class Device:
    """A clone of the store as a separate device."""
    def __init__(self, sandbox, name, clock, store=None, prefix=()):
        self.name, self.clock, self.belfry, self.prefix = name, clock, sandbox.belfry, list(prefix)
        self.home = sandbox.root / "homes" / name
        self.store = Path(store or sandbox.data / name)
        self.rung = self.home / "rung"
        self.entries = {}  # the log at the last read: entries never change
        hooks = self.home / ".config/belfry/hooks/deliver"
        hooks.mkdir(parents=True)
        self.rung.touch()
        for hook in ("notify", "follow-up"):
            line = 'printf "%s %s %s\\n" "$BELFRY_KIND" "$BELFRY_ALARM" "$BELFRY_OCCURRENCE"'
            (hooks / hook).write_text(f'#!/bin/sh\n{line} >>"{self.rung}"\n')
            (hooks / hook).chmod(0o755)
        # Without this hook, the sound would be tried again for as long as an alarm rings.
        (hooks / "ring").write_text("#!/bin/sh\ncat >/dev/null\n")
        (hooks / "ring").chmod(0o755)
        # git's gc stays in the foreground, so that it ends with the command that started it.
        (self.home / ".gitconfig").write_text(
            f"[user]\nname = {name}\nemail = {name}@example.com\n[gc]\nautoDetach = false\n")
        self.environment = environment(
            self.home, BELFRY_DEVICE=name, BELFRY_STORE=str(self.store), BELFRY_LOCK_TIMEOUT="3")

    def own(self, user):
        """Changes the owner of the home."""
        for path in [self.home, *self.home.rglob("*")]:
            os.chown(path, user, user)

    def run(self, *words, now=None, kill_after=None, prefix=(), **more):
        """Runs belfry, by default one second after the last command."""
        surroundings = self.environment | {"BELFRY_NOW": now or self.clock.forward()} | more
        argv = [*self.prefix, *prefix, self.belfry, *words]
        return run(argv, surroundings, self.home, kill_after=kill_after)

    def must(self, *words, **options):
        """Runs belfry where it must succeed, and returns its JSON output."""
        outcome = self.run(*words, "--json", **options)
        if outcome.code != 0:
            raise Unusable(f"{self.name}: `belfry {' '.join(words)}` ended with {brief(outcome)}")
        return json.loads(outcome.out)

    def git(self, *words): return git(self.store, *words, home=self.home, prefix=self.prefix)

    # --- Reading ---

    def listed(self, now=None):
        """Returns the output of `belfry list --json`, by identifier. Raises ValueError with the reason if there is
        none."""
        outcome = self.run("list", "--json", now=now or self.clock.text())
        if outcome.code != 0:
            raise ValueError(f"`belfry list --json` ended with {brief(outcome)}")
        return {alarm["id"]: alarm for alarm in json.loads(outcome.out)}

    def records(self):
        """Returns the alarms' files by identifier."""
        folder = self.store / "alarms"
        return {name[:-5]: (folder / name).read_bytes() for name in os.listdir(folder)} if folder.exists() else {}

    def log(self):
        """Returns the log's entries by path."""
        paths = [os.path.join(at, name) for at, _, names in os.walk(self.store / "log") for name in names]
        found = {}
        for path in paths:
            short = os.path.relpath(path, self.store)
            found[short] = self.entries.get(short) or json.loads(Path(path).read_bytes())
        self.entries = found
        return found

    def head(self): return self.git("rev-parse", "HEAD").out.strip()

    def files(self):
        """Returns git's object names of the work tree's files by path, without a call of belfry or git."""
        names = {}
        for at, folders, files in os.walk(self.store):
            folders[:] = [folder for folder in folders if folder != ".git"]
            for name in files:
                path = os.path.join(at, name)
                names[os.path.relpath(path, self.store)] = blob_name(Path(path).read_bytes())
        return names

    def problems(self, thorough=True):
        """Returns the problems of a settled store: those that git finds, and differences between HEAD and the files."""
        wrong = broken_objects(self.store, self.home, self.prefix) if thorough else []
        # Without the optional lock with which git updates its index: the disk may be full.
        status = self.git("--no-optional-locks", "status", "--porcelain", "--untracked-files=all")
        if status.code != 0 or status.out:
            wrong.append("git status is not clean: " + brief(status))
        head, files = tree_files(self.store, "HEAD", self.home, self.prefix), self.files()
        for path in sorted(head.keys() | files.keys()):
            if head.get(path) != files.get(path):
                wrong.append(f"{path} differs from HEAD")
        return wrong

def git(folder, *words, home, prefix=()):
    # A safe directory, because some belong to another user.
    options = ["-c", "safe.directory=*", "-C", str(folder)]
    return run([*prefix, "git", *options, *words], environment(home), home)

def blob_name(content): return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

def tree_files(folder, commit, home, prefix=()):
    """Returns the blobs of a commit by path."""
    listing = git(folder, "ls-tree", "-r", "-z", commit, home=home, prefix=prefix)
    lines = [line.split("\t", 1) for line in listing.out.split("\0") if line]
    return {path: about.split()[2] for about, path in lines}

def broken_objects(folder, home, prefix=()):
    """Returns the problems that `git fsck` finds. Unreferenced objects are left by writes that were rolled back."""
    check = git(folder, "fsck", "--full", "--strict", "--no-progress", home=home, prefix=prefix)
    lines = (check.out + check.err).splitlines()
    wrong = [line for line in lines if not line.startswith(("dangling ", "notice: "))]
    return [f"git fsck: {line}" for line in wrong] or (["git fsck: " + brief(check)] if check.code else [])

def mend(device):
    """Repairs the store with belfry's `doctor`. Returns the problems that it could not repair."""
    if device.run("help", "doctor").code != 0:
        return []
    outcome = device.run("doctor", "--repair", "--json")
    try:
        findings = json.loads(outcome.out)["findings"]
    except (ValueError, KeyError):
        return [f"`belfry doctor --repair` ended with {brief(outcome)}"]
    # Its findings about this machine are ignored.
    found = [finding for finding in findings if finding["level"] == "problem" and finding["area"] not in AROUND]
    return [f"`belfry doctor --repair` leaves: {finding['area']}: {finding['message']}" for finding in found]

def ranges(numbers):
    """Returns 1, 2, 3, 5 as 1–3, 5."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in parts)

def brief(outcome):
    """Returns an outcome as one line."""
    words = " / ".join(line.strip() for line in (outcome.err or outcome.out).splitlines()[:4])
    code = f"signal {-outcome.code}" if outcome.code < 0 else str(outcome.code)
    return f"{code}: {words[:300]}" if words else code

# --- The report ---

class Report:
    """The violated guarantees, each with its instances, and the other results."""
    def __init__(self, scenario):
        arguments = sys.argv[1:]
        self.scenario, self.binary, self.short, self.seed = scenario, arguments[0], arguments[1] == "1", arguments[2]
        self.kills = int(arguments[3])  # requested number of kills; 0 for the default
        self.chance = random.Random(f"{scenario} {self.seed}")
        self.failures, self.notes, self.counts = {}, {}, Counter()
        self.kept, self.start = [], time.monotonic()
        self.told = self.start

    def fail(self, promise, *instances):
        self.failures.setdefault(promise, []).extend(instances)

    def note(self, words, *instances):
        """Records a fact that violates no guarantee."""
        self.notes.setdefault(words, []).extend(instances)

    def keep(self, folder):
        """Records a folder that is kept for the analysis of a failure."""
        if str(folder) not in self.kept:
            self.kept.append(str(folder))

    def progress(self, line):
        if sys.stderr.isatty():
            print(f"\r\033[K{self.scenario}: {line}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.told > SILENCE:
            self.told = time.monotonic()
            print(f"{self.scenario}: {line}", file=sys.stderr, flush=True)

    def print(self, summary):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        verdict = "FAILED" if self.failures else "passed"
        print(f"{self.scenario}: {verdict}. {summary} ({time.monotonic() - self.start:.0f} s)")
        for title, found in (("FAILED", self.failures), ("note", self.notes)):
            for words, instances in found.items():
                print(f"  {title}: {words}")
                for instance in instances[:SHOWN]:
                    print(f"    - {instance}")
                if len(instances) > SHOWN:
                    print(f"    - and {len(instances) - SHOWN} more, {len(instances)} in all")
        if self.failures:
            print("".join(f"  Kept: {folder}\n" for folder in self.kept), end="")
            short = ("--short " if self.short else "") + (f"--kills {self.kills} " if self.kills else "")
            more = "".join(f" {word}" for word in sys.argv[5:])
            print(f"  Repeat: Tests/Faults/run {short}--seed {self.seed}{more} {self.binary} {self.scenario}")

def play(scenario, body):
    """Runs a scenario: `body(report, sandbox)` returns the summary. Exits with 1 if a guarantee was violated."""
    report = Report(scenario)
    sandbox = Sandbox(scenario, report.binary)
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    try:
        try:
            summary = body(report, sandbox)
        except Unusable as reason:
            report.fail("the scenario was aborted", str(reason))
            summary = "Aborted."
    except KeyboardInterrupt:
        summary = "Interrupted."
    except BaseException:
        sandbox.remove()
        raise
    if report.failures:
        report.keep(sandbox.root)
    else:
        sandbox.remove()
    report.print(summary)
    sys.exit(1 if report.failures else 0)
