"""Homes with a store each: of a person with everyday alarms, with very many, and with hostile titles."""
import json
from sandbox import Clock, Device, Unusable, run
from terminals import processes, wait

NOW = "2026-11-28T10:00:20Z"  # a Saturday. The time goes on while a screen is open, so that it is not close to the next minute
# The days before: the time of a command, and its words.
PAST = [
    ("2026-11-23T10:00:00Z", ["tier", "plus"]),
    ("2026-11-23T10:01:00Z", ["add", "Rent", "monthly", "on", "the", "1st", "at", "9am", "--tag", "home", "--note", "Pay landlord"]),
    ("2026-11-23T10:02:00Z", ["add", "Pills", "every", "day", "at", "8:00", "and", "21:00", "--tag", "health"]),
    ("2026-11-23T10:03:00Z", ["add", "Water plants \U0001f331", "every", "fri", "18:00", "--tag", "home"]),
    ("2026-11-23T10:04:00Z", ["add", "Müll \u6f22\u5b57", "every", "tue", "19:00"]),
    ("2026-11-23T10:05:00Z", ["add", "Team call", "every", "mon", "10am", "--tag", "work"]),
    ("2026-11-23T10:06:00Z", ["add", "Tax return", "on", "31", "may", "2027", "at", "9:00"]),
    ("2026-11-23T10:07:00Z", ["add", "Backup disks", "every", "sat", "9:30", "--tag", "work"]),
    ("2026-11-27T18:00:01Z", ["tick"]), ("2026-11-27T18:05:00Z", ["done", "water"]),
    ("2026-11-28T08:00:01Z", ["tick"]), ("2026-11-28T08:04:00Z", ["stop", "pills"]),
    ("2026-11-28T09:30:01Z", ["tick"])]
NAVIGATION = ["j", "k", "g", "G", "\r", "\x1b", "\t", "1", "2", "3", "4", "5", "6", "7", "h", "l", "[", "]", "\x1b[A", "\x1b[B", "\x04",
              "\x15", "\x06", "\x02", "\x0c", "?", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", " ", "v", "j", "j", "k"]

def new_home(sandbox, name, **more):
    """Returns a device without a store."""
    device = Device(sandbox, name, Clock())
    (device.home / "run").mkdir(mode=0o700)
    # The welcome is shown only once.
    (device.home / ".local/state/belfry").mkdir(parents=True)
    (device.home / ".local/state/belfry/welcomed").touch()
    # All homes have the same names, so that their screens can be compared.
    configuration = device.home / ".gitconfig"
    configuration.write_text(configuration.read_text().replace(name, "laptop"))
    # Notifications are not written to the terminals of the person who runs this.
    (device.home / "terminals").mkdir()
    device.environment |= {
        "BELFRY_DEVICE": "laptop", "BELFRY_TERMINALS": str(device.home / "terminals"),
        "XDG_RUNTIME_DIR": str(device.home / "run"), "TERM": "xterm-256color", "EDITOR": "true", **more}
    return device

def do(device, now, words):
    outcome = device.run(*words, now=now)
    if outcome.code != 0:
        raise Unusable(f"`belfry {' '.join(words)}` ended with {outcome.code}: {outcome.err[:300]}")
    # The process of a delivery, whose clock stands still, must not write after a later command.
    wait(lambda: not processes(device.home))

def everyday(sandbox, name, **more):
    """Returns a device with alarms that ring, are pending, and come next."""
    device = new_home(sandbox, name, **more)
    for now, words in PAST:
        do(device, now, words)
    return device

def many(sandbox, name, count):
    """Returns a device with many alarms, written in one commit of git."""
    device = new_home(sandbox, name)
    do(device, PAST[0][0], ["tier", "plus"])
    do(device, PAST[0][0], ["add", "Alarm 0", "every", "mon", "and", "fri", "at", "9:00"])
    path = next((device.store / "alarms").iterdir())
    record = json.loads(path.read_text())
    for number in range(1, count):
        name = "".join("abcdefghijklmnopqrstuvwxyz234567"[number >> shift & 31] for shift in range(0, 60, 5)) * 3
        other = record | {"id": name[:25] + "a", "title": f"Alarm number {number}"}
        other["schedule"] = record["schedule"] | {"times": [f"{number % 24:02}:{number * 7 % 60:02}"]}
        path.with_name(other["id"] + ".json").write_text(json.dumps(other))
    commit(device, f"{count} alarms")
    return device

def commit(device, subject):
    device.git("add", "-A")
    device.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", subject)
    outcome = device.run("list", now=NOW)
    if outcome.code != 0 or "not valid" in outcome.err:
        raise Unusable(f"the written records are refused: {outcome.err[:300]}")

def retitle(device, titles):
    """Gives alarms other titles by an edit of their files, where no command checks them."""
    paths = sorted((device.store / "alarms").glob("*.json"))
    for path, title in zip(paths, titles):
        record = json.loads(path.read_text())
        path.write_text(json.dumps(record | {"title": title}))
    device.git("add", "-A")
    device.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "Titles")
