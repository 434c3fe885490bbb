"""Hostile titles in the full screen and in real status bars: they are shown as text, and run nothing."""
import json, os, re, select, shutil, signal, subprocess, time
from contextlib import suppress
from pathlib import Path
from homes import NOW, do, everyday, new_home, retitle
from keys import check_end, quit_screen
from terminals import Terminal, Tmux, wait

# In each of them, %s is a file that a command in the title would create.
TITLES = [
    "<b>&%%{A1:touch %s:}#(touch %s)",
    "#(touch %s)#[fg=red]#{version}",
    "</span><span foreground='red'>&amp;&#60;",
    "%%{F#f00}%%{A1:touch %s:}%%{%%{A}%%{O9}",
    "$(touch %s)`touch %s`;touch %s",
    "a\u202eb\u2066c\u200f\u2028d",
    '{"full_text":"x","markup":"pango"}\\"',
]
# No command accepts these, but an edit of a file could bring them.
CONTROLS = ["a\x1b[31mred\x1b]0;PWNED\x07b", "a\nb\rc\td\x08e", "\x9b31m\x9dx\x9c\x1bPq\x1b\\", "\x1b[?1049l\x1b[2J\x1b[999;1H"]
NOBODY = 65534
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

class Hostile:
    """A store in which one alarm, with a hostile title, rings next; and the file that no title may create."""
    def __init__(self, run, number, title):
        self.device = new_home(run.sandbox, f"hostile-{number}")
        # A short path, because a title has 200 characters at most.
        self.trap = Path(f"/tmp/belfry-{os.getpid()}-{number}")
        self.title = title % ((self.trap,) * title.count("%s"))
        do(self.device, "2026-11-28T09:59:00Z", ["add", "--daily", "--at", "10:30", "--", self.title])

    def environment(self, **more): return self.device.environment | {"BELFRY_NOW": NOW, "PATH": path(self.device)} | more

    def status(self, form):
        """Returns the line of a format, which is wide enough for the title."""
        outcome = self.device.run("status", "--format", form, "--width", "300", now=NOW)
        return without_problem(outcome.out.removesuffix("\n"))

def without_problem(line):
    """Removes the notice that no scheduler runs."""
    return re.sub(r"^no scheduler · |(?<=\")no scheduler · ", "", line)

def path(device):
    """Returns a PATH with belfry, as the configurations of bars expect it."""
    return f"{os.path.dirname(device.belfry)}:{device.environment['PATH']}"

def shown(title):
    """Returns a title as belfry shows it: control characters are codes."""
    return CONTROL.sub(lambda found: f"\\u{{{ord(found.group()):x}}}", title)

def plain(results, hostile):
    """Checks the formats by the parsers of the languages."""
    expected = f"{shown(hostile.title)} 10:30"
    results.equal(hostile.status("plain"), expected, "the format plain")
    for form, text in (("i3bar", expected), ("i3blocks", for_i3blocks(expected))):
        block = json.loads(hostile.status(form))
        results.equal((block["full_text"], block.get("markup", "none")), (text, "none"), f"the format {form}")
    results.check("%{" not in hostile.status("polybar"), "the format polybar has no tag", hostile.status("polybar"))
    waybar = json.loads(hostile.status("waybar"))
    try:
        import gi
        gi.require_version("Pango", "1.0")
        from gi.repository import GLib, Pango
    except (ImportError, ValueError):
        return "Pango was skipped: install python3-gi and gir1.2-pango-1.0"
    for key in ("text", "tooltip"):
        try:
            parsed = Pango.parse_markup(waybar[key], -1, "\0")
            # A tooltip cuts each line.
            results.check(parsed[0] and shown(hostile.title)[:50] in parsed[2], f"Pango shows the {key} of waybar as it is", parsed[2])
            results.equal(len(parsed[1].get_attributes()), 0, f"Pango finds no markup in the {key} of waybar")
        except GLib.Error as error:
            results.check(False, f"Pango parses the {key} of waybar", f"{waybar[key]}: {error}")
    return ""

def screen(results, hostile):
    """The full screen: the list, the details, the history, and a question with the title."""
    terminal = Terminal([hostile.device.belfry, "ui"], hostile.environment(), 160, 30)
    try:
        results.check(terminal.shows(shown(hostile.title)[:20]), f"the full screen shows {hostile.title!r}", terminal.text()[:300])
        for key in ("\r", "\x1b", "3", "\r", "\x1b", "2", "1", "x", "n", "t", "t"):
            terminal.send(key)
            terminal.settle()
        check_text(results, terminal, hostile.title)
        check_end(results, terminal, repr(hostile.title), quit_screen(terminal))
    finally:
        terminal.close()

def check_text(results, terminal, title):
    """Checks that the output has no control sequence but those of the screen itself."""
    text = terminal.bytes.decode(errors="replace")
    rest = re.sub(r"\x1b\[[?<>]?[0-9;]*[A-Za-z]|\x1b\]8;;[^\x07\x1b]*(?:\x1b\\|\x07)|[\r\n]", "", text)
    # Terminals show the two separators of lines as characters.
    found = CONTROL.search(rest.replace("\u2028", ""))
    around = repr(rest[max(0, found.start() - 30):][:80]) if found else ""
    results.check(not found, f"{title!r}: no control character is written", around)

def controls(run, results):
    """Records whose titles have control characters, which no command writes."""
    device = everyday(run.sandbox, "controls")
    retitle(device, CONTROLS)
    terminal = Terminal([device.belfry, "ui"], device.environment | {"BELFRY_NOW": NOW}, 160, 40)
    try:
        terminal.shows("keys")
        for key in ("j", "j", "\r", "\x1b", "j", "j", "\r", "\x1b", "3", "\r", "\x1b", "2", "5", "7", ":doctor\r", "\x1b", "1"):
            terminal.send(key)
            terminal.settle()
        check_text(results, terminal, "titles with control characters")
        check_end(results, terminal, "titles with control characters", quit_screen(terminal))
    finally:
        terminal.close()
    for form in ("plain", "waybar", "polybar", "i3bar", "i3blocks", "tmux", "prompt"):
        line = device.run("status", "--format", form, now=NOW).out.removesuffix("\n")
        results.check(line and not CONTROL.search(line), f"the format {form} has no control character", repr(line))

def tmux(results, hostile):
    """The status line of tmux, with the configuration of the manual, shown by a client."""
    configuration = (
        "set -g status on\nset -g status-left ''\nset -g status-right '#(belfry status --format tmux --follow --width 120)'\n"
        "set -g status-right-length 150\nset -g status-interval 1\nset -g window-status-current-format ''\n"
        "set -g window-status-format ''\n")
    server = Tmux(hostile.device.home, "sleep 60", hostile.environment(), 160, 10, configuration)
    client = Terminal(["tmux", "-S", str(server.socket), "attach"], hostile.environment(), 160, 10)
    try:
        expected = f"{shown(hostile.title)} 10:30"[:100]
        results.check(client.shows(expected, limit=10), f"tmux shows {hostile.title!r} as it is", client.lines()[-1])
        row = client.screen.cells()[-1]
        results.equal(len({(cell.fg, cell.bg) for cell in row}), 1, f"{hostile.title!r} changes no color of the status line")
    finally:
        client.close()
        server.close()

def for_i3blocks(text):
    """Returns a text for i3blocks 1.4, which ends one at an escaped quote, and doubles backslashes, so that it gets neither."""
    return text.replace('"', "'").replace("\\", "/")

def i3blocks(results, hostile):
    """i3blocks itself, whose output is what i3bar gets."""
    file = hostile.device.home / "i3blocks.conf"
    file.write_text("[belfry]\ncommand=belfry status --format i3blocks --follow --width 300\ninterval=persist\nformat=json\n")
    process = subprocess.Popen(
        ["i3blocks", "-c", str(file)], env=hostile.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        found, until = "", time.monotonic() + 10
        while '"belfry"' not in found and time.monotonic() < until and select.select([process.stdout], [], [], 5)[0]:
            found = process.stdout.readline()
        blocks = json.loads(found.strip().lstrip(",")) if '"belfry"' in found else [{}]
        # The first block is i3blocks' own.
        block = blocks[-1]
        results.equal((block.get("name"), block.get("markup", "none")), ("belfry", "none"), f"i3blocks finds no key in {hostile.title!r}")
        title = for_i3blocks(shown(hostile.title))
        text = without_problem(block.get("full_text", ""))
        results.equal(text, f"{title} 10:30", "i3blocks passes the title on")
    finally:
        end(process)

def end(process):
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(3)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()

def missing(*programs): return [program for program in programs if not shutil.which(program)]

def display(size="1200x60x24"):
    """Starts an X server, and returns it with the name of its display."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", size, "-nolisten", "tcp", "-noreset"], pass_fds=[writing],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    os.close(writing)
    with os.fdopen(reading) as file:
        return server, ":" + file.readline().strip()

def polybar(results, hostile, pictures):
    """polybar itself, with clicks on its whole length."""
    file, log = hostile.device.home / "polybar.ini", hostile.device.home / "polybar.log"
    file.write_text(
        "[bar/one]\nwidth = 100%\nheight = 24\nmodules-left = belfry\nmodules-right = control\noverride-redirect = true\n"
        "font-0 = DejaVu Sans Mono:size=9\nbackground = #202020\nforeground = #e0e0e0\n"
        "[module/belfry]\ntype = custom/script\nexec = belfry status --format polybar --follow --width 120\ntail = true\n"
        # A click on it proves that clicks reach the bar.
        f"[module/control]\ntype = custom/script\nexec = echo '%{{A1:touch {hostile.device.home}/clicked:}}control%{{A}}'\n")
    server, name = display()
    environment = hostile.environment(DISPLAY=name)
    picture = pictures / f"polybar-{hostile.device.home.name}.png"
    with open(log, "w") as output:
        process = subprocess.Popen(
            ["polybar", "-c", str(file), "-l", "info", "one"], env=environment, stdout=output, stderr=output, start_new_session=True)
    try:
        wait(lambda: colors(shot(environment, picture)) > 4, limit=8, pause=0.3)
        results.check(process.poll() is None, "polybar runs", log.read_text()[-300:])
        results.check(colors(picture) > 4, "polybar shows something", log.read_text()[-300:])
        for column in [*range(4, 800, 16), 1180]:
            subprocess.run(["xdotool", "mousemove", str(column), "12", "click", "1"], env=environment, capture_output=True)
        results.check(wait((hostile.device.home / "clicked").exists, limit=5), "polybar gets the clicks")
        text = log.read_text()
        problem = re.search(r"(?i)error|unrecognized|invalid|unclosed|failed to parse", text)
        results.check(not problem, "polybar finds no tag in the title", text[-400:])
    finally:
        end(process)
        end(server)

def shot(environment, picture):
    subprocess.run(["import", "-window", "root", str(picture)], env=environment, capture_output=True)
    return picture

def colors(picture):
    """Returns the number of colors in a picture; 0 without one."""
    done = subprocess.run(["identify", "-format", "%k", str(picture)], capture_output=True, text=True)
    return int(done.stdout) if done.stdout.isdigit() else 0

def sway(run, results, hostiles, pictures):
    """waybar and swaybar in a headless sway, with the configurations of the manual."""
    for hostile in hostiles:
        home, log = hostile.device.home, hostile.device.home / "sway.log"
        (home / "bar").write_text(
            "#!/bin/sh\nprintf '{\"version\":1}\\n[\\n'\n"
            "exec belfry status --format i3bar --follow --width 120 | sed -u 's/.*/[&],/'\n")
        (home / "bar").chmod(0o755)
        (home / "waybar.json").write_text(json.dumps({
            "layer": "top", "position": "top", "height": 24, "modules-left": ["custom/belfry"],
            "custom/belfry": {"exec": "belfry status --format waybar --follow --width 120", "return-type": "json"}}))
        (home / "waybar.css").write_text("* { font-family: DejaVu Sans Mono; font-size: 13px; }\n")
        (home / "sway.conf").write_text(
            f"output HEADLESS-1 resolution 1200x120\nbar {{\n position bottom\n status_command {home}/bar\n}}\n"
            f"exec waybar -l debug -c {home}/waybar.json -s {home}/waybar.css >{home}/waybar.log 2>&1\n")
        environment = hostile.environment(
            WLR_BACKENDS="headless", WLR_RENDERER="pixman", WLR_LIBINPUT_NO_DEVICES="1", GDK_BACKEND="wayland", NO_AT_BRIDGE="1")
        nobody = []
        if os.geteuid() == 0:
            # sway refuses to run as root.
            hostile.device.own(NOBODY)
            for path in [hostile.device.store, *hostile.device.store.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)
            nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        with open(log, "w") as output:
            process = subprocess.Popen(
                [*nobody, "sway", "-c", str(home / "sway.conf")], cwd=home, env=environment, stdout=output, stderr=output,
                start_new_session=True)
        try:
            run_dir = home / "run"
            socket = wait(lambda: [each for each in run_dir.glob("wayland-*") if not each.name.endswith(".lock")], limit=10)
            if not results.check(socket, "sway starts", log.read_text()[-400:]):
                return
            picture = pictures / f"sway-{home.name}.png"
            def is_shown():
                subprocess.run(["grim", str(picture)], env=environment | {"WAYLAND_DISPLAY": socket[0].name}, capture_output=True)
                return is_drawn(picture, "60x24+4+0") and is_drawn(picture, "400x20+780+98")
            shows = wait(is_shown, limit=20, pause=0.5)
            results.check(shows, "waybar and swaybar show something", (home / "waybar.log").read_text()[-400:])
            time.sleep(0.3)
            text = (home / "waybar.log").read_text() + log.read_text()
            found = [line for line in text.splitlines() if re.search(r"(?i)markup|pango|parse|json", line) and "[info]" not in line]
            results.check(not found, "waybar and swaybar understand each line", "; ".join(found)[:400])
        finally:
            end(process)

def is_drawn(picture, area):
    done = subprocess.run(["convert", str(picture), "-crop", area, "+repage", "-format", "%k", "info:"], capture_output=True, text=True)
    return done.stdout.isdigit() and int(done.stdout) > 4

def play(run, results):
    skipped, pictures = set(), run.sandbox.root / "pictures"
    pictures.mkdir(exist_ok=True)
    controls(run, results)
    hostiles = [Hostile(run, number, title) for number, title in enumerate(TITLES)]
    for hostile in hostiles:
        if note := plain(results, hostile):
            skipped.add(note)
        screen(results, hostile)
        tmux(results, hostile)
        if absent := missing("i3blocks"):
            skipped.add("i3blocks was skipped: it is not installed")
        else:
            i3blocks(results, hostile)
        if absent := missing("polybar", "Xvfb", "xdotool", "import", "identify"):
            skipped.add(f"polybar was skipped: {', '.join(absent)} is not installed")
        else:
            polybar(results, hostile, pictures)
    if absent := missing("sway", "waybar", "swaybar", "grim", "convert", "setpriv"):
        skipped.add(f"waybar and swaybar were skipped: {', '.join(absent)} is not installed")
    else:
        sway(run, results, hostiles, pictures)
    for hostile in hostiles:
        results.check(not hostile.trap.exists(), f"{hostile.title!r} runs nothing")
        hostile.trap.unlink(missing_ok=True)
    for words in sorted(skipped):
        results.note(words)
    if keep := os.environ.get("BELFRY_PICTURES"):
        shutil.copytree(pictures, keep, dirs_exist_ok=True)
