"""Radicale serves the folder that Belfry writes; Python's caldav is the phone; a second device syncs through git."""
import fcntl, subprocess, threading, time
from datetime import datetime
from checks import differences, snapshot, wait
from device import Belfry, RunningClock
from parts import Phone, Radicale

DAY = datetime(2026, 12, 1)
REPEATED = 30  # tasks of an alarm that rings daily
FAST, SOON, RESTED = 0.2, 2, 8  # the limits of the medians, in seconds; deletions rest for a moment

class Story:
    """A server, a phone and one or two devices."""
    def __init__(self, run, results, server, name, devices=("laptop", "desk")):
        self.run, self.results, self.server = run, results, server
        self.clock = RunningClock(DAY.replace(hour=7, minute=58))
        self.devices = [Belfry(run.sandbox, f"{name}-{device}", self.clock) for device in devices]
        self.laptop = self.devices[0]
        self.remote = run.folder(f"{name}-remote") / "store.git"

    def prepare(self, *alarms):
        """Creates the alarms, and the other devices."""
        self.laptop.must("tier", "plus")
        for title, *words in alarms:
            self.laptop.must("add", title, *words)
        if len(self.devices) > 1:
            subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.remote)], check=True)
            self.laptop.must("remote", "add", "origin", str(self.remote))
            self.laptop.must("sync")
            for other in self.devices[1:]:
                other.must("clone", str(self.remote))
            self.laptop.must("sync")

    def start(self, hour=None, minute=None, second=0):
        """Starts the daemons, at a time of the day in UTC if one is given."""
        if hour is not None:
            self.clock.set(DAY.replace(hour=hour, minute=minute, second=second))
        for device in self.devices:
            device.start()

    def stop(self):
        for device in self.devices:
            device.stop()

    def close(self):
        self.stop()
        self.server.close()

    # --- Checks of one answer each ---

    def answered(self, title, action, subject, before, is_deletion=False):
        """Checks that an answer of the phone was recorded. Returns the log's entry."""
        seen = self.laptop.committed(subject)
        words = "from the deletion to the store" if is_deletion else "from the upload to the store"
        self.results.took(words, seen and max(0, seen - before), RESTED if is_deletion else SOON)
        entry = self.laptop.last(title)
        self.results.equal(entry.get("action"), action, f"the answer to {title}")
        return entry

    def silenced(self, title, before):
        """Checks that all devices are silent."""
        for device, words in zip(self.devices, ("to the end of the notification", "to the end on the other device")):
            at = device.silence(title, before)
            self.results.took(f"from the upload {words}", at and at - before, SOON)

def play_short(run, results, program, name):
    """A part of the scenario, for an older server."""
    server = Radicale(run.folder(name), program)
    story = Story(run, results, server, name, devices=("laptop",))
    try:
        story.prepare(("Pay rent", "2026-12-01 9:00", "--note", "Transfer", "--tag", "home,money"), ("Pills", "daily 20:00"))
        story.laptop.setup(server.folder)
        server.start()
        phone = Phone(server)
        story.start(7, 59, 57)
        results.check("belfry" in phone.names(), "the discovery finds the collection", phone.names())
        phone.find("Pay rent")
        complete_ringing(story, phone)
        change_store(story, phone, 3)
        incremental(story, phone)
        busy_storage(story, phone)
        new_task(story, phone)
        unchanged(story)
    finally:
        story.close()

def play(run, results, program, name):
    server = Radicale(run.folder(name), program)
    story = Story(run, results, server, name)
    try:
        story.prepare(
            ("Pay rent", "2026-12-01 9:00", "--note", "Transfer", "--tag", "home,money"), ("Pills", "daily 20:00"),
            ("Tea", "daily 9:02"), ("Bins", "daily 9:03"), ("Post", "every thu 10:00"), ("Gym", "every fri 10:00"),
            ("Piano", "every sat 10:00"), ("Dentist", "2026-12-09 10:00"), ("Milk", "daily 21:00"))
        story.laptop.setup(server.folder)
        server.start()
        phone = Phone(server)
        story.start(7, 59, 57)
        results.check("belfry" in phone.names(), "the discovery finds the collection", phone.names())
        reads_tasks(story, phone)
        complete_ringing(story, phone)
        completions(story, phone, 5 if run.short else 15)
        change_store(story, phone, 5 if run.short else 15)
        incremental(story, phone)
        cancel_and_delete(story, phone)
        edits(story, phone)
        new_task(story, phone)
        delete_many(story, phone)
        snooze(story, phone)
        dismiss(story, phone)
        unchanged(story)
    finally:
        story.close()

def reads_tasks(story, phone):
    task = phone.find("Pay rent").icalendar_component
    results = story.results
    results.equal(task["DUE"].dt.strftime("%Y%m%dT%H%MZ"), "20261201T0800Z", "the due time of the task")
    results.check("Transfer" in str(task.get("DESCRIPTION", "")), "the note of the task", task.get("DESCRIPTION"))
    results.equal(sorted(str(each) for each in task["CATEGORIES"].cats), ["home", "money"], "the tags of the task")
    alarms = [alarm["TRIGGER"].dt for alarm in task.walk("VALARM")]
    results.equal([alarm.strftime("%Y%m%dT%H%MZ") for alarm in alarms], ["20261201T0800Z"], "the reminders of the task")
    count = len([each for each in phone.tasks.todos() if str(each.icalendar_component["SUMMARY"]) == "Pills"])
    results.check(REPEATED <= count <= REPEATED + 2, "the tasks of an alarm that rings daily", count)

def complete_ringing(story, phone):
    """The alarm rings on all devices, and is completed on the phone."""
    for device in story.devices:
        story.results.check(device.rings("Pay rent"), f"{device.name} rings")
    at = story.clock.stamp()
    before = phone.change("Pay rent", "STATUS:COMPLETED", f"COMPLETED:{at}", "PERCENT-COMPLETE:100", f"LAST-MODIFIED:{at}")
    story.answered("Pay rent", "done", "Done: Pay rent", before)
    story.silenced("Pay rent", before)

def completions(story, phone, count):
    """Completes occurrences ahead of time, with caldav's own call."""
    tasks = sorted((each for each in phone.tasks.todos() if str(each.icalendar_component["SUMMARY"]) == "Pills"),
                   key=lambda each: each.icalendar_component["DUE"].dt)[:count]
    for task in tasks:
        due = task.icalendar_component["DUE"].dt
        before = time.time()
        task.complete(completion_timestamp=story.clock.now())
        day = due.strftime("%Y-%m-%d 20:00")
        seen = story.laptop.committed(f"Done: Pills ({day})")
        story.results.took("from the upload to the store", seen and seen - before, SOON)

def change_store(story, phone, count):
    """Changes the store, and measures the time until the file has changed, and until the phone sees it."""
    for number in range(count):
        title = f"Milk {number}"
        if number == 0 and "Milk" not in story.laptop.alarms():
            story.laptop.must("add", "Milk", "2026-12-03 21:00")
            phone.find("Milk")
        old = "Milk" if number == 0 else f"Milk {number - 1}"
        identifier = story.laptop.alarms()[old]["id"]
        names = [path for path in story.server.folder.iterdir() if path.name.startswith(identifier)]
        story.results.check(names, "the files of an alarm begin with its identifier")
        before_text = {path: path.read_bytes() for path in names}
        tip = story.laptop.tip()
        moment = []
        def watch():
            wait(lambda: story.laptop.tip() != tip, 10, 0.0005)
            moment.append(time.time())
            wait(lambda: any(path.exists() and path.read_bytes() != before_text[path] for path in names), 10, 0.0005)
            moment.append(time.time())
        watcher = threading.Thread(target=watch)
        watcher.start()
        outcome = story.laptop.run("edit", identifier, "--title", title)
        watcher.join()
        story.results.check(outcome.code == 0, "an edit of the store", outcome.err)
        story.results.took("from the commit to the file", moment[1] - moment[0], FAST)
        phone.find(title, 5)

def incremental(story, phone):
    """A sync of the phone since its last one reports exactly what has changed."""
    changes = phone.tasks.objects_by_sync_token(load_objects=True)
    name = next(each for each in story.laptop.alarms() if each.startswith("Milk"))
    tasks = [each for each in phone.tasks.todos() if str(each.icalendar_component["SUMMARY"]) == name]
    story.laptop.must("edit", name, "--title", "Oat milk")
    phone.find("Oat milk", 5)
    time.sleep(0.3)
    updated, deleted = changes.sync()
    story.results.equal((len(list(updated)), len(list(deleted))), (len(tasks), 0), "the tasks that changed, and those that were deleted")

def busy_storage(story, phone):
    """A change of the store while the server holds the lock of its storage: it is written afterwards."""
    with open(story.server.data / ".Radicale.lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        files = snapshot(story.server.folder)
        story.laptop.must("edit", "Oat milk", "--note", "Two of them")
        time.sleep(1.5)
        changed = differences(files, snapshot(story.server.folder))
        story.results.check(not changed, "no file changes while the server holds its lock", changed)
    seen = wait(lambda: "Two of them" in phone.find("Oat milk").data, 15, 0.1)
    story.results.check(seen, "a change is written when the lock is free again")

def cancel_and_delete(story, phone):
    before = phone.change("Post", "STATUS:CANCELLED", f"LAST-MODIFIED:{story.clock.stamp()}")
    story.answered("Post", "skipped", "Skipped: Post", before)
    before = time.time()
    phone.find("Gym").delete()
    story.answered("Gym", "skipped", "Skipped: Gym", before, is_deletion=True)

def edits(story, phone):
    phone.change("Piano", "SUMMARY:Piano lesson", f"LAST-MODIFIED:{story.clock.stamp()}")
    wait(lambda: "Piano lesson" in story.laptop.alarms(), 5, 0.05)
    story.results.check("Piano lesson" in story.laptop.alarms(), "a task that was renamed renames the alarm", list(story.laptop.alarms()))
    phone.change("Dentist", "DUE;TZID=Europe/Berlin:20261210T113001", f"LAST-MODIFIED:{story.clock.stamp()}", drop=("DTSTART",))
    wait(lambda: "2026-12-10T11:30" in str(story.laptop.alarms().get("Dentist")), 5, 0.05)
    story.results.check("2026-12-10T11:30" in str(story.laptop.alarms().get("Dentist")), "a task that was moved moves the alarm",
                        story.laptop.alarms().get("Dentist"))

def new_task(story, phone):
    """A new task with a schedule in its title, and one with a due time."""
    now = story.clock.stamp()
    phone.add("5500912746118840233", f"DTSTAMP:{now}", f"CREATED:{now}", "SUMMARY:Water the plants every monday at 7")
    phone.add("5500912746118840234", f"DTSTAMP:{now}", f"CREATED:{now}", "SUMMARY:Call the plumber", "DUE:20261204T170000Z")
    wait(lambda: {"Water the plants", "Call the plumber"} <= story.laptop.alarms().keys(), 5, 0.05)
    alarms = story.laptop.alarms()
    plants, plumber = alarms.get("Water the plants", {}), alarms.get("Call the plumber", {})
    story.results.equal((plants.get("schedule") or {}).get("kind"), "weekly", "the schedule of a new task")
    story.results.equal(plumber.get("next"), "2026-12-04T18:00:00+01:00", "the time of a new task")
    dues = {task.icalendar_component["DUE"].dt.strftime("%Y%m%dT%H%MZ") for task in phone.tasks.todos()
            if str(task.icalendar_component["SUMMARY"]) == "Water the plants"}
    expected = {"20261207T0600Z", "20261214T0600Z", "20261221T0600Z", "20261228T0600Z"}
    story.results.equal(dues, expected, "the tasks of a new alarm")

def delete_many(story, phone):
    """Five deletions at once, as of a wiped phone, are held until a decision."""
    laptop, results = story.laptop, story.results

    def delete(is_wiped):
        tasks = sorted((each for each in phone.tasks.todos() if str(each.icalendar_component["SUMMARY"]) == "Pills"),
                       key=lambda each: each.icalendar_component["DUE"].dt)[-5:]
        for task in tasks:
            if is_wiped:
                task.delete()
                time.sleep(0.3)
            else:
                (story.server.folder / task.url.path.rsplit("/", 1)[1]).unlink()
        found = wait(lambda: len(held(laptop)) == 5, 5, 0.05)
        results.check(found, "five deletions at once are held", held(laptop))
        results.equal(skips(laptop), before, "the skips of held deletions")

    before = skips(laptop)
    count = len(snapshot(story.server.folder))
    delete(False)
    status = laptop.run("phone", "status")
    text = status.out + status.err
    results.check("5" in text and "--skip-deleted" in text, "the status explains what is held", text)
    laptop.run("phone", "sync", "--restore-deleted")
    results.equal(len(snapshot(story.server.folder)), count, "the tasks that are written again")
    delete(True)
    laptop.run("phone", "sync", "--skip-deleted")
    results.equal(skips(laptop), before + 5, "the skips that were confirmed")
    results.equal(held(laptop), [], "nothing is held any more")

def skips(device): return len([each for each in device.events("Pills") if each["action"] == "skipped"])
def held(device): return device.must("phone", "status").get("held", [])

def snooze(story, phone):
    story.stop()
    story.start(8, 1, 58)
    story.results.check(story.laptop.rings("Tea"), "the alarm rings")
    before = phone.change("Tea", f"X-MOZ-SNOOZE-TIME:{story.clock.stamp(1800)}", f"X-MOZ-LASTACK:{story.clock.stamp()}",
                          f"LAST-MODIFIED:{story.clock.stamp()}")
    entry = story.answered("Tea", "snoozed", "Snoozed: Tea", before)
    story.results.check("until" in (entry.get("payload") or {}), "the snooze has an end", entry)
    story.silenced("Tea", before)

def dismiss(story, phone):
    story.stop()
    story.start(8, 2, 58)
    story.results.check(story.laptop.rings("Bins"), "the alarm rings")
    before = phone.change("Bins", f"LAST-MODIFIED:{story.clock.stamp()}", alarm=[f"ACKNOWLEDGED:{story.clock.stamp()}"])
    story.answered("Bins", "stopped", "Stopped: Bins", before)
    story.silenced("Bins", before)

def unchanged(story):
    """Neither the daemon nor further runs write without a change."""
    folder = story.server.folder
    time.sleep(1)
    files, tip = snapshot(folder), story.laptop.tip()
    for _ in range(2):
        story.laptop.run("phone", "sync")
    time.sleep(0.5)
    changed = differences(files, snapshot(folder))
    story.results.check(not changed, "no file is written without a change", changed)
    story.results.equal(story.laptop.tip(), tip, "no commit without a change")
