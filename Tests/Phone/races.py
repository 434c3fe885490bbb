"""Answers of the phone while the store changes, while no daemon runs, while runs are killed, and in slow writes: each is
recorded once."""
import random, threading, time
from collections import Counter
from checks import wait
from parts import unfolded
from radicale import Story
from todoman import NoServer

def play(run, results):
    root = run.folder("races")
    folder = root / "tasks"
    folder.mkdir()
    story = Story(run, results, NoServer(), "races", devices=("laptop",))
    try:
        story.prepare(
            ("Pills", "daily 20:00"), ("Milk", "daily 21:00"), ("Tea", "daily 22:00"), ("Bins", "daily 19:00"),
            ("Pay rent", "2026-12-20 9:00"))
        story.laptop.setup(folder)
        story.start(10, 0)
        wait(lambda: len(list(folder.glob("*.ics"))) > 120, 20, 0.1)
        beside_edits(story, folder, 8 if run.short else 20)
        slow_writes(story, folder)
        undone(story, folder)
        without_daemon(story, folder)
        killed(story, folder, 8 if run.short else 25)
    finally:
        story.close()

class Task:
    """A file of a task, changed as an app and a server change it."""
    def __init__(self, path): self.path = path
    def text(self): return self.path.read_bytes().decode()

    def changed(self, *lines):
        """Returns the text with other properties of the task."""
        names = {line.split(":")[0] for line in lines}
        result, depth = [], 0
        for line in unfolded(self.text()):
            depth += line.startswith("BEGIN:V") - line.startswith("END:V")
            if depth != 2 or line.split(":")[0] not in names:
                result.append(line)
            if line == "BEGIN:VTODO":
                result += lines
        return ("\r\n".join(result) + "\r\n").encode()

    def replace(self, content):
        temporary = self.path.with_name(f".{self.path.name}.phone")
        temporary.write_bytes(content)
        temporary.rename(self.path)

    def complete(self, at):
        self.replace(self.changed("STATUS:COMPLETED", f"COMPLETED:{at}", "PERCENT-COMPLETE:100", f"LAST-MODIFIED:{at}"))

def files(story, folder, title):
    """Returns the open tasks of an alarm in their order."""
    identifier = story.laptop.alarms()[title]["id"]
    tasks = [Task(path) for path in sorted(folder.glob(f"{identifier}-*.ics"))]
    return [task for task in tasks if "STATUS:NEEDS-ACTION" in task.text()]

def occurrences(tasks):
    """Returns the occurrences of files, as the log has them."""
    stems = [task.path.stem.split("-")[1] for task in tasks]
    return {f"{stem[:4]}-{stem[4:6]}-{stem[6:8]}T{stem[9:11]}:{stem[11:]}" for stem in stems}

def answers(story, title, action="done"):
    """Returns how often each occurrence of an alarm was answered."""
    identifier = story.laptop.alarms()[title]["id"]
    return Counter(
        each["occurrence"] for each in story.laptop.must("log") if (each["alarm"], each["action"]) == (identifier, action))

def recorded_once(story, title, tasks, words, limit=10):
    expected = occurrences(tasks)
    wait(lambda: expected <= answers(story, title).keys(), limit, 0.2)
    counts = answers(story, title)
    story.results.check(expected <= counts.keys(), f"{words}: all answers are recorded", sorted(expected - counts.keys())[:5])
    story.results.check(all(counts[each] == 1 for each in expected), f"{words}: each answer is recorded once",
                        [(each, counts[each]) for each in expected if counts[each] != 1][:5])

def beside_edits(story, folder, count):
    """The phone completes tasks of an alarm whose title changes at the same time."""
    identifier, tasks = story.laptop.alarms()["Pills"]["id"], files(story, folder, "Pills")[:count]
    is_over = threading.Event()

    def edit():
        number = 0
        while not is_over.is_set():
            number += 1
            story.laptop.must("edit", identifier, "--title", f"Pills {number}")

    editor = threading.Thread(target=edit)
    editor.start()
    for task in tasks:
        task.complete(story.clock.stamp())
        time.sleep(0.03)
    is_over.set()
    editor.join()
    story.laptop.must("edit", identifier, "--title", "Pills")
    recorded_once(story, "Pills", tasks, "beside edits")
    # An upload with the title of a moment ago is no edit.
    time.sleep(0.5)
    story.results.check("Pills" in story.laptop.alarms(), "beside edits: the last title stays", sorted(story.laptop.alarms()))
    stale = [task.text() for task in files(story, folder, "Pills") if "SUMMARY:Pills\r\n" not in task.text()]
    story.results.check(not stale, "beside edits: all open tasks have the last title", stale[:1])

def slow_writes(story, folder):
    """A server that writes in place, with a pause in the middle."""
    tasks = files(story, folder, "Milk")[:3]
    for task in tasks:
        at = story.clock.stamp()
        content = task.changed("STATUS:COMPLETED", f"COMPLETED:{at}", f"LAST-MODIFIED:{at}")
        with open(task.path, "r+b") as file:
            file.truncate(0)
            file.flush()
            time.sleep(0.2)
            file.write(content[:len(content) // 2])
            file.flush()
            time.sleep(0.5)
            file.write(content[len(content) // 2:])
    recorded_once(story, "Milk", tasks, "slow writes")

def undone(story, folder):
    """An answer of the phone that is undone in the store opens the task again, and stays so."""
    task = files(story, folder, "Milk")[0]
    task.complete(story.clock.stamp())
    occurrence = occurrences([task]).pop()
    wait(lambda: answers(story, "Milk")[occurrence] == 1, 5, 0.05)
    outcome = story.laptop.run("undo")
    story.results.check(outcome.code == 0, "the undo of an answer of the phone", outcome.err)
    opened = wait(lambda: "STATUS:NEEDS-ACTION" in task.text(), 5, 0.05)
    story.results.check(opened, "the undo opens the task", task.text())
    time.sleep(1)
    story.results.check("STATUS:NEEDS-ACTION" in task.text() and answers(story, "Milk")[occurrence] <= 1, "the task stays open", task.text())

def without_daemon(story, folder):
    """Answers that come while no daemon runs are recorded by the next one, with the phone's time."""
    story.stop()
    tasks = files(story, folder, "Tea")[:3]
    at = story.clock.stamp()
    for task in tasks[:2]:
        task.complete(at)
    tasks[2].path.unlink()
    story.laptop.must("edit", "Tea", "--note", "With lemon")
    time.sleep(1.2)
    story.start()
    recorded_once(story, "Tea", tasks[:2], "without a daemon")
    skipped = wait(lambda: answers(story, "Tea", "skipped") == Counter(occurrences(tasks[2:])), 15, 0.1)
    story.results.check(skipped, "without a daemon: a deleted task is skipped", answers(story, "Tea", "skipped"))
    written = wait(lambda: all("With lemon" in each.text() for each in files(story, folder, "Tea")), 5, 0.1)
    story.results.check(written, "without a daemon: the changes of the store are written")

def killed(story, folder, count):
    """Runs are killed at random moments while answers come."""
    story.stop()
    chance = random.Random(story.run.seed)
    tasks = files(story, folder, "Bins")[:count]
    for number, task in enumerate(tasks):
        # All other tasks are written anew.
        story.laptop.must("edit", "Bins", "--note", f"Note {number}")
        task.complete(story.clock.stamp())
        for _ in range(2):
            story.laptop.run("phone", "sync", kill_after=chance.uniform(0.01, 0.12))
    story.laptop.run("phone", "sync")
    story.start()
    recorded_once(story, "Bins", tasks, "with kills")
    skipped = answers(story, "Bins", "skipped")
    story.results.check(not skipped, "with kills: nothing is skipped", skipped)
    note = f"Note {len(tasks) - 1}"
    stale = [task.text() for task in files(story, folder, "Bins") if note not in task.text()]
    story.results.check(not stale, "with kills: all open tasks have the last note", stale[:1])
    left = [path.name for path in folder.iterdir() if path.name.startswith(".belfry-")]
    story.results.equal(left, [], "temporary files after kills")
