"""Shares a store between this version and an earlier one: a device with each, and a third one on which both versions
take turns, as during an upgrade and after a return to the old version. Every acknowledged write must reach all devices,
and both versions must read the result alike.

With --record FOLDER, writes the branches of two devices of the earlier version, and its merge of them, for
Tests/EndToEndTests/EarlierVersionTests.swift.
"""
import json, shutil, sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from sandbox import Clock, Device, Unusable, brief, git, mend, play

STEPS = 150
COMPARED = ("title", "state", "enabled", "schedule", "delivery", "next", "nextOccurrence", "note", "tags", "skipped",
            "ringing", "snooze", "pending", "allPending", "missed")
SCHEDULES = [
    ["--daily", "--at", "09:00,21:00"], ["--weekly", "mon,fri", "--at", "09:30"], ["every", "90", "days", "8:00"],
    ["every", "2nd", "fri", "9am"], ["last", "day", "of", "the", "month", "17:00"], ["first", "mon", "of", "the", "month", "10am"],
    ["--daily", "--at", "10:00", "--zone", "Europe/Berlin"], ["--once", "2026-12-24T18:00"], ["29", "feb", "12:00"]]
EDITS = [
    lambda n: ["--title", f"Title {n}"], lambda n: ["--note", f"note {n}"], lambda n: ["--tag", f"+tag{n % 5}"],
    lambda n: ["--daily", "--at", f"{n % 24:02}:{n % 60:02}"], lambda n: ["--sound", "chime"], lambda n: ["--persistent"]]
KINDS = ["tick"] * 3 + ["edit"] * 3 + ["done", "stop", "snooze", "skip", "unskip", "undo", "add", "delete"]
ALLOWED = (0, 3, 4)  # success; the alarm is gone; nothing to respond to

class Fleet:
    def __init__(self, report, sandbox, earlier):
        self.report, self.chance = report, report.chance
        self.clock = Clock()
        bin = sandbox.root / "earlier/bin"
        bin.mkdir(parents=True)
        shutil.copy(earlier, bin / "belfry")
        shutil.copytree(sandbox.root / "libexec", sandbox.root / "earlier/libexec")
        self.binaries = {"earlier": str(bin / "belfry"), "this": sandbox.belfry}
        self.devices = [Device(sandbox, name, self.clock) for name in ("old", "new", "both")]
        self.remote, self.counts, self.entries, self.number = sandbox.data / "remote.git", Counter(), {}, 0
        self.select(self.devices[0], "earlier")
        self.select(self.devices[1], "this")

    def select(self, device, version): device.belfry = self.binaries[version]

    def prepare(self, first):
        git(".", "init", "-q", "--bare", "-b", "main", str(self.remote), home=first.home)
        first.must("tier", "plus")
        for words in SCHEDULES:
            self.add(first, words)
        first.must("remote", "add", "origin", str(self.remote))
        first.must("sync")

    def add(self, device, words):
        self.number += 1
        return device.must("add", f"Alarm {self.number}", *words)["id"]

    def act(self, device, online=True):
        """Runs a random command, and records the log entries that it has acknowledged."""
        if device.name == "both":
            self.select(device, self.chance.choice(list(self.binaries)))
        self.clock.forward(self.chance.randrange(60, 20_000))
        alarms = sorted(device.listed())
        alarm = self.chance.choice(alarms)
        kind = self.chance.choice(KINDS + ["sync"] * online)
        if kind == "delete" and len(alarms) < 4:
            kind = "add"
        if kind == "add":
            self.add(device, self.chance.choice(SCHEDULES))
            outcome = None
        elif kind == "edit":
            self.number += 1
            outcome = device.run("edit", alarm, *self.chance.choice(EDITS)(self.number), "--json")
        elif kind in ("tick", "sync", "undo"):
            outcome = device.run(kind, "--json")
        else:
            outcome = device.run(kind, alarm, *(["--yes"] if kind in ("skip", "delete") else []), "--json")
        self.counts[kind if outcome is None or outcome.code == 0 else "refused"] += 1
        if outcome is not None and outcome.code not in ALLOWED:
            self.report.fail(f"`{kind}` fails", f"{device.name}: {brief(outcome)}")
        self.entries.update(device.log())

    def settle(self, devices):
        for device in devices * 3:
            device.must("sync")

    def check(self):
        """Compares all devices, and both versions' reading of each."""
        self.settle(self.devices)
        first = self.devices[0]
        files = {path: name for path, name in first.files().items() if not path.startswith("devices/")}
        readings = {}
        for device in self.devices:
            for path, name in device.files().items():
                if not path.startswith("devices/") and files.get(path) != name:
                    self.report.fail("the devices differ", f"{device.name}: {path}")
            if missing := files.keys() - device.files().keys():
                self.report.fail("the devices differ", f"{device.name} lacks {sorted(missing)[:3]}")
            for path, entry in self.entries.items():
                if device.log().get(path) != entry:
                    self.report.fail("an acknowledged write is missing", f"{device.name}: {path}")
            for problem in device.problems():
                self.report.fail("a store is inconsistent", f"{device.name}: {problem}")
            for version in self.binaries:
                self.select(device, version)
                for problem in mend(device):
                    self.report.fail("doctor finds problems", f"{device.name}, {version}: {problem}")
                readings[device.name, version] = summary(device.listed())
        expected = readings[first.name, "earlier"]
        for where, reading in readings.items():
            for alarm in expected.keys() | reading.keys():
                if expected.get(alarm) != reading.get(alarm):
                    self.report.fail("the versions read an alarm differently",
                                     f"{where}: {reading.get(alarm)} instead of {expected.get(alarm)}")

    def meet_newer_format(self):
        """Adds a record of a newer format. Both versions must report it and not edit it, and it must not stop a sync. A
        merge prefers a valid record, so a device with the newer version would restore this one."""
        device = self.devices[0]
        path = device.store / "alarms" / f"{sorted(device.listed())[0]}.json"
        record = json.loads(path.read_bytes())
        path.write_text(json.dumps({**record, "format": 2}, indent=2) + "\n")
        kept = path.read_bytes()
        for version in self.binaries:
            self.select(device, version)
            outcome = device.run("list")
            if "format is 2" not in outcome.err:
                self.report.fail("a record of a newer format is not reported", f"{version}: {brief(outcome)}")
            if (outcome := device.run("edit", path.stem, "--note", "x")).code == 0 or path.read_bytes() != kept:
                self.report.fail("a record of a newer format is changed", f"{version}: {brief(outcome)}")
            if (outcome := device.run("add", f"Beside {version}", "--daily", "--at", "09:00")).code != 0:
                self.report.fail("a record of a newer format blocks others", f"{version}: {brief(outcome)}")
        # As the newer version on another device would have committed it.
        device.git("commit", "-qam", "Record of a newer format")
        for other in self.devices * 2:
            if (outcome := other.run("sync")).code != 0:
                self.report.fail("a record of a newer format stops a sync", f"{other.name}: {brief(outcome)}")
            if path.stem not in other.listed():
                self.report.fail("an alarm is lost because its record has a newer format", other.name)

def summary(listed):
    """Returns the compared values of alarms, without those that depend on the device."""
    values = {id: {key: alarm[key] for key in COMPARED if key in alarm} for id, alarm in listed.items()}
    for alarm in values.values():
        if "ringing" in alarm:
            alarm["ringing"] = {key: value for key, value in alarm["ringing"].items() if key != "delivered"}
    return values

def record(fleet, folder):
    """Writes what two devices of the earlier version have written apart, and the merge of one of them."""
    laptop, desktop = fleet.devices[0], fleet.devices[1]
    fleet.select(desktop, "earlier")
    fleet.prepare(laptop)
    if (outcome := desktop.run("clone", str(fleet.remote))).code != 0:
        raise Unusable("`belfry clone` ended with " + brief(outcome))
    for number in range(40):
        for device in (laptop, desktop):
            fleet.act(device, online=number < 15)
    # What random commands may not have made: conflicting notes, skipped, pending and done occurrences.
    first, second, third = (fleet.add(laptop, ["--daily", "--at", time]) for time in ("07:00", "07:00", "09:00"))
    fleet.settle([laptop, desktop])
    fleet.clock.moment = fleet.clock.moment.replace(hour=7, minute=0, second=10) + timedelta(days=1)
    for device in (laptop, desktop):
        device.must("tick")
        device.must("stop", first)
        device.must("edit", third, "--note", f"by the {device.name} device", "--tag", f"+{device.name}")
        fleet.add(device, ["--daily", "--at", "07:00"])
    laptop.must("stop", second), desktop.must("done", second)
    laptop.must("skip", third, "--yes")
    bundle = folder / "branches.git"
    folder.mkdir(parents=True, exist_ok=True)
    git(".", "init", "-q", "--bare", str(bundle), home=laptop.home)
    for device in (laptop, desktop):
        device.git("push", "-q", str(bundle), f"main:{device.name}")
    now = fleet.clock.text()
    lists = {device.name: summary(device.listed(now=now)) for device in (laptop, desktop)}
    laptop.must("sync", now=now), desktop.must("sync", now=now), laptop.must("sync", now=now)
    result = git(bundle, "bundle", "create", str(folder / "branches.bundle"), "--all", home=laptop.home)
    shutil.rmtree(bundle)
    if result.code:
        raise Unusable("git bundle: " + brief(result))
    (folder / "expected.json").write_text(json.dumps({
        "now": now, "lists": lists, "merged": summary(laptop.listed(now=now)),
        "alarms": laptop.git("rev-parse", "HEAD:alarms").out.strip(),
        "log": laptop.git("rev-parse", "HEAD:log").out.strip()}, indent=1, sort_keys=True) + "\n")
    return f"Recorded {len(lists[laptop.name])} and {len(lists[desktop.name])} alarms in {folder}."

def body(report, sandbox):
    options = dict(zip(sys.argv[5::2], sys.argv[6::2]))
    if "--earlier" not in options:
        raise Unusable("this scenario needs --earlier BINARY")
    fleet = Fleet(report, sandbox, options["--earlier"])
    if "--record" in options:
        return record(fleet, Path(options["--record"]))
    fleet.prepare(fleet.devices[0])
    for device in fleet.devices[1:]:
        if (outcome := device.run("clone", str(fleet.remote))).code != 0:
            raise Unusable("`belfry clone` ended with " + brief(outcome))
    try:
        for number in range(STEPS // 3 if report.short else STEPS):
            fleet.act(fleet.chance.choice(fleet.devices))
            report.progress(f"step {number}")
        fleet.check()
        fleet.meet_newer_format()
    except ValueError as reason:
        report.fail("a store cannot be listed", str(reason))
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(fleet.counts.items()))
    return f"{sum(fleet.counts.values())} commands ({counts}), {len(fleet.entries)} log entries."

play("versions", body)
