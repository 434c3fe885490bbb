"""Takes resources from belfry, as a machine does: disk space, write permission, open files.

A write that is not possible must fail with a reason and change nothing. Commands that only read must work, and alarms
must ring.
"""
import os, shutil, subprocess
from collections import namedtuple
from contextlib import contextmanager, suppress
from pathlib import Path
from sandbox import Clock, Device, Unusable, brief, play, room

USER = 65534  # nobody: a user other than root, if the run is root's
PAGE = 4096
NEW = 4  # alarms that the other device adds between two syncs
FULL, READ_ONLY, FILES = "The disk is full", "Read-only file system", "Too many open files"
DENIED = "Permission denied"
DUE = "2026-11-23T12:00"
AT_DUE = f"{DUE}:30.000Z"
State = namedtuple("State", "listed records entries files head")

class Scenario:
    def __init__(self, report, sandbox):
        self.report, self.sandbox, self.clock = report, sandbox, Clock()
        self.counts = {"checks": 0}
        self.parts, self.mounts = [], []

    # --- Checking ---

    def check(self, is_kept, promise, details=""):
        self.counts["checks"] += 1
        if not is_kept:
            self.report.fail(f"{self.part}: {promise}", f"{self.case}: {details}" if self.case else details)
        return is_kept

    def state(self, device):
        """Returns the state, or None if belfry cannot read it. The clock is constant, so that lists are comparable."""
        try:
            listed = {id: alarm["title"] for id, alarm in device.listed().items()}
        except ValueError as reason:
            self.check(False, "the list cannot be read", str(reason))
            return None
        return State(listed, device.records(), device.log(), device.files(), device.head())

    def whole(self, device):
        problems = device.problems()
        self.check(not problems, "the store is inconsistent", "; ".join(problems))

    def writes(self, device, reason, words, must_fail=False, **options):
        """Runs a command that writes: it succeeds completely, or fails with the reason and changes nothing."""
        before = self.state(device)
        outcome = device.run(*words, **options)
        seen = f"`{words[0]}`: {brief(outcome)}"
        after = self.state(device)
        if before is None or after is None:
            return outcome
        if outcome.code == 0:
            self.check(not must_fail, "a command reports success although it cannot write", seen)
            self.check(after.head != before.head, "a successful write is missing", seen)
        else:
            self.check(outcome.code == 1 and reason in outcome.err, "a failure does not state its reason", seen)
            for part in State._fields:
                same = getattr(before, part) == getattr(after, part)
                self.check(same, "a failed write changed the store", f"{part}; {seen}")
        self.whole(device)
        return outcome

    def succeeds(self, device, *words, **options):
        outcome = device.run(*words, **options)
        self.check(outcome.code == 0, "a command fails after the limit is lifted",
                   f"`{words[0]}`: {brief(outcome)}")
        return outcome

    def rings(self, device, alarm, now=AT_DUE):
        """Runs a tick when an alarm is due: it rings, whether or not the ring can be recorded."""
        outcome = device.run("tick", now=now)
        rung = f"firing {alarm} {DUE}" in device.rung.read_text()
        self.check(rung, "a due alarm does not ring", brief(outcome))
        usual = outcome.code in (0, 1)
        self.check(usual, "a tick ends with a signal or an unexpected exit code", brief(outcome))

    def store(self, name, folder=None, **options):
        """Returns a device with a store of a few alarms, one of which is due later."""
        device = Device(self.sandbox, name, self.clock, folder and Path(folder) / "store", **options)
        if options.get("prefix"):
            device.own(USER)
        device.must("tier", "plus")
        due = device.must("add", "Due", "--once", DUE, "--persistent")["id"]
        for number in range(3):
            device.must("add", f"Kept {number}", "--daily", "--at", f"20:0{number}", "--note", "n" * 500)
        return device, due

    @contextmanager
    def disk(self, options):
        """Mounts a separate file system in memory."""
        folder = self.sandbox.root / "mounts" / str(len(self.mounts))
        folder.mkdir(parents=True)
        mount = ["mount", "-t", "tmpfs", "-o", options, "belfry-faults", folder]
        subprocess.run(mount, check=True, stderr=subprocess.DEVNULL)
        self.mounts.append(folder)
        broken = len(self.report.failures)
        try:
            yield folder
            if len(self.report.failures) > broken:
                shutil.copytree(folder, self.sandbox.root / "broken" / folder.name, symlinks=True)
        finally:
            subprocess.run(["umount", "-l", folder], check=False)

    # --- A full disk ---

    def full(self):
        for self.case, options, fill in (("bytes", "size=1m", fill_bytes), ("files", "nr_inodes=300", fill_files)):
            with self.disk(options) as folder:
                self.full_disk(f"full-of-{self.case}", folder, fill)

    def full_disk(self, name, folder, fill):
        device, due = self.store(name, folder)
        fill(folder)
        acknowledged = set(self.state(device).listed)
        for number in range(400):
            outcome = device.run("add", f"Fill {number}", "--daily", "--at", "21:00", "--note", "n" * 1500)
            if outcome.code != 0:
                break
            acknowledged |= {id for id in device.listed()}
        self.check(outcome.code == 1 and FULL in outcome.err, "the message does not name the full disk", brief(outcome))
        for words in (["add", "One more", "--daily", "--at", "21:00"], ["edit", "Kept 0", "--title", "Kept here"]):
            self.writes(device, FULL, words)
        self.check(acknowledged <= set(self.state(device).listed), "an acknowledged alarm is missing")
        self.rings(device, due)
        self.whole(device)
        for path in folder.glob("filler*"):
            path.unlink()
        self.succeeds(device, "add", "With room again", "--daily", "--at", "21:00")
        self.succeeds(device, "tick", now=AT_DUE)
        listed = self.state(device).listed
        self.check(acknowledged <= set(listed), "an acknowledged alarm is missing")
        self.whole(device)

    def nearly_full(self):
        """Uses a disk with space for a part of a command's writes, page by page."""
        with self.disk("size=4m") as folder:
            device, _ = self.store("nearly", folder)
            for pages in range(0, 24, 4 if self.report.short else 1):
                self.case = f"{pages} pages free"
                leave(folder, pages)
                self.writes(device, FULL, ["add", f"Page {pages}", "--daily", "--at", "21:00", "--note", "n" * 1500])
                (folder / "filler").unlink()
                before = self.state(device)
                self.succeeds(device, "add", f"After {pages}", "--daily", "--at", "21:00")
                after = self.state(device)
                if before and after:
                    added = sorted(title for id, title in after.listed.items() if id not in before.listed)
                    entries = len(after.entries) - len(before.entries)
                    self.check(added == [f"After {pages}"] and entries == 1,
                               "the next command makes other changes than its own",
                               f"alarms {added}, {entries} log entries")
                self.whole(device)

    def sync_full(self):
        """Runs a sync that fetches more than the disk has space for."""
        remote = self.sandbox.data / "remote.git"
        with self.disk("size=12m") as folder:
            alpha, _ = self.store("here", folder)
            subprocess.run(["git", "init", "-q", "--bare", "-b", "main", remote], check=True, env=alpha.environment)
            alpha.must("remote", "add", "origin", str(remote))
            alpha.must("sync")
            beta = Device(self.sandbox, "there", self.clock)
            if (outcome := beta.run("clone", str(remote))).code != 0:
                raise Unusable("`belfry clone` ended with " + brief(outcome))
            for pages in range(0, 48, 12 if self.report.short else 3):
                self.case = f"{pages} pages free"
                beta.must("edit", "Kept 1", "--note", f"{pages} " + "m" * 900)
                for number in range(NEW):
                    note = os.urandom(800).hex()
                    beta.must("add", f"There {pages} {number}", "--daily", "--at", "21:00", "--note", note)
                beta.must("sync")
                alpha.must("edit", "Kept 2", "--note", f"{pages} " + "n" * 900)
                self.sync_nearly_full(alpha, beta, folder, pages)

    def sync_nearly_full(self, alpha, beta, folder, pages):
        before = self.state(alpha)
        leave(folder, pages)
        outcome = alpha.run("sync")
        usual = outcome.code in (0, 1, 6)
        self.check(usual, "a sync ends with a signal or an unexpected exit code", brief(outcome))
        if outcome.code in (1, 6):
            said = FULL in outcome.err or "No space left on device" in outcome.err
            self.check(said, "a failure does not state its reason", brief(outcome))
        after = self.state(alpha)
        lost = after and before.entries.keys() - after.entries.keys()
        self.check(after and not lost, "an acknowledged log entry is missing", str(lost))
        if after and outcome.code != 0:
            count = len(after.listed) - len(before.listed)
            self.check(count in (0, NEW), "a failed sync added a part of the alarms", f"{count} of {NEW}")
        self.whole(alpha)
        (folder / "filler").unlink()
        self.succeeds(alpha, "sync")
        self.succeeds(beta, "sync")
        self.whole(alpha)
        self.check(alpha.files() == beta.files(), "the devices differ after a sync")

    # --- A read-only disk ---

    def read_only(self):
        with self.disk("size=8m") as folder:
            device, due = self.store("read-only", folder)
            before = self.state(device)
            remount = ["mount", "-o", "remount,ro", folder]
            subprocess.run(remount, check=True)
            add = ["add", "One more", "--daily", "--at", "21:00"]
            for words in (add, ["edit", "Kept 0", "--title", "Other"], ["delete", "--yes", "Kept 1"]):
                self.writes(device, READ_ONLY, words, must_fail=True)
            self.rings(device, due)
            self.check(self.state(device) == before, "a store on a read-only disk has changed")
            subprocess.run([*remount[:2], "remount,rw", folder], check=True)
            self.succeeds(device, "add", "Writable again", "--daily", "--at", "21:00")
            self.whole(device)

    # --- Few open files ---

    def descriptors(self):
        for limit in (5, 6, 8, 10, 12, 16, 20):
            self.case = f"ulimit -n {limit}"
            self.few_files(f"files-{limit}", ("/bin/sh", "-c", 'ulimit -n "$0" && exec "$@"', str(limit)))

    def few_files(self, name, prefix):
        device, _ = self.store(name)
        remote = self.sandbox.data / f"{name}.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", remote], check=True, env=device.environment)
        device.must("remote", "add", "origin", str(remote))
        outcome = device.run("list", "--json", prefix=prefix)
        is_list = outcome.code == 0 and "Kept 2" in outcome.out
        clear = outcome.code == 1 and FILES in outcome.err
        self.check(is_list or clear, "the list fails without stating its reason", brief(outcome))
        self.writes(device, FILES, ["add", "One more", "--daily", "--at", "21:00"], prefix=prefix)
        outcome = device.run("sync", prefix=prefix)
        said = outcome.code == 0 or outcome.code in (1, 6) and FILES in outcome.err
        self.check(said, "a sync fails without stating its reason", brief(outcome))
        self.succeeds(device, "sync")
        self.whole(device)

    # --- Permissions ---

    def rights(self):
        user = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups") if os.geteuid() == 0 else ()
        folder = self.sandbox.data / "rights"
        folder.mkdir()
        if user:
            os.chown(folder, USER, USER)
        device, due = self.store("rights", folder, prefix=user)
        store = device.store
        for name in ("alarms", "log", ".git/objects", ".git"):
            self.case = f"{name} is not writable"
            with modes([store / name, *(store / name).glob("**/")], 0o555):
                self.writes(device, DENIED, ["add", name, "--daily", "--at", "21:00"], must_fail=True)
                if name == ".git":
                    self.rings(device, due)
            self.succeeds(device, "add", f"After {name}", "--daily", "--at", "21:00")
            self.whole(device)
        self.unreadable(device)
        if user:
            self.foreign(device)

    def unreadable(self, device):
        """Checks that an unreadable record is reported, and that neither it nor the others are lost."""
        self.case = "a record is not readable"
        before = self.state(device)
        hidden = next(id for id, title in before.listed.items() if title == "Kept 1")
        with modes([device.store / "alarms" / f"{hidden}.json"], 0):
            outcome = device.run("list", "--json")
            self.check(outcome.code == 0, "the list fails for one record", brief(outcome))
            with suppress(ValueError):
                listed = device.listed()
                missing = [title for id, title in before.listed.items() if id not in listed]
                self.check(not missing, "the list omits alarms", ", ".join(missing))
                self.check(hidden in outcome.err, "an unreadable record is not reported", brief(outcome))
            outcome = device.run("edit", hidden, "--title", "Over it")
            said = outcome.code == 1 and (DENIED in outcome.err or "has no permission to read it" in outcome.err)
            self.check(said, "a failure does not state its reason", brief(outcome))
            self.succeeds(device, "add", "Beside it", "--daily", "--at", "21:00")
        after = self.state(device)
        same = all(after.records.get(id) == record for id, record in before.records.items())
        titles = {*before.listed.values(), "Beside it"}
        self.check(same and set(after.listed.values()) == titles, "a record was changed")
        self.whole(device)

    def foreign(self, device):
        self.case = "the store is another user's"
        before = self.state(device)
        os.chown(device.store, 0, 0)
        for words in (["list"], ["add", "Not mine", "--daily", "--at", "21:00"], ["tick"], ["sync"]):
            outcome = device.run(*words)
            said = outcome.code == 1 and "belongs to another user" in outcome.err
            self.check(said, "a failure does not state its reason", f"`{words[0]}`: {brief(outcome)}")
        os.chown(device.store, USER, USER)
        self.check(self.state(device) == before, "a failed write changed the store")
        self.succeeds(device, "add", "Mine again", "--daily", "--at", "21:00")
        self.whole(device)

    # --- The run ---

    def play(self):
        parts = [("a full disk", self.full), ("a nearly full disk", self.nearly_full),
                 ("a sync on a nearly full disk", self.sync_full), ("a read-only disk", self.read_only),
                 ("few open files", self.descriptors), ("missing permissions", self.rights)]
        if not self.can_mount():
            self.report.note("skipped, because mounting file systems needs root",
                             *(name for name, _ in parts[:4]))
            parts = parts[4:]
        for self.part, body in parts:
            self.case = ""
            self.report.progress(self.part)
            try:
                body()
            except Unusable as reason:
                self.check(False, "aborted", str(reason))
        return f"{len(parts)} limits, {self.counts['checks']} checks"

    def can_mount(self):
        with suppress(subprocess.CalledProcessError, OSError):
            with self.disk("size=1m"):
                return True
        return False

def fill_bytes(folder): (folder / "filler").write_bytes(bytes(128 << 10))

def fill_files(folder):
    for number in range(60):
        (folder / f"filler-{number}").touch()

def leave(folder, pages):
    """Fills a file system except for a number of pages."""
    with open(folder / "filler", "wb", buffering=0) as filler:
        os.posix_fallocate(filler.fileno(), 0, room(folder) - pages * PAGE)

@contextmanager
def modes(paths, mode):
    """Gives files another mode temporarily."""
    before = [(path, path.stat().st_mode) for path in paths]
    for path, _ in reversed(before):
        path.chmod(mode)
    try:
        yield
    finally:
        for path, old in before:
            path.chmod(old & 0o7777)

if __name__ == "__main__":
    play("limits", lambda report, sandbox: Scenario(report, sandbox).play())
