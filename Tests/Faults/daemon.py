"""Kills the daemon (only its own process) at random moments around firings, and restarts it: every occurrence has a
delivery, and at most one more for each kill since it was due.

A round is a day of a store. Alarms are due every minute, and the clock of the dead daemon jumps from just before one
minute to just before the next, as if the machine had slept. The hooks outlive the daemon as orphans.
"""
import json, os, random, re, shutil, signal, statistics, subprocess, threading, time, traceback
from collections import Counter, namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from sandbox import AROUND, Clock, Device, Unusable, brief, ended, play

STORES = 4  # in parallel
SIZES = [1, 2, 3, 12, 1, 4, 20, 2, 1, 4]  # number of alarms that are due at each minute
FIRST_DAY = datetime(2031, 11, 24)  # different from the dates of all tests
QUIET = 1.5  # seconds without a delivery after which a minute is complete
PATIENCE = 60  # seconds until an expected delivery times out
SKEW = timedelta(minutes=1)  # between the clocks of a store's processes; Belfry tolerates two minutes

# Records each delivery, of which a notification has several, then acts at random, with a new choice for each daemon: it
# ends at once, ends soon, or stays.
NOTIFY = r"""#!/usr/bin/env bash
at=$EPOCHREALTIME
alarms=$BELFRY_TITLE$'\t'$BELFRY_OCCURRENCE
if [ -n "${BELFRY_COUNT:-}" ]; then
  alarms=$(python3 -Sc 'import json, sys
for alarm in json.load(sys.stdin)["alarms"]: print(alarm["title"], alarm["occurrence"], sep="\t")') || exit
fi
first=${alarms%%$'\t'*}
RANDOM=$((FAULTS_SEED + 7919 * ${first#a}))
: $RANDOM # similar seeds have similar first numbers
words=(ends ends rests leaves stays)
[ "$BELFRY_KIND" = firing ] || words=(ends)
word=${words[RANDOM % ${#words[@]}]}
lines=
while read -r alarm; do lines+=$at$'\t'$BELFRY_KIND$'\t'$alarm$'\t'$$$'\t'$FAULTS_START$'\t'$word$'\n'; done <<<"$alarms"
printf %s "$lines" >>"$HOME/rung"
stay() {
  trap 'kill $!; exit 0' TERM
  sleep "$1" &
  wait $!
}
case $word in
  rests) sleep 0.3 ;;
  leaves) echo delivered && stay 0.5 ;;
  stays) echo delivered && stay $((2 + RANDOM % 20)) ;;
esac
exit 0
"""

Delivery = namedtuple("Delivery", "at kind title occurrence pid start word")
End = namedtuple("End", "at clock")  # of a daemon, by the real clock and by its own clock

Start = namedtuple("Start", "at clock")

class Given(Exception):
    """The scenario is over."""

class Post:
    """A store with a daemon."""
    def __init__(self, scenario, number, kills):
        self.scenario, self.report, self.kills = scenario, scenario.report, kills
        self.chance = random.Random(f"{scenario.report.seed} {number}")
        self.device = Device(scenario.sandbox, f"post-{number}", Clock())
        shutil.copytree(scenario.template.store, self.device.store, symlinks=True)
        self.device.environment |= {"BELFRY_DEVICE": scenario.template.name, "BELFRY_LOCK_TIMEOUT": "10"}
        for hook, text in (("notify", NOTIFY), ("ring", "#!/bin/sh\nexit 3\n")):
            path = self.device.home / ".config/belfry/hooks/deliver" / hook
            path.write_text(text)
            path.chmod(0o755)
        # The copy becomes a separate device.
        self.device.must("list", now=self.device.clock.text())
        self.name, self.counts = self.device.name, Counter()
        self.round = self.starts = 0
        self.ends, self.durations, self.warnings = [], [], {}
        self.started = {}  # the starts of daemons, by number
        self.over = {}  # by occurrence: the daemon that recorded the delivery as ended
        self.delays = {}  # delays of occurrences that were due while a daemon was running
        self.daemon, self.is_broken = None, False

    def fail(self, promise, details):
        self.is_broken = True
        self.report.fail(promise, f"{self.name}, round {self.round}: {details}")

    # --- The clock ---

    def now(self):
        """Returns the time of a daemon's clock. The clock of a new daemon lags behind by the duration of its start."""
        return self.origin + timedelta(seconds=time.monotonic() - self.zero)

    def jump(self, moment):
        """Advances the clock. Commands of earlier daemons keep theirs, unlike in reality, so those that would be too
        far behind must end first: they take a younger entry of the ledger for that of a clock ahead of time."""
        until = time.monotonic() + PATIENCE
        while slow := [start for start in self.commands() if self.lag(start, moment) > SKEW]:
            if time.monotonic() > until:
                self.fail("a command of a killed daemon does not end", f"of start {slow[0]}")
                break
            self.rest(0.02)
        self.origin, self.zero = max(moment, self.now()), time.monotonic()

    def lag(self, start, moment):
        """Returns the difference between a moment and the clock of a daemon that has been started."""
        started = self.started[start]
        return moment - started.clock - timedelta(seconds=time.time() - started.at)

    def commands(self):
        """Returns the daemon's number for each command that a daemon has started and that is still running."""
        found = []
        for pid in [pid for pid, program in self.leftovers().items() if program == self.device.belfry]:
            with suppress(OSError):
                surroundings = Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
                found += [int(each[13:]) for each in surroundings if each.startswith(b"FAULTS_START=")]
        return found

    def text(self): return self.now().isoformat(timespec="milliseconds") + "Z"

    def rest(self, seconds):
        if self.scenario.is_over.wait(seconds):
            raise Given()

    # --- The daemon ---

    def start(self):
        self.starts += 1
        self.errors = self.device.home / f"daemon-{self.round}-{self.starts}.err"
        clock, at = self.now(), time.time()
        surroundings = self.device.environment | {
            "BELFRY_NOW": clock.isoformat(timespec="milliseconds") + "Z",
            "FAULTS_START": str(self.starts),
            "FAULTS_SEED": str(self.chance.randrange(1 << 20))}
        with open(self.errors, "wb") as file:
            self.daemon = subprocess.Popen(
                [self.device.belfry, "daemon"], env=surroundings, cwd=self.device.home, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=file, start_new_session=True)
        self.started[self.starts] = Start(at, clock)

    def await_start(self):
        """Waits until the daemon reports that it watches the store, and returns the duration."""
        start = time.monotonic()
        while not self.is_watching():
            if self.daemon.poll() is not None:
                raise Unusable(f"{self.name}: the daemon ended with {self.daemon.returncode}: {self.said()}")
            if time.monotonic() > start + PATIENCE:
                raise Unusable(f"{self.name}: the daemon did not start within {PATIENCE} s")
            self.rest(0.005)
        return time.monotonic() - start

    def said(self): return " / ".join(self.errors.read_text(errors="replace").splitlines()[-4:])

    def is_watching(self): return b"watching " in self.errors.read_bytes()

    def kill(self):
        """Kills the daemon without the processes that it has started, as a crash does."""
        if self.daemon.poll() is not None:
            self.fail("a daemon ended by itself", f"start {self.starts}, {self.daemon.returncode}: {self.said()}")
        else:
            self.ends.append(End(time.time(), self.now()))
            self.daemon.kill()
            self.daemon.wait()
            self.counts["kills"] += 1
            self.counts["killed while it started"] += not self.is_watching()
        self.read_errors()
        self.note_over()

    def stop(self):
        self.ends.append(End(time.time(), self.now()))
        self.daemon.send_signal(signal.SIGTERM)
        if not ended(self.daemon, PATIENCE):
            self.fail("SIGTERM does not end a daemon", f"after {PATIENCE} s: {self.said()}")
            self.daemon.kill()
        elif self.daemon.wait() != 0:
            self.fail("a daemon fails on SIGTERM", f"{self.daemon.returncode}: {self.said()}")
        self.daemon.wait()
        self.read_errors()
        self.note_over()

    def read_errors(self):
        """Records the daemon's error messages, grouped by pattern."""
        lines = self.errors.read_text(errors="replace").splitlines()
        for line in lines:
            if not re.match(r"\S+ belfry: (watching|rang|rang late|sent|stopped|warning: a channel failed)\b|\S+ belfry:   ", line):
                words = line.replace(str(self.scenario.sandbox.root), "…")
                shape = re.sub(r"\b([0-9a-f]{7,40}|[a-z2-7]{26}|a?\d+|\d{4}-\d\d-\d\d\S*)\b", "…", words)
                self.warnings.setdefault(shape, []).append(f"{self.name}, {self.errors.name}: {words}")

    # --- Results ---

    def deliveries(self):
        lines = self.device.rung.read_text().split("\n")
        # The last line can be incomplete while a hook writes, although none should be.
        fields = [line.split("\t") for line in lines[:-1]]
        return [Delivery(float(at), *words, int(start), word) for at, *words, start, word in fields]

    def fired(self):
        """Returns the deliveries of each occurrence."""
        found = {}
        for each in self.deliveries():
            if each.kind == "firing":
                found.setdefault((each.title, each.occurrence), []).append(each)
        return found

    def noted(self):
        """Returns the fired occurrences in the log files, or nothing while a command changes them."""
        with suppress(OSError, ValueError):
            return {(entry["title"], entry["occurrence"]) for entry in self.device.log().values()
                    if entry["action"] == "fired"}
        return set()

    def note_over(self):
        """Records, between two daemons, the occurrences whose delivery has ended. They must not be delivered again."""
        with suppress(FileNotFoundError):
            for firing in json.loads((self.device.store / ".git/belfry/ledger.json").read_bytes()):
                if firing["state"] == "delivered" and "owner" not in firing:
                    title = self.scenario.titles[firing["alarm"]]
                    self.over.setdefault((title, firing["occurrence"]), self.starts)

    def size(self): return self.device.rung.stat().st_size

    def leftovers(self):
        """Returns the processes of this store by number, with the path of their program: all have its home."""
        mark, found = b"HOME=" + os.fsencode(self.device.home), {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError):
                    if mark in Path("/proc", name, "environ").read_bytes().split(b"\0"):
                        found[int(name)] = os.readlink(f"/proc/{name}/exe")
        return found

    def clear(self):
        """Ends the remaining processes of a day: waits for commands of belfry, and kills orphaned hooks at once."""
        until = time.monotonic() + PATIENCE
        while left := self.leftovers():
            hooks = [pid for pid, program in left.items() if program != self.device.belfry]
            if time.monotonic() > until:
                self.fail("a command that the daemon started does not end", f"{left}")
                hooks = list(left)
                until += PATIENCE
            for pid in hooks:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    # --- A day ---

    def play(self):
        try:
            while self.counts["kills"] < self.kills and not self.is_broken:
                left = self.kills - self.counts["kills"]
                self.day(min(left, self.chance.randint(8, 12)) if left > 12 else left)
        except Given:
            pass
        finally:
            if self.daemon:
                with suppress(ProcessLookupError):
                    self.daemon.kill()
                self.daemon.wait()
            self.clear()

    def day(self, kills):
        self.round += 1
        self.morning = FIRST_DAY + timedelta(days=self.round - 1, hours=9)
        self.origin, self.zero = self.morning - timedelta(minutes=1), time.monotonic()
        minutes = [self.morning + timedelta(minutes=number) for number in range(len(SIZES))]
        for number in range(kills):
            coming = [minute for minute in minutes if minute > self.now()]
            if coming and (number == 0 or self.chance.random() < 0.6):
                lead = self.chance.uniform(1, 2) * self.scenario.startup + self.chance.uniform(0, 1.5)
                self.jump(coming[0] - timedelta(seconds=lead))
                self.start()
                self.live(lead + self.chance.choice([self.chance.uniform(-0.3, 0.5), self.chance.uniform(-0.3, 3)]))
            else:
                if self.chance.random() < 0.5:
                    self.rest(self.chance.uniform(0, 0.5))
                self.start()
                self.live(self.chance.uniform(0, self.scenario.startup + 1))
            self.kill()
            self.scenario.tell(self)
            if self.is_broken:
                break
        self.jump(minutes[-1] + timedelta(seconds=self.chance.uniform(3, 6)))
        self.start()
        self.durations.append(self.await_start())
        missing = self.settle()
        self.stop()
        withdrawn = {int(each.pid) for each in self.deliveries() if each.start == self.starts}
        if left := withdrawn & self.leftovers().keys():
            self.fail("a stopped daemon leaves hooks running", f"{len(left)} of them")
        self.clear()
        self.judge(missing)

    def live(self, seconds):
        """Waits until the moment of the next kill: a random one, or one during deliveries, and rarely before the
        daemon is up."""
        until, size, is_hasty = time.monotonic() + seconds, self.size(), self.chance.random() < 0.4
        after = None if self.chance.random() < 0.2 else self.chance.uniform(0, 0.3)
        while (left := until - time.monotonic()) > 0 or after is not None:
            if is_hasty and self.size() > size:
                return self.rest(self.chance.uniform(0, 0.1))
            if after is not None and self.daemon.poll() is not None:
                return
            if after is not None and self.is_watching():
                until, after = max(until, time.monotonic() + after), None
            self.rest(0.002 if is_hasty else 0.01 if after is not None else max(0, min(left, 0.1)))

    def expected(self):
        day = self.morning.date().isoformat()
        return {(title, f"{day}T09:{minute:02}") for title, minute in self.scenario.minutes.items()}

    def settle(self):
        """Waits until all deliveries have ended and are in the log. Returns the missing deliveries."""
        expected, until = self.expected(), time.monotonic() + PATIENCE
        size, since = self.size(), time.monotonic()
        while time.monotonic() < until:
            self.rest(0.1)
            if self.size() != size:
                size, since = self.size(), time.monotonic()
            if time.monotonic() > since + QUIET and expected <= self.fired().keys() & self.noted():
                break
        return expected - self.fired().keys()

    # --- Checks ---

    def judge(self, missing):
        expected = self.expected()
        self.counts["firings"] += len(expected)
        self.counts["missing"] += len(missing)
        for title, occurrence in sorted(missing):
            self.fail("an occurrence was never delivered", f"{title} {occurrence}")
        fired = self.fired()
        for (title, occurrence), found in sorted(fired.items()):
            due, last = datetime.fromisoformat(occurrence), max(each.at for each in found)
            # An occurrence that still rings is also delivered by the first daemon of the next day.
            allowed = 1 + sum(end.clock >= due and end.at <= last for end in self.ends)
            moments = ", ".join(f"{each.at:.3f} by start {each.start}" for each in found)
            if len(found) > allowed:
                ends = ", ".join(f"{end.at:.3f}" for end in self.ends if end.clock >= due)
                self.fail("an occurrence was delivered too often",
                          f"{title} {occurrence}: {len(found)}, not {allowed} (delivered {moments}; ended {ends})")
            over = self.over.get((title, occurrence), self.starts)
            if any(each.start > over for each in found):
                self.fail("an occurrence that was recorded as delivered was delivered again",
                          f"{title} {occurrence}: recorded by start {over}, delivered {moments}")
            first = min(found)
            start = self.started[first.start]
            if start.clock < due:
                late = start.clock + timedelta(seconds=first.at - start.at) - due
                self.delays[title, occurrence] = late.total_seconds()
            if (title, occurrence) in expected:
                self.counts["deliveries"] += len(found)
                self.counts["more than once"] += len(found) > 1
                self.counts["most"] = max(self.counts["most"], len(found))
        for title, occurrence in sorted(fired.keys() - expected):
            if occurrence[:10] == self.morning.date().isoformat():
                self.fail("an occurrence that was never due was delivered", f"{title} {occurrence}")
        self.judge_store(expected)

    def judge_store(self, expected):
        now = self.text()
        try:
            if len(self.device.listed(now)) != len(self.scenario.minutes):
                self.fail("the list is incomplete", f"{len(self.device.listed(now))} alarms")
        except ValueError as reason:
            return self.fail("the store cannot be read", str(reason))
        outcome = self.device.run("doctor", "--json", now=now)
        try:
            for finding in json.loads(outcome.out)["findings"]:
                if finding["level"] == "problem" and finding["area"] not in AROUND:
                    self.fail("`belfry doctor` reports a problem", f"{finding['area']}: {finding['message']}")
        except (ValueError, KeyError):
            self.fail("`belfry doctor` fails", brief(outcome))
        entries = self.device.must("log", now=now)
        self.counts["over"] = len(self.over)
        noted = Counter((entry["title"], entry["occurrence"]) for entry in entries if entry["action"] == "fired")
        for title, occurrence in sorted(expected - noted.keys()):
            self.fail("a firing is not in the log", f"{title} {occurrence}")
        for title, occurrence in sorted(expected & noted.keys()):
            if noted[title, occurrence] > 1:
                self.counts["twice in the log"] += 1
        for problem in self.device.problems():
            self.fail("the store is inconsistent", problem)

class Scenario:
    def __init__(self, report, sandbox):
        self.report, self.sandbox, self.is_over = report, sandbox, threading.Event()
        self.template = Device(sandbox, "template", Clock(FIRST_DAY - timedelta(hours=12)))
        self.minutes, self.titles, self.told = {}, {}, Counter()

    def prepare(self):
        device = self.template
        device.must("tier", "plus")
        sizes = self.report.chance.sample(SIZES, len(SIZES))
        for minute, size in enumerate(sizes):
            for _ in range(size):
                title = f"a{len(self.minutes)}"
                self.minutes[title] = minute
                self.report.progress(f"{len(self.minutes)} alarms")
                persistent = ["--persistent"] if self.report.chance.random() < 0.25 else []
                added = device.must("add", title, "--daily", "--at", f"09:{minute:02}", *persistent)
                self.titles[added["id"]] = title
        trial = Post(self, 0, 0)
        trial.origin, trial.zero = FIRST_DAY, time.monotonic()
        try:
            times = []
            for _ in range(5):
                trial.start()
                times.append(trial.await_start())
                trial.stop()
                trial.clear()
        finally:
            trial.play()
        self.startup = statistics.median(times)

    def tell(self, post):
        self.told[post.name] = post.counts["kills"]
        self.report.progress(f"{self.told.total()} of {self.kills} kills, {len(self.report.failures)} failures")

    def play(self):
        self.kills = 30 if self.report.short else 200
        self.prepare()
        shares = [self.kills // STORES + (number < self.kills % STORES) for number in range(STORES)]
        posts = [Post(self, number + 1, share) for number, share in enumerate(shares)]
        with ThreadPoolExecutor(STORES) as pool:
            try:
                for future in [pool.submit(self.watch, post) for post in posts]:
                    future.result()
            finally:
                self.is_over.set()
        return self.summary(posts)

    def watch(self, post):
        try:
            post.play()
        except Unusable as reason:
            self.report.fail("the scenario was aborted", str(reason))
        except Exception:
            self.report.fail("the scenario was aborted", traceback.format_exc())

    def summary(self, posts):
        counts, warnings = Counter(), {}
        for post in posts:
            counts += Counter({name: count for name, count in post.counts.items() if name != "most"})
            for shape, lines in post.warnings.items():
                warnings.setdefault(shape, []).extend(lines)
        for shape, lines in warnings.items():
            self.report.note(f"a daemon printed {len(lines)} times: {shape}", lines[0])
        delays = sorted(delay for post in posts for delay in post.delays.values())
        if not delays:
            self.report.fail("no known firing was due while a daemon ran", "each was delivered at a daemon's start")
        if counts["twice in the log"]:
            self.report.note(f"{counts['twice in the log']} firings are in the log more than once")
        most = max(post.counts["most"] for post in posts)
        starts = [seconds for post in posts for seconds in post.durations]
        longest = f", at most {max(starts):.2f} s" if starts else ""
        waited = (f"{len(delays)} were due while a daemon ran, {statistics.median(delays):.2f} s late (median) and at "
                  f"most {delays[-1]:.2f} s; " if delays else "")
        return (f"{counts['kills']} kills, {counts['killed while it started']} of them while the daemon started; "
                f"{counts['firings']} firings, {counts['deliveries']} deliveries, {counts['more than once']} firings "
                f"delivered more than once, at most {most} times; {counts['missing']} missing; {counts['over']} were "
                f"recorded as ended before a daemon ended; {waited}an undisturbed start took {self.startup:.2f} s{longest}")

if __name__ == "__main__":
    play("daemon", lambda report, sandbox: Scenario(report, sandbox).play())
