"""A device with a running daemon whose notifications are recorded, and the clock of all devices of a scenario."""
import os, signal, subprocess, time
from contextlib import suppress
from datetime import timedelta, timezone
from pathlib import Path
from sandbox import Device, Unusable, brief, members
from checks import wait

# Records the start and the end of a notification.
NOTIFY = """#!/bin/bash
note() { printf '%s\\t%s\\t%s\\t%s\\n' "$EPOCHREALTIME" "$1" "$BELFRY_KIND" "${BELFRY_TITLE:-several}" >>"$HOME/rung"; }
trap 'note down; kill $! 2>/dev/null; exit 0' TERM
cat >/dev/null
note up
echo delivered
sleep 600 >/dev/null 2>&1 &
wait $!
"""

class RunningClock:
    """The clock of a scenario, in Berlin. It advances, and can be set forward."""
    def __init__(self, start):
        self.set(start)

    def set(self, start):
        """Sets the time, in UTC."""
        self.start, self.zero = start.replace(tzinfo=timezone.utc), time.time()

    def now(self): return self.start + timedelta(seconds=time.time() - self.zero)
    def text(self): return self.now().strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    def forward(self, seconds=0): return self.text()

    def stamp(self, seconds=0):
        """Returns a time from now as iCalendar writes it."""
        return (self.now() + timedelta(seconds=seconds)).strftime("%Y%m%dT%H%M%SZ")

class Belfry(Device):
    """A device in Berlin with a daemon."""
    def __init__(self, sandbox, name, clock):
        super().__init__(sandbox, name, clock)
        self.environment |= {
            "TZ": "Europe/Berlin", "BELFRY_SOUND": "none", "BELFRY_POWER_SUPPLY": str(self.home / "power"),
            "BELFRY_TERMINALS": str(self.home / "terminals"), "BELFRY_LOCK_TIMEOUT": "20"}
        for hook, text in (("notify", NOTIFY), ("ring", "#!/bin/sh\nexit 3\n")):
            path = self.home / ".config/belfry/hooks/deliver" / hook
            path.write_text(text)
            path.chmod(0o755)
        self.daemon, self.log_path = None, self.home / "daemon.log"

    def setup(self, folder):
        """Sets up the folder of the phone's tasks."""
        self.must_end("phone", "setup", "--folder", str(folder), "--yes")

    def must_end(self, *words):
        """Runs belfry where it must succeed, without JSON."""
        outcome = self.run(*words)
        if outcome.code != 0:
            raise Unusable(f"{self.name}: `belfry {' '.join(words[:3])}` ended with {brief(outcome)}")

    def start(self):
        log = open(self.log_path, "a")
        self.daemon = subprocess.Popen(
            [*self.prefix, self.belfry, "daemon"], env=self.environment | {"BELFRY_NOW": self.clock.text()},
            cwd=self.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def stop(self):
        """Ends the daemon and what it has started."""
        if self.daemon:
            self.daemon.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.daemon.wait(5)
            for pid in members(self.daemon.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.daemon.kill()
            self.daemon.wait()
        self.end_hooks()
        self.daemon = None

    def end_hooks(self):
        home = f"HOME={self.home}".encode()
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError):
                    if home in Path("/proc", name, "environ").read_bytes().split(b"\0"):
                        os.kill(int(name), signal.SIGKILL)

    def is_alive(self): return self.daemon is not None and self.daemon.poll() is None

    def notes(self):
        """Returns the starts and ends of notifications."""
        rows = [line.split("\t") for line in self.rung.read_text().splitlines()]
        return [(float(at), what, kind, title) for at, what, kind, title in rows]

    def silence(self, title, after, limit=10):
        """Waits until a notification that rang has ended after a moment. Returns the time, or None."""
        def ended():
            return [at for at, what, _, name in self.notes() if what == "down" and name == title and at >= after]
        found = wait(ended, limit)
        return found[0] if found else None

    def rings(self, title, limit=20):
        """Waits until an alarm rings."""
        return wait(lambda: any(what == "up" and name == title for _, what, _, name in self.notes()), limit, 0.02)

    def subjects(self): return self.git("log", "--format=%s").out.splitlines()

    def tip(self):
        """Returns the commit of the branch, without a process."""
        with suppress(OSError):
            return (self.store / ".git/refs/heads/main").read_text()
        return ""

    def committed(self, subject, limit=10):
        """Waits for a commit whose subject begins with some words. Returns the time at which it was seen."""
        tip = None
        until = time.monotonic() + limit
        while time.monotonic() < until:
            if tip != (tip := self.tip()):
                seen = time.time()
                if any(each.startswith(subject) for each in self.subjects()[:6]):
                    return seen
            time.sleep(0.001)
        return None

    def events(self, title):
        """Returns the log's entries of an alarm, newest first."""
        return [entry for entry in self.must("log") if entry.get("title") == title]

    def last(self, title):
        found = self.events(title)
        return found[0] if found else {}

    def alarms(self):
        """Returns the alarms by title, also the finished ones."""
        return {alarm["title"]: alarm for alarm in self.must("list", "--finished") + self.must("list")}
