"""Runs belfry and git on one store at the same time: four writers, one ticker, one reader, an editor that saves the
file of an alarm while belfry changes the same alarm, a git that collects garbage without a grace period, and a git that
commits the work tree. At the end every acknowledged write and the editor's last version must exist."""
import json, os, random, re, threading, time
from collections import Counter, namedtuple
from datetime import datetime, timedelta
from sandbox import Clock, Device, Unusable, brief, mend, play, tree_files

WRITERS = 4
BELLS = 10  # alarms that are due during the run
MOST = 12  # maximum number of alarms of each writer
SPEED = 30  # factor of the devices' clock, so that alarms become due
LOCKED, NOT_POSSIBLE = 7, 4
COMMITTED = "Commit the work tree"  # the subject of git's commits

# An acknowledged write: the action in the log, the alarm, and the value that identifies the entry.
Fact = namedtuple("Fact", "action alarm key value")

class Writer:
    """A writer, which records its acknowledged writes."""
    def __init__(self, scenario, number):
        self.scenario, self.number, self.count = scenario, number, 0
        self.chance = random.Random(f"{scenario.report.seed} {number}")
        self.titles, self.facts, self.refused = {}, [], set()

    def step(self):
        self.count += 1
        draw = self.chance.random()
        if not self.titles or draw < 0.25 and len(self.titles) < MOST:
            title = f"Writer {self.number} alarm {self.count}"
            if (outcome := self.run("add", title, "--daily", "--at", "22:00", title=title)).code == 0:
                alarm = json.loads(outcome.out)["id"]
                self.titles[alarm] = title
                self.facts.append(Fact("created", alarm, "title", title))
            return
        alarm = self.chance.choice(list(self.titles))
        if draw < 0.8:
            title = f"Writer {self.number} title {self.count}"
            if self.run("edit", alarm, "--title", title, title=title).code == 0:
                self.titles[alarm] = title
                self.facts.append(Fact("edited", alarm, "title", title))
        elif (outcome := self.run("done", alarm, "--early")).code == 0:
            self.facts.append(Fact("done", alarm, "occurrence", json.loads(outcome.out)["occurrence"]))

    def run(self, *words, title=None):
        outcome = self.scenario.run(*words, "--json")
        if outcome.code == 0:
            self.scenario.counts["acknowledged"] += 1
        elif outcome.code == LOCKED:
            self.scenario.counts["locked out"] += 1
        elif outcome.code != NOT_POSSIBLE or words[0] != "done":
            self.scenario.failed(f"`{words[0]}`", outcome)
        if outcome.code != 0 and title:
            self.refused.add(title)
        return outcome

class Editor:
    """An editor that changes the title of an alarm in its file: by a rename, or by writing to the same file."""
    def __init__(self, scenario, alarm):
        self.scenario, self.alarm, self.count, self.title = scenario, alarm, 0, None
        self.path = scenario.device.store / f"alarms/{alarm}.json"
        self.note, self.noted = 0, None

    def save(self):
        # Between two steps of a command the file can have an earlier version.
        for _ in range(100):
            text = self.path.read_text()
            if self.title is None or self.title in text:
                break
            time.sleep(0.01)
        else:
            self.scenario.missing("edit", f"the file does not have the title {self.title!r}, which was saved last")
        self.count += 1
        title = f"Edited {self.count}"
        # Two spaces: the title itself, not its stamp.
        edited, found = re.subn('^  "title": "[^"]*"', f'  "title": "{title}"', text, flags=re.MULTILINE)
        if not found:
            return
        if self.count % 2:
            self.path.write_text(edited)
        else:
            new = self.scenario.device.store / ".new"
            new.write_text(edited)
            os.rename(new, self.path)
        self.title = title
        self.scenario.counts["saved files"] += 1
        time.sleep(0.02)

    def change(self):
        """Changes the same alarm by a command."""
        self.note += 1
        outcome = self.scenario.run("edit", self.alarm, "--note", f"Note {self.note}", "--json")
        if outcome.code == 0:
            self.noted = f"Note {self.note}"
        elif outcome.code != LOCKED and "is not valid" not in outcome.err:
            self.scenario.failed("`edit`", outcome)

class Scenario:
    def __init__(self, report, sandbox):
        self.report, self.counts, self.lock = report, Counter(), threading.Lock()
        self.device = Device(sandbox, "alpha", Clock())
        self.device.environment["BELFRY_LOCK_TIMEOUT"] = "10"
        self.seconds = 10 if report.short else 60
        self.shapes, self.trouble = {}, []
        # gc can collect objects that another git is about to commit, which is not an error of belfry: these two
        # alternate.
        self.turn = threading.Lock()
        self.fired = set()

    # --- Concurrent work ---

    def now(self):
        """Returns the time of all processes, which advances faster than the real clock."""
        elapsed = timedelta(seconds=SPEED * (time.monotonic() - self.began))
        return (self.start + elapsed).isoformat(timespec="milliseconds") + "Z"

    def run(self, *words):
        return self.device.run(*words, now=self.now())

    def failed(self, who, outcome):
        """Records a failure under its message, without the names that vary."""
        words = brief(outcome).replace(f"{self.device.store}/", "")
        shape = re.sub(r"\b([0-9a-f]{7,40}|[a-z2-7]{26})\b|objects/\w\w/", "…", words)
        with self.lock:
            after = f"the first after {time.monotonic() - self.began:.1f} s"
            self.shapes.setdefault((who, shape), [after, 0])[1] += 1

    def tick(self):
        outcome = self.run("tick", "--json")
        if outcome.code == 0:
            self.counts["ticks"] += 1
            self.fired |= {(item["alarm"], item["occurrence"]) for item in json.loads(outcome.out)["fired"]}
        elif outcome.code == LOCKED:
            self.counts["locked out"] += 1
        else:
            self.failed("`tick`", outcome)
        time.sleep(0.2)

    def read(self):
        outcome = self.run("list", "--json")
        self.counts["lists"] += 1
        if outcome.code != 0:
            self.failed("`list`", outcome)
        else:
            json.loads(outcome.out)
        time.sleep(0.1)

    def collect(self):
        with self.turn:
            outcome = self.device.git("gc", "--prune=now", "--quiet")
        self.counts["collections" if outcome.code == 0 else "failed collections"] += 1
        time.sleep(0.05)

    def commit(self):
        # It sometimes loses a race against belfry ("cannot lock ref"), as against any other git.
        with self.turn:
            outcome = self.device.git("commit", "-a", "-q", "--allow-empty", "-m", COMMITTED)
        self.counts["commits" if outcome.code == 0 else "failed commits"] += 1
        time.sleep(0.1)

    def loop(self, step):
        until = self.began + self.seconds
        while time.monotonic() < until and not self.trouble:
            try:
                step()
            except Exception as reason:
                self.trouble.append(Unusable(repr(reason)))

    # --- The run ---

    def prepare(self):
        device = self.device
        device.must("tier", "plus")
        for number in range(BELLS):
            times = ",".join(f"09:{minute:02}" for minute in range(number + 1, 60, BELLS))
            device.must("add", f"Bell {number}", "--daily", "--at", times, "--persistent")
        self.start, self.began = device.clock.moment + timedelta(seconds=5), time.monotonic()

    def play(self):
        self.prepare()
        self.writers = [Writer(self, number) for number in range(WRITERS)]
        bell = next(alarm for alarm, known in self.device.listed().items() if known["title"] == "Bell 0")
        self.editor = Editor(self, bell)
        steps = [writer.step for writer in self.writers] + [
            self.editor.save, self.editor.change, self.tick, self.read, self.collect, self.commit]
        threads = [threading.Thread(target=self.loop, args=(step,), daemon=True) for step in steps]
        for thread in threads:
            thread.start()
        self.report.progress(f"{self.seconds} s of work")
        for thread in threads:
            thread.join()
        if self.trouble:
            raise self.trouble[0]
        for (who, shape), (after, count) in self.shapes.items():
            self.report.fail(f"{who} fails during concurrent work for another reason than a lock",
                             f"{count} times, {after}: {shape}")
        self.finish()
        return (f"{self.seconds} s: " + ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))
                + f", {len(self.fired)} firings")

    def finish(self):
        """Checks, after all processes have ended, that every acknowledged write is in the files and in HEAD."""
        fail, device = self.report.fail, self.device
        # A clock that goes back would make the stamps wrong.
        device.clock.moment = datetime.fromisoformat(self.now().removesuffix("Z"))
        outcome = self.run("add", "The last one", "--daily", "--at", "23:00")
        if outcome.code != 0:
            fail("a write fails after all other processes have ended", brief(outcome))
        for problem in mend(device):
            fail("the store cannot be repaired after all other processes have ended", problem)
        problems = device.problems()
        if problems:
            moves = (device.store / ".git/logs/HEAD").read_text().splitlines()
            problems.append("the last change of the branch: " + moves[-1].split("\t")[-1])
            fail("the store is inconsistent after all other processes have ended", *problems)
        try:
            listed = device.listed(self.now())
        except ValueError as reason:
            fail("the store cannot be read after all other processes have ended", str(reason))
            listed = {}
        log, committed = device.log(), tree_files(device.store, "HEAD", device.home)
        self.find_facts(listed, log, committed)
        self.find_edits(listed)
        self.find_stamps()
        rung = Counter(device.rung.read_text().split("\n"))
        noted = {(entry["alarm"], entry["occurrence"]) for entry in log.values() if entry["action"] == "fired"}
        for alarm, occurrence in sorted(self.fired):
            if f"firing {alarm} {occurrence}" not in rung:
                fail("a firing was reported, but did not ring", f"{alarm} {occurrence}")
            if (alarm, occurrence) not in noted:
                fail("an acknowledged firing is not in the log", f"{alarm} {occurrence}")

    def find_facts(self, listed, log, committed):
        entries, titles = {}, {entry["title"] for entry in log.values()}
        for path, entry in log.items():
            for key in ("title", "occurrence"):
                entries.setdefault(Fact(entry["action"], entry["alarm"], key, entry.get(key)), []).append(path)
        for writer in self.writers:
            for fact in writer.facts:
                paths = entries.get(fact, [])
                if not any(path in committed for path in paths):
                    where = "is only in the files" if paths else "does not exist"
                    self.missing("log entry", f"{fact.action} {fact.alarm[:8]} {fact.value} {where}")
            for alarm, title in writer.titles.items():
                shown = listed.get(alarm, {}).get("title")
                if shown != title:
                    self.missing("alarm or edit", f"{alarm[:8]} is {shown!r}, not {title!r}")
                elif f"alarms/{alarm}.json" not in committed:
                    self.missing("alarm or edit", f"{alarm[:8]}, {title!r}, is only in the files")
            for title in writer.refused & (titles | {alarm["title"] for alarm in listed.values()}):
                self.report.fail("a failed write took effect", title)

    def find_edits(self, listed):
        shown, editor = listed.get(self.editor.alarm, {}), self.editor
        for key, value in (("title", editor.title), ("note", editor.noted)):
            if value is not None and shown.get(key) != value:
                self.missing("edit", f"the {key} of the edited file is {shown.get(key)!r}, not {value!r}")

    def find_stamps(self):
        """Checks that no commit of belfry has an earlier stamp than the commits of belfry before it. A commit of git can
        have the older version that the editor held."""
        device, latest = self.device, {}
        log = device.git("log", "--reverse", "--first-parent", "--format=commit %H %s", "--name-only", "--", "alarms").out
        for line in log.splitlines():
            if line.startswith("commit "):
                _, commit, subject = line.split(" ", 2)
            elif line and subject != COMMITTED:
                shown = device.git("show", f"{commit}:{line}")
                for key, stamp in json.loads(shown.out)["stamps"].items() if shown.code == 0 else ():
                    if stamp < latest.get((line, key), ""):
                        self.report.fail("a commit has an earlier stamp than the ones before it",
                                         f"{commit[:8]} ({subject}): {key} of {line}, {stamp}")
                    latest[line, key] = max(stamp, latest.get((line, key), ""))

    def missing(self, what, details):
        self.counts["missing"] += 1
        self.report.fail(f"an acknowledged {what} is missing", details)

if __name__ == "__main__":
    play("beside", lambda report, sandbox: Scenario(report, sandbox).play())
