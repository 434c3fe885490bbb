"""The temporary folder and the environment of a run, and the processes in it."""
import ctypes, json, os, re, shutil, signal, sys, tempfile, time
from collections import namedtuple
from contextlib import contextmanager, suppress
from pathlib import Path

from options import BINARY

LIMIT = 120  # timeout of one process in seconds
GIT, TASK, REMIND = (os.path.realpath(shutil.which(name) or name) for name in ("git", "task", "remind"))
ENVIRONMENT = {}  # of every command
Cost = namedtuple("Cost", "wall cpu")
PR_SET_CHILD_SUBREAPER = 36
binary, folder = BINARY, None

class Failure(Exception): pass

# --- The folder and the environment ---

def main(measure):
    """Runs a measurement in a temporary folder, and exits with its status."""
    # `peak` adopts commands whose parent has ended.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGALRM, too_long)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ended)
    with opened():
        try:
            code = measure()
        except Failure as failure:
            code = f"error: {failure}"  # printed on standard error, with status 1
    sys.exit(code)

def ended(number, frame): sys.exit(128 + number)
def too_long(number, frame): raise TimeoutError

@contextmanager
def opened():
    global folder
    with (
        tempfile.TemporaryDirectory(prefix="belfry-benchmark-", ignore_cleanup_errors=True) as folder,
        # Sockets need a short path.
        tempfile.TemporaryDirectory(prefix="belfry-", ignore_cleanup_errors=True) as runtime,
    ):
        os.mkfifo(work("gate"))
        ENVIRONMENT.update(environment("home", runtime))
        yield

def work(*names): return os.path.join(folder, *names)

def environment(name, runtime):
    """Returns an environment with a home that isolates the tools from the user's, and the user from the tools."""
    home = work(name)
    os.makedirs(home)
    # git still checks whether a gc is due, as for a user, but none runs during a measurement.
    Path(home, ".gitconfig").write_text("[user]\nname = Bench\nemail = bench@example.com\n[gc]\nauto = 0\n")
    Path(home, ".taskrc").write_text("confirmation=no\nhooks=off\nnews.version=9.0.0\n")
    chosen = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    chosen |= {"BELFRY_DEVICE": "bench", "GIT_CONFIG_NOSYSTEM": "1", "HOME": home, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    chosen |= {"TASKDATA": home, "TASKRC": os.path.join(home, ".taskrc"), "TMPDIR": folder, "TZ": "UTC"}
    chosen["XDG_RUNTIME_DIR"] = runtime
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        chosen[name] = os.path.join(home, name)
        os.makedirs(chosen[name], mode=0o700)
    # Hooks that deliver nothing and take no time.
    deliver = Path(chosen["XDG_CONFIG_HOME"], "belfry/hooks/deliver")
    deliver.mkdir(parents=True)
    for name in ("notify", "follow-up"):
        Path(deliver, name).write_text("#!/bin/sh\n")
        Path(deliver, name).chmod(0o700)
    return chosen

def use(path, surroundings):
    """Makes a belfry and an environment those of the following commands."""
    global binary
    binary = path
    ENVIRONMENT.clear()
    ENVIRONMENT.update(surroundings)

def machine():
    models = [line.split(":")[1].strip() for line in text("/proc/cpuinfo").split("\n") if line.startswith("model name")]
    disk = output(["/bin/df", "--output=fstype", folder]).split("\n")[-1]
    system = f"{os.cpu_count()} cores, {os.uname().sysname} {os.uname().release}, {disk}"
    return f"{models[0] if models else os.uname().machine}, {system}"

def version(path): return re.search(r"\d+(\.\d+)+", output([path, "--version"]))[0]

def progress(line):
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

# --- Processes ---

def spawn(argv, clock, source=None, said=None):
    surroundings = dict(ENVIRONMENT, BELFRY_NOW=instant(clock)) if clock else ENVIRONMENT
    files = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    if source is not None:
        files = [(os.POSIX_SPAWN_DUP2, source, 0)]
    for number, path in ((1, said or work("stdout")), (2, said or work("stderr"))):
        files.append((os.POSIX_SPAWN_OPEN, number, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    options = {"file_actions": files, "setpgroup": 0, "setsigdef": [signal.SIGPIPE]}  # Python ignores SIGPIPE
    start = time.perf_counter()
    return os.posix_spawn(argv[0], argv, surroundings, **options), start

def wait(pid, group, argv, limit):
    """Waits for a process and returns its resource usage. Kills its group at the limit or when this script ends."""
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        _, status, usage = os.wait4(pid, 0)
    except BaseException as reason:
        with suppress(ProcessLookupError, ChildProcessError):  # it may have ended just now
            os.killpg(group, signal.SIGKILL)
            os.waitpid(pid, 0)
        raise Failure(f"`{spoken(argv)}` took over {limit} s") if isinstance(reason, TimeoutError) else reason
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise Failure(f"`{spoken(argv)}` ended with {code}: " + " / ".join(text(work("stderr")).split("\n")[:2]))
    return usage

def cost(argv, clock=None, limit=600):
    """Runs a command to its end and returns the wall time and the CPU time, with that of its children, in
    milliseconds."""
    pid, start = spawn(argv, clock)
    usage = wait(pid, pid, argv, limit)
    return Cost((time.perf_counter() - start) * 1000, (usage.ru_utime + usage.ru_stime) * 1000)

def run(argv, clock=None, limit=600): return cost(argv, clock, limit).wall

def feed(argv, parts):
    """Runs a command that reads the output of a generator, both concurrently."""
    source, sink = os.pipe()
    pid, _ = spawn(argv, None, source)
    os.close(source)
    try:
        # The wait for the command reports the reason if it ends early.
        with suppress(BrokenPipeError), open(sink, "wb") as stream:
            stream.writelines(parts)
    finally:
        wait(pid, pid, argv, 600)

def peak(argv, clock):
    """Runs a command and returns the peak memory, in megabytes, of its largest process.

    The kernel counts the memory of the parent process as the command's own until its exec, and this process is larger
    than most measured ones. Therefore a small shell starts the command and ends, this process adopts the command to
    read its usage, and only then opens the gate for it. Otherwise the shell could reap it first.
    """
    script = 'pid=$1 gate=$2; shift 2; { read -r go <"$gate"; exec "$@"; } & echo $! >"$pid"'
    group, _ = spawn(["/bin/sh", "-c", script, "sh", work("pid"), work("gate"), *argv], clock)
    wait(group, group, argv, LIMIT)
    Path(work("gate")).write_text("go\n")
    return wait(int(text(work("pid"))), group, argv, LIMIT).ru_maxrss / 1024

def output(argv, clock=None):
    run(argv, clock)
    return text(work("stdout"))

def spoken(argv):
    words = " ".join(argv).replace(folder + "/", "").replace(binary, "belfry")
    return words if len(words) <= 100 else words[:99] + "…"

def instant(moment): return moment.isoformat() + "Z"
def minute(moment): return moment.isoformat(timespec="minutes")
def belfry(store, *words): return [binary, "--store", store, *words]
def git(repository, *words): return [GIT, "-C", repository, *words]
def task(data, *words): return [TASK, "rc.data.location=" + data, *words]
def head(repository): return output(git(repository, "rev-parse", "HEAD"))

@contextmanager
def running(argv, said):
    """Runs a process in the background, and ends it."""
    pid, _ = spawn(argv, None, said=said)
    try:
        yield pid
    finally:
        with suppress(ProcessLookupError, ChildProcessError):  # it may have ended already
            os.kill(pid, signal.SIGTERM)
            until = time.monotonic() + 10
            while not os.waitpid(pid, os.WNOHANG)[0]:
                if time.monotonic() > until:
                    os.killpg(pid, signal.SIGKILL)
                time.sleep(0.02)

# --- Files ---

def text(path): return Path(path).read_text(errors="replace").strip()
def read(path): return json.loads(Path(path).read_text())
def document(record): return json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
def write(path, record): Path(path).write_text(document(record))
