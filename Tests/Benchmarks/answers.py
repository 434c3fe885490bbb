"""The part `answers`: the time from an answer on one device to silence on another."""
import math, os, statistics, time
from contextlib import suppress
from pathlib import Path

from cells import figure, percentile, target
from daemon import MAKING, PATIENCE, Daemon, once
from hooks import make_hooks
from options import QUICK, chance
from proc import cpu, descendants, matching
from remotes import OURS, WAYS
from sandbox import ENVIRONMENT, GIT, Failure, belfry, progress, read, run, running, work
from stores import first_alarm, new_id
from wire import Wire

ANSWERS = 10 if QUICK else 60  # alarms that ring on two devices until one of them answers
SEPARATE = 10  # of them at a time, because more would share one notification
WATCHING = 1 if QUICK else 5  # idle minutes of a daemon that watches a remote

class Answers:
    """Two devices whose daemons sync through one remote, and alarms that ring on both until one device answers."""

    def __init__(self, way, begin):
        self.way, self.begin, self.wire = way, begin, None
        self.near, self.far, self.bare = (work(f"answers-{way}-{name}") for name in ("near", "far", "bare.git"))
        self.delays, self.idle, self.failure = [], {}, None

    def build(self):
        first_alarm(self.near, None)
        # It has no answers, which a copy would inherit.
        self.template = read(next(Path(self.near, "alarms").glob("*.json")))
        run(belfry(self.near, "tier", "plus"))
        run([GIT, "init", "-q", "--bare", self.bare])
        url = self.begin + self.bare
        run(belfry(self.near, "remote", "add", "origin", url))
        run(belfry(self.near, "sync"))
        if self.begin:
            # The connections of the other device go through a proxy that counts their bytes.
            self.wire = Wire(int(self.begin.rpartition(":")[2]))
            url = f"ssh://127.0.0.1:{self.wire.near}{self.bare}"
        run(["/usr/bin/env", "BELFRY_DEVICE=far", *belfry(self.far, "clone", url)])
        run(belfry(self.far, "sync"))
        run(belfry(self.near, "sync"))

    def measure(self, hooks):
        self.build()
        starts = []
        for store in (self.near, self.far):
            variables = [f"BENCHMARK_RUNG={store}-ended", f"BENCHMARK_STARTED={store}-started"]
            starts.append(["/usr/bin/env", f"XDG_CONFIG_HOME={hooks}", *variables, *belfry(store, "daemon")])
        with running(starts[0], self.near + "-said") as near, running(starts[1], self.far + "-said") as far:
            daemons = [Daemon(near, self.near + "-said"), Daemon(far, self.far + "-said")]
            for daemon in daemons:
                daemon.settle()
            due = math.ceil((time.time() + MAKING + 10) / 60) * 60
            for start in range(0, ANSWERS, SEPARATE):
                for record in self.ring(start, due):
                    progress(f"answers by {self.way}: {len(self.delays) + 1} of {ANSWERS}")
                    if record["title"] in self.silenced():
                        raise Failure("an alarm was silenced before its answer")
                    run(belfry(self.near, "done", record["id"]))
                    answered = time.time()
                    self.delays.append((self.silence(record["title"]) - answered) * 1000)
                    time.sleep(chance.uniform(0.3, 0.8))
            for daemon in daemons:
                daemon.settle()
            self.rest(far)

    def ring(self, start, due):
        """Lets the next alarms ring on both devices, and returns their records. The later ones are overdue."""
        titles = [f"Answer {number}" for number in range(start, min(start + SEPARATE, ANSWERS))]
        rung = start + len(titles)
        records = [self.template | {"id": new_id(), "title": title, "schedule": once(due)} for title in titles]
        OURS.edit(self.near, records, None)
        progress(f"answers by {self.way}: waiting until the alarms ring")
        until = max(due, time.time()) + 4 * PATIENCE
        for store in (self.near, self.far):
            while not os.path.exists(store + "-started") or os.path.getsize(store + "-started") < rung:
                if time.time() > until:
                    raise Failure(f"{rung} alarms do not ring on two devices by {self.way}")
                time.sleep(0.1)
        time.sleep(5)  # until the deliveries are recorded
        return records

    def silenced(self):
        """Returns the times at which the other device silenced its alarms, by title."""
        with suppress(FileNotFoundError):
            lines = Path(self.far + "-ended").read_text().split("\n")[:-1]
            return {title: float(moment) for moment, title, *_ in (line.split("\t") for line in lines)}
        return {}

    def silence(self, title):
        """Returns the time at which the other device silences an alarm."""
        until = time.time() + PATIENCE
        while time.time() < until:
            if title in (silenced := self.silenced()):
                return silenced[title]
            time.sleep(0.005)
        raise Failure(f"an answer does not arrive within {PATIENCE} s by {self.way}")

    def rest(self, daemon):
        """Measures an idle period: the network traffic, and the CPU time of this device and of the remote's host."""
        here = [daemon, *descendants(daemon), *matching(f"{ENVIRONMENT['XDG_RUNTIME_DIR']}/belfry-ssh/")]
        there = matching("belfry-watch 1")
        def used(pids): return sum(cpu(pid) for pid in pids if os.path.exists(f"/proc/{pid}"))
        before = used(here), used(there)
        if self.wire:
            self.wire.reset()
        for number in range(WATCHING):
            progress(f"answers by {self.way}: idle minute {number + 1} of {WATCHING}")
            time.sleep(60)
        hourly = 60 / WATCHING
        self.idle = {"CPU s per hour, here": (used(here) - before[0]) * hourly}
        if self.wire:
            self.idle["CPU s per hour, two shells at the remote"] = (used(there) - before[1]) * hourly
            self.idle["KB per hour, to and from the remote"] = (self.wire.sent + self.wire.received) * hourly / 1024

def measure_answers():
    """Measures the answers by each way. Returns nothing if the hooks cannot be compiled."""
    hooks = make_hooks("answers are", "answers-config", "-DSOUND")
    measured = [Answers(way, begin) for way, begin in WAYS.items()] if hooks else []
    for answers in measured:
        try:
            answers.measure(hooks)
        except (Failure, OSError) as failure:
            answers.failure = str(failure)
    return measured

# --- Reporting ---

def print_answers(measured):
    if not measured:
        return
    print("\nFrom the end of 'belfry done' to silence on another device, both with a daemon")
    print(f"{'':44}" + "".join(f"{column:>10}" for column in ("number", "median ms", "99%", "worst")))
    for answers in measured:
        if answers.failure:
            print(f"{answers.way:44}    failed: {answers.failure}")
            continue
        values = [statistics.median(answers.delays), percentile(answers.delays), max(answers.delays)]
        print(f"{answers.way:44}{len(answers.delays):>10}" + "".join(f"{figure(value):>10}" for value in values))
    for answers in measured:
        for name, value in answers.idle.items():
            print(f"{f'idle, {answers.way}: {name}':64}{figure(value):>10}")

def print_answer_targets(measured):
    for each in measured:
        late = percentile(each.delays) if each.delays and not each.failure else None
        target(f"from done to silence on another device by {each.way}, 99%", late, "the limit", 1000)
