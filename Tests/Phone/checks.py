"""The results of the scenarios: checks, and measured times with their limits."""
import statistics, sys, time, traceback
from sandbox import Unusable

def wait(condition, limit=10, pause=0.002):
    """Waits until a condition returns a value, and returns the value, or None after a number of seconds."""
    until = time.monotonic() + limit
    while True:
        value = condition()
        if value or time.monotonic() > until:
            return value or None
        time.sleep(pause)

def play(run, title, body):
    """Runs a scenario, and prints its results. Returns true if all checks have passed."""
    # In a short run, all scenarios share the processors.
    results = Results(title, tolerance=5 if run.short else 1)
    try:
        body(run, results)
    except Unusable as reason:
        results.check(False, "the scenario was aborted", str(reason))
    except Exception:
        results.check(False, "the scenario was aborted", traceback.format_exc(limit=-3))
    results.finish()
    results.print()
    return not results.failures

class Results:
    """The results of one scenario."""
    def __init__(self, name, tolerance=1):
        self.name, self.failures, self.passed, self.times = name, [], 0, {}
        self.tolerance = tolerance  # a factor of the limits
        self.limits, self.start, self.notes = {}, time.monotonic(), []

    def check(self, condition, words, details=""):
        """Records a check, and returns true if it has passed."""
        if condition:
            self.passed += 1
        else:
            self.failures.append(f"{words}{f': {details}' if details != '' else ''}"[:700])
        return bool(condition)

    def equal(self, found, expected, words):
        return self.check(found == expected, words, f"{found!r}, expected {expected!r}")

    def took(self, words, seconds, limit):
        """Records a time; None if the event did not happen."""
        self.limits[words] = limit * self.tolerance
        if self.check(seconds is not None, f"{words}: it did not happen"):
            self.times.setdefault(words, []).append(seconds)

    def note(self, words): self.notes.append(words)

    def finish(self):
        for words, times in self.times.items():
            worst = statistics.median(times)
            self.check(worst <= self.limits[words], f"{words}: the median is over {self.limits[words]} s", f"{worst:.3f} s")
        self.seconds = time.monotonic() - self.start

    def print(self):
        verdict = "FAILED" if self.failures else "passed"
        print(f"{self.name}: {verdict}. {self.passed} checks ({self.seconds:.0f} s)")
        for words, times in self.times.items():
            shown = f"median {1000 * statistics.median(times):.0f} ms, maximum {1000 * max(times):.0f} ms"
            print(f"  {words}: {shown} of {len(times)}")
        for words in self.notes:
            print(f"  note: {words}")
        for words in self.failures:
            print(f"  FAILED: {words}")
        sys.stdout.flush()

def snapshot(folder):
    """Returns the identity of each file of a folder: any write changes it."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns, path.stat().st_size)
            for path in folder.iterdir() if path.suffix == ".ics" and path.is_file()}

def differences(before, after):
    """Returns the names of the files that differ between two snapshots."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
