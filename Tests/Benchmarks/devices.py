"""The part `devices`: many devices that sync with one remote in turn."""
import os, statistics
from collections import namedtuple

from cells import figure, target_double, target_flat
from options import QUICK, SMALL
from remotes import OURS, PLAIN, Remote
from sandbox import LIMIT, Cost, cost, progress, work
from stores import count_commits, count_objects, site_of

DEVICES, ROUNDS = (5, 2) if QUICK else (30, 4)  # the number of devices that sync in turn, and of rounds
Round = namedtuple("Round", "cost commits loose packs")  # of a sync, the median; the others of one device

class Circle(Remote):
    """A remote with which many devices sync in turn, each after a change of its own alarm."""

    def __init__(self, tool, site):
        super().__init__(tool, site.store, work(f"circle-{tool.name}.git"))
        self.devices = {work(f"{tool.name}-{number}"): site.ids[number] for number in range(DEVICES)}
        self.latest, self.rounds = {}, []
        for device in self.devices:
            tool.clone(self.path, device)
            # With the first sync belfry adds a record of the device.
            self.sync(device, self.moment())
        self.records = self.count()

    def sync(self, device, clock):
        costs = [cost(argv, clock, LIMIT) for argv in self.tool.sync(device, "origin")]
        return Cost(*map(sum, zip(*costs)))

    def turn(self, device):
        """Changes a device's alarm and syncs, and returns the cost of the sync."""
        clock, self.latest[device] = self.act(device, self.devices[device])
        os.sync()
        taken = self.sync(device, clock)
        self.check(device, self.latest.values())
        return taken

    def note_round(self, costs):
        device = next(iter(self.devices))
        counts = count_objects(device)
        middle = Cost(*map(statistics.median, zip(*costs)))
        self.rounds.append(Round(middle, count_commits(device), counts["count"], counts["packs"]))

    def settle(self):
        """Checks that every device has all changes after all have synced again."""
        for device in self.devices:
            self.sync(device, self.moment())
            self.check(device, self.latest.values())

def take_turns():
    """Lets the devices take their turns, each with belfry and with git, in a warm-up, in which the first devices
    fetch less than the last ones, and in the rounds."""
    circles = [Circle(tool, site_of(SMALL)) for tool in (OURS, PLAIN)]
    for round in range(ROUNDS + 1):
        progress(f"devices: round {round + 1} of {ROUNDS + 1}")
        costs = [[] for _ in circles]
        for devices in zip(*(circle.devices for circle in circles)):
            for circle, device, taken in zip(circles, devices, costs):
                taken.append(circle.turn(device))
        for circle, taken in zip(circles, costs):
            circle.note_round(taken)
    for circle in circles:
        circle.settle()
    return circles

# --- Reporting ---

def print_circles(circles):
    if not circles:
        return
    print(f"\n{DEVICES} devices, each with one change and one sync per round, by path")
    columns = ["ms", "CPU ms", "commits", "loose", "packs"]
    print(f"{'':9}" + "".join(f"{circle.tool.name:>45}" for circle in circles))
    print(f"{'':9}" + "".join(f"{column:>9}" for _ in circles for column in columns))
    for number in sorted({1, (ROUNDS + 1) // 2, ROUNDS}):
        values = []
        for taken, *counts in (circle.rounds[number] for circle in circles):
            values += [figure(value) for value in taken] + [f"{count:,}" for count in counts]
        print(f"round {number:<3}" + "".join(f"{value:>9}" for value in values))
    print("ms, CPU ms: medians over the devices, of a sync with its child processes; commits, loose objects and packs:")
    print("of one device.")

def print_circle_targets(circles):
    first, last = ([circle.rounds[number].cost for circle in circles] for number in (1, ROUNDS))
    name = f"sync of {DEVICES} devices, round {ROUNDS}"
    target_double(name, *(cost.wall for cost in last))
    # By CPU time, which hardly depends on other work of the machine.
    target_flat(f"{name} ÷ round 1, CPU", [cost.cpu for cost in last], [cost.cpu for cost in first])
