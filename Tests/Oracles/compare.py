"""Runs the parts, and prints the differences that are not expected."""
import importlib.util, os, shutil, sys, time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from device import Unusable
from results import Results

HERE = Path(__file__).resolve().parent
SHOWN = 20  # printed differences of one tool
CERTAIN = {"dateutil", "systemd-analyze"}  # Debian packages that CI installs
BATCH = 50  # inputs of one batch, which share a clock and a store
SHARES = {"oncalendar": 0.15, "cron": 0.15, "rrule": 0.2, "schedules": 0.5}  # of the random inputs

def main():
    binary, seed, count, parts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    code, found, ran = 0, [], []
    began = time.monotonic()
    for part in parts:
        start = time.monotonic()
        if missing := needs(importlib.import_module(part)):
            is_certain = bool(os.environ.get("CI")) and CERTAIN & set(missing)
            print(f"{part}: {'FAILED' if is_certain else 'skipped'}. Not installed: {', '.join(missing)}.")
            code = 1 if is_certain else code
            continue
        results = play(part, binary, seed, round(count * SHARES.get(part, 0)))
        ran.append(part)
        found += results.differences
        counts = ", ".join(f"{number:,} {kind}" for kind, number in results.counts.most_common())
        print(f"{part}: {counts} ({time.monotonic() - start:.0f} s)", flush=True)
    expected = read_expected() if "phrases" in ran else {}
    unexpected = [item for item in found if (item.input, item.tool) not in expected]
    tools = Counter()
    for item in unexpected:
        tools[item.tool] += 1
        if tools[item.tool] <= SHOWN:
            print(f"  DIFFERS: {item.input} | Belfry: {item.belfry} | {item.tool}: {item.expected}")
    for tool, number in tools.items():
        if number > SHOWN:
            print(f"  and {number - SHOWN:,} more of {tool}")
    stale = expected.keys() - {(item.input, item.tool) for item in found}
    for phrase, tool in sorted(stale):
        print(f"  STALE: {phrase} | {tool}: Belfry and {tool} agree, or {tool} does not understand it any more")
    summary = ", ".join(f"{number} of {tool}" for tool, number in tools.most_common()) or "none"
    print(f"Unexpected differences: {summary}. Expected: {len(expected) - len(stale)}. "
          f"Stale: {len(stale)}. ({time.monotonic() - began:.0f} s)")
    if unexpected or stale:
        print(f"Repeat: Tests/Oracles/run --seed {seed} --count {count} {binary} {' '.join(parts)}")
        code = 1
    sys.exit(code)

def needs(module):
    """Returns the packages and programs that a part needs, and that are missing."""
    packages = [package for package in module.PACKAGES if not importlib.util.find_spec(package)]
    program = getattr(module, "PROGRAM", None)
    return packages + ([program] if program and not shutil.which(program) else [])

def batch(part, binary, seed, size):
    """Returns the results of a batch. A command that fails or takes too long ends it."""
    results = Results()
    try:
        importlib.import_module(part).batch(binary, seed, size, results)
    except Unusable as reason:
        results.compare("aborted batches", f"batch {seed}", str(reason), "every store", "a result")
    return results

def play(part, binary, seed, count):
    """Runs the batches of a part in several processes. The phrases are one batch."""
    sizes = [min(BATCH, count - first) for first in range(0, count, BATCH)] if part in SHARES else [0]
    results = Results()
    with ProcessPoolExecutor() as pool:
        futures = [pool.submit(batch, part, binary, f"{seed} {part} {number}", size)
                   for number, size in enumerate(sizes)]
        for future in futures:
            results.add(future.result())
    return results

def read_expected():
    """Returns the reasons of the expected differences by phrase and tool."""
    lines = (HERE / "expected.txt").read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return {(phrase, tool): reason for phrase, tool, reason in rows}

if __name__ == "__main__":
    main()
