"""Random keys, sizes and changes by other commands, on a real terminal."""
import os, random, signal, time
from contextlib import suppress
from homes import NAVIGATION, NOW, everyday
from terminals import Terminal, processes, wait

WORDS = ["pills", "rent every friday 9am", "+home", "due:week", "2 weeks", "tomorrow 15:00", "30m", "list", "show rent",
         "skip call", "help", "log", "\u6f22\u5b57", "\u00e9\u0301\u202e", "undo", "done +health --yes", "nonsense", "\"", "status", "sync"]
KEYS = NAVIGATION + list("dsSzpmtrxyn/a:eEZu?") + [
    "\r", "\x1b", "\x7f", "\x12", "\x15", "\x1a", "\x00", "\x1b[", "\x1bO", "\x1b[999;999R", "\x1b[200~pasted\nlines\x1b[201~",
    "\x1b[<0;5;5M\x1b[<0;5;5m", "\x1b[<64;9;9M", "\x1b[<65;9;9M", "\x1b[<0;300;300M", "\xff", "\x1b[I", "\x1b[O", "\x1b[1;5A",
    "\x1bOP", "\x1b[15~", "\x9b", "\x1b]0;t\x07", "\t"]
SIZES = [(80, 24), (40, 10), (60, 20), (160, 50), (20, 5), (1, 1), (400, 120), (110, 30), (109, 3), (300, 8)]
OUTSIDE = [["add", "Outside", "every", "day", "at", "7pm"], ["snooze", "rent", "1h"], ["done", "pills"], ["undo"],
           ["tag", "+out", "call"], ["tick"], ["skip", "call", "--yes"], ["rename", "rent", "Rent for the flat"],
           ["rename", "rent", "Rent"], ["delete", "outside", "--yes"], ["disable", "backup"], ["enable", "backup"],
           ["note", "rent", "pay first"]]

def screen(device, columns=80, rows=24):
    return Terminal([device.belfry, "ui"], device.environment | {"BELFRY_NOW": NOW}, columns, rows)

def quit_screen(terminal):
    """Leaves all forms and pages, and the program. Returns its status."""
    for _ in range(6):
        if terminal.process.poll() is not None:
            break
        if 1049 not in terminal.modes.on:
            # A command, such as an editor, has the terminal.
            terminal.send("\x03\r")
            terminal.wait(lambda: 1049 in terminal.modes.on, limit=1)
        # Twice, because a form with changes asks. A key that is read together with Esc is another key, Alt-Q.
        for _ in range(2):
            terminal.send("\x1b")
            terminal.settle(first=0.15)
        terminal.send("q")
        terminal.end(limit=0.3)
    return terminal.end()

def check_end(results, terminal, words, status):
    """Checks that a program has ended by itself, and left the terminal as it was."""
    results.check(status == 0, f"{words}: the exit status", f"{status}, {terminal.text()[-300:]}")
    changed = terminal.is_restored()
    results.check(not changed, f"{words}: the terminal is restored", f"changed: {', '.join(changed)}")

def drawn(terminal):
    """Returns the lines and cells."""
    return terminal.lines(), terminal.screen.cells()

def is_drawn(terminal):
    """Returns the differences between what was drawn in parts and what is drawn at once."""
    for _ in range(3):
        # Until the screen rests. The marks of changes vanish by themselves.
        until = time.monotonic() + 5
        while (terminal.settle() or any(line.startswith("+") for line in terminal.lines())) and time.monotonic() < until:
            pass
        shown = drawn(terminal)
        terminal.send("\x0c")
        terminal.settle()
        at_once = drawn(terminal)
        if shown == at_once:
            return ""
        # With a new minute, the time in the first line is another one.
        if shown[0][0] == at_once[0][0]:
            break
    for row, (left, right) in enumerate(zip(shown[0], at_once[0])):
        if left != right:
            return f"row {row}: {left!r}, at once {right!r}"
    return "the appearance differs"

def navigate(run, results, chance):
    """Keys that only look change nothing in the store."""
    device = everyday(run.sandbox, "navigation")
    terminal = screen(device)
    try:
        results.check(terminal.shows("keys"), "the screen opens", terminal.text()[:300])
        head, files, count = device.head(), device.files(), 150 if run.short else 3000
        for number in range(count):
            key = chance.choice(NAVIGATION)
            # Enter switches a setting on the last page.
            if key == "7":
                continue
            terminal.send(key)
            if number % 5 == 0:
                terminal.settle(first=0.02, quiet=0.005)
            if number % 50 == 0:
                terminal.resize(*chance.choice(SIZES))
        terminal.resize(80, 24)
        terminal.settle()
        results.equal(device.head(), head, "moving around writes no commit")
        results.equal(device.files(), files, "moving around changes no file")
        check_end(results, terminal, "after moving around", quit_screen(terminal))
        results.note(f"{count} keys that look")
    finally:
        terminal.close()

def attack(run, results, chance):
    """Any keys, sizes and outside changes."""
    device, count, starts, outside, resized = everyday(run.sandbox, "keys"), run.keys, 1, 0, 0
    terminal, log, failed = screen(device), [], len(results.failures)
    try:
        terminal.shows("keys")
        for number in range(count):
            if terminal.process.poll() is not None:
                check_end(results, terminal, f"the keys {log[-8:]} end it", terminal.end())
                terminal.close()
                terminal, starts = screen(device), starts + 1
                terminal.shows("keys")
            kind = chance.random()
            if kind < 0.02:
                resized += 1
                terminal.resize(*chance.choice(SIZES))
            elif kind < 0.03:
                outside += 1
                device.run(*chance.choice(OUTSIDE), now=NOW)
            else:
                key = chance.choice(WORDS) if kind < 0.1 else chance.choice(KEYS) if kind < 0.99 else "q"
                log.append(key)
                terminal.send(key)
            terminal.settle(first=0.02, quiet=0.005)
            if number % 100 == 99:
                terminal.resize(80, 24)
                terminal.settle()
                if terminal.process.poll() is not None or 1049 not in terminal.modes.on:
                    continue
                difference = is_drawn(terminal)
                results.check(not difference, f"what is drawn in parts equals what is drawn at once, after {log[-8:]}", difference)
            if len(results.failures) > failed:
                break
        if terminal.process.poll() is None:
            terminal.resize(80, 24)
            terminal.settle()
            check_end(results, terminal, f"after any keys, the last ones {log[-8:]}", quit_screen(terminal))
        results.note(f"{len(log)} keys, {resized} sizes, {outside} changes by commands, {starts} starts")
        problems = device.problems()
        results.check(not problems, "the store is in order", "; ".join(problems[:3]))
        outcome = device.run("list", "--json", now=NOW)
        results.check(outcome.code == 0, "the list is readable", outcome.err[:300])
    finally:
        terminal.close()

def live(run, results):
    """A change by a command is shown without a key, and soon."""
    device = everyday(run.sandbox, "live")
    terminal = screen(device)
    try:
        terminal.shows("keys")
        for number in range(2 if run.short else 10):
            title = f"Change {number}"
            device.run("add", title, "every", "day", "at", "7pm", now=NOW)
            ended = time.monotonic()
            shown = terminal.shows(title, limit=5)
            results.took("from the end of a command to its change on the screen", time.monotonic() - ended if shown else None, 0.2)
        check_end(results, terminal, "after changes by commands", quit_screen(terminal))
    finally:
        terminal.close()

def notify(run, results):
    """A notification without a desktop goes to the terminals, but not over a screen that shows what rings."""
    device = everyday(run.sandbox, "notices")
    device.run("add", "Tea", "every", "day", "at", "10:00", now="2026-11-28T09:59:00Z")
    # Belfry's own way to the terminals instead of the hooks of the test, and only to this terminal.
    for hook in (device.home / ".config/belfry/hooks/deliver").iterdir():
        hook.unlink()
    terminal = screen(device)
    (device.home / "terminals/0").symlink_to(os.ttyname(terminal.follower))
    try:
        terminal.shows("Tea")
        device.run("tick", now=NOW)
        results.check(terminal.shows("ringing  Tea"), "what rings is shown", terminal.text()[:300])
        # The last resort comes after 8 s.
        terminal.wait(lambda: b"belfry ring" in terminal.bytes, limit=12)
        results.check(b"belfry ring" not in terminal.bytes, "a notification is not written over the screen of the same store", terminal.text()[-900:])
        difference = is_drawn(terminal)
        results.check(not difference, "the screen is whole after a notification", difference)
        check_end(results, terminal, "after a notification", quit_screen(terminal))
    finally:
        # What still delivers must not write to a terminal that gets the same number.
        (device.home / "terminals/0").unlink()
        device.run("done", "tea", now=NOW)
        terminal.close()
        wait(lambda: not processes(device.home), limit=5)
        for process in processes(device.home):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

def play(run, results):
    chance = random.Random(f"screen {run.seed}")
    live(run, results)
    if not run.short:
        notify(run, results)
    navigate(run, results, chance)
    attack(run, results, chance)
