"""Kills every verb of belfry that writes, at random moments, and compares the store with the result of the verb
without a kill.

After a kill and the next command, the state must be one of two: that of the command and the next one, or that of the
next one alone. Both are produced on a copy, at the same times. New identifiers can differ. So no verb needs its own
model, only a way to call it.

`COVERED` names each verb that writes, `READING` those that do not, `ELSEWHERE` those that are tested in another way.
A verb that is in none of them fails the run.
"""
import json, re, shutil, statistics, subprocess
from collections import Counter
from pathlib import Path
from sandbox import KILLED, Clock, Device, Unusable, brief, mend

# The verbs that are killed here, with the kinds of calls of each.
COVERED = {
    "add": ["add"], "at": ["at"], "in": ["in"], "edit": ["title", "note", "times", "times of all"], "tag": ["tag"], "note": ["own note"],
    "rename": ["rename"], "delete": ["delete"], "enable": ["enable"],
    "disable": ["disable"], "pause": ["pause", "pause all"], "resume": ["resume", "resume all"], "tick": ["tick"],
    "stop": ["stop"], "done": ["done"], "snooze": ["snooze"], "skip": ["skip"], "move": ["move"], "unskip": ["unskip"],
    "dismiss": ["dismiss"], "undo": ["undo"], "redo": ["redo"], "poke": ["poke"], "cascade on": ["cascade on"],
    "cascade off": ["cascade off"], "cascade add": ["cascade add device", "cascade add person", "cascade add phone", "cascade add phone-tasks"],
    "cascade remove": ["cascade remove"], "cascade move": ["cascade move"], "cascade test": ["cascade test"],
    "calls sip": ["calls sip"], "calls http": ["calls http"], "calls off": ["calls off"],
    "partner invite": ["partner invite"], "partner limits": ["partner limits"], "partner mute": ["partner mute"],
    "partner unmute": ["partner unmute"], "partner remove": ["partner remove"], "partner sync": ["partner sync"],
    "settings set": ["setting", "own setting"], "settings unset": ["unset", "unset own"], "tier": ["tier"],
    "remote add": ["remote add"], "remote remove": ["remote remove"], "sync": ["sync"], "clone": ["clone"],
    "device": ["owner", "gadget"], "conflicts restore": ["restore"], "hooks install": ["hooks install"],
    "hooks uninstall": ["hooks uninstall"], "doctor": ["repair"], "import": ["import"],
    "calendar import": ["calendar import"], "calendar remove": ["calendar remove"],
    "calendar follow": ["calendar follow"], "calendar refresh": ["calendar refresh"],
    "calendar unfollow": ["calendar unfollow"],
}
# The verbs that write no persistent state.
READING = {
    "list", "tags", "completion", "next", "month", "week", "year", "when", "why", "show", "pending", "calendar list", "calendar show", "log", "stats", "catalog", "explain", "export", "status", "backup", "ring", "ui",
    "service status", "battery status", "battery predict", "cascade list", "cascade preview", "cascade status",
    "calls show", "partner list", "partner log", "partner keys export", "settings show",
    "settings get", "device show", "phone status", "sounds list", "sounds play", "remote list", "conflicts list", "hooks status",
}
# The verbs that write and are tested in another way, each with the reason.
ELSEWHERE = {
    "daemon": "Tests/Faults/run daemon", "attend": "Tests/Faults/run daemon", "cascade contact": "Tests/Faults/run cascade",
    "record-answer": "called by the daemon; one commit, as an answer to one or several alarms is",
    "service install": "writes units, not the store", "service uninstall": "writes units, not the store",
    "git": "the user's own git", "merge-driver": "writes a file that git owns", "hooks check": "called by git",
    "device adopt": "needs a device that is gone; one commit, as an edit is",
    "calls hook": "needs a hook that places calls; writes the same files as `calls off`", "calls test": "calls a number",
    "partner accept": "needs a second person", "partner confirm": "needs a second person",
    "partner send": "needs a second person", "partner recall": "needs a second person",
    "partner reply": "needs a second person", "partner rename": "needs a second person",
    "partner alarms": "needs a former partner; one commit, as an edit is",
    "phone setup": "writes a folder beside the store: BelfryPhoneTests and Tests/Phone",
    "phone sync": "BelfryPhoneTests ends runs at each step; Tests/Phone kills them",
    "phone remove": "writes a folder beside the store",
    "partner keys import": "needs a second person",
}
# Kinds that can refuse because the action is not possible now.
REFUSABLE = {"done", "stop", "snooze", "skip", "move", "unskip", "dismiss", "undo", "redo", "restore", "resume", "resume all",
             "cascade test", "enable", "disable"}
# Kinds that perform several steps, so that a part can be done: each step is complete.
STEPWISE = {"tick", "poke", "sync", "partner sync", "repair", "cascade test", "calendar follow", "calendar refresh",
            "calendar unfollow"}
# Kinds that change this device's files outside the store: a part can be done, and the same call completes it.
REPEATABLE = {"calls sip", "calls http", "calls off", "hooks install", "hooks uninstall"}
IDENTIFIER = re.compile(r"(?<![a-z2-7])[a-z2-7]{26}(?![a-z2-7])")
MOST = 6  # maximum number of alarms of a device
SHARE = 0.4  # the share of calls that end before they are killed, so that most kills come during a write

def leaves(command, path=()):
    """Returns the verbs of a command as the parser lists them: `cascade add device`."""
    below = [sub for sub in command.get("subcommands", []) if sub["commandName"] != "help"]
    options = {argument["valueName"] for argument in command.get("arguments", [])} - {"store", "json", "version", "help"}
    # `device` has a subcommand, and is also a command.
    if not below or path and options:
        yield " ".join(path)
    for sub in below:
        yield from leaves(sub, (*path, sub["commandName"]))

def identity(device):
    return json.loads((device.store / ".git/belfry/device.json").read_text())["id"]

def mirror(source, target):
    """Makes a folder equal to another. Folders stay, because a store with another folder belongs to another device."""
    def kind(path): return "link" if path.is_symlink() else "folder" if path.is_dir() else "file" if path.exists() else None
    for path in list(target.iterdir()):
        if kind(source / path.name) != kind(path):
            shutil.rmtree(path) if kind(path) == "folder" else path.unlink()
    for path in source.iterdir():
        other = target / path.name
        if kind(path) == "folder":
            other.mkdir(exist_ok=True)
            mirror(path, other)
        elif kind(path) == "link" or not is_same(path, other):
            other.unlink(missing_ok=True)
            shutil.copy2(path, other, follow_symlinks=False)
    shutil.copystat(source, target)

def is_same(path, other):
    if not other.exists():
        return False
    one, two = path.stat(), other.stat()
    return (one.st_size, one.st_mtime_ns, one.st_mode) == (two.st_size, two.st_mtime_ns, two.st_mode)

class Verbs:
    def __init__(self, report, sandbox):
        self.report, self.chance, self.sandbox = report, report.chance, sandbox
        self.clock, self.steps = Clock(), 0
        self.remote, self.mailbox = sandbox.data / "remote.git", sandbox.data / "mailbox.git"
        self.devices = [Device(sandbox, name, self.clock) for name in ("alpha", "beta")]
        self.probes, self.counts, self.killed = {}, Counter(), Counter()
        self.kept = set()  # alarms that no kind chooses
        self.kinds = [kind for kinds in COVERED.values() for kind in kinds]
        self.durations = {kind: [] for kind in self.kinds}
        # The delay of the kills of each kind, relative to a typical call: parallel work makes calls slower.
        self.reach = dict.fromkeys(self.kinds, 1.2)

    # --- Setup ---

    def check_coverage(self):
        """Compares the existing verbs with the verbs that are listed here."""
        help = self.devices[0].run("--experimental-dump-help")
        verbs = set(leaves(json.loads(help.out)["command"]))
        known = [set(COVERED), READING, set(ELSEWHERE)]
        for verb in sorted(verbs - set().union(*known)):
            self.report.fail("a verb has no kill test", f"belfry {verb}: add it to verbs.py with its kinds of calls")
        for verb in sorted(set().union(*known) - verbs):
            self.report.fail("a kill test covers a verb that does not exist", f"belfry {verb}")
        twice = [verb for verb in verbs if sum(verb in names for names in known) > 1]
        for verb in sorted(twice):
            self.report.fail("a verb is listed twice", f"belfry {verb}")

    def prepare(self):
        alpha, beta = self.devices
        for path in (self.remote, self.mailbox):
            subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True, env=alpha.environment)
        self.check_coverage()
        (self.sandbox.root / "secret").write_text("secret\n")
        # Beside the binary, where `hooks install` expects them.
        shipped = Path(__file__).resolve().parents[2] / "hooks/git"
        shutil.copytree(shipped, self.sandbox.root / "libexec/belfry/hooks/git")
        alpha.must("tier", "premium")
        self.quiet = alpha.must("add", "Quiet", "--once", "2031-01-01T00:00")["id"]
        self.rehearsed = alpha.must("add", "Rehearsed", "--once", "2031-01-02T00:00")["id"]
        alpha.must("remote", "add", "origin", str(self.remote))
        alpha.must("sync")
        beta.must("clone", str(self.remote))
        for device in self.devices:
            probe = device.must("add", f"Probe of {device.name}", "--once", "2030-01-01T00:00")
            self.probes[device] = probe["id"]
            for number in range(2):
                device.must("add", f"{device.name} {number}", "--daily", "--at", self.times(), "--persistent")
        for device in (alpha, beta, alpha, beta):
            device.must("sync")
        alpha.must("cascade", "add", self.rehearsed, "device", "beta")
        self.startup = min(alpha.run("--version").seconds for _ in range(3))
        # The durations of the kinds, measured before any is killed.
        for kind in self.kinds * 2:
            self.step(alpha, kind, None)

    def times(self):
        return ",".join(sorted({f"{self.chance.randrange(24):02}:{self.chance.randrange(60):02}" for _ in range(12)}))

    # --- Choices ---

    def words(self, device, kind):
        """Returns the words of a call of a kind, or None if the store has no use for it."""
        pick, number = self.chance.choice, self.steps
        records = {id: json.loads(record) for id, record in device.records().items()}
        kept = {*self.probes.values(), self.quiet, self.rehearsed, *self.kept}
        standing = [id for id, record in sorted(records.items()) if id not in kept and not record.get("deleted")]
        # One-time alarms do not suit every kind.
        alarms = [id for id in standing if "date" not in records[id]["schedule"]]
        if kind in ("import", "at", "in") and len(standing) > len(alarms) + MOST:
            kind = "delete"
        if kind == "delete" and standing:
            return ["delete", "--yes", pick(standing)]
        if kind == "add" or not alarms:
            if len(alarms) < MOST:
                return ["add", f"Alarm {number}", "--daily", "--at", self.times(), "--persistent"]
            return ["delete", "--yes", pick(alarms)]
        alarm = pick(alarms)
        place = str(self.sandbox.root / "secret")
        match kind:
            case "title": return ["edit", alarm, "--title", f"Title {number}"]
            case "note": return ["edit", alarm, "--note", f"note {number}"]
            case "times": return ["edit", alarm, "--at", self.times()]
            case "times of all": return ["edit", *alarms, "--at", self.times()]
            case "tag": return ["tag", f"+tag{number}", *alarms]
            case "own note": return ["note", alarm, f"note {number}"]
            case "rename": return ["rename", alarm, f"Title {number}"]
            case "pause": return ["pause", alarm, "--until", f"20{27 + number % 60}-01-04"]
            case "move": return ["move", alarm, f"20{27 + number % 60}-02-{1 + number % 28:02}", f"{number % 24}:{number * 7 % 60:02}"]
            case "pause all": return ["pause", "--all", "--until", f"20{27 + number % 60}-01-05"]
            case "resume all": return ["resume", "--all"]
            case "undo": return ["undo", "--skip", str(self.chance.randrange(3))]
            case "redo": return ["redo"]
            case "setting": return ["settings", "set", "grace", f"{1 + number % 47}h"]
            case "own setting": return ["settings", "set", "soundRising", pick(["on", "off"])]
            case "unset": return ["settings", "unset", "grace"]
            case "unset own": return ["settings", "unset", "soundRising"]
            case "tier": return ["tier", pick(["plus", "premium"])]
            case "owner": return ["device", "--owner", f"Owner {number}"]
            case "gadget": return ["device", "--kind", pick(["laptop", "phone", "tablet", "server"])]
            case "restore": return ["conflicts", "restore", "1"]
            case "repair": return ["doctor", "--repair"]
            case "at": return ["at", f"2030-{1 + number % 12:02}-{1 + number % 28:02} 9:00", f"Once {number}"]
            case "in": return ["in", f"{1 + number % 300} days", f"Once {number}"]
            case "calendar import": return ["calendar", "import", f"holidays{number % 3}", self.calendar(number)]
            case "clone": return ["clone", str(self.remote), "--store", str(self.sandbox.data / "clone")]
            case "import": return ["import", self.calendar(number)]
            case "calls sip": return ["calls", "sip", "--server", f"host{number}.example", "--user", "me", "--password-file", place]
            case "calls http":
                return ["calls", "http", "--url", f"https://host{number}.example/Calls.json", "--account", "AC1",
                        "--token-file", place, "--from", "+15557654321"]
        if kind.startswith("cascade "):
            return self.cascade_words(device, kind, records.get(self.quiet, {}).get("cascade", {}))
        if kind.startswith("partner "):
            return self.partner_words(device, kind)
        if kind == "calendar remove":
            # A removed calendar stays as a record whose years have no holidays.
            names = sorted(path.stem for path in (device.store / "calendars").glob("*.json")
                           if any(year["holidays"] for year in json.loads(path.read_text())["years"].values()))
            return ["calendar", "remove", "--yes", pick(names)] if names else None
        if kind.startswith("calendar "):
            names = sorted(path.stem for path in (device.store / ".git/belfry/followed").glob("*.json"))
            if kind == "calendar follow":
                return ["calendar", "follow", self.calendar(number), "--all", "--name", f"followed{number}"] if len(names) < 2 else None
            if not names:
                return None
            if kind == "calendar unfollow":
                return ["calendar", "unfollow", "--yes", pick(names)]
            # Another version of a calendar, so that the refresh has something to import.
            name = pick(names)
            place = json.loads((device.store / ".git/belfry/followed" / f"{name}.json").read_text())["file"]
            Path(place).write_text(Path(self.calendar(number)).read_text())
            return ["calendar", "refresh", name]
        if kind.startswith("remote "):
            names = self.remotes(device)
            if kind == "remote add" and len(names) < 3:
                return ["remote", "add", f"other{number}", f"/nonexistent/{number}.git"]
            return ["remote", "remove", pick(names)] if names else None
        if kind in ("tick", "poke", "sync", "hooks install", "hooks uninstall", "calls off"):
            return kind.split()
        return [kind, alarm] + (["--yes"] if kind == "skip" else [])

    def remotes(self, device):
        """Returns the remotes that were added while commands were killed."""
        return sorted(re.findall(r'\[remote "(other[0-9]+)"\]\n\s*url', (device.store / ".git/config").read_text()))

    def cascade_words(self, device, kind, cascade):
        listed = cascade.get("targets", [])
        # A target whose device rings first or has an earlier step stays in the record, and is omitted from the plan.
        places = [cascade.get("primary"), *(target.get("device") for target in listed)]
        targets = [target for index, target in enumerate(listed) if target.get("device") not in {*places[:index + 1]} - {None}]
        # The record has the step of the tasks on a phone outside the list.
        tasks = cascade.get("phoneTasks", {"removed": True})
        targets += [tasks] if "removed" not in tasks else []
        if kind == "cascade test":
            return ["cascade", "test", self.rehearsed]
        if kind == "cascade add device":
            # The device that is not first. It is refused if it is in the list. Without a first device, it is this
            # one.
            if any("device" in target for target in listed):
                return None
            first = cascade.get("primary") or identity(device)
            return ["cascade", "add", self.quiet, "device", next(d.name for d in self.devices if identity(d) != first)]
        if kind == "cascade add phone-tasks" and len(targets) < 5:
            return None if tasks in targets else ["cascade", "add", self.quiet, "phone-tasks"]
        if kind in ("cascade add person", "cascade add phone") and len(targets) < 5:
            number = f"555123{self.steps % 10000:04}"
            return ["cascade", "add", self.quiet] + (
                ["phone", number] if kind.endswith("phone")
                else ["person", f"Person {self.steps}", "--address", "https://ntfy.sh/nobody"])
        if kind == "cascade move":
            return ["cascade", "move", self.quiet, str(len(targets)), "1"] if len(targets) > 1 else None
        if kind in ("cascade on", "cascade off"):
            return ["cascade", kind.split()[1], self.quiet] if targets else None
        return ["cascade", "remove", "--yes", self.quiet, "1"] if targets else None

    def partner_words(self, device, kind):
        if kind == "partner sync":
            return ["partner", "sync"]
        if kind == "partner invite":
            return ["partner", "invite", "--remote", str(self.mailbox), "--yes", "--no-wait"]
        folder = device.store / ".git/belfry/partners"
        files = sorted(folder.glob("*.json")) if folder.exists() else []
        invited = [path.stem for path in files if json.loads(path.read_text())["phase"] != "ended"]
        if not invited:
            return None
        words = ["partner", kind.split()[1], self.chance.choice(invited)]
        return words + {"partner limits": ["--per-day", str(self.steps % 200)], "partner remove": ["--yes"]}.get(kind, [])

    def calendar(self, number):
        """Returns a calendar with two new alarms."""
        file = self.sandbox.root / f"import-{number}.ics"
        events = [f"BEGIN:VEVENT\r\nUID:{number}-{part}\r\nSUMMARY:Import {number} {part}\r\n"
                  f"DTSTART:2030{1 + number % 12:02}{1 + number % 28:02}T09000{part}\r\nEND:VEVENT\r\n" for part in (0, 1)]
        file.write_text(f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{''.join(events)}END:VCALENDAR\r\n")
        return str(file)

    # --- States ---

    def state(self, device, known=frozenset()):
        """Returns the persistent state of a device, by path: the records, and this device's own files.

        - known: the identifiers that are kept as they are. All others are new, and count as equal.
        """
        kept = {str(path.relative_to(device.store)): path.read_text()
                for path in device.store.rglob("*.json") if ".git" not in path.relative_to(device.store).parts}
        local = [device.store / ".git/config", *(device.home / ".config/belfry").glob("*.json"),
                 *(path for path in (device.store / ".git/hooks").glob("*") if not path.name.endswith(".sample"))]
        for path in local:
            if path.exists():
                kept[f"local: {path.name}"] = path.read_text()
        for path in (device.store / ".git/belfry/partners").glob("*.json"):
            partner = json.loads(path.read_text())
            kept[f"partner: {path.stem}"] = json.dumps(
                [partner.get(key) for key in ("phase", "name", "limits", "mailbox")])
        if not known:
            return kept
        def named(text):
            return IDENTIFIER.sub(lambda match: match[0] if match[0] in known else "NEW", text)
        return Counter((named(place), named(text)) for place, text in kept.items())

    def identifiers(self, state):
        return frozenset(id for place, text in state.items() for id in IDENTIFIER.findall(place + text))

    def save(self, name):
        self.forget(name)
        subprocess.run(["cp", "-a", self.sandbox.data, self.sandbox.root / "homes", self.fresh(name)], check=True)

    def fresh(self, name):
        folder = self.sandbox.root / "saved" / name
        folder.mkdir(parents=True)
        return folder

    def restore(self, name):
        for folder in ("data", "homes"):
            mirror(self.sandbox.root / "saved" / name / folder, self.sandbox.root / folder)

    def forget(self, name): shutil.rmtree(self.sandbox.root / "saved" / name, ignore_errors=True)

    # --- One step ---

    def fail(self, promise, device, words, details):
        self.report.fail(promise, f"step {self.steps}, {device.name}: {' '.join(words)}: {details}")

    def step(self, device, kind, delay):
        """Runs a call of a kind, kills it after a delay (None: does not kill it), and checks the store. Returns true
        if it was killed."""
        self.steps += 1
        words = self.words(device, kind)
        if words is None:
            return False
        before = self.state(device)
        known = self.identifiers(before)
        self.save("before")
        moment = self.clock.forward(self.chance.randrange(20, 150))
        outcome = device.run(*words, now=moment, kill_after=delay)
        self.counts["calls"] += 1
        if outcome.code == 0:
            self.durations[kind].append(outcome.seconds)
        if outcome.code != KILLED:
            self.counts["acknowledged" if outcome.code == 0 else "refused"] += 1
            self.judge_end(device, kind, words, outcome, before)
        else:
            self.counts["killed"] += 1
            self.killed[kind] += 1
            self.judge_kill(device, kind, words, moment, known, before)
        if kind == "clone":
            shutil.rmtree(self.sandbox.data / "clone", ignore_errors=True)
        for problem in device.problems(self.steps % 50 == 0):
            self.fail("a store is inconsistent after a kill and the next command", device, words, problem)
        return outcome.code == KILLED

    def judge_end(self, device, kind, words, outcome, before):
        """Checks a completed call: its reported result is true, and a refused call changed nothing."""
        if outcome.code == 0 or kind in STEPWISE:
            return
        # `doctor` reports problems around the store, and the tier may not allow partners.
        if not (outcome.code == 4 and kind in REFUSABLE or kind == "restore"
                or outcome.code == 5 and kind.startswith("partner")):
            self.fail(f"`{kind}` fails unexpectedly", device, words, brief(outcome))
        if self.state(device) != before:
            self.fail("a refused command changed the store", device, words, brief(outcome))

    def judge_kill(self, device, kind, words, moment, known, before):
        """Runs the next command, and compares the store with the permitted states."""
        later = self.clock.forward()
        self.next_command(device, words, later)
        if kind == "clone":
            return self.judge_clone(device, words)
        after = self.state(device, known)
        own = lambda states: Counter({item: count for item, count in states.items() if not self.is_probes(device, item)})
        if kind not in ("undo", "redo") and own(after) == own(self.blurred(before, known)):
            return
        if kind in STEPWISE:
            self.counts["took effect"] += 1
            return
        self.save("after")
        expected = []
        for call in (words, None):
            self.restore("before")
            if call and device.run(*call, now=moment).code not in (0, 4):
                raise Unusable(f"step {self.steps}, {device.name}: `{' '.join(call)}` fails without a kill")
            self.next_command(device, words, later)
            expected.append(self.state(device, known))
        self.restore("after")
        if after == expected[0]:
            self.counts["took effect"] += 1
        elif after != expected[1] and not (kind in REPEATABLE and self.completes(device, words, known, expected[0])):
            difference = [f"{place}: {text[:200]!r}" for place, text in (after - expected[0])]
            self.fail("a change is incomplete or wrong", device, words, difference or "something is missing")

    def completes(self, device, words, known, expected):
        """Returns true if the same call, repeated, completes this device's own files."""
        self.counts["completed by the same call"] += 1
        local = lambda state: {item for item in state if item[0].startswith("local: ")}
        return device.run(*words).code == 0 and local(self.state(device, known)) == local(expected)

    def blurred(self, state, known):
        return Counter({(place, text): 1 for place, text in state.items()})

    def is_probes(self, device, item):
        """Returns true if an item belongs to the next command: the probe's record, or the entry of its edit."""
        place, text = item
        probe = self.probes[device]
        return place == f"alarms/{probe}.json" or place.startswith("log/") and "NEW" in place and probe in text

    def next_command(self, device, words, moment):
        """Runs the user's next command. It must succeed, whatever state the last command left."""
        outcome = device.run("edit", self.probes[device], "--note", f"probe {self.steps}", now=moment)
        if outcome.code != 0:
            self.fail("the next command fails after a kill", device, words, brief(outcome))
            raise Unusable(f"step {self.steps}, {device.name}: {brief(outcome)}")

    def judge_clone(self, device, words):
        """Checks that a killed clone is complete or absent, and that the next one succeeds."""
        place = self.sandbox.data / "clone"
        if not place.exists():
            outcome = device.run(*words)
            if outcome.code != 0:
                self.fail("the next clone fails after a kill", device, words, brief(outcome))
                return
        else:
            self.counts["took effect"] += 1
        outcome = device.run("list", "--json", "--store", str(place))
        if outcome.code != 0 or not json.loads(outcome.out):
            self.fail("a clone is incomplete", device, words, brief(outcome))

    # --- The end ---

    def finish(self):
        for device in self.devices:
            for name in self.remotes(device):
                device.must("remote", "remove", name)
            for problem in mend(device):
                self.report.fail("a store cannot be repaired at the end", f"{device.name}: {problem}")
            for problem in device.problems():
                self.report.fail("a store is inconsistent at the end", f"{device.name}: {problem}")
        unkilled = [kind for kind in self.kinds if not self.killed[kind]]
        if unkilled and self.counts["killed"] > 20 * len(self.kinds):
            self.report.fail("a kind was never killed", ", ".join(unkilled))

    def play(self, kills):
        self.prepare()
        self.counts.clear()
        turn = []
        while self.counts["killed"] < kills and self.counts["calls"] < 4 * kills + 100:
            # Each kind once per round, in random order.
            if not turn:
                turn = self.chance.sample(self.kinds, len(self.kinds))
            kind = turn.pop()
            self.report.progress(f"{self.counts['killed']} of {kills} kills, {len(self.report.failures)} failures")
            device = self.devices[self.chance.random() < 0.35]
            if self.chance.random() < 0.2:
                delay = self.chance.uniform(0.003, 0.05)
            else:
                typical = statistics.median(self.durations[kind][-9:] or [2 * self.startup])
                delay = self.chance.uniform(self.startup, self.reach[kind] * max(typical, 2 * self.startup))
            was_killed = self.step(device, kind, delay)
            self.reach[kind] *= 1 + SHARE / 4 if was_killed else 1 - (1 - SHARE) / 4
        self.finish()
        counts = self.counts
        return (f"{len(COVERED)} verbs that write in {len(self.kinds)} kinds: {counts['calls']:,} calls, "
                f"{counts['killed']} killed, {counts['took effect']} of them took effect")
