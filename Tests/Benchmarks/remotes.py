"""Belfry and git, each with a remote that another device also changes."""
import fcntl
from contextlib import suppress
from datetime import timedelta
from functools import cache
from pathlib import Path

from cells import DURABLE_GIT, Cell
from options import SYNC
from sandbox import GIT, Failure, belfry, document, git, head, output, read, run, work, write
from ssh import disconnect
from stores import alarm, import_commits, pattern, site_of, write_entry

WAYS = {"path": ""}  # the start of a remote's URL by the way to access it

class Belfry:
    """Belfry's side of the sync measurements."""
    name = "belfry"

    def clone(self, bare, store):
        run(["/usr/bin/env", f"BELFRY_DEVICE={Path(store).name}", *belfry(store, "clone", bare)], SYNC)

    def add_remote(self, store, way, url):
        run(belfry(store, "remote", "add", way, url), SYNC)
        run(belfry(store, "sync", way), SYNC)

    def act(self, store, identifier, words, moment):
        """Changes the note of an alarm, which also adds a log entry, in one commit."""
        run(belfry(store, "edit", identifier, "--note", words), moment)

    def edit(self, store, records, moment):
        """Adds changed alarms to the store, in one commit."""
        exported = work("export.json")
        write(exported, {"belfry": "export", "format": 1, "alarms": records, "devices": [], "log": []})
        run(belfry(store, "import", exported), moment)

    def stamps(self, moment):
        """Returns the stamps of a title and a note that are edited at this time."""
        words = f"Edited at {moment:%H:%M:%S}"
        run(belfry(pattern().store, "edit", pattern().id, "--title", words, "--note", words), moment)
        return read(alarm(pattern().store, pattern().id)).get("stamps", {})

    def sync(self, store, way):
        with suppress(FileNotFoundError), open(f"{store}/.git/belfry/pack.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until git has packed the objects of the sync before
        return [belfry(store, "sync", way)]

PULL, FETCH, PUSH = ("pull", "-q", "--no-rebase", "--no-edit"), ("fetch", "-q"), ("push", "-q")

class Git:
    """Git's side of the sync measurements, with the same files."""

    def __init__(self, name, *options, steps=(PULL, PUSH)):
        self.name, self.options, self.steps = name, options, steps

    def clone(self, bare, repository): run([GIT, "clone", "-q", bare, repository])

    def add_remote(self, repository, way, url):
        run(git(repository, "remote", "add", way, url))
        run(git(repository, "fetch", "-q", way))

    def act(self, repository, identifier, words, moment):
        path = alarm(repository, identifier)
        record = read(path) | {"note": words}
        write(path, record)
        run(git(repository, "add", path, write_entry(repository, moment, identifier, record["title"])))
        run(git(repository, "commit", "-qm", words))

    def edit(self, repository, records, moment):
        for record in records:
            write(alarm(repository, record["id"]), record)
        run(git(repository, "commit", "-qam", f"{len(records)} records"))

    def stamps(self, moment): return {}  # git could not merge two adjacent ones

    def sync(self, repository, way):
        return [git(repository, *self.options, *step, way, "main") for step in self.steps]

OURS, PLAIN, DURABLE = Belfry(), Git("git"), Git(DURABLE_GIT, "-c", "core.fsync=all")
FETCHING = Git("git fetch + push", steps=(FETCH, PUSH))
SYNC_TOOLS = [OURS, PLAIN, DURABLE, FETCHING, Git("git push alone", steps=(PUSH,))]

class Remote:
    """A bare repository, and the expected number of records."""
    moments = 0

    def __init__(self, tool, repository, path):
        self.tool, self.path = tool, path
        run([GIT, "clone", "-q", "--bare", repository, path])
        self.records = self.count()

    def count(self):
        return len(output(git(self.path, "ls-tree", "-r", "--name-only", "HEAD")).split("\n"))

    def moment(self):
        Remote.moments += 1
        return SYNC + timedelta(seconds=2 * Remote.moments)

    def act(self, device, identifier):
        """Performs one action on a device. Returns the clock for the following sync, and the change."""
        moment = self.moment()
        self.tool.act(device, identifier, f"Note {Remote.moments}", moment)
        self.records += 1
        return moment + timedelta(seconds=1), (identifier, "note", f"Note {Remote.moments}")

    def check(self, device, changes):
        """Checks, after a successful sync, that both sides are equal and nothing is lost."""
        if head(device) != head(self.path):
            raise Failure("the two sides differ after a sync")
        if (count := self.count()) != self.records:
            raise Failure(f"{count} of {self.records} records exist after a sync")
        for identifier, field, words in changes:
            if read(alarm(device, identifier)).get(field) != words:
                raise Failure(f"a {field} was lost in a sync")

def collect_garbage(repository):
    """Runs the maintenance at once that git by default runs in the background."""
    run(git(repository, "-c", "gc.auto=6700", "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet"))

class Pair(Remote):
    """A remote, and the repository that syncs with it."""

    def __init__(self, tool, repository, identifiers):
        super().__init__(tool, repository, repository + "-bare.git")
        self.here, self.ids = repository, identifiers
        # Belfry starts to pack its own store at the end of a sync.
        self.collected = [self.path] if tool == OURS else [self.path, repository]
        self.failures = {way: self.add_remote(way, begin + self.path) for way, begin in WAYS.items()}

    def add_remote(self, way, url):
        try:
            self.tool.add_remote(self.here, way, url)
        except Failure as failure:
            return str(failure)

    def advance(self, round):
        """Performs one action here. Returns the clock for the following sync, and the check that nothing was lost."""
        clock, change = self.act(self.here, self.ids[(round + 1) % len(self.ids)])
        return clock, lambda: self.check(self.here, [change])

    def diverge(self, round, count, same):
        """Changes `count` alarms on either side, the same or different ones, in one commit each. Returns the same as
        `advance`."""
        for repository in self.collected:
            collect_garbage(repository)
        moment = self.moment()
        stamps = self.tool.stamps(moment)
        first = 2 * count * round % len(self.ids)
        ids = (self.ids * 2)[first : first + 2 * count]
        here = [(identifier, "title", f"Here {Remote.moments}") for identifier in ids[:count]]
        others, field = (ids[:count], "note") if same else (ids[count:], "title")
        there = [(identifier, field, f"There {Remote.moments}") for identifier in others]
        # Another device has pushed first.
        files = {f"alarms/{record['id']}.json": document(record) for record in self.edited(there, stamps)}
        import_commits(self.path, [(moment, "There", files)])
        self.tool.edit(self.here, self.edited(here, stamps), moment)
        return moment + timedelta(seconds=1), lambda: self.check(self.here, here + there)

    def edited(self, changes, stamps):
        """Returns records, so far equal on both sides, with some fields changed, as belfry would."""
        records = []
        for identifier, field, words in changes:
            record = read(alarm(self.here, identifier)) | {field: words}
            if field in stamps:
                record["stamps"] |= {field: stamps[field]}
            records.append(record)
        return records

@cache
def pairs_of(size):
    site = site_of(size)
    ours, plain = Pair(OURS, site.store, site.ids), Pair(PLAIN, site.repository, site.ids)
    return {tool: ours if tool == OURS else plain for tool in SYNC_TOOLS}

def exchange(name, size, tools, prepare, connected=False):
    """Returns the cells for an exchange with a remote by each way. `prepare(pair, round)` creates the changes to
    exchange. Belfry has an ssh connection at the start only if `connected` is true."""
    def cell(tool, way):
        pair = pairs_of(size)[tool]
        def prepared(round):
            prepared = tool.sync(pair.here, way), *prepare(pair, round)
            disconnect()
            if connected:
                run(belfry(pair.here, "sync", "--dry-run", way), SYNC)
            return prepared
        return Cell(name, f"{size.label}, {way}", tool.name, prepared, pair.failures[way], is_exchange=True)
    return [cell(tool, way) for way in WAYS for tool in tools if tool != DURABLE or way == "path"]
