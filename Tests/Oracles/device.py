"""Runs belfry in a store of its own, with a clock of its own."""
import json, os, shutil, subprocess, tempfile
from collections import namedtuple
from datetime import datetime
from pathlib import Path

Outcome = namedtuple("Outcome", "code out err")
USAGE = 2  # the exit code of a text that is not understood
LIMIT = 60  # timeout of one command in seconds
PAST = "has no future occurrence"

class Unusable(Exception):
    """A command that must succeed failed or took too long."""

class Refused(Exception):
    """Belfry does not accept an input."""

class Device:
    """A home and a store in a temporary folder, which is deleted at the end of a `with` statement."""
    def __init__(self, binary, now, zone="UTC"):
        self.binary, self.now = str(binary), now
        # In memory if possible, because a run starts thousands of processes.
        memory = "/dev/shm" if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="belfry-oracles-", dir=memory))
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "TZ": zone, "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1", "BELFRY_DEVICE": "laptop", "BELFRY_STORE": str(self.folder / "store"),
            "BELFRY_NOW": now.strftime("%Y-%m-%dT%H:%M:00Z")}

    def __enter__(self): return self

    def __exit__(self, *_): shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words, source=""):
        try:
            finished = subprocess.run(
                [self.binary, *words], env=self.environment, cwd=self.folder, input=source, capture_output=True,
                text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise Unusable(f"`belfry {' '.join(words)}` took over {LIMIT} s") from None
        return Outcome(finished.returncode, finished.stdout, finished.stderr)

    def must(self, *words, source=""):
        """Runs a command that must succeed, and returns its standard output."""
        outcome = self.run(*words, source=source)
        if outcome.code != 0:
            raise Unusable(f"`belfry {' '.join(words)}` ended with {outcome.code}: {outcome.err.strip()}")
        return outcome.out

    def when(self, phrase, count):
        """Returns the document of `belfry when`. Raises `Refused` with the message."""
        outcome = self.run("when", "--count", str(count), "--json", "--", phrase)
        if outcome.code == 0:
            document = json.loads(outcome.out)
            return document | {"next": [moment(text) for text in document["next"]]}
        if outcome.code != USAGE:
            raise Unusable(f"`belfry when \"{phrase}\"` ended with {outcome.code}: {outcome.err.strip()}")
        if PAST in outcome.err:
            return {"understood": None, "next": []}
        raise Refused(outcome.err.strip().replace("\n", " / "))

    def next(self, alarm, count):
        """Returns the next dates of an alarm, as they are after moves."""
        found = json.loads(self.must("next", alarm, "--count", str(count), "--json"))
        return [moment(item.get("movedTo", item["occurrence"])) for item in found]

def moment(text): return datetime.strptime(text, "%Y-%m-%dT%H:%M")
