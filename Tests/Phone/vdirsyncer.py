"""vdirsyncer copies between the folder that Belfry writes and a collection of a Radicale, which the phone uses."""
import subprocess, time
from checks import wait
from parts import USER, Phone, Radicale
from radicale import Story
from sandbox import environment

class Copier:
    """vdirsyncer with a pair of the folder and the server."""
    def __init__(self, folder, server, policy):
        self.home = folder.parent / "vdirsyncer"
        self.home.mkdir()
        resolution = f'conflict_resolution = "{policy}"\n' if policy else ""
        self.config = self.home / "config"
        self.config.write_text(
            f'[general]\nstatus_path = "{self.home}/status/"\n[pair belfry]\na = "folder"\nb = "server"\ncollections = null\n'
            f'{resolution}[storage folder]\ntype = "filesystem"\npath = "{folder}"\nfileext = ".ics"\n'
            f'[storage server]\ntype = "caldav"\nurl = "{server.url(server.path)}"\nusername = "{USER}"\npassword = "phone"\n'
            'item_types = ["VTODO"]\n')
        self.run("discover")

    def run(self, *words):
        outcome = subprocess.run(
            ["vdirsyncer", "-c", str(self.config), *words], env=environment(self.home), capture_output=True, text=True,
            timeout=60, stdin=subprocess.DEVNULL)
        return outcome.returncode, outcome.stdout + outcome.stderr

def play(run, results):
    root = run.folder("vdirsyncer")
    server = Radicale(root / "server", run.bin / "radicale", name="phone")
    server.create()
    story = Story(run, results, server, "vdirsyncer", devices=("laptop",))
    folder = root / "tasks"
    folder.mkdir()
    try:
        server.start()
        story.prepare(("Pay rent", "2026-12-03 9:00"), ("Post", "every thu 10:00"), ("Gym", "every fri 10:00"), ("Piano", "every sat 10:00"))
        story.laptop.setup(folder)
        phone, copier = Phone(server), Copier(folder, server, "b wins")
        story.start(10, 0)
        wait(lambda: list(folder.glob("*.ics")), 10)
        results.equal(copier.run("sync")[0], 0, "the first copy")
        titles = {"Pay rent", "Post", "Gym", "Piano"}
        results.check(titles <= phone.all().keys(), "the phone has all tasks", sorted(phone.all()))
        names = {path.name for path in folder.glob("*.ics")}
        copied = {path.name for path in server.folder.glob("*.ics")}
        results.equal(len(copied), len(names), "the number of files on the server")
        results.check(names == copied, "the files have the same names on both sides", sorted(copied - names)[:2])
        # From the phone, and back.
        at = story.clock.stamp()
        phone.change("Pay rent", "STATUS:COMPLETED", f"COMPLETED:{at}", "PERCENT-COMPLETE:100", f"LAST-MODIFIED:{at}")
        phone.add("7740912746118840233", f"DTSTAMP:{at}", "SUMMARY:Renew the passport", "DUE;VALUE=DATE:20261207")
        results.equal(copier.run("sync")[0], 0, "a copy of answers")
        story.answered("Pay rent", "done", "Done: Pay rent", time.time())
        results.check(wait(lambda: "Renew the passport" in story.laptop.alarms(), 5, 0.05), "a new task becomes an alarm")
        # From the store to the phone.
        story.laptop.must("edit", "Post", "--title", "Letters")
        story.laptop.must("skip", "Gym", "--yes")
        time.sleep(0.5)
        results.equal(copier.run("sync")[0], 0, "a copy of changes")
        results.check("Letters" in phone.all(), "the phone sees a new title", sorted(phone.all()))
        both_sides(story, phone, copier)
        # Nothing more to copy.
        time.sleep(0.5)
        copier.run("sync")
        code, text = copier.run("sync")
        results.check(code == 0 and "Copying" not in text and "Deleting" not in text, "nothing is copied without a change", text)
    finally:
        story.close()

def both_sides(story, phone, copier):
    """The title changes in the store, and the phone completes the task before vdirsyncer runs: both stay."""
    story.laptop.must("edit", "Piano", "--title", "Piano lesson")
    time.sleep(0.5)
    at = story.clock.stamp()
    phone.change("Piano", "STATUS:COMPLETED", f"COMPLETED:{at}", "PERCENT-COMPLETE:100", f"LAST-MODIFIED:{at}")
    story.results.equal(copier.run("sync")[0], 0, "a copy with changes on both sides")
    done = wait(lambda: story.laptop.last("Piano lesson").get("action") == "done", 5, 0.05)
    story.results.check(done, "the answer of the phone is recorded", story.laptop.last("Piano lesson"))
    story.results.check("Piano lesson" in story.laptop.alarms(), "the title of the store stays", sorted(story.laptop.alarms()))
    story.results.equal(copier.run("sync")[0], 0, "the copy back")
    story.results.check("Piano lesson" in phone.all(), "the phone has the title of the store", sorted(phone.all()))
