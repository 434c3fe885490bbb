"""An OpenSSH server for one key, and the connections of belfry to it."""
import os, pwd, shlex, shutil, signal, socket, time
from contextlib import contextmanager, suppress
from pathlib import Path

from cells import notes
from sandbox import ENVIRONMENT, Failure, run, spawn, text, work

@contextmanager
def ssh_server():
    """Runs an OpenSSH server that accepts one key, and configures git to use it. Returns the prefix of its URLs, or
    None without a server."""
    searched = os.pathsep.join([os.environ["PATH"], "/usr/local/sbin", "/usr/sbin"])
    sshd, ssh, keygen = (shutil.which(name, path=searched) for name in ("sshd", "ssh", "ssh-keygen"))
    if not (sshd and ssh and keygen):
        notes.append("ssh is not measured, because sshd is missing. Install it with: apt-get install openssh-server")
        yield None
        return
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    folder = configure_ssh(port, keygen)
    if os.getuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # the empty folder that root's server requires
    server, _ = spawn([sshd, "-D", "-f", f"{folder}/sshd_config", "-E", f"{folder}/log"], None)
    try:
        if problem := wait_for_ssh([ssh, "-F", f"{folder}/config", "-p", str(port), "127.0.0.1", "true"], server):
            said = text(f"{folder}/log").split("\n")[-1]
            notes.append(f"ssh is not measured: {problem}. sshd: {said}")
            yield None
        else:
            ENVIRONMENT["GIT_SSH_COMMAND"] = shlex.join([ssh, "-F", f"{folder}/config"])
            yield f"ssh://127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError, ChildProcessError):  # it may have ended already
            os.kill(server, signal.SIGTERM)
            os.waitpid(server, 0)

def configure_ssh(port, keygen):
    """Writes the keys and the configuration of a server and its client, and returns their folder."""
    folder, user = work("ssh"), pwd.getpwuid(os.getuid()).pw_name
    os.makedirs(folder, mode=0o700)
    for name in ("host", "client"):
        run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"])
    server = [f"ListenAddress 127.0.0.1:{port}", f'HostKey "{folder}/host"', "PidFile none", "StrictModes no"]
    server += [f'AuthorizedKeysFile "{folder}/client.pub"', "AuthenticationMethods publickey", "UsePAM no"]
    # The user's shell and git on the other side read no configuration of the user either.
    server += ["PermitUserRC no"]
    server += [f'SetEnv "HOME={ENVIRONMENT["HOME"]}" "PATH={ENVIRONMENT["PATH"]}" GIT_CONFIG_NOSYSTEM=1']
    client = [f"User {user}", f'IdentityFile "{folder}/client"', f'UserKnownHostsFile "{folder}/known_hosts"']
    client += ["BatchMode yes", "GlobalKnownHostsFile none", "IdentitiesOnly yes", "IdentityAgent none"]
    # By any port, because a proxy has its own.
    client += ["HostKeyAlias benchmark"]
    known = ["benchmark " + text(f"{folder}/host.pub")]
    for name, lines in (("sshd_config", server), ("config", client), ("known_hosts", known)):
        Path(folder, name).write_text("".join(f"{line}\n" for line in lines))
    return folder

def wait_for_ssh(argv, server):
    """Waits until a command succeeds. Returns the reason if it does not."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if os.waitpid(server, os.WNOHANG)[0]:
            return "sshd has exited"
        try:
            run(argv, limit=10)
            return None
        except Failure as failure:
            problem = str(failure)
        time.sleep(0.1)
    return problem

def disconnect():
    """Ends the ssh connections that belfry keeps for some seconds after a sync."""
    for path in Path(ENVIRONMENT["XDG_RUNTIME_DIR"], "belfry-ssh").glob("*"):
        with suppress(Failure):  # it may have ended just now
            run([shutil.which("ssh"), "-F", "none", "-o", f"ControlPath={path}", "-O", "exit", "none"])
