"""Runs the scenarios beside each other, and prints their results."""
import signal, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "Faults"), str(HERE.parent / "Phone")]
from sandbox import Sandbox
from checks import play
from terminals import seclude
import bars, ends, frames, keys, kinds

class Run:
    """The folder and the choices of a run."""
    def __init__(self, binary, short, seed, keys):
        self.sandbox, self.short, self.seed = Sandbox("screen", binary), short, int(seed)
        self.keys = int(keys) or (200 if short else 6000)

SCENARIOS = {
    "frames": ("the same frames in pyte and tmux", frames.play),
    "keys": ("random keys", keys.play),
    "ends": ("ends of the program", ends.play),
    "kinds": ("kinds of terminals", kinds.play),
    "bars": ("hostile titles", bars.play),
}

def main():
    binary, short, seed, count, *names = sys.argv[1:]
    run, start = Run(binary, short == "1", seed, count), time.monotonic()
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    chosen = [SCENARIOS[name] for name in SCENARIOS if not names or name in names]
    if run.short and not names:
        chosen.remove(SCENARIOS["bars"])
    passed = []
    try:
        # Each of them waits for most of its time.
        with ThreadPoolExecutor(len(chosen)) as pool:
            passed = [each.result() for each in [pool.submit(play, run, *scenario) for scenario in chosen]]
    finally:
        if passed and all(passed):
            run.sandbox.remove()
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed ({time.monotonic() - start:.0f} s)")
    if not all(passed):
        print(f"Kept: {run.sandbox.root}, seed: {seed}")
    sys.exit(0 if passed and all(passed) else 1)

if __name__ == "__main__":
    seclude()
    main()
