"""Records the operations with which commands change a folder, from their system calls under strace."""
import os, re
from pathlib import Path
from power_model import ROOT, Image, Operation
from sandbox import Unusable, run

CALLS = (
    "open,openat,openat2,creat,read,readv,lseek,write,writev,pwrite64,pwritev,pwritev2,ftruncate,truncate,fallocate,"
    "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,symlinkat,mmap,"
    "copy_file_range,sendfile,splice,fsync,fdatasync,syncfs,sync,io_uring_setup,"
    "chdir,fchdir,clone,clone3,fork,vfork,execve,dup,dup2,dup3,fcntl,ioctl").split(",")
LINE = re.compile(r"(\d+) +(.*)")
CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+)")
RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
DATA = re.compile(r'(?:iov_base=)?"((?:\\x[0-9a-f]{2})*)"')
FILE = re.compile(r"(-?\d+)<((?:\\x[0-9a-f]{2})*)>")

class Description:
    """An open file: several descriptors can share its position."""
    def __init__(self, inode, is_appending):
        self.inode, self.is_appending, self.position = inode, is_appending, 0

class Process:
    """A process or a thread. Threads share `folder` and `table`."""
    def __init__(self, folder, table, is_git):
        self.folder, self.table, self.is_git = folder, table, is_git

class Recorder:
    """Records the operations of commands on one folder.

    Each inode of the model belongs to one file. Paths are resolved in the model, in the order of the calls.
    """
    def __init__(self, root, trace):
        self.root, self.trace = str(root), trace
        self.image = Image.read(root)
        self.next = max([*self.image.folders, *self.image.files]) + 1
        self.operations, self.step = [], -1

    def run(self, argv, environment, folder):
        """Runs a command, records its operations as one step, and compares the model with the folder."""
        self.step += 1
        options = ["-f", "-qq", "-y", "-xx", "-s", "100000000", "-e", "signal=none", "-e", "trace=" + ",".join(CALLS)]
        outcome = run(["strace", *options, "-o", str(self.trace), *argv], environment, folder)
        self.processes, self.unfinished = {}, {}
        with open(self.trace) as lines:
            for line in lines:
                self.read_line(line, str(folder))
        self.compare()
        return outcome

    def compare(self):
        """Raises Unusable if the recorded operations do not produce the folder's content."""
        now = Image.read(self.root)
        found, expected = ({path: image.files[inode] for path, inode in image.paths()[0].items()}
                           for image in (now, self.image))
        wrong = [path for path in found.keys() | expected.keys() if found.get(path) != expected.get(path)]
        folders = set(now.paths()[1]) ^ set(self.image.paths()[1])
        if wrong or folders:
            raise Unusable(f"step {self.step}: the record differs from the folder: {sorted([*wrong, *folders])[:5]}")

    # --- Lines of the trace ---

    def read_line(self, line, folder):
        number, text = LINE.match(line).groups()
        text = text.rstrip("\n")
        if number not in self.processes:
            # The first process, or a child that runs before its parent's call returns.
            starts = ("clone", "fork", "vfork")
            parent = next((one for one, start in self.unfinished.items() if start.startswith(starts)), None)
            self.processes[number] = (
                self.child(self.processes[parent], self.unfinished[parent]) if parent else Process([folder], {}, False))
        if text.endswith("<unfinished ...>"):
            self.unfinished[number] = text.removesuffix("<unfinished ...>").rstrip()
            return
        if resumed := RESUMED.match(text):
            text = self.unfinished.pop(number) + text[resumed.end():]
        call = CALL.match(text)
        if not call or int(call[3]) < 0:
            return
        name, arguments, result = call[1], call[2], int(call[3])
        process = self.processes[number]
        if name in ("clone", "clone3", "fork", "vfork"):
            if str(result) not in self.processes:
                self.processes[str(result)] = self.child(process, arguments)
        else:
            getattr(self, "call_" + name, self.unknown)(process, name, arguments, result)

    @staticmethod
    def child(parent, arguments):
        folder = parent.folder if "CLONE_FS" in arguments else list(parent.folder)
        table = parent.table if "CLONE_FILES" in arguments else dict(parent.table)
        return Process(folder, table, parent.is_git)

    def add(self, process, kind, *arguments):
        operation = Operation(kind, arguments, process.is_git, self.step)
        self.image.apply(operation)
        self.operations.append(operation)

    # --- Paths and descriptors ---

    def parts(self, process, path, at=None):
        """Returns the names below the root, or None for a path elsewhere."""
        full = os.path.normpath(os.path.join(at or process.folder[0], path))
        if full == self.root:
            return []
        return full[len(self.root) + 1:].split("/") if full.startswith(self.root + "/") else None

    def path_arguments(self, process, arguments):
        """Returns the paths of a call as names below the root. A path can follow the descriptor of its folder."""
        found, at, end = [], None, 0
        for match in re.finditer(r'(?:(?:AT_FDCWD|\d+)<((?:\\x..)*)>, )?"((?:\\x..)*)"', arguments):
            at = text(match[1]) if match[1] is not None else None
            found.append(self.parts(process, text(match[2]), at))
        return found

    def place(self, parts):
        """Returns the inode of a path's folder, the name, and the inode of the path, or None."""
        folder = self.image.find(parts[:-1])
        if folder is None:
            raise Unusable(f"step {self.step}: no such folder in the model: {'/'.join(parts)}")
        return folder, parts[-1], self.image.folders[folder].get(parts[-1])

    def opened(self, process, arguments, position=0):
        """Returns the open file of a call's descriptor, or None for one elsewhere."""
        files = FILE.findall(arguments)
        if len(files) <= position:
            return None
        number, path = files[position]
        if not text(path).startswith(self.root + "/"):
            return None
        found = process.table.get(int(number))
        if not found:
            raise Unusable(f"step {self.step}: unknown descriptor {number} of {text(path)}")
        return found

    # --- Calls ---

    def unknown(self, process, name, arguments, result):
        raise Unusable(f"step {self.step}: the model does not know {name}({arguments[:80]})")

    def call_open(self, process, name, arguments, result):
        parts = self.path_arguments(process, arguments)[0]
        if parts is None:
            process.table.pop(result, None)
            return
        inode = self.image.find(parts)
        if "O_TMPFILE" in arguments:
            self.unknown(process, name, arguments, result)
        if inode is None:
            folder, last, _ = self.place(parts)
            if "O_CREAT" not in arguments and name != "creat":
                raise Unusable(f"step {self.step}: a file is not in the model: {'/'.join(parts)}")
            inode, self.next = self.next, self.next + 1
            self.add(process, "create", folder, last, inode)
        elif ("O_TRUNC" in arguments or name == "creat") and self.image.files[inode]:
            self.add(process, "size", inode, 0)
        process.table[result] = Description(inode, "O_APPEND" in arguments)

    call_openat = call_openat2 = call_creat = call_open

    def call_dup(self, process, name, arguments, result):
        source = int(re.match(r"\d+", arguments)[0])
        if source in process.table:
            process.table[result] = process.table[source]
        else:
            process.table.pop(result, None)

    call_dup2 = call_dup3 = call_dup

    def call_fcntl(self, process, name, arguments, result):
        if "F_DUPFD" in arguments:
            self.call_dup(process, name, arguments, result)

    def call_read(self, process, name, arguments, result):
        # The first descriptor is the file, because the data of the others is printed after it.
        if file := self.opened(process, arguments.split(",", 1)[0]):
            file.position += result

    call_readv = call_read

    def call_lseek(self, process, name, arguments, result):
        if file := self.opened(process, arguments):
            file.position = result

    def call_write(self, process, name, arguments, result):
        file = self.opened(process, arguments.split(",", 1)[0])
        if not file or result == 0:
            return
        data = b"".join(bytes.fromhex(part.replace("\\x", "")) for part in DATA.findall(arguments))[:result]
        if name.startswith("pwrite"):
            offset = int(arguments.rsplit("], " if name != "pwrite64" else ", ", 1)[1].split(",")[-1])
        else:
            offset = len(self.image.files[file.inode]) if file.is_appending else file.position
            file.position = offset + result
        self.add(process, "write", file.inode, offset, data)

    call_writev = call_pwrite64 = call_write

    def call_ftruncate(self, process, name, arguments, result):
        if file := self.opened(process, arguments):
            size = int(arguments.rsplit(", ", 1)[1])
            if size != len(self.image.files[file.inode]):
                self.add(process, "size", file.inode, size)

    def call_fallocate(self, process, name, arguments, result):
        if file := self.opened(process, arguments):
            _, mode, offset, length = arguments.split(", ")
            if mode not in ("0", "FALLOC_FL_KEEP_SIZE"):
                self.unknown(process, name, arguments, result)
            size = int(offset) + int(length)
            if mode == "0" and size > len(self.image.files[file.inode]):
                self.add(process, "size", file.inode, size)

    def call_rename(self, process, name, arguments, result):
        source, target = self.path_arguments(process, arguments)
        if source is None and target is None:
            return
        if source is None or target is None:
            self.unknown(process, name, arguments, result)
        folder, last, inode = self.place(source)
        new_folder, new, replaced = self.place(target)
        # A rename to another name of the same file does nothing.
        if replaced != inode:
            kind = "exchange" if "RENAME_EXCHANGE" in arguments else "rename"
            self.add(process, kind, folder, last, inode, new_folder, new, replaced)

    call_renameat = call_renameat2 = call_rename

    def call_link(self, process, name, arguments, result):
        source, target = self.path_arguments(process, arguments)
        if target is not None:
            if source is None:
                self.unknown(process, name, arguments, result)
            folder, last, _ = self.place(target)
            self.add(process, "link", folder, last, self.image.find(source))

    call_linkat = call_link

    def call_unlink(self, process, name, arguments, result):
        parts = self.path_arguments(process, arguments)[0]
        if parts is not None:
            is_folder = name == "rmdir" or "AT_REMOVEDIR" in arguments
            self.add(process, "rmdir" if is_folder else "unlink", *self.place(parts))

    call_unlinkat = call_rmdir = call_unlink

    def call_mkdir(self, process, name, arguments, result):
        parts = self.path_arguments(process, arguments)[0]
        if parts is not None:
            folder, last, _ = self.place(parts)
            self.add(process, "mkdir", folder, last, self.next)
            self.next += 1

    call_mkdirat = call_mkdir

    def call_symlink(self, process, name, arguments, result):
        if self.path_arguments(process, arguments)[-1] is not None:
            self.unknown(process, name, arguments, result)

    call_symlinkat = call_symlink

    def call_mmap(self, process, name, arguments, result):
        if "PROT_WRITE" in arguments and "MAP_SHARED" in arguments and self.opened(process, arguments):
            self.unknown(process, name, arguments, result)

    def call_copy_file_range(self, process, name, arguments, result):
        if any(text(path).startswith(self.root + "/") for _, path in FILE.findall(arguments)[1:]):
            self.unknown(process, name, arguments, result)

    call_splice = call_copy_file_range

    def call_sendfile(self, process, name, arguments, result):
        if self.opened(process, arguments.split(",", 1)[0]):
            self.unknown(process, name, arguments, result)

    def call_ioctl(self, process, name, arguments, result):
        if "FICLONE" in arguments and self.opened(process, arguments):
            self.unknown(process, name, arguments, result)

    def call_fsync(self, process, name, arguments, result):
        if text(FILE.findall(arguments)[0][1]) == self.root:
            self.add(process, name, ROOT)
        elif file := self.opened(process, arguments):
            self.add(process, name, file.inode)

    call_fdatasync = call_fsync

    def call_syncfs(self, process, name, arguments, result):
        # All of the folder is on one file system. A flush of another one is no concern.
        if os.stat(text(FILE.findall(arguments)[0][1]).removesuffix("(deleted)")).st_dev == os.stat(self.root).st_dev:
            self.add(process, "syncfs")

    def call_sync(self, process, name, arguments, result): self.add(process, "syncfs")

    def call_chdir(self, process, name, arguments, result):
        process.folder[0] = os.path.join(process.folder[0], text(DATA.findall(arguments)[0]))

    def call_fchdir(self, process, name, arguments, result):
        process.folder[0] = text(FILE.findall(arguments)[0][1])

    def call_execve(self, process, name, arguments, result):
        process.is_git = os.path.basename(text(DATA.findall(arguments)[0])) == "git"

def text(digits): return bytes.fromhex(digits.replace("\\x", "")).decode(errors="surrogateescape")
