"""todoman and khal work in the folder that Belfry writes."""
import subprocess, time
from checks import wait
from radicale import Story
from sandbox import environment

class NoServer:
    def close(self): pass

def play(run, results):
    root = run.folder("todoman")
    folder = root / "lists" / "belfry"
    folder.mkdir(parents=True)
    home = root / "home"
    (home / ".config/todoman").mkdir(parents=True)
    (home / ".config/khal").mkdir()
    (home / ".config/todoman/config.py").write_text(
        f'path = "{root}/lists/*"\ndate_format = "%Y-%m-%d"\ntime_format = "%H:%M"\ndefault_list = "belfry"\n'
        f'cache_path = "{home}/cache.sqlite3"\n')
    (home / ".config/khal/config").write_text(
        f"[calendars]\n[[belfry]]\npath = {folder}\ntype = calendar\n[sqlite]\npath = {home}/khal.db\n[locale]\n"
        "local_timezone = Europe/Berlin\ndefault_timezone = Europe/Berlin\ntimeformat = %H:%M\ndateformat = %Y-%m-%d\n"
        "longdateformat = %Y-%m-%d\ndatetimeformat = %Y-%m-%d %H:%M\nlongdatetimeformat = %Y-%m-%d %H:%M\n")
    story = Story(run, results, NoServer(), "todoman", devices=("laptop",))

    def program(*words):
        outcome = subprocess.run(
            list(words), env=environment(home, TZ="Europe/Berlin"), capture_output=True, text=True, timeout=60,
            stdin=subprocess.DEVNULL)
        results.check(outcome.returncode == 0, f"{' '.join(words[:2])} works", outcome.stderr[-300:])
        return outcome.stdout

    def number(title):
        lines = [line for line in program("todoman", "list").splitlines() if title in line]
        return lines[0].split("]")[1].split()[0] if lines else "0"

    try:
        story.prepare(("Pay rent", "2026-12-03 9:00", "--tag", "home,money"), ("Post", "every thu 10:00"), ("Gym", "every fri 10:00"))
        story.laptop.setup(folder)
        story.start(10, 0)
        wait(lambda: len(list(folder.glob("*.ics"))) > 3, 10)
        listed = program("todoman", "list")
        results.check(all(title in listed for title in ("Pay rent", "Post", "Gym")), "todoman lists the tasks", listed)
        results.check("2026-12-03 09:00" in listed, "todoman shows the due time", listed)
        # Any edit by todoman drops the categories and the start.
        program("todoman", "edit", number("Pay rent"), "--due", "2026-12-04 10:30")
        moved = wait(lambda: "2026-12-04T10:30" in str(story.laptop.alarms().get("Pay rent")), 5, 0.05)
        results.check(moved, "an edit of the due time moves the alarm", story.laptop.alarms().get("Pay rent"))
        results.equal(sorted(story.laptop.alarms()["Pay rent"].get("tags", [])), ["home", "money"], "the tags after an edit")
        program("todoman", "done", number("Pay rent"))
        story.answered("Pay rent", "done", "Done: Pay rent", time.time())
        program("todoman", "cancel", number("Post"))
        story.answered("Post", "skipped", "Skipped: Post", time.time())
        program("todoman", "new", "-l", "belfry", "Sweep the stairs", "-d", "2026-12-07 17:00")
        new = wait(lambda: "Sweep the stairs" in story.laptop.alarms(), 5, 0.05)
        results.check(new, "a new task becomes an alarm", sorted(story.laptop.alarms()))
        results.equal(story.laptop.alarms().get("Sweep the stairs", {}).get("next"), "2026-12-07T17:00:00+01:00", "its time")
        time.sleep(0.3)
        program("todoman", "list")
        results.equal(program("khal", "list", "2026-12-01", "30d").strip(), "", "khal shows no appointments")
        story.laptop.must_end("phone", "remove", "--yes")
        results.equal([path.name for path in folder.iterdir() if path.name.startswith(".belfry")], [], "files of Belfry after a removal")
        left = program("todoman", "list")
        results.check("Gym" not in left, "the tasks of Belfry after a removal", left)
    finally:
        story.close()
