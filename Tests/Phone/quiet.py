"""Nothing is written as long as nothing changes."""
import time
from checks import differences, snapshot, wait
from radicale import Story
from todoman import NoServer

def play(run, results):
    folder = run.folder("quiet") / "tasks"
    folder.mkdir()
    story = Story(run, results, NoServer(), "quiet", devices=("laptop",))
    try:
        story.prepare(*[(f"Alarm {number}", f"daily {number % 12 + 11}:15") for number in range(20)])
        story.laptop.setup(folder)
        # No alarm is due in the next minutes.
        story.start(9, 20)
        wait(lambda: len(list(folder.glob("*.ics"))) >= 20 * 30, 20, 0.1)
        time.sleep(1)
        files, tip, start = snapshot(folder), story.laptop.tip(), time.monotonic()
        results.check(len(files) >= 20 * 30, "the tasks of 20 alarms that ring daily", len(files))
        run.has_ended.wait(600)
        if not run.short:
            time.sleep(max(0, 60 - (time.monotonic() - start)))
        changed = differences(files, snapshot(folder))
        results.check(not changed, "no file is written without a change", sorted(changed)[:5])
        results.equal(story.laptop.tip(), tip, "no commit without a change")
        results.note(f"{len(files)} files were left alone for {time.monotonic() - start:.0f} s")
        results.check(story.laptop.is_alive(), "the daemon runs")
    finally:
        story.close()
