"""Runs the scenarios, some of them beside each other, and prints their results."""
import signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Faults"))
from sandbox import Sandbox
import hostile, quiet, races, radicale, sharing, todoman, vdirsyncer, xandikos
from checks import play

class Run:
    """The programs and the folder of a run."""
    def __init__(self, binary, short, seed, environment):
        self.sandbox, self.short, self.seed = Sandbox("phone", binary), short, int(seed)
        self.bin = Path(environment) / "bin"
        self.has_ended = threading.Event()

    def folder(self, name):
        folder = self.sandbox.root / "parts" / name
        folder.mkdir(parents=True)
        return folder

# Groups run one after another, and the scenarios of a group beside each other: the times of the first are measured with
# little else running. A short run is one group.
GROUPS = [
    [("radicale", "Radicale 3.9.0", lambda run, results: radicale.play(run, results, run.bin / "radicale", "new"))],
    [("radicale", "Radicale of Debian", lambda run, results: radicale.play_short(run, results, "/usr/bin/radicale", "debian")),
     ("xandikos", "Xandikos of Debian", lambda run, results: xandikos.play(run, results, "/usr/bin/xandikos", True)),
     ("xandikos", "Xandikos 0.4.10", lambda run, results: xandikos.play(run, results, run.bin / "xandikos", False)),
     ("vdirsyncer", "vdirsyncer", vdirsyncer.play),
     ("todoman", "todoman and khal", todoman.play),
     ("races", "races", races.play),
     ("sharing", "two devices with one folder", sharing.play),
     ("hostile", "hostile files", hostile.play)],
]

def main():
    binary, short, seed, environment, *names = sys.argv[1:]
    run, start = Run(binary, short == "1", seed, environment), time.monotonic()
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    passed = []
    try:
        with ThreadPoolExecutor(12) as pool:
            background = []
            if not names or "quiet" in names:
                background.append(pool.submit(play, run, "no change", quiet.play))
            for group in [sum(GROUPS, [])] if run.short else GROUPS:
                parts = [part for part in group if not names or part[0] in names]
                passed += [each.result() for each in [pool.submit(play, run, *part[1:]) for part in parts]]
            run.has_ended.set()
            passed += [each.result() for each in background]
    finally:
        run.has_ended.set()
        if passed and all(passed):
            run.sandbox.remove()
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed ({time.monotonic() - start:.0f} s)")
    if not all(passed):
        print(f"Kept: {run.sandbox.root}, seed: {seed}")
    sys.exit(0 if passed and all(passed) else 1)

if __name__ == "__main__":
    main()
