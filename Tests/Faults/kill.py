"""Kills belfry at random moments, command after command, on two devices that sync, and compares the stores with the
acknowledged writes.

Each step reads a device's store before and after a command, and checks the difference: it must be complete if the
command was acknowledged, and complete or empty if the command was killed. After a kill, another command runs without
a kill (the probe), as the user's next command would. It must succeed, and it completes an interrupted write.
"""
import json, os, shutil, statistics, subprocess
from collections import Counter, namedtuple
from sandbox import (
    KILLED, Clock, Device, Sandbox, Unusable, brief, broken_objects, git, mend, play, tree_files)
from verbs import Verbs

WEIGHTS = {"add": 12, "title": 14, "note": 8, "times": 6, "done": 10, "stop": 7, "snooze": 5, "skip": 8, "unskip": 5,
           "tick": 10, "delete": 5, "undo": 8, "sync": 12}
# The log action of each command. A command adds one entry.
ACTIONS = {"add": "created", "title": "edited", "note": "edited", "times": "edited", "done": "done", "stop": "stopped",
           "snooze": "snoozed", "skip": "skipped", "unskip": "unskipped", "delete": "deleted", "undo": "undone"}
# Commands that can refuse because there is no ringing occurrence, or nothing to undo.
REFUSABLE = {"done", "stop", "snooze", "skip", "unskip", "undo"}
TICKED = {"fired", "missed", "done", "reminded"}
STATES = ["open", "missed", "snoozed", "pending", "skipped", "done"]
RECOVERY = ("Finish an interrupted write", "Recovered: true")  # in the messages of commits that complete an interrupted write
MOST = 16  # approximate number of alarms
SLACK = 1.2  # the latest kill, relative to the typical duration of the command

Command = namedtuple("Command", "kind words alarm field value")
View = namedtuple("View", "listed records entries head")

class Scenario:
    def __init__(self, report, sandbox):
        self.report, self.chance, self.sandbox = report, report.chance, sandbox
        self.clock = Clock()
        self.remote = sandbox.data / "remote.git"
        self.devices = [Device(sandbox, name, self.clock) for name in ("alpha", "beta")]
        self.views, self.probes, self.steps = {}, {}, 0
        self.cut_off = set()  # devices whose latest tick was killed
        self.counts, self.durations = Counter(), {kind: [] for kind in WEIGHTS}
        # No value is used twice, so that each identifies its write (but an undo can write a value again): the steps
        # that wrote each value, and the last written value.
        self.ranks, self.latest = {}, {}
        self.known = {}  # every log entry that was ever read, by path
        self.shared, self.owners = [], {}

    def fail(self, promise, device, command, details):
        broken = self.sandbox.root / "broken" / f"step-{self.steps}"
        if promise not in self.report.failures and not broken.exists():
            shutil.copytree(self.sandbox.data, broken, symlinks=True)  # later steps overwrite it
        where = f"step {self.steps}, {device.name}, {self.fate}"
        self.report.fail(promise, f"{where}: {' '.join(command.words)}: {details}")

    # --- Setup ---

    def prepare(self):
        alpha, beta = self.devices
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.remote], check=True, env=alpha.environment)
        alpha.must("tier", "plus")
        self.probes[alpha] = alpha.must("add", "Probe of alpha", "--once", "2030-01-01T00:00")["id"]
        for number in range(3):
            # Both devices edit these alarms, and neither deletes them.
            added = alpha.must("add", f"Shared {number}", "--daily", "--at", self.times(), "--persistent")
            self.shared.append(added["id"])
        alpha.must("remote", "add", "origin", str(self.remote))
        alpha.must("sync")
        outcome = beta.run("clone", str(self.remote))
        if outcome.code != 0:
            raise Unusable("`belfry clone` ended with " + brief(outcome))
        self.probes[beta] = beta.must("add", "Probe of beta", "--once", "2030-01-01T00:00")["id"]
        for device in (beta, alpha):
            device.must("sync")
        for device in self.devices:
            self.views[device] = self.look(device)
            self.learn(device, {}, self.views[device], synced=False)
        # The durations of commands, measured before any is killed.
        for kind in ["tick", "add", *WEIGHTS] * 3:
            self.step(self.devices[0], kind, None)
        self.startup = min(self.devices[0].run("--version").seconds for _ in range(5))
        self.typical = {kind: statistics.median(seconds) for kind, seconds in self.durations.items() if seconds}

    def times(self):
        times = sorted({(self.chance.randrange(24), self.chance.randrange(60)) for _ in range(12)})
        return ",".join(f"{hour:02}:{minute:02}" for hour, minute in times)

    # --- Choices ---

    def own(self, device):
        """Returns the alarms that only this device edits and deletes."""
        return [id for id in self.views[device].listed if self.owners.get(id) == device]

    def command(self, device, kind):
        listed, number = self.views[device].listed, self.steps
        own = self.own(device)
        editable = own + [id for id in self.shared if id in listed]
        others = [id for id in listed if id not in self.probes.values()]
        pick = self.chance.choice
        if kind == "add" and len(own) > MOST / 2:
            kind = "delete"
        if kind == "delete" and not own:
            kind = "add"
        if kind == "add":
            title = f"Alarm {number}"
            words = ["add", title, "--daily", "--at", self.times(), "--note", f"note {number}", "--persistent"]
            return Command(kind, words, None, "title", title)
        if kind == "title":
            return self.edit(kind, pick(editable), "--title", f"Title {number}")
        if kind == "note":
            return self.edit(kind, pick(editable), "--note", f"note {number}")
        if kind == "times":
            return self.edit(kind, pick(editable), "--at", self.times())
        if kind == "delete":
            alarm = pick(own)
            return Command(kind, ["delete", "--yes", alarm], alarm, "present", False)
        if kind in ("done", "stop", "snooze", "skip", "unskip"):
            fitting = [id for id in others if self.fits(listed[id], kind)]
            alarm = pick(fitting if fitting and self.chance.random() < 0.9 else others)
            return Command(kind, [kind, alarm] + (["--yes"] if kind == "skip" else []), alarm, None, None)
        if kind == "undo":
            return Command(kind, ["undo", "--skip", str(self.chance.randrange(3))], None, None, None)
        return Command(kind, [kind], None, None, None)

    def fits(self, alarm, kind):
        if kind == "unskip":
            return bool(alarm.get("skipped"))
        return "ringing" in alarm or kind == "skip" or (kind == "done" and "pending" in alarm)

    def edit(self, kind, alarm, option, value):
        field = {"--title": "title", "--note": "note", "--at": "times"}[option]
        held = tuple(value.split(",")) if field == "times" else value
        return Command(kind, ["edit", alarm, option, value], alarm, field, held)

    # --- Reading ---

    def look(self, device):
        return View(device.listed(), device.records(), device.log(), device.head())

    def fields(self, view):
        """Returns the fields of each alarm that the model follows: its definition, and its existence."""
        values = {}
        for alarm, record in view.records.items():
            json_record = json.loads(record)
            values[alarm, "present"] = alarm in view.listed
            values[alarm, "title"] = json_record["title"]
            values[alarm, "note"] = json_record.get("note", "")
            values[alarm, "times"] = tuple(json_record["schedule"].get("times", ()))
        return values

    def learn(self, device, before, view, synced):
        """Stores the state after a step, for comparison with the next one."""
        if not synced:
            for key, value in self.fields(view).items():
                if before.get(key) != value:
                    self.ranks.setdefault((key, value), []).append(self.steps)
                    self.latest[key] = value
                common = key[0] in self.shared or key[0] in self.probes.values()
                self.owners.setdefault(key[0], None if common else device)
        self.known.update(view.entries)

    # --- One step ---

    def step(self, device, kind, delay):
        """Runs a command, kills it after a delay (None: does not kill it), and checks the store."""
        self.steps += 1
        self.clock.forward(self.chance.randrange(20, 150))
        command, before = self.command(device, kind), self.views[device]
        outcome = device.run(*command.words, "--json", kill_after=delay)
        self.fate = {0: "acknowledged", KILLED: f"killed after {outcome.seconds * 1000:.1f} ms"}.get(
            outcome.code, f"refused with {outcome.code}")
        if outcome.code == 0:
            self.durations[command.kind].append(outcome.seconds)
        self.counts["commands"] += 1
        self.counts["acknowledged" if outcome.code == 0 else "killed" if outcome.code == KILLED else "refused"] += 1
        if outcome.code not in (0, KILLED) and not (outcome.code == 4 and command.kind in REFUSABLE):
            self.jam(device, command, outcome)
        probe = None if outcome.code == 0 else self.probe(device, command)
        try:
            after = self.look(device)
        except ValueError as reason:
            raise Unusable(f"step {self.steps}, {device.name}, {self.fate}, {command.words}: {reason}") from None
        self.judge(device, command, outcome, before, after, probe)
        thorough = self.steps % 50 == 0
        for problem in device.problems(thorough) if thorough or outcome.code != 0 else []:
            self.fail("a store is inconsistent after a kill and the next command", device, command, problem)
        self.learn(device, self.fields(before), after, synced=command.kind == "sync")
        self.views[device] = after
        if outcome.code == KILLED and command.kind == "sync":
            # Another device must be able to use the remote afterwards.
            self.step(self.chance.choice(self.devices), "sync", None)

    def probe(self, device, command):
        """Runs the user's next command. It must succeed, whatever state the last command left."""
        note, key = f"probe {self.steps}", (self.probes[device], "note")
        self.ranks.setdefault((key, note), []).append(self.steps)
        self.latest[key] = note
        outcome = device.run("edit", self.probes[device], "--note", note, "--json")
        if outcome.code != 0:
            self.jam(device, command, outcome, again=lambda: device.run("edit", self.probes[device], "--note", note))
        return note

    def jam(self, device, command, outcome, again=None):
        """Records a command that failed without a reason, and repairs the store for later commands."""
        folders = [device.store / ".git", self.remote]
        locks = [path for folder in folders for path in folder.rglob("*.lock")]
        names = ", ".join(os.path.relpath(path, self.sandbox.data) for path in locks)
        what = "the next command" if again else f"`{command.kind}`"
        self.fail(f"{what} fails after a kill", device, command, f"{brief(outcome)} (locks: {names or 'none'})")
        for path in locks:
            path.unlink(missing_ok=True)
        if again and (outcome := again()).code != 0:
            raise Unusable(f"step {self.steps}, {device.name}: even without locks: {brief(outcome)}")

    # --- Checks ---

    def judge(self, device, command, outcome, before, after, probe):
        """Compares the difference that a step made with the differences that it may make."""
        fail = lambda promise, details: self.fail(promise, device, command, details)
        for path in before.entries.keys() - after.entries.keys():
            fail("an acknowledged log entry is missing", path)
        for alarm in before.records.keys() - after.records.keys():
            fail("an alarm's record is missing", f"{alarm}, {self.named(before, alarm)}")
        new = {path: entry for path, entry in after.entries.items() if path not in before.entries}
        changed = {alarm for alarm, record in after.records.items() if before.records.get(alarm) != record}
        was, now = self.fields(before), self.fields(after)
        if probe:
            self.take_out_probe(device, command, probe, new, changed, was, now)
        fields = {key: value for key, value in now.items() if was.get(key) != value}
        self.judge_listing(fail, after)
        if command.kind == "sync":
            self.judge_sync(fail, new, was, fields)
            self.judge_progress(fail, before, after, changed)
        elif command.kind == "tick":
            self.judge_tick(fail, device, outcome, new, changed, fields)
        else:
            self.judge_change(fail, command, outcome, new, changed, fields, was)
        if outcome.code == KILLED and (new or changed):
            self.counts["took effect"] += 1
            messages = device.git("log", "--format=%B", f"{before.head}..{after.head}").out.splitlines()
            if any(mark in messages for mark in RECOVERY):
                self.counts["finished later"] += 1

    def take_out_probe(self, device, command, note, new, changed, was, now):
        """Removes the probe's own changes from a difference, and checks that they exist."""
        alarm, stamp = self.probes[device], self.clock.text()[:19]
        own = [path for path, entry in new.items()
               if entry["alarm"] == alarm and entry["action"] == "edited" and entry["at"][:19] == stamp]
        if len(own) != 1 or now.get((alarm, "note")) != note:
            self.fail("an acknowledged change is missing", device, command,
                      f"of the next command: {len(own)} log entries, the note is {now.get((alarm, 'note'))!r}")
        for path in own:
            del new[path]
        if command.kind != "undo" or not any(entry["alarm"] == alarm for entry in new.values()):
            changed.discard(alarm)
        was[alarm, "note"] = note

    def judge_listing(self, fail, after):
        """Compares belfry's list with the files, which are read independently."""
        for alarm, shown in after.listed.items():
            if alarm not in after.records:
                fail("the list shows an alarm that has no file", alarm)
            elif shown["title"] != json.loads(after.records[alarm])["title"]:
                fail("the list shows another title than the file", f"{alarm}: {shown['title']}")

    def judge_change(self, fail, command, outcome, new, changed, fields, was):
        """Checks a user's command: one alarm's record and one log entry, or nothing."""
        details = self.spoken(new, changed, fields)
        if outcome.code not in (0, KILLED):
            if new or changed:
                fail("a refused command changed the store", details)
            return
        if not new and not changed:
            if outcome.code == 0:
                fail("an acknowledged change is missing", "nothing has changed")
            return
        alarms, actions = {entry["alarm"] for entry in new.values()}, [entry["action"] for entry in new.values()]
        is_whole = alarms == changed and len(changed) == 1 and ACTIONS[command.kind] in actions
        if command.kind in ("add", "delete", "title", "note"):
            is_whole = is_whole and len(actions) == 1
        if command.kind == "times":
            # An occurrence that was skipped ahead is no longer due.
            is_whole = is_whole and set(actions) <= {"edited", "unskipped"}
        if command.alarm:
            is_whole = is_whole and changed == {command.alarm}
        key = (next(iter(changed), None), command.field)
        if command.kind == "add":
            is_whole = is_whole and (key[0], "present") not in was and fields.get(key) == command.value
        elif command.field:
            is_whole = is_whole and fields == {key: command.value}
        elif command.kind == "undo":
            # An undo restores earlier values only. An alarm that was added is deleted.
            is_whole = is_whole and all(
                item in self.ranks or item[0][1] == "present" and not item[1] for item in fields.items())
        else:
            is_whole = is_whole and not fields
        if not is_whole:
            kind = "acknowledged" if outcome.code == 0 else "killed"
            fail(f"a change is incomplete or wrong ({kind})", details)

    def judge_tick(self, fail, device, outcome, new, changed, fields):
        """Checks a tick: the clock settles occurrences of any alarm, and edits none."""
        details = self.spoken(new, changed, fields)
        if fields:
            fail("a tick changed an alarm's definition", details)
        told = {entry["alarm"] for entry in new.values() if entry["action"] in TICKED - {"fired"}}
        if told - changed or any(entry["action"] not in TICKED for entry in new.values()):
            fail("the change of a tick is incomplete or wrong", details)
        if outcome.code == 0:
            fired = {(item["alarm"], item["occurrence"]) for item in json.loads(outcome.out)["fired"]}
            noted = {(entry["alarm"], entry["occurrence"]) for entry in new.values() if entry["action"] == "fired"}
            # The first tick after a killed one also records the deliveries that the killed one had claimed.
            if fired - noted or noted - fired and device not in self.cut_off:
                fail("an acknowledged firing is not in the log", f"fired {sorted(fired)}, noted {sorted(noted)}")
            self.cut_off.discard(device)
        elif outcome.code == KILLED:
            self.cut_off.add(device)

    def judge_sync(self, fail, new, was, fields):
        """Checks a sync: it adds the other device's writes, and reverts nothing."""
        for path, entry in new.items():
            if self.known.get(path) != entry:
                fail("a sync added a log entry that no command wrote", f"{path}: {entry}")
        for key, value in fields.items():
            if (key, value) not in self.ranks:
                fail("a sync set a value that no command wrote", f"{key}: {value!r}")
            ranks, old = self.ranks.get((key, value), [-1]), self.ranks.get((key, was.get(key)), [-1])
            if max(ranks) < min(old):
                fail("a sync reverted a later write", f"{key}: {was.get(key)!r} is {value!r}")

    def judge_progress(self, fail, before, after, changed):
        """Checks that the state of an occurrence on one device is kept if the other device has no newer state."""
        def standing(occurrence): return occurrence.get("revision", 0), STATES.index(occurrence["state"])
        for alarm in changed & before.records.keys() & after.records.keys():
            old, new = (json.loads(view.records[alarm])["progress"].get("occurrences", {}) for view in (before, after))
            for civil in old.keys() & new.keys():
                if standing(new[civil]) < standing(old[civil]):
                    fail("a sync reverted a later write", f"{alarm} {civil}: {old[civil]} is {new[civil]}")

    def named(self, view, alarm):
        return json.loads(view.records[alarm])["title"]

    def spoken(self, new, changed, fields):
        entries = [f"{entry['action']} {entry['alarm'][:8]} {entry['title']}" for entry in new.values()]
        values = [f"{alarm[:8]} {field} {value!r}" for (alarm, field), value in fields.items()]
        records = ", ".join(alarm[:8] for alarm in changed)
        return f"log entries: {entries}; records changed: {records or 'none'}; fields: {values}"

    # --- The end ---

    def finish(self):
        """Syncs both devices, and checks everything again with external tools."""
        fail, (alpha, beta) = self.report.fail, self.devices
        for device in self.devices:
            for problem in mend(device):
                fail("a store cannot be repaired at the end", f"{device.name}: {problem}")
        for device in (alpha, beta, alpha):
            outcome = device.run("sync")
            if outcome.code != 0:
                fail("the final sync fails", f"{device.name}: {brief(outcome)}")
        heads = {str(device.name): device.head() for device in self.devices}
        heads["the remote"] = git(self.remote, "rev-parse", "main", home=alpha.home).out.strip()
        if len(set(heads.values())) != 1:
            fail("the devices differ after a sync", str(heads))
        for problem in broken_objects(self.remote, alpha.home):
            fail("the remote is inconsistent", problem)
        for device in self.devices:
            for problem in device.problems():
                fail("a store is inconsistent at the end", f"{device.name}: {problem}")
            self.finish_device(device)

    def finish_device(self, device):
        def fail(promise, details):
            self.counts["missing"] += 1
            self.report.fail(promise, f"{device.name}: {details}")
        committed = tree_files(device.store, "HEAD", device.home)
        device.entries = {}  # read again
        try:
            view = self.look(device)
        except ValueError as reason:
            return fail("a store cannot be read at the end", str(reason))
        for path, entry in self.known.items():
            if path not in committed or view.entries.get(path) != entry:
                fail("an acknowledged log entry is missing at the end", f"{path}: {entry}")
        now = self.fields(view)
        for key, value in self.latest.items():
            if f"alarms/{key[0]}.json" not in committed or now.get(key) != value:
                fail("an acknowledged change is missing at the end", f"{key} is {now.get(key)!r}, not {value!r}")
        rung = set(device.rung.read_text().split("\n"))
        own = json.loads((device.store / ".git/belfry/device.json").read_text())["id"]
        for entry in view.entries.values():
            if entry["action"] == "fired" and entry["device"] == own:
                if f"firing {entry['alarm']} {entry['occurrence']}" not in rung:
                    fail("a firing is in the log, but did not ring", str(entry))

    # --- Commands right after a kill ---

    def chains(self, count):
        """Kills a command early, reads with `list` only, and undoes at once: the undo must start from the state that
        the list showed, and may revert no acknowledged command except the last."""
        device = Device(self.sandbox, "gamma", self.clock)
        device.must("tier", "plus")
        alarms = [device.must("add", f"Chain {number}", "--daily")["id"] for number in range(3)]
        def state():
            return {id: (alarm["title"], alarm.get("note"), tuple(alarm.get("skipped", ())))
                    for id, alarm in device.listed().items()}
        for number in range(count):
            self.report.progress(f"{number} of {count} kills, each followed by an undo")
            present = [id for id in alarms if id in state()]
            if len(present) < 2:
                present.append(device.must("add", f"Chain {number}", "--daily")["id"])
                alarms = present
            past = [state()]
            for part in "ab":
                device.must("edit", self.chance.choice(present), "--note", f"{number}{part}")
                past.append(state())
            target = self.chance.choice(present)
            kind = self.chance.choice(("add", "title", "skip", "delete", "undo", "undo"))
            words = {"add": ["add", f"Added {number}", "--daily"], "title": ["edit", target, "--title", f"Title {number}"],
                     "undo": ["undo"]}.get(kind, [kind, target, "--yes"])
            longest = max(0.050, SLACK * self.typical.get(kind, 0))
            outcome = device.run(*words, "--json", kill_after=self.chance.uniform(0.003, longest))
            if outcome.code not in (0, KILLED):
                self.report.fail("a command fails after a kill", f"chain {number}: {' '.join(words)}: {brief(outcome)}")
                continue
            self.counts["chains"] += 1
            seen = state()
            if seen != past[-1]:
                past = past[:-1] if kind == "undo" else past + [seen]
            if seen != past[-1] or (outcome.code == 0 and seen == past[-1] and len(past) == 3):
                self.report.fail("a killed command took effect in part",
                                 f"chain {number}: {' '.join(words)}: {seen}, not {past[-1]}")
            undo = device.run("undo", "--json")
            after = state()
            if undo.code != 0 or after != past[-2]:
                self.report.fail("undo after a kill reverted another change",
                                 f"chain {number}: {' '.join(words)}, killed after {outcome.seconds * 1000:.1f} ms; undo: "
                                 f"{brief(undo)} {undo.out.strip()[:200]}; {after}, not {past[-2]}")
        for problem in device.problems():
            self.report.fail("a store is inconsistent at the end", f"{device.name}: {problem}")

    def play(self):
        total = self.report.kills or (40 if self.report.short else 1000)
        self.prepare()
        self.counts.clear()
        kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
        for number in range(total):
            self.report.progress(f"{number} of {total}, {len(self.report.failures)} failures")
            kind = self.chance.choices(kinds, weights)[0]
            device = self.devices[self.chance.random() < 0.35]
            # A process does nothing while it starts, so most kills come later.
            earliest = 0 if self.chance.random() < 0.25 else self.startup
            typical = max(self.typical.get(kind, 0), 2 * self.startup)
            self.step(device, kind, self.chance.uniform(earliest, SLACK * typical))
        self.report.progress("final checks")
        self.finish()
        self.chains(15 if self.report.short else 400)
        counts = self.counts
        return (f"{total:,} commands and {counts['commands'] - total} syncs after kills: "
                f"{counts['acknowledged']} acknowledged, {counts['killed']} killed, {counts['refused']} refused; "
                f"{counts['took effect']} of the killed took effect, {counts['finished later']} of them completed "
                f"by the next command; {counts['missing']} missing at the end; {counts['chains']} kills with an undo "
                "right after them")

def both(report, sandbox):
    """Runs the two devices above, whose edits and log are checked one by one, then every verb that writes."""
    summary = Scenario(report, sandbox).play()
    apart = Sandbox("kill-verbs", report.binary)
    try:
        summary += "; " + Verbs(report, apart).play(report.kills or (40 if report.short else 1000))
    except Unusable:
        report.keep(apart.root)
        raise
    except BaseException:
        apart.remove()
        raise
    report.keep(apart.root) if report.failures else apart.remove()
    return summary

if __name__ == "__main__":
    play("kill", both)
