"""Files that an attacker or a broken program leaves in the folder: Belfry ignores and reports them, and keeps running."""
import os, shutil, time
from checks import wait
from radicale import Story
from todoman import NoServer

TASK = ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//example//EN\r\nBEGIN:VTODO\r\nUID:{uid}\r\nDTSTAMP:20261130T100000Z\r\n"
        "SUMMARY:{title}\r\nDUE:20261210T100000Z\r\n{more}END:VTODO\r\nEND:VCALENDAR\r\n")
NOBODY = 65534

def task(uid, title, more=""): return TASK.format(uid=uid, title=title, more=more).encode()

def play(run, results):
    root = run.folder("hostile")
    folder = root / "tasks"
    folder.mkdir()
    secret = root / "secret.ics"
    secret.write_bytes(task("secret", "Secret"))
    story = Story(run, results, NoServer(), "hostile", devices=("laptop",))
    laptop = story.laptop
    try:
        # As root, all files are readable.
        if os.geteuid() == 0 and shutil.which("setpriv"):
            laptop.prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            laptop.own(NOBODY)
            story.run.sandbox.data.chmod(0o777)
            for path in (root, root.parent, folder):
                path.chmod(0o777)
        story.prepare(("Pay rent", "2026-12-03 9:00"), ("Post", "every thu 10:00"))
        laptop.setup(folder)
        story.start(10, 0)
        wait(lambda: list(folder.glob("*.ics")), 10)
        known = set(laptop.alarms())
        own = sorted(path.name for path in folder.glob("*.ics"))
        leave(folder, secret, own)
        time.sleep(2)
        lives(story, folder)
        alarms = set(laptop.alarms()) - known
        results.check("Good task" in alarms, "a good task among them becomes an alarm", alarms)
        results.check(not any("Secret" in title or "Large" in title or "Unreadable" in title for title in alarms),
                      "links, large and unreadable files are ignored", alarms)
        listed = laptop.run("list").out + laptop.run("log").out + laptop.run("phone", "status").out + laptop.run("phone", "status").err
        results.check("\x1b" not in listed and "\x07" not in listed, "no control characters are printed", repr(listed[-300:]))
        results.check(not (root / "outside.ics").exists() and not (root.parent / "outside.ics").exists(),
                      "nothing is written outside of the folder")
        status = laptop.run("phone", "status")
        reported = [name for name in ("large.ics", "unreadable.ics", "cut.ics") if name in status.out + status.err]
        results.equal(reported, ["large.ics", "unreadable.ics", "cut.ics"], "the files that the status reports")
        many(run, story, folder)
        missing(story, folder)
        results.check(laptop.is_alive(), "the daemon runs at the end")
    finally:
        story.close()

def leave(folder, secret, own):
    """Writes the files."""
    (folder / "large.ics").write_bytes(task("large", "Large", "DESCRIPTION:" + "x" * (10 << 20) + "\r\n"))
    (folder / "folded.ics").write_bytes(task("folded", "Folded", "DESCRIPTION:" + "x\r\n " * 200_000 + "\r\n"))
    (folder / "nested.ics").write_bytes(b"BEGIN:VCALENDAR\r\n" + b"BEGIN:VTODO\r\n" * 100_000)
    (folder / "empty.ics").touch()
    (folder / "zeros.ics").write_bytes(bytes(4096))
    (folder / "cut.ics").write_bytes(task("cut", "Cut")[:60])
    (folder / "escape.ics").write_bytes(task("escape", "Escape \x1b[31mred\x07\x1b]0;title\x07"))
    (folder / "latin.ics").write_bytes(task("latin", "Latin").replace(b"Latin", b"Latin \xfc\xff\xfe"))
    (folder / "no-uid.ics").write_bytes(task("", "No UID").replace(b"UID:\r\n", b""))
    (folder / "path.ics").write_bytes(task("../../outside", "Path"))
    (folder / "slash.ics").write_bytes(task("/etc/passwd", "Slash"))
    (folder / "long-uid.ics").write_bytes(task("u" * 100_000, "Long UID"))
    (folder / "long-title.ics").write_bytes(task("long", "T" * 100_000))
    (folder / "years.ics").write_bytes(task("years", "Year 99999").replace(b"20261210", b"99991231"))
    (folder / "new\nline.ics").write_bytes(task("newline", "Newline"))
    (folder / "good.ics").write_bytes(task("good-task", "Good task"))
    (folder / "folder.ics").mkdir()
    (folder / "link.ics").symlink_to(secret)
    (folder / "loop.ics").symlink_to("loop.ics")
    (folder / "device.ics").symlink_to("/dev/zero")
    os.mkfifo(folder / "fifo.ics")
    with open(bytes(folder) + b"/bytes-\xff.ics", "wb") as file:
        file.write(task("bytes", "Bytes"))
    (folder / "unreadable.ics").write_bytes(task("unreadable", "Unreadable"))
    (folder / "unreadable.ics").chmod(0)
    # A copy of a task under another name, as a backup program makes it.
    if own:
        (folder / "copy.ics").write_bytes((folder / own[0]).read_bytes())

def lives(story, folder):
    """The daemon runs, and both directions work."""
    laptop = story.laptop
    story.results.check(laptop.is_alive(), "the daemon runs", laptop.log_path.read_text()[-500:])
    laptop.must("edit", "Post", "--title", "Letters")
    def sees():
        return any("SUMMARY:Letters" in path.read_text(errors="replace") for path in folder.glob("*.ics")
                   if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK) and path.stat().st_size < 1 << 20)
    story.results.check(wait(sees, 10, 0.1), "a change of the store is written among them")

def missing(story, folder):
    """The folder disappears, as its disk does, and an empty one is in its place: nothing is skipped."""
    laptop, away = story.laptop, folder.with_name("away")
    entries = len(laptop.must("log"))
    folder.rename(away)
    time.sleep(1)
    folder.mkdir()
    folder.chmod(0o777)
    time.sleep(1)
    outcome = laptop.run("phone", "sync")
    story.results.check(outcome.code != 0 and "Nothing was skipped" in outcome.err, "another folder is refused", outcome.out + outcome.err)
    story.results.equal(len(laptop.must("log")), entries, "the entries of the log without the folder")
    folder.rmdir()
    away.rename(folder)
    outcome = laptop.run("phone", "sync")
    story.results.equal((outcome.code, len(laptop.must("log"))), (0, entries), "the run with the folder again")
    story.results.check(laptop.is_alive(), "the daemon runs without the folder")
    (folder / "after.ics").write_bytes(task("after", "After the loss"))
    found = wait(lambda: "After the loss" in laptop.alarms(), 15, 0.2)
    story.results.check(found, "the daemon watches the folder again", sorted(laptop.alarms()))

def many(run, story, folder):
    """Very many files of another program."""
    count = 5_000 if run.short else 100_000
    body = task("uid-of-number", "Number").replace(b"DUE:", b"STATUS:COMPLETED\r\nDUE:")
    start = time.monotonic()
    for number in range(count):
        with open(folder / f"n{number}.ics", "wb") as file:
            file.write(body.replace(b"of-number", b"%d" % number))
    written = time.monotonic() - start
    start = time.monotonic()
    outcome = story.laptop.run("phone", "sync")
    took = time.monotonic() - start
    story.results.note(f"`phone sync` with {count} other files took {took:.2f} s (writing them took {written:.1f} s)")
    story.results.check(outcome.code == 0, "a run with very many files succeeds", outcome.err)
    story.results.check(took < 20, "a run with very many files ends soon", f"{took:.1f} s")
    story.results.check(story.laptop.is_alive(), "the daemon runs with very many files", story.laptop.log_path.read_text()[-500:])
    start = time.monotonic()
    story.laptop.run("phone", "sync")
    story.results.note(f"the second run took {time.monotonic() - start:.2f} s")
    for number in range(count):
        (folder / f"n{number}.ics").unlink()
