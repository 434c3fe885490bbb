"""The names of terminals, their colors, and the bytes that a moved selection costs."""
import re, statistics
from homes import NOW, everyday, many
from keys import check_end, quit_screen
from terminals import Terminal

# The name in TERM, and the most colors that may be used.
KINDS = [("xterm-kitty", "rgb"), ("alacritty", "rgb"), ("foot", "rgb"), ("xterm-ghostty", "rgb"), ("tmux-256color", "256"),
         ("screen", "16"), ("screen-256color", "256"), ("linux", "16"), ("vt100", "16"), ("xterm-direct", "rgb"),
         ("xterm-256color", "256"), ("wezterm", "rgb"),
         ("a-terminal-of-tomorrow", "16")]
ORDER = ["none", "16", "256", "rgb"]
KEYS = ["j", "\r", "\x1b", "2", "3", "4", "5", "7", "1", "?", "\x1b", "a", "Rent friday", "\x1b", "v", "\x1b", "R", "\x1b"]
LEAST_BYTES = 600

def colors(data):
    """Returns the most colors that the output uses."""
    most = "none"
    for found in re.finditer(rb"\x1b\[([\d;:]*)m", bytes(data)):
        codes = [int(code or 0) for code in found.group(1).replace(b":", b";").split(b";")]
        while codes:
            code = codes.pop(0)
            kind = "none"
            if code in (38, 48) and codes:
                kind = "rgb" if codes[0] == 2 else "256"
                del codes[:4 if codes[0] == 2 else 2]
            elif 30 <= code <= 37 or 40 <= code <= 47 or 90 <= code <= 107:
                kind = "16"
            most = max(most, kind, key=ORDER.index)
    return most

def drive(results, device, kind, most, least="none", **more):
    words = ", ".join([kind, *(f"{name}={value}" for name, value in more.items())])
    terminal = Terminal([device.belfry, "ui"], device.environment | {"BELFRY_NOW": NOW, "TERM": kind} | more)
    try:
        if not results.check(terminal.shows("keys"), f"{words}: the screen opens", terminal.text()[:300]):
            return
        for key in KEYS:
            terminal.send(key)
            terminal.settle()
        check_end(results, terminal, words, quit_screen(terminal))
        used = colors(terminal.bytes)
        results.check(ORDER.index(least) <= ORDER.index(used) <= ORDER.index(most), f"{words}: the colors", f"{used}, at most {most}")
    finally:
        terminal.close()

def refuse(results, device):
    terminal = Terminal([device.belfry, "ui"], device.environment | {"BELFRY_NOW": NOW, "TERM": "dumb"})
    try:
        results.equal(terminal.end(), 4, "dumb: the exit status")
        text = terminal.text()
        results.check("dumb" in text and "--plain" in text, "dumb: the reason and the other way", text[:300])
        results.check(b"\x1b" not in terminal.bytes, "dumb: no escape sequence")
    finally:
        terminal.close()

def count_bytes(run, results):
    device = many(run.sandbox, "many", 1000)
    for columns, rows in ((80, 24), (160, 50)):
        terminal = Terminal([device.belfry, "ui"], device.environment | {"BELFRY_NOW": NOW}, columns, rows)
        try:
            if not results.check(terminal.shows("keys"), "1,000 alarms: the screen opens"):
                continue
            terminal.settle()
            moved = []
            for number in range(30):
                terminal.send("j" if number < rows - 10 or number % 2 else "k")
                moved.append(terminal.settle(first=1, quiet=0.04))
            median, most = statistics.median(moved), max(moved)
            results.check(min(moved) > 0, f"each key moves the selection at {columns}×{rows}")
            results.check(median <= LEAST_BYTES, f"the bytes of a moved selection at {columns}×{rows}", f"median {median}, maximum {most}")
            results.note(f"a moved selection at {columns}×{rows} with 1,000 alarms: median {median:.0f} bytes, maximum {most}")
            check_end(results, terminal, "1,000 alarms", quit_screen(terminal))
        finally:
            terminal.close()

def play(run, results):
    device = everyday(run.sandbox, "kinds")
    for kind, most in KINDS[::4] if run.short else KINDS:
        # Without a color, the check of NO_COLOR would not find any.
        drive(results, device, kind, most, least="16")
    drive(results, device, "xterm-256color", "none", NO_COLOR="1")
    drive(results, device, "xterm-256color", "rgb", least="16", COLORTERM="truecolor")
    refuse(results, device)
    count_bytes(run, results)
