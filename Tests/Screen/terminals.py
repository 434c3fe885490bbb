"""Terminals without a window: a pseudo-terminal that pyte draws, and a pane of tmux. Both show frames that can be compared."""
import fcntl, os, re, select, signal, struct, subprocess, sys, termios, time
from contextlib import suppress
import pyte, pyte.screens
import checks

QUIET = 0.05  # seconds without output after which a frame is complete
LIMIT = 15  # seconds after which a frame is overdue

def wait(condition, limit=LIMIT, pause=0.01): return checks.wait(condition, limit, pause)

def seclude():
    """Starts this program anew with pseudo-terminals of its own, as root: other daemons of the machine, which show their
    notifications on all terminals of a user, do not find them."""
    script = "mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts && mount --bind /dev/pts/ptmx /dev/ptmx && exec \"$@\""
    apart = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
    if os.environ.pop("BELFRY_SECLUDED", "") or subprocess.run([*apart, "true"], capture_output=True).returncode != 0:
        return
    os.environ["BELFRY_SECLUDED"] = "1"
    os.execvp(apart[0], [*apart, sys.executable, *sys.orig_argv[1:]])

class Screen(pyte.Screen):
    """The screen of pyte, with the two attributes that it lacks: `italics` stands for faint text."""
    def select_graphic_rendition(self, *codes, private=False):
        if private:
            return
        changed, rest = [], list(codes)
        while rest:
            code = rest.pop(0)
            if code in (38, 48):
                length = {5: 2, 2: 4}.get(rest[0] if rest else None, 0)
                changed += [code, *rest[:length]]
                del rest[:length]
            elif code == 22:
                changed += [22, 23]
            elif code == 2:
                changed.append(3)
            elif code != 3:
                changed.append(code)
        if changed or not codes:
            super().select_graphic_rendition(*changed)

    def cells(self):
        """Returns the cells by row: text and appearance."""
        return [[self.buffer[row][column] for column in range(self.columns)] for row in range(self.lines)]

class Modes:
    """The modes of a terminal that a program sets, and has to reset."""
    NAMES = {25: "cursor", 47: "alternate screen", 1047: "alternate screen", 1049: "alternate screen", 1000: "mouse", 1002: "mouse",
             1003: "mouse", 1004: "focus", 1006: "mouse", 2004: "paste", 2026: "synchronized"}
    SEQUENCE = re.compile(rb"\x1b\[(\?[\d;]+[hl]|>\d*u|<\d*u|[\d;]*m)|\x1bc")

    def __init__(self):
        self.cut, self.on, self.keyboard, self.style = b"", {25}, 0, b""

    def feed(self, data):
        data = self.cut + data
        # A sequence can be cut between two reads.
        end = data.rfind(b"\x1b", max(0, len(data) - 32))
        self.cut = data[end:] if end >= 0 and not self.SEQUENCE.match(data, end) else b""
        for found in self.SEQUENCE.finditer(data[:len(data) - len(self.cut)]):
            text = found.group(1) or b""
            if text.startswith(b"?"):
                numbers = {int(number) for number in text[1:-1].split(b";")}
                self.on = self.on | numbers if text.endswith(b"h") else self.on - numbers
            elif text.startswith((b">", b"<")):
                self.keyboard = max(0, self.keyboard + (1 if text.startswith(b">") else -1))
            elif text:
                self.style = text[:-1] if text[:-1] not in (b"", b"0") else b""

    def changed(self):
        """Returns the names of the modes that differ from those of a terminal at rest."""
        names = {self.NAMES.get(number, str(number)) for number in self.on ^ {25}}
        return sorted(names | ({"keyboard"} if self.keyboard else set()) | ({"colors"} if self.style else set()))

class Terminal:
    """A program on a pseudo-terminal, in a session of its own."""
    def __init__(self, argv, environment, columns=80, rows=24, folder=None):
        self.columns, self.rows = columns, rows
        self.screen, self.modes, self.bytes = Screen(columns, rows), Modes(), bytearray()
        self.screen.write_process_input = lambda text: self.send(text.encode())
        self.stream = pyte.ByteStream(self.screen)
        self.leader, self.follower = os.openpty()
        self.set_size(columns, rows)
        self.settings = termios.tcgetattr(self.follower)
        self.process = subprocess.Popen(
            argv, env=environment, cwd=folder or environment["HOME"], stdin=self.follower, stdout=self.follower,
            stderr=self.follower, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def set_size(self, columns, rows):
        fcntl.ioctl(self.leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.screen.resize(rows, columns)
        self.set_size(columns, rows)

    def send(self, data): os.write(self.leader, data.encode() if isinstance(data, str) else data)

    def read(self, timeout=0.0):
        """Shows the next output. Returns its length: 0 at the end of the time."""
        if not select.select([self.leader], [], [], timeout)[0]:
            return 0
        try:
            data = os.read(self.leader, 1 << 16)
        except OSError:  # the last process has closed the terminal
            return 0
        self.bytes += data
        self.modes.feed(data)
        try:
            self.stream.feed(data)
        except TypeError:
            # pyte does not know the sequence: keys that the terminal echoes while no program reads them.
            self.stream = pyte.ByteStream(self.screen)
        return len(data)

    def settle(self, first=0.3, quiet=QUIET):
        """Reads until nothing comes any more. Returns the number of bytes."""
        total = count = self.read(first)
        while count:
            count = self.read(quiet)
            total += count
        return total

    def wait(self, condition, limit=LIMIT):
        """Reads until a condition is true. Returns its value."""
        until = time.monotonic() + limit
        while not (value := condition()) and time.monotonic() < until:
            self.read(0.02)
        return value

    def lines(self): return [line.rstrip() for line in self.screen.display]

    def text(self): return "\n".join(self.lines())

    def shows(self, *words, limit=LIMIT):
        """Waits until the screen has all of some words. Returns true if it has."""
        return bool(self.wait(lambda: all(word in self.text() for word in words), limit))

    def says(self, *words, since=0, limit=LIMIT):
        """Waits until the output has all of some words, wherever they are shown. Returns true if it has."""
        return bool(self.wait(lambda: all(word.encode() in self.bytes[since:] for word in words), limit))

    def end(self, limit=LIMIT):
        """Waits for the end of the program. Returns its status, or None if it does not end."""
        self.wait(lambda: self.process.poll() is not None, limit)
        self.settle(first=0.02)
        return self.process.poll()

    def is_restored(self):
        """Returns the differences between the terminal and one at rest, as words."""
        found = self.modes.changed()
        return found + (["settings"] if termios.tcgetattr(self.follower) != self.settings else [])

    def hang_up(self):
        """Closes the terminal, as the end of a window or of an ssh connection does."""
        for end in (self.leader, self.follower):
            with suppress(OSError):
                os.close(end)
        self.leader = self.follower = -1

    def close(self):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.hang_up()

class Tmux:
    """A program in the only pane of a tmux server of its own."""
    CONFIGURATION = "set -g status off\nset -g escape-time 0\nset -g default-terminal tmux-256color\nset -g default-shell /bin/sh\n"

    def __init__(self, folder, command, environment, columns=80, rows=24, configuration=""):
        self.columns, self.rows, self.environment = columns, rows, environment
        self.socket = folder / "tmux.socket"
        (folder / "tmux.conf").write_text(self.CONFIGURATION + configuration)
        self.run("-f", str(folder / "tmux.conf"), "new-session", "-d", "-s", "one", "-x", str(columns), "-y", str(rows), command)

    def run(self, *words):
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *words], env=self.environment, capture_output=True, text=True, encoding="utf-8",
            errors="replace")
        return done.stdout

    def send(self, data):
        data = data.encode() if isinstance(data, str) else data
        self.run("send-keys", "-t", "one", "-H", *(f"{byte:02x}" for byte in data))

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.run("resize-window", "-t", "one", "-x", str(columns), "-y", str(rows))

    def lines(self):
        lines = self.run("capture-pane", "-p", "-t", "one").split("\n")[:self.rows]
        return [line.rstrip() for line in lines] + [""] * (self.rows - len(lines))

    def cells(self):
        """Returns the cells by row, read from the colored capture by pyte."""
        screen = Screen(self.columns, self.rows)
        text = "\r\n".join(self.run("capture-pane", "-p", "-e", "-N", "-t", "one").rstrip("\n").split("\n")[:self.rows])
        pyte.ByteStream(screen).feed(text.encode())
        return screen.cells()

    def close(self): self.run("kill-server")

def processes(home):
    """Returns the processes with a home, by number, with their command lines."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with suppress(OSError):
                with open(f"/proc/{name}/environ", "rb") as file:
                    if f"HOME={home}\0".encode() in b"\0" + file.read():
                        with open(f"/proc/{name}/cmdline", "rb") as words:
                            found[int(name)] = words.read().replace(b"\0", b" ").decode(errors="replace").strip()
    return found
