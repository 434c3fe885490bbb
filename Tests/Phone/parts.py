"""The programs of others: servers on a free port of the loopback interface, each with its own home, and a phone."""
import socket, subprocess, time, urllib.request
from contextlib import suppress
from pathlib import Path
from sandbox import Unusable, environment
from checks import wait
import caldav

USER = "anna"
PROPERTIES = '{"tag": "VCALENDAR", "C:supported-calendar-component-set": "VTODO"}'

def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]

class Server:
    """A server that runs until it is closed."""
    def __init__(self, root, program):
        self.root, self.program, self.port = Path(root), str(program), free_port()
        self.home = self.root / "home"
        self.home.mkdir(parents=True)
        self.data = self.root / "data"
        self.data.mkdir()
        self.process = None

    def launch(self, *words):
        self.log = self.root / "server.log"
        # The home is also that of git, whose configuration has the name for Xandikos' commits.
        (self.home / ".gitconfig").write_text("[user]\nname = Server\nemail = server@example.com\n")
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                [self.program, *map(str, words)], cwd=self.home, env=environment(self.home),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        if not wait(self.answers, limit=20, pause=0.02):
            raise Unusable(f"{self.program} does not start: {self.log.read_text()[-300:]}")

    def answers(self):
        if self.process.poll() is not None:
            raise Unusable(f"{self.program} ended: {self.log.read_text()[-300:]}")
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False

    def close(self):
        if self.process:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
            self.process.kill()
            self.process.wait()

    def url(self, path=""): return f"http://127.0.0.1:{self.port}/{path}"

class Radicale(Server):
    """Radicale with a collection whose folder Belfry writes."""
    def __init__(self, root, program, name="belfry"):
        super().__init__(root, program)
        self.folder = self.data / "collection-root" / USER / name
        self.folder.mkdir(parents=True)
        self.path = f"{USER}/{name}/"
        config = self.root / "radicale.conf"
        config.write_text(
            f"[server]\nhosts = 127.0.0.1:{self.port}\n[auth]\ntype = none\n[storage]\nfilesystem_folder = {self.data}\n"
            "[logging]\nlevel = warning\n")
        self.config = config

    def create(self):
        """Marks the folder as a collection of tasks. Belfry's setup does it for its own."""
        (self.folder / ".Radicale.props").write_text(PROPERTIES)

    def start(self): self.launch("--config", self.config)

class Xandikos(Server):
    """Xandikos with a collection, a git repository with a work tree."""
    def __init__(self, root, program, is_old):
        super().__init__(root, program)
        self.is_old = is_old
        self.folder = self.data / USER / "calendars" / "belfry"
        self.path = f"{USER}/calendars/belfry/"

    def start(self):
        self.launch(
            *([] if self.is_old else ["serve"]), "-d", self.data, "--current-user-principal", f"/{USER}/", "--defaults",
            "-l", "127.0.0.1", "-p", self.port)
        wait(lambda: (self.data / USER / "calendars").is_dir())
        self.git("init", "-q", "-b", "master", str(self.folder))
        with open(self.folder / ".git/config", "a") as config:
            config.write("[xandikos]\n\ttype = calendar\n\tdisplayname = Belfry\n")

    def git(self, *words):
        there = [] if words[0] == "init" else ["-C", str(self.folder)]
        return subprocess.run(
            ["git", *there, *words], env=environment(self.home), capture_output=True, text=True, check=True).stdout

class Phone:
    """A CalDAV client. It changes the text of a task as the apps do, and leaves the rest."""
    def __init__(self, server):
        self.server = server
        self.client = caldav.DAVClient(url=server.url(), username=USER, password="phone")
        self.tasks = self.client.calendar(url=server.url(server.path))

    def names(self):
        """Returns the names of the collections that a discovery finds."""
        return [calendar.url.path.rstrip("/").rsplit("/", 1)[1] for calendar in self.client.principal().calendars()]

    def all(self):
        """Returns the tasks by title, also the completed ones. Of several, the next one."""
        tasks = sorted(self.tasks.todos(include_completed=True), key=due, reverse=True)
        return {str(task.icalendar_component["SUMMARY"]): task for task in tasks}

    def find(self, title, limit=10):
        """Waits for a task with a title."""
        task = wait(lambda: self.all().get(title), limit, pause=0.05)
        if task is None:
            raise Unusable(f"the phone has no task '{title}', but {sorted(self.all())}")
        return task

    def change(self, title, *lines, drop=(), alarm=()):
        """Replaces properties of a task, removes some, and adds lines to its alarm. Returns the time of the upload."""
        task = self.find(title)
        names = {line.replace(";", ":").split(":")[0] for line in lines} | set(drop)
        text, depth, in_todo = [], 0, False
        for line in unfolded(task.data):
            if line == "BEGIN:VTODO":
                in_todo, depth = True, 0
                text += [line, *lines]
                continue
            if line == "END:VALARM":
                text += alarm
            depth += line.startswith("BEGIN:") - line.startswith("END:")
            if not (in_todo and depth == 0 and line.replace(";", ":").split(":")[0] in names):
                text.append(line)
        task.data = "\r\n".join(text) + "\r\n"
        before = time.time()
        task.save()
        return before

    def add(self, name, *lines):
        """Uploads a new task. Returns the time of the upload."""
        body = "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:+//IDN tasks.org//android-141102//EN", "BEGIN:VTODO",
                            f"UID:{name}", *lines, "END:VTODO", "END:VCALENDAR", ""])
        before = time.time()
        self.put(f"{name}.ics", body.encode())
        return before

    def put(self, name, body):
        request = urllib.request.Request(
            self.server.url(self.server.path + name), data=body, method="PUT",
            headers={"Content-Type": "text/calendar; charset=utf-8", "Authorization": "Basic YW5uYTpwaG9uZQ=="})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status

def due(task):
    """Returns the due time as text, to sort tasks."""
    component = task.icalendar_component
    return component["DUE"].dt.strftime("%Y%m%dT%H%M") if "DUE" in component else "9"

def unfolded(text):
    return text.replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "").strip("\n").split("\n")
