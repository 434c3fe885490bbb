"""The part `partners`: a mailbox with many requests, and the network traffic of one request."""
import json, os, shlex, signal, socket, time
from contextlib import suppress

from cells import figure
from options import BASE, QUICK
from sandbox import GIT, belfry, cost, git, output, progress, run, spawn, work
from wire import Wire

REQUESTS = 100 if QUICK else 1_000  # requests that wait in a partner's mailbox

class Letters:
    """Two partners, a mailbox full of requests, and the cost of opening them."""

    def __init__(self):
        self.box = work("mailbox.git")
        run([GIT, "init", "-q", "--bare", self.box])
        self.chris, self.alex = (work(name) for name in ("chris", "alex"))
        self.steps, self.costs = {}, {}

    def partner(self, store, *words): return belfry(store, "partner", *words)

    def pair(self, url):
        for store in (self.chris, self.alex):
            run(belfry(store, "tier", "premium"), BASE)
        link = json.loads(output(self.partner(self.chris, "invite", "--remote", url, "--json"), BASE))["link"]
        run(self.partner(self.alex, "accept", "--yes", link), BASE)
        for store in (self.chris, self.alex):
            run(self.partner(store, "sync"), BASE)
        code = json.loads(output(self.partner(self.chris, "list", "--json"), BASE))[0]["code"]
        for store in (self.chris, self.alex):
            run(self.partner(store, "confirm", code, "--name", "you"), BASE)
        run(self.partner(self.chris, "sync"), BASE)
        run(self.partner(self.alex, "limits", "you", "--per-day", "200", "--quiet", "off"), BASE)

    def fill(self, count):
        """Writes requests while the mailbox is unavailable, and then delivers them together."""
        os.rename(self.box, self.box + ".away")
        words = shlex.join(self.partner(self.chris, "send", "you", "Wake up", "--in"))
        run(["/bin/sh", "-c", f"for i in $(seq {count}); do {words} $((60 + i))m || [ $? = 6 ] || exit 1; done"], BASE)
        os.rename(self.box + ".away", self.box)

    def step(self, name, argv):
        self.steps[name] = cost(argv, BASE)

    def measure(self):
        self.pair(self.box)
        progress(f"partners: {REQUESTS:,} requests")
        self.fill(REQUESTS)
        self.step("sent to the mailbox by one command", self.partner(self.chris, "sync"))
        copy = work("copy.git")
        run([GIT, "init", "-q", "--bare", copy])
        self.step("fetched by git alone", git(copy, "fetch", "-q", self.box, "+refs/belfry/mail/*:refs/mail/*"))
        self.step("processed and answered by the receiver", self.partner(self.alex, "sync"))
        self.step("answers processed by the sender", self.partner(self.chris, "sync"))
        self.step("nothing new", self.partner(self.alex, "sync"))
        states = [entry.get("state") for entry in json.loads(output(self.partner(self.chris, "log", "--json"), BASE))]
        self.states = {state: states.count(state) for state in sorted(set(states))}

    def measure_wire(self):
        progress("partners: network traffic")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        argv = [GIT, "daemon", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}", "--export-all"]
        argv += ["--enable=receive-pack", f"--base-path={work()}", work()]
        server, _ = spawn(argv, None, said=work("daemon.log"))
        try:
            time.sleep(0.5)
            self.wire(Wire(port))
        finally:
            with suppress(ProcessLookupError, ChildProcessError):
                os.killpg(server, signal.SIGTERM)
                os.waitpid(server, 0)

    def wire(self, wire):
        self.box = work("wire.git")
        run([GIT, "init", "-q", "--bare", self.box])
        self.chris, self.alex = (work(name) for name in ("chris2", "alex2"))
        self.pair(f"{wire.url}/wire.git")
        send = self.partner(self.chris, "send", "you", "Wake up from your nap", "--in", "1h")
        self.costs["sent"] = wire.counted(send, BASE)
        self.costs["alarm set, and receipt sent"] = wire.counted(self.partner(self.alex, "sync"), BASE)
        self.costs["receipt fetched"] = wire.counted(self.partner(self.chris, "sync"), BASE)
        self.costs["sync without news"] = wire.counted(self.partner(self.chris, "sync"), BASE)

def write_letters():
    letters = Letters()
    letters.measure()
    letters.measure_wire()
    return letters

# --- Reporting ---

def print_letters(letters):
    if not letters:
        return
    print(f"\nPartners: {REQUESTS:,} requests in a mailbox, by path")
    print(f"{'':44}" + "".join(f"{column:>12}" for column in ("ms", "CPU ms", "per second")))
    for name, taken in letters.steps.items():
        rate = "" if name == "nothing new" else f"{REQUESTS / taken.wall * 1000:,.0f}"
        print(f"{name:44}" + "".join(f"{value:>12}" for value in (figure(taken.wall), figure(taken.cpu), rate)))
    print("Their states: " + ", ".join(f"{count:,} {state}" for state, count in letters.states.items()) + ".")
    print("\nOne request, by git://")
    print(f"{'':32}" + "".join(f"{column:>14}" for column in ("connections", "round trips", "bytes out", "bytes in")))
    for name, values in letters.costs.items():
        print(f"{name:32}" + "".join(f"{value:>14,}" for value in values))
