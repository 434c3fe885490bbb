"""The same keys on a pseudo-terminal that pyte draws and in tmux: each frame is the same, in text and appearance."""
import re
from homes import NOW, everyday
from terminals import Terminal, Tmux, wait

# Each key, or what is typed at once. Those of the second list change the store, of which each terminal has its own copy.
LOOKS = ["j", "j", "k", "\r", "\x1b", "2", "l", "h", "3", "j", "\r", "\x1b", "4", "5", "6", "7", "1", "?", "skip", "\x1b", "/",
         "+home", "\r", "\x1b", "G", "g", "v", "\x1b", ":", "sh", "\t", "\x1b",
         "a", "Dentist every 6 months on the 3rd at 8:15", "\x1b", "x", "n", "\x0c"]
ACTS = ["d", "u", "S", "y", "u", "z", "j", "t", "t", "p", "2 weeks\r", "\x1b",
        "aStretch every day at 16:00 +health\r", "/stretch\r",
        "r\x15Stretch for long\r", "\x1b", ":note rent call first\r", "xn", "xy", "u"]
SHORT = ["j", "\r", "\x1b", "2", "3", "1", "?", "\x1b", "/", "+home", "\x1b", "a", "Dentist friday 8:15", "\x1b", "d"]
SIZES = [(60, 20), (80, 24), (160, 50), (40, 10), (400, 120)]
RANDOM = re.compile(r"\b[0-9a-f]{7,40}\b…?|[a-z2-7]{10,26}(?=\.json)|\b[a-z2-7]{26}\b|\b[0-9a-z]{1,26}…$|\b[0-9a-f]{1,7}(?= \d+ more$)")

def masked(device, lines):
    """Replaces what differs between two homes: identifiers, the names of commits and log entries, and paths."""
    names = sorted(path.stem[:8] for folder in ("alarms", "devices") for path in (device.store / folder).glob("*.json"))
    identifier = re.compile(rf"\b({'|'.join(names)})[a-z2-7]{{0,18}}")
    # The end of a path can be cut.
    lines = [re.sub(r"/homes/\S*", "/homes/HOME", line) for line in lines]
    return [RANDOM.sub("#######", identifier.sub("########", line)) for line in lines]

def first_difference(one, other):
    """Returns the first lines that differ, as words; nothing if the frames are equal."""
    for row, (left, right) in enumerate(zip(one, other)):
        if left != right:
            return f"row {row}: pyte {left!r}, tmux {right!r}"
    return "" if len(one) == len(other) else f"{len(one)} and {len(other)} rows"

def runs(lines):
    """Returns true while a command runs: its output would come behind the next key."""
    return lines[-2].startswith(" belfry ") and lines[-2].endswith("…")

def looks(cell): return (cell.fg, cell.bg, cell.bold, cell.italics, cell.underscore, cell.reverse)

def first_look(one, other):
    """Returns the first cells whose appearance differs, as words."""
    for row, (left, right) in enumerate(zip(one, other)):
        for column, (first, second) in enumerate(zip(left, right)):
            if looks(first) != looks(second):
                return f"row {row}, column {column} {first.data!r}: pyte {looks(first)}, tmux {looks(second)}"
    return ""

def compare(run, results, number, size, keys):
    """Drives both terminals. Returns the number of equal frames."""
    columns, rows = size
    # Wide characters have one width in both; joined ones do not.
    one = everyday(run.sandbox, f"frames-{number}-pyte")
    other = everyday(run.sandbox, f"frames-{number}-tmux")
    left = Terminal([one.belfry, "ui"], one.environment | {"BELFRY_NOW": NOW}, columns, rows)
    right = Tmux(other.home, f"TERM=xterm-256color exec {other.belfry} ui", other.environment | {"BELFRY_NOW": NOW}, columns, rows)
    place, equal = f"{columns} columns and {rows} rows", 0
    try:
        if not results.check(left.shows("keys"), f"the first frame at {place}", left.text()[:300]):
            return 0
        for key in ["", *keys]:
            if key:
                left.send(key)
                right.send(key)
            left.settle()
            def differ():
                left.read()
                text = first_difference(masked(one, left.lines()), masked(other, right.lines()))
                return text or first_look(left.screen.cells(), right.cells())
            # A later look could see one of them draw what the other one has not drawn yet.
            same = wait(lambda: not differ() and not runs(left.lines()), limit=20, pause=0.03)
            difference = "" if same else differ() or "a command goes on"
            if not results.check(not difference, f"the frame after {key!r} at {place}", difference):
                break
            equal += 1
            if not results.check(left.process.poll() is None, f"the screen at {place} goes on after {key!r}"):
                break
    finally:
        left.close()
        right.close()
    return equal

def play(run, results):
    sizes, equal = SIZES[:2] if run.short else SIZES, 0
    for number, size in enumerate(sizes):
        equal += compare(run, results, number, size, SHORT if run.short else LOOKS + ACTS if size[0] >= 60 else LOOKS)
    results.note(f"{equal} equal frames, at {', '.join(f'{columns}×{rows}' for columns, rows in sizes)}")
