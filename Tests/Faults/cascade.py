"""Four devices with a daemon each and one remote: an alarm is due, and the first device dies, is stopped, snoozed or
cut off. The steps ring in order and on time, and no device begins to ring after it has received the stop.

The steps are 14 seconds apart instead of two minutes. Everything else is as in production.
"""
import os, signal, subprocess, threading, time
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from sandbox import Clock, Device, Unusable, brief, play

STEP = 14  # seconds between two steps
LEAD = 18  # seconds before the alarm at which all daemons run
DUE = datetime(2026, 11, 23, 5, 30)
NAMES = ["phone", "watch", "homepod", "jen"]
BUSY = 5  # CPU seconds that a daemon may use, without its commands
LATE = 6  # maximum delay of a ring in seconds: four devices in each story share two cores

# Records the start and the end of its ringing, relative to the alarm's time.
NOTIFY = """#!/usr/bin/env python3
import os, signal, sys, time
zero = float(open(os.environ["CASCADE_ZERO"]).read())
def note(what):
    with open(os.environ["CASCADE_RUNG"], "a") as file:
        words = os.environ["BELFRY_BODY"].split(chr(10))[0]
        file.write(f"{time.time() - zero:.1f}\\t{os.environ['BELFRY_DEVICE']}\\t{what}\\t{os.environ['BELFRY_KIND']}\\t{words}\\n")
def end(*_):
    note("down")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
sys.stdin.read()
note("up")
print("delivered", flush=True)
while True:
    time.sleep(60)
"""

class Story:
    """One alarm on four devices, starting shortly before it is due."""
    def __init__(self, report, sandbox, name):
        self.report, self.name = report, name
        self.root = sandbox.root / name
        self.root.mkdir()
        self.rung, self.zero = self.root / "rung", self.root / "zero"
        self.rung.touch()
        self.remote = self.root / "remote.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.remote)], check=True)
        self.devices, self.daemons = {}, {}
        for device in NAMES:
            self.devices[device] = self.device(sandbox, device)
        first = self.devices["phone"]
        first.must("cascade", "on", "tea", "--every", f"{STEP}s", now=self.text(1))
        for _ in range(2):
            for one in self.devices.values():
                one.must("sync", now=self.text(2))
        for device in NAMES[1:]:
            first.must("cascade", "add", "tea", "device", device, now=self.text(3))
        for one in self.devices.values():
            one.must("sync", now=self.text(4))

    def device(self, sandbox, name):
        """Returns a clone with hooks that record their calls. The first device creates the alarm."""
        one = Device(sandbox, f"{self.name}-{name}", Clock(), store=self.root / name)
        one.environment |= {
            "BELFRY_DEVICE": name, "CASCADE_RUNG": str(self.rung), "CASCADE_ZERO": str(self.zero),
            "BELFRY_SOUND": "none", "BELFRY_POWER_SUPPLY": str(self.root / "power"),
            "BELFRY_TERMINALS": str(self.root / "terminals"), "BELFRY_LOCK_TIMEOUT": "20"}
        for hook, text in (("notify", NOTIFY), ("ring", "#!/bin/sh\nexit 3\n")):
            path = one.home / ".config/belfry/hooks/deliver" / hook
            path.write_text(text)
            path.chmod(0o755)
        self.link(name).symlink_to(self.remote)
        if name == NAMES[0]:
            one.must("tier", "plus", now=self.text(0))
            one.must("add", "Tea", "--daily", "--at", "05:30", "--persistent", now=self.text(0))
            one.must("remote", "add", "origin", str(self.link(name)), now=self.text(0))
            one.must("sync", now=self.text(0))
        else:
            one.must("clone", str(self.link(name)), now=self.text(0))
        return one

    def link(self, device): return self.root / f"to-remote-of-{device}"

    def text(self, seconds):
        """Returns an instant a number of seconds after the start of the stories, an hour before the alarm."""
        return (DUE - timedelta(hours=1) + timedelta(seconds=seconds)).isoformat() + "Z"

    # --- The clock ---

    def begin(self):
        self.began = time.time() + LEAD
        self.zero.write_text(str(self.began))

    def now(self):
        return (DUE + timedelta(seconds=time.time() - self.began)).isoformat(timespec="milliseconds") + "Z"

    def until(self, seconds):
        time.sleep(max(0, self.began + seconds - time.time()))

    # --- Actions ---

    def start(self, *devices):
        for device in devices:
            one = self.devices[device]
            log = open(self.root / f"{device}.log", "a")
            self.daemons[device] = subprocess.Popen(
                [one.belfry, "daemon"], env=one.environment | {"BELFRY_NOW": self.now()}, cwd=one.home,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def kill(self, device):
        """Kills a device as a machine failure does, including the processes that it has started."""
        daemon = self.daemons.pop(device)
        daemon.kill()
        daemon.wait()
        self.end_hooks(device)

    def end_hooks(self, device):
        wanted = f"BELFRY_DEVICE={device}".encode()
        mine = str(self.rung).encode()
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError):
                    variables = Path("/proc", name, "environ").read_bytes().split(b"\0")
                    if wanted in variables and b"CASCADE_RUNG=" + mine in variables:
                        os.kill(int(name), signal.SIGKILL)

    def pause(self, device): self.daemons[device].send_signal(signal.SIGSTOP)
    def wake(self, device): self.daemons[device].send_signal(signal.SIGCONT)

    def say(self, device, *words):
        outcome = self.devices[device].run(*words, now=self.now())
        if outcome.code != 0:
            self.fail(f"`belfry {' '.join(words)}` on {device} ended with {brief(outcome)}")

    def cut(self, *devices):
        for device in devices:
            self.link(device).unlink()

    def heal(self, *devices):
        for device in devices:
            self.link(device).symlink_to(self.remote)

    def finish(self):
        for device in list(self.daemons):
            daemon = self.daemons.pop(device)
            self.expect_idle(device, daemon)
            daemon.send_signal(signal.SIGCONT)
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
            self.end_hooks(device)

    # --- Checks ---

    def expect_idle(self, device, daemon):
        """Checks that a daemon is idle between its wake-ups."""
        fields = Path("/proc", str(daemon.pid), "stat").read_text().rsplit(")", 1)[1].split()
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if seconds > BUSY:
            self.fail(f"the daemon of {device} used {seconds:.1f} s of CPU time")

    def rings(self):
        """Returns the start of each ringing: (seconds, device, first line)."""
        found = []
        for line in self.rung.read_text().splitlines():
            at, device, what, kind, words = line.split("\t")
            if what == "up" and kind == "firing":
                found.append((float(at), device, words))
        return sorted(found)

    def silences(self, device):
        lines = [line.split("\t") for line in self.rung.read_text().splitlines()]
        return [float(line[0]) for line in lines if line[1] == device and line[2] == "down"]

    def fail(self, words):
        log = [f"{at:.1f} {device}: {text}" for at, device, text in self.rings()]
        self.report.fail(f"{self.name}: {words}", *log)
        self.report.keep(self.root)

    def expect(self, *expected):
        """Checks the rings and their order. No other device may ring. A third value is a part of the text."""
        rings = self.rings()
        got = [device for _, device, _ in rings]
        if got != [item[0] for item in expected]:
            return self.fail(f"rang: {', '.join(got) or 'none'}; expected: {', '.join(item[0] for item in expected)}")
        for (at, device, words), item in zip(rings, expected):
            if not item[1] - 1 <= at <= item[1] + LATE:
                self.fail(f"{device} rang {at:.1f} s after the alarm's time, expected {item[1]} s")
            if len(item) > 2 and item[2] not in words:
                self.fail(f"the text on {device} does not contain '{item[2]}': {words}")

    def expect_silenced(self, *devices, by):
        for device in devices:
            silences = self.silences(device)
            if not silences or silences[-1] > by:
                self.fail(f"{device} was not silenced by {by} s: {silences}")

    def expect_logged(self, device, action):
        actions = [entry["action"] for entry in self.devices[device].log().values()]
        if action not in actions:
            self.fail(f"the log of {device} has no entry {action}")

# --- The stories ---

def dead_before(story):
    """The first device dies before the alarm: each step rings at its time, and the exhausted run is recorded."""
    story.start(*NAMES)
    story.until(-8)
    story.kill("phone")
    story.until(4 * STEP + 22)
    story.expect(("watch", STEP, "not stopped on phone"), ("homepod", 2 * STEP), ("jen", 3 * STEP))
    story.expect_logged("jen", "exhausted")
    # A late stop still ends the ringing on all devices.
    story.say("jen", "stop", "tea")
    story.until(4 * STEP + 36)
    story.expect_silenced("watch", "homepod", "jen", by=4 * STEP + 36)

def dead_while_ringing(story):
    """The first device dies while it rings. After a stop on step 1, no other device rings."""
    story.start(*NAMES)
    story.until(5)
    story.kill("phone")
    story.until(STEP + 3)
    story.say("watch", "stop", "tea")
    story.until(3 * STEP + 6)
    story.expect(("phone", 0), ("watch", STEP))
    story.expect_silenced("watch", by=STEP + 9)

def stopped_on_step_2(story):
    """No response until step 2 is stopped: step 3 never rings, and all devices fall silent."""
    story.start(*NAMES)
    story.until(2 * STEP + 3)
    story.say("homepod", "stop", "tea")
    story.until(4 * STEP)
    story.expect(("phone", 0), ("watch", STEP), ("homepod", 2 * STEP))
    story.expect_silenced("phone", "watch", "homepod", by=3 * STEP + 5)

def snoozed_then_silence(story):
    """Snoozed on step 1: all devices are silent, step 1 alone rings again, and step 2 follows."""
    story.start("watch", "homepod", "jen")
    story.until(STEP + 4)
    story.say("watch", "snooze", "tea", "20s")
    again = STEP + 4 + 20
    story.until(again + STEP + 3)
    story.expect(("watch", STEP), ("watch", again), ("homepod", again + STEP))
    if len(story.silences("watch")) != 1 or story.silences("watch")[0] > STEP + 9:
        story.fail(f"the snooze did not silence the watch: {story.silences('watch')}")
    story.say("homepod", "stop", "tea")
    story.until(again + 2 * STEP + 8)
    story.expect(("watch", STEP), ("watch", again), ("homepod", again + STEP))

def remote_gone(story):
    """The remote is unreachable at the alarm's time: steps ring despite a stop, and give the reason. After the remote
    is back, all are silent."""
    story.start(*NAMES)
    story.until(-6)
    story.cut(*NAMES)
    story.until(4)
    story.say("phone", "stop", "tea")
    story.until(2 * STEP + 2)
    story.heal(*NAMES)
    story.until(4 * STEP + 4)
    story.expect(("phone", 0), ("watch", STEP, "cannot be reached since"), ("homepod", 2 * STEP, "cannot be reached"))
    story.expect_silenced("watch", "homepod", by=4 * STEP)

def partition(story):
    """Step 2 is disconnected from the others: it rings alone after a stop on step 1."""
    story.start("watch", "homepod", "jen")
    story.until(-6)
    story.cut("homepod")
    story.until(STEP + 3)
    story.say("watch", "stop", "tea")
    story.until(3 * STEP + 6)
    story.expect(("watch", STEP), ("homepod", 2 * STEP, "cannot be reached since"))
    story.heal("homepod")
    story.until(4 * STEP + 8)
    story.expect_silenced("homepod", by=4 * STEP + 8)

def woken_after_the_stop(story):
    """Step 2 sleeps past its time and wakes after the stop: it syncs before it rings, and does not ring."""
    story.start(*NAMES)
    story.until(3)
    story.pause("homepod")
    story.until(STEP + 5)
    story.say("watch", "stop", "tea")
    story.until(3 * STEP)
    story.wake("homepod")
    story.until(4 * STEP + 4)
    story.expect(("phone", 0), ("watch", STEP))

STORIES = [dead_before, dead_while_ringing, stopped_on_step_2, snoozed_then_silence, remote_gone, partition,
           woken_after_the_stop]
SIDE_BY_SIDE = 7

def body(report, sandbox):
    stories = STORIES
    for start in range(0, len(stories), SIDE_BY_SIDE):
        threads = []
        group = []
        for tell in stories[start:start + SIDE_BY_SIDE]:
            group.append((tell, Story(report, sandbox, tell.__name__)))
        for number, (tell, story) in enumerate(group):
            def play_out(tell=tell, story=story):
                try:
                    story.begin()
                    tell(story)
                except Unusable as reason:
                    story.fail(f"aborted: {reason}")
                finally:
                    story.finish()
            thread = threading.Thread(target=play_out)
            thread.start()
            threads.append(thread)
            time.sleep(1)
        for thread in threads:
            thread.join()
    return f"{len(stories)} stories with four daemons: {', '.join(tell.__name__ for tell in stories)}."

play("cascade", body)
