"""Two devices publish to one folder: one at a time writes, each answer is recorded once, and the other one takes over."""
import time
from checks import differences, snapshot, wait
from races import files, occurrences
from radicale import Story
from todoman import NoServer

def play(run, results):
    folder = run.folder("sharing") / "tasks"
    folder.mkdir()
    story = Story(run, results, NoServer(), "sharing")
    laptop, desk = story.devices
    try:
        story.prepare(("Pills", "daily 20:00"), ("Post", "every thu 10:00"))
        laptop.setup(folder)
        both_sync(story)
        desk.setup(folder)
        both_sync(story)
        story.start(10, 0)
        wait(lambda: len(list(folder.glob("*.ics"))) > 30, 10, 0.1)
        time.sleep(1)
        one_writer(story, folder)
        one_answer(story, folder)
        cut_off(story, folder)
        takes_over(story, folder)
    finally:
        story.close()

def both_sync(story):
    for device in (*story.devices, *story.devices):
        device.must("sync")

def titles(folder):
    """Returns the titles of the open tasks."""
    texts = [path.read_bytes().decode() for path in folder.glob("*.ics")]
    return {line for text in texts if "STATUS:NEEDS-ACTION" in text for line in text.split("\r\n") if line.startswith("SUMMARY:")}

def settles(story, folder, words, limit=10):
    """Checks that the files stay as they are after some seconds."""
    previous = [snapshot(folder)]
    def is_still():
        last = previous[0]
        time.sleep(1)
        previous[0] = snapshot(folder)
        return not differences(last, previous[0])
    story.results.check(wait(is_still, limit, 0.01), f"{words}: the devices stop to write")

def one_writer(story, folder):
    """Changes on either device reach the files, and neither undoes those of the other."""
    for device, title in zip(story.devices, ("Vitamins", "Tablets")):
        identifier = next(each["id"] for each in device.alarms().values() if each["schedule"]["kind"] == "daily")
        device.must("edit", identifier, "--title", title)
        seen = wait(lambda: f"SUMMARY:{title}" in titles(folder) and len(titles(folder)) == 2, 10, 0.05)
        story.results.check(seen, f"a change on {device.name} reaches all files", titles(folder))
        known = wait(lambda: all(title in each.alarms() for each in story.devices), 10, 0.1)
        story.results.check(known, f"a change on {device.name} reaches both stores")
    settles(story, folder, "after changes on both devices")

def one_answer(story, folder):
    """An answer in the folder that both devices see is recorded once."""
    task = files(story, folder, "Tablets")[0]
    task.complete(story.clock.stamp())
    occurrence = occurrences([task]).pop()
    def found(device):
        return [each for each in device.must("log") if (each.get("occurrence"), each["action"]) == (occurrence, "done")]
    story.results.check(wait(lambda: all(found(device) for device in story.devices), 10, 0.1), "an answer reaches both devices")
    time.sleep(1)
    story.results.equal([len(found(device)) for device in story.devices], [1, 1], "the entries of an answer")

def cut_off(story, folder):
    """The remote cannot be reached, and both devices change the same alarm: no device writes without an end."""
    away = story.remote.with_name("away.git")
    story.remote.rename(away)
    for device, title in zip(story.devices, ("Pills A", "Pills B")):
        identifier = next(each["id"] for each in device.alarms().values() if each["schedule"]["kind"] == "daily")
        device.must("edit", identifier, "--title", title)
    settles(story, folder, "without the remote")
    away.rename(story.remote)
    both_sync(story)
    seen = wait(lambda: len(titles(folder)) == 2 and len({device.alarms()["Post"]["id"] for device in story.devices}) == 1, 10, 0.1)
    story.results.check(seen, "after a cut, all files have one title", titles(folder))
    agreed = [sorted(device.alarms()) for device in story.devices]
    story.results.equal(agreed[0], agreed[1], "the titles of both devices after a cut")
    settles(story, folder, "after a cut")

def takes_over(story, folder):
    """Each device alone writes, after the other one was silent for some time."""
    both_sync(story)
    story.stop()
    for hour, device in zip((12, 15), story.devices):
        story.clock.set(story.clock.now().replace(hour=hour, minute=0, second=0, tzinfo=None))
        device.start()
        title = f"Alone {hour}"
        identifier = next(each["id"] for each in device.alarms().values() if each["schedule"]["kind"] == "daily")
        device.must("edit", identifier, "--title", title)
        seen = wait(lambda: f"SUMMARY:{title}" in titles(folder) and len(titles(folder)) == 2, 15, 0.1)
        story.results.check(seen, f"{device.name} alone writes the tasks", titles(folder))
        device.stop()
