"""Runs each verb that writes beside every other one, and examines the objects after each pair.

Commands that write objects at the same time must neither refuse each other for another reason than a lock nor damage what
the other has written. So `git fsck --strict` examines the store after every round, in which two calls begin within the
duration of a typical call. In half of the rounds one of them is a sync that sends a heartbeat. Writes of
many objects then follow each other until the sync ends. `doctor` takes longer, and examines the store after some rounds.
The store begins anew from time to time, because the examinations of a growing one take longer and longer."""
import json, shutil, statistics, threading, time
from sandbox import Unusable, brief, broken_objects, play
from verbs import Verbs

# Further calls: writes of many objects, and git's own.
MORE = {"disable many": ["disable", "+many"], "enable many": ["enable", "+many"],
        "git gc": ["git", "--", "gc", "--quiet"], "git repack": ["git", "--", "repack", "-d", "--quiet"]}
MANY = 60  # number of alarms with the tag `many`
DOCTOR = 20  # number of rounds between two calls of `doctor`
EPOCH = 60  # number of rounds with one store
OTHER = {"disable many": "enable many", "enable many": "disable many"}
# The exit statuses of a refusal: a usage error, an action that is not possible, a limit of the tier, and a lock.
REFUSED = {2, 4, 5, 7}
MISSING = 3  # the exit status if there is no such alarm
# Kinds that fail if the other call has just removed or made what they name, or does the same.
DEPENDENT = {"git gc", "git repack", "clone", "restore", "partner sync", "remote add", "remote remove"}

class Pairs(Verbs):
    def words(self, device, kind):
        return MORE.get(kind) or super().words(device, kind)

    def next_pair(self):
        """Returns two kinds. All pairs come once in a random order, then again."""
        if not self.left:
            kinds = [*self.kinds, *MORE]
            pairs = [(one, other) for index, one in enumerate(kinds) for other in kinds[index:]]
            self.left = self.chance.sample(pairs, len(pairs))
        pair = self.left.pop()
        if self.chance.random() < 0.5:
            pair = ("sync", self.chance.choice((pair[0], "disable many", "enable many")))
        return self.chance.sample(pair, 2)

    def typical(self, kind):
        return statistics.median(self.durations.get(kind) or [2 * self.startup])

    def round(self, device):
        self.steps += 1
        kinds = self.next_pair()
        # A heartbeat is due again after less than this.
        moment = self.clock.forward(self.chance.randrange(250, 800))
        # Heartbeats are sent only while a scheduler runs.
        if "sync" in kinds:
            device.must("tick", now=moment)
        calls = []
        for kind in kinds:
            if (words := self.words(device, kind)) is not None:
                calls.append((kind, words))
                # The kinds choose by this number.
                self.steps += 1
        outcomes = {}
        def call(number, words, delay):
            try:
                self.pauses[number].wait(delay)
                outcomes[number] = device.run(*words, now=moment)
                kind = calls[number][0]
                while is_long and kind in OTHER and outcomes[number].code == 0 and 1 - number not in outcomes:
                    kind = OTHER[kind]
                    outcomes[number] = device.run(*MORE[kind], now=moment)
                    self.counts["calls"] += 1
            except Unusable as reason:
                outcomes[number] = reason
        is_long = "sync" in kinds and set(kinds) & set(OTHER)
        latest = 0 if is_long or not calls else max(self.typical(kind) for kind, _ in calls)
        delays = [0, self.chance.uniform(0, latest)]
        threads = [threading.Thread(target=call, args=(number, words, delays[number]))
                   for number, (_, words) in enumerate(calls)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.counts["calls"] += len(calls)
        shown = " beside ".join(f"`{' '.join(words)}`" for _, words in calls)
        for number, (kind, words) in enumerate(calls):
            outcome = outcomes[number]
            if isinstance(outcome, Unusable):
                raise outcome
            self.counts["acknowledged" if outcome.code == 0 else "refused"] += 1
            expected = outcome.code == 0 or outcome.code in REFUSED or kind in DEPENDENT or kind == "repair"
            is_removed = outcome.code == MISSING and self.can_remove(calls[:number] + calls[number + 1:], words)
            if not expected and not is_removed and not self.is_from_remote(kind, outcome):
                self.report.fail("a command fails beside another one", f"step {self.steps}: {shown}: {brief(outcome)}")
        self.recent.append(shown)
        self.find_damage(device)
        if len(self.recent) == DOCTOR:
            self.ask_doctor(device, moment)
            self.recent.clear()

    def can_remove(self, others, words):
        """Returns true if one of other calls removes the alarm that a call names."""
        return any(other[0] == "delete" and other[-1] in words or other[0] in ("undo", "redo") for _, other in others)

    def is_from_remote(self, kind, outcome):
        """Returns true for a sync with a remote that another call has added, and that does not exist."""
        return kind in ("sync", "tick", "poke") and "/nonexistent/" in outcome.err

    def find_damage(self, device):
        problems = broken_objects(device.store, device.home)
        if problems:
            # A sync may be packing objects in the background, which removes packs that fsck is about to read.
            time.sleep(3)
            problems = broken_objects(device.store, device.home)
        for problem in problems:
            self.report.fail("objects are damaged", f"step {self.steps}, after {self.recent[-1]}: {problem}")

    def ask_doctor(self, device, moment):
        after = f"step {self.steps}, after {'; '.join(self.recent)}"
        outcome = device.run("doctor", "--json", now=moment)
        try:
            findings = json.loads(outcome.out)["findings"]
        except (ValueError, KeyError):
            self.report.fail("`doctor` fails", f"{after}: {brief(outcome)}")
            return
        for finding in findings:
            # The scenarios `kill` and `beside` examine the records.
            if finding["level"] == "problem" and finding["area"] in ("store", "log"):
                self.report.fail("`doctor` finds a problem", f"{after}: {finding['area']}: {finding['message']}")

    def play(self, rounds):
        self.left, self.recent, self.pauses = [], [], [threading.Event(), threading.Event()]
        self.prepare()
        for number in range(MANY):
            self.kept.add(self.devices[0].must(
                "add", f"Many {number}", "--once", "2032-01-01T00:00", "--tag", "many", "--on", "alpha")["id"])
        self.counts.clear()
        device = self.devices[0]
        self.save("beginning")
        for number in range(rounds):
            if number % EPOCH == 0:
                self.restore("beginning")
                self.recent.clear()
            self.report.progress(f"{number} of {rounds} rounds, {len(self.report.failures)} failures")
            self.round(device)
            if self.report.failures:
                break
            shutil.rmtree(self.sandbox.data / "clone", ignore_errors=True)
        left = [name for name in (path.name for path in (device.store / ".git/belfry").iterdir()) if name.startswith("new-object")]
        if left:
            self.report.fail("temporary files of objects are left", ", ".join(left))
        counts = self.counts
        return (f"{rounds:,} rounds: {counts['calls']:,} calls of {len(self.kinds) + len(MORE)} kinds, "
                f"{counts['acknowledged']:,} acknowledged, {counts['refused']:,} refused")

if __name__ == "__main__":
    play("pairs", lambda report, sandbox: Pairs(report, sandbox).play(report.kills or (200 if report.short else 10_000)))
