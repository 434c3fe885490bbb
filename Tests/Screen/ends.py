"""All ways in which the program can end or stop, below a shell with job control: the terminal is as before, and no process
is left."""
import os, signal, time
from homes import NOW, everyday
from terminals import Terminal, processes, wait

PROMPT = "READY>"

class Shell:
    """An interactive shell on a terminal."""
    def __init__(self, device, name):
        self.device = device
        # bash marks pasted text by itself otherwise.
        (device.home / ".inputrc").write_text("set enable-bracketed-paste off\n")
        self.terminal = Terminal(
            ["bash", "--norc", "--noprofile", "-i"],
            device.environment | {"BELFRY_NOW": NOW, "PS1": PROMPT, "INPUTRC": str(device.home / ".inputrc")})
        self.name, self.count = name, 0
        self.terminal.shows(PROMPT)
        self.settings = self.read_settings()

    def type(self, line): self.terminal.send(line + "\n")

    def read_settings(self):
        """Returns the settings of the terminal that a command gets."""
        self.count += 1
        file = self.device.home / f"settings-{self.name}-{self.count}"
        self.type(f"stty -g >{file}.part; mv {file}.part {file}")
        self.terminal.wait(file.exists)
        return file.read_text() if file.exists() else "the shell does not answer"

    def open(self, line=None):
        """Opens the screen. Returns its process."""
        before = set(processes(self.device.home))
        self.type(line or f"{self.device.belfry} ui")
        shown = self.terminal.wait(lambda: "keys" in self.terminal.text() and 1049 in self.terminal.modes.on)
        self.terminal.settle()
        added = {pid: words for pid, words in processes(self.device.home).items() if pid not in before}
        found = [pid for pid, words in added.items() if words.endswith(" ui") and words.startswith(self.device.belfry)]
        return found[0] if shown and found else None

    def check(self, results, words, keep=()):
        """Checks that the terminal is as before, and only the shell is left."""
        def left():
            self.terminal.read()
            known = {self.terminal.process.pid, *keep}
            return {pid: line for pid, line in processes(self.device.home).items() if pid not in known}
        wait(lambda: not left() and not self.terminal.modes.changed(), limit=5)
        results.equal(self.read_settings(), self.settings, f"{words}: the settings of the terminal")
        self.terminal.settle(first=0.1)
        results.equal(self.terminal.modes.changed(), [], f"{words}: the modes of the terminal")
        results.equal(left(), {}, f"{words}: the remaining processes")

    def close(self): self.terminal.close()

def end_by_signals(device, results):
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT):
        status = 128 + number
        words = f"after {number.name}"
        shell = Shell(device, number.name)
        try:
            process = shell.open()
            if not results.check(process, f"{words}: the screen opens", shell.terminal.text()[:300]):
                continue
            shell.terminal.send("j?")
            shell.terminal.settle()
            os.kill(process, number)
            shell.check(results, words)
            shell.type(f"{device.belfry} ui; echo status=$?")
            shell.terminal.wait(lambda: 1049 in shell.terminal.modes.on)
            process = next((pid for pid, line in processes(device.home).items() if line == f"{device.belfry} ui"), None)
            if results.check(process, f"{words}: the screen opens again"):
                os.kill(process, number)
                results.check(shell.terminal.says(f"status={status}\r"), f"{words}: the status {status}", shell.terminal.text()[-200:])
        finally:
            shell.close()

def end_in_script(device, results):
    """A script has no job control, so that only the guardian can restore the settings."""
    file = device.home / "settings-script"
    terminal = Terminal(
        ["sh", "-c", f"stty -g >{file}-before; {device.belfry} ui; sleep 0.5; stty -g >{file}-after"],
        device.environment | {"BELFRY_NOW": NOW})
    try:
        terminal.shows("keys")
        process = next((pid for pid, line in processes(device.home).items() if line == f"{device.belfry} ui"), None)
        if results.check(process, "in a script: the screen opens"):
            os.kill(process, signal.SIGKILL)
            terminal.end()
            results.equal((device.home / "settings-script-after").read_text(), (device.home / "settings-script-before").read_text(),
                          "a kill in a script: the settings of the terminal")
            results.equal(terminal.modes.changed(), [], "a kill in a script: the modes of the terminal")
    finally:
        terminal.close()
    results.check(wait(lambda: not processes(device.home), limit=5), "a kill in a script: no process is left", processes(device.home))

def stop_and_continue(device, results):
    shell = Shell(device, "stop")
    try:
        process = shell.open()
        for number, size in enumerate(((80, 24), (100, 30), (60, 20))):
            since = len(shell.terminal.bytes)
            shell.terminal.send("\x1a")
            results.check(shell.terminal.says("Stopped", since=since), "after ^Z: the shell is back", shell.terminal.text()[-300:])
            guardian = [pid for pid, line in processes(device.home).items() if "belfry-guardian" in line]
            shell.check(results, "while it is stopped", keep=[process, *guardian])
            shell.terminal.resize(*size)
            # A new screen, so that only what is drawn again is found.
            shell.terminal.screen.reset()
            shell.type("fg")
            shown = shell.terminal.wait(lambda: "keys" in shell.terminal.lines()[-1] and 1049 in shell.terminal.modes.on)
            shell.terminal.settle()
            results.check(shown, f"after fg at {size}: the whole screen is drawn, in its new size", shell.terminal.text()[:600])
            modes = shell.terminal.modes.on
            results.check({1000, 1006, 2004} <= modes and 25 not in modes, "after fg: the modes are set again", sorted(modes))
            shell.terminal.send("j")
            results.check(shell.terminal.settle(first=1) > 0, "after fg: a key has an effect")
        shell.terminal.send("\x1a")
        time.sleep(0.1)
        shell.terminal.settle()
        os.kill(process, signal.SIGKILL)
        shell.check(results, "after a kill while it is stopped")
    finally:
        shell.close()

def quit_by_keys(device, results):
    for key in ("q", "\x03"):
        shell = Shell(device, f"key-{ord(key)}")
        try:
            shell.open(f"{device.belfry} ui; echo status=$?")
            shell.terminal.send(key)
            results.check(shell.terminal.says("status=0\r"), f"after {key!r}: the status 0", shell.terminal.text()[-300:])
            shell.check(results, f"after {key!r}")
        finally:
            shell.close()

def close_terminal(device, results):
    belfry = [device.belfry, "ui"]
    below = ["bash", "-c", f"{device.belfry} ui; exit 3"]
    for words, argv in (("a closed terminal", belfry), ("a closed terminal with a shell", below)):
        terminal = Terminal(argv, device.environment | {"BELFRY_NOW": NOW})
        try:
            results.check(terminal.shows("keys"), f"{words}: the screen opens")
            terminal.hang_up()
            def has_ended():
                terminal.process.poll()
                return not processes(device.home)
            results.check(wait(has_ended, limit=5), f"{words}: no process is left", processes(device.home))
        finally:
            terminal.close()

def play(run, results):
    device = everyday(run.sandbox, "ends")
    quit_by_keys(device, results)
    end_by_signals(device, results)
    end_in_script(device, results)
    stop_and_continue(device, results)
    close_terminal(device, results)
