"""A model of a file system that loses power: which operations reached the disk, and which folder a loss can leave.

An operation names inodes, not paths, because a flush covers an inode under all its names. The root folder is inode 0.

Two models of durability:

- strict: a flush of a file covers its data and its size, a flush of a folder covers its entries, and nothing else. Of
  the other entry operations any subset can be lost, with two limits. The operations on one inode are kept in order,
  because a file system keeps an inode and its link count consistent. So are the operations of git's processes, because
  git relies on the order of a journaling file system: it deletes loose objects after it has renamed their pack.
- ordered: the entry operations reach the disk in their order, and each flush of changed metadata covers all earlier
  ones. ext4 and XFS behave so.

In both, a file's data is lost by sector. A sector holds one of the contents that it had since the last flush, and the
size is one of the sizes since then: data can be missing behind a size that is kept (zeros), and the other way around.
"""
import os, random
from collections import namedtuple
from pathlib import Path

ROOT = 0
SECTOR = 512
FLUSHES = ("fsync", "fdatasync")
RENAMES = ("rename", "exchange")

# An operation on the file system. `kind` and its arguments:
#   create, mkdir, link, unlink, rmdir   folder, name, inode
#   rename   folder, name, inode, target folder, target name, replaced inode or None
#   exchange folder, name, inode, other folder, other name, other inode
#   write    inode, offset, data
#   size     inode, size
#   fsync, fdatasync   inode
#   syncfs   (nothing)
# `is_gits` is true if a git process made the call, and `step` is the number of the command.
Operation = namedtuple("Operation", "kind arguments is_gits step")

class Image:
    """The content of a file system: folders by inode, files by inode."""
    def __init__(self, folders=None, files=None):
        self.folders = {ROOT: {}} if folders is None else folders
        self.files = {} if files is None else files

    def copy(self):
        return Image({inode: dict(names) for inode, names in self.folders.items()}, dict(self.files))

    @classmethod
    def read(cls, root):
        """Returns the image of an existing folder."""
        image, count = cls(), 1
        numbers, inodes = {str(root): ROOT}, {}
        for at, folders, files in os.walk(root):
            for name in folders:
                path = os.path.join(at, name)
                numbers[path], image.folders[count] = count, {}
                image.folders[numbers[at]][name] = count
                count += 1
            for name in files:
                path = os.path.join(at, name)
                number = inodes.setdefault(os.lstat(path).st_ino, count)
                if number == count:
                    image.files[count] = Path(path).read_bytes()
                    count += 1
                image.folders[numbers[at]][name] = number
        return image

    def find(self, parts):
        """Returns the inode at a path, or None."""
        inode = ROOT
        for part in parts:
            inode = self.folders.get(inode, {}).get(part)
            if inode is None:
                return None
        return inode

    def apply(self, operation):
        """Applies an operation on entries or data."""
        kind, arguments = operation.kind, operation.arguments
        if kind in ("create", "mkdir", "link"):
            folder, name, inode = arguments
            if kind == "create":
                self.files.setdefault(inode, b"")
            if kind == "mkdir":
                self.folders.setdefault(inode, {})
            self.folders[folder][name] = inode
        elif kind in ("unlink", "rmdir"):
            folder, name, inode = arguments
            # A folder whose entries were not removed is not removed either.
            if self.folders[folder].get(name) == inode and not self.folders.get(inode):
                del self.folders[folder][name]
        elif kind == "rename":
            folder, name, inode, target, new, _ = arguments
            if self.folders[folder].get(name) == inode:
                del self.folders[folder][name]
            self.folders[target][new] = inode
        elif kind == "exchange":
            folder, name, inode, target, new, other = arguments
            self.folders[folder][name], self.folders[target][new] = other, inode
        elif kind in ("write", "size"):
            self.files[arguments[0]] = changed(self.files[arguments[0]], operation)

    def paths(self):
        """Returns the files by path, and the folders' paths, each folder before its content."""
        files, folders, left = {}, [], [("", ROOT)]
        while left:
            at, folder = left.pop()
            for name, inode in self.folders[folder].items():
                if inode in self.folders:
                    folders.append(at + name)
                    left.append((f"{at}{name}/", inode))
                else:
                    files[at + name] = inode
        return files, folders

    def write(self, root):
        """Creates the content below an empty folder, with hard links where a file has several names."""
        files, folders = self.paths()
        for path in folders:
            os.mkdir(f"{root}/{path}", 0o700)
        names = {}
        for path, inode in files.items():
            if inode in names:
                os.link(f"{root}/{names[inode]}", f"{root}/{path}")
                continue
            names[inode] = path
            file = os.open(f"{root}/{path}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            os.write(file, self.files[inode])
            os.close(file)

def changed(content, operation):
    """Returns a file's content after an operation on its data."""
    if operation.kind == "size":
        size = operation.arguments[1]
        return content[:size].ljust(size, b"\0")
    _, offset, data = operation.arguments
    return content[:offset].ljust(offset, b"\0") + data + content[offset + len(data):]

class Disk:
    """The operations before a power loss, each of them durable or pending."""
    def __init__(self, image, operations, is_ordered=False, ignored=()):
        self.start, self.is_ordered = image, is_ordered
        self.entries, self.is_durable = [], []
        self.flushed = 0  # all entries before this one are durable
        self.durable, self.pending, self.touched = dict(image.files), {}, {}
        for operation in operations:
            if operation.kind not in ignored:
                self.add(operation)

    def add(self, operation):
        kind, arguments = operation.kind, operation.arguments
        if kind in ("write", "size"):
            self.pending.setdefault(arguments[0], []).append(operation)
        elif kind == "syncfs":
            self.flush_entries(range(self.flushed, len(self.entries)))
            self.flushed = len(self.entries)
            for inode in list(self.pending):
                self.flush_data(inode)
        elif kind in FLUSHES:
            self.flush(arguments[0], kind)
        else:
            if kind == "create":
                self.durable.setdefault(arguments[2], b"")
            for folder in {arguments[0], arguments[3] if kind in RENAMES else arguments[0]}:
                self.touched.setdefault(folder, []).append(len(self.entries))
            self.entries.append(operation)
            self.is_durable.append(False)

    def flush(self, inode, kind):
        if self.is_ordered and (kind == "fsync" or self.has_new_size(inode)):
            self.flush_entries(range(self.flushed, len(self.entries)))
            self.flushed = len(self.entries)
        self.flush_entries(self.touched.pop(inode, ()))
        self.flush_data(inode)

    def has_new_size(self, inode):
        content = self.durable.get(inode, b"")
        return len(content) != len(self.versions(inode)[-1])

    def flush_entries(self, numbers):
        for number in numbers:
            self.is_durable[number] = True

    def flush_data(self, inode):
        for operation in self.pending.pop(inode, ()):
            self.durable[inode] = changed(self.durable[inode], operation)

    def versions(self, inode):
        """Returns the contents of a file since its last flush."""
        contents = [self.durable.get(inode, b"")]
        for operation in self.pending.get(inode, ()):
            contents.append(changed(contents[-1], operation))
        return contents

    # --- The state after the loss ---

    def image(self, choice=None, keep=False):
        """Returns a possible image after the loss, and the number of lost operations.

        - Parameters: `choice` is a random generator that chooses what is lost. Without it all pending operations are
          kept, or all are lost.
        """
        kept = self.kept_entries(choice, keep)
        image = self.start.copy()
        # Folders exist without their names, so that an entry below a lost folder disappears with it.
        for operation in self.entries:
            if operation.kind == "mkdir":
                image.folders.setdefault(operation.arguments[2], {})
        for operation, is_kept in zip(self.entries, kept):
            if is_kept:
                image.apply(operation)
        image.files = dict(self.durable)
        lost = kept.count(False)
        for inode, operations in self.pending.items():
            versions = self.versions(inode)
            image.files[inode] = versions[-1] if keep else torn(versions, choice) if choice else versions[0]
            lost += len(operations) if image.files[inode] != versions[-1] else 0
        return image, lost

    def kept_entries(self, choice, keep):
        """Returns for each entry operation whether the loss keeps it."""
        count = len(self.entries)
        if keep:
            return [True] * count
        if self.is_ordered:
            cut = max((number + 1 for number in range(count) if self.is_durable[number]), default=0)
            cut = choice.randint(cut, count) if choice else cut
            return [number < cut for number in range(count)]
        share = choice.choice((0.1, 0.5, 0.9)) if choice else 0
        kept = [durable or share > 0 and choice.random() < share for durable in self.is_durable]
        needed, is_gits_needed = set(), False
        for number in reversed(range(count)):
            operation = self.entries[number]
            inodes = {operation.arguments[2]}
            if operation.kind in RENAMES and operation.arguments[5] is not None:
                inodes.add(operation.arguments[5])
            if inodes & needed or operation.is_gits and is_gits_needed:
                kept[number] = True
            if kept[number]:
                needed |= inodes
                is_gits_needed = is_gits_needed or operation.is_gits
        return kept

def torn(versions, choice):
    """Returns a content that a file can have after a loss, where `versions` are its contents since its last flush."""
    last = len(versions) - 1
    way = choice.choice(("kept", "lost", "empty", "early", "sectors"))
    if way in ("kept", "lost"):
        return versions[last if way == "kept" else 0]
    # The size of one moment. A sector's content is older or younger, but not from the other side of a truncation,
    # because the blocks before it and after it are different ones.
    moment = choice.randint(0, last)
    shrinks = [number for number in range(1, last + 1) if len(versions[number]) < len(versions[number - 1])]
    first = max((number for number in shrinks if number <= moment), default=0)
    final = min((number - 1 for number in shrinks if number > moment), default=last)
    size = len(versions[moment])
    count = (size + SECTOR - 1) // SECTOR
    until = choice.randint(0, count)
    parts = []
    for number in range(count):
        version = {"empty": first, "early": final if number < until else first,
                   "sectors": choice.randint(first, final)}[way]
        parts.append(versions[version][number * SECTOR:(number + 1) * SECTOR].ljust(SECTOR, b"\0"))
    return b"".join(parts)[:size]

# --- Checks of the model ---

def check_model():
    """Raises AssertionError if the model allows an impossible state, or excludes a possible one."""
    def contents(*operations, ordered=False):
        """Returns all images that 300 random losses leave, as sets of (path, content)."""
        disk = Disk(Image({ROOT: {"a": 1}}, {1: b"old"}), [Operation(*one, False, 0) for one in operations], ordered)
        images = [disk.image(random.Random(number))[0] for number in range(300)]
        return {frozenset((path, image.files[inode]) for path, inode in image.paths()[0].items()) for image in images}
    def state(**files): return frozenset(files.items())
    create, write = ("create", (ROOT, "b", 2)), ("write", (2, 0, b"new"))
    data, folder = ("fsync", (2,)), ("fsync", (ROOT,))
    replace = ("rename", (ROOT, "b", 2, ROOT, "a", 1))
    # Neither data nor entry is flushed: a replaced file can be empty, old or new.
    found = contents(create, write, replace)
    assert {state(a=b"old"), state(a=b""), state(a=b"new"), state(a=b"\0\0\0")} <= found, found
    # The data is flushed before the rename: the old file or the new one, and no empty one.
    found = contents(create, write, data, replace)
    assert found == {state(a=b"old"), state(a=b"old", b=b"new"), state(a=b"new")}, found
    assert contents(create, write, data, replace, folder) == {state(a=b"new")}
    assert contents(create, write, replace, ("syncfs", ())) == {state(a=b"new")}
    # A flushed file without a flushed entry can disappear, except on an ordered file system.
    assert state(a=b"old") in contents(create, write, data)
    assert contents(create, write, data, ordered=True) == {state(a=b"old", b=b"new")}
    # Files are exchanged in one step.
    exchange = ("exchange", (ROOT, "b", 2, ROOT, "a", 1))
    found = contents(create, write, data, exchange)
    assert found == {state(a=b"old"), state(a=b"old", b=b"new"), state(a=b"new", b=b"old")}, found
    # An appended part in the same sector is never newer than the part before it.
    found = contents(create, folder, write, ("write", (2, 3, b"more")))
    assert not any(content.startswith(b"\0\0\0m") for image in found for _, content in image), found
    # After a truncation the old data does not come back behind the new size.
    found = contents(("size", (1, 0)), ("write", (1, 0, b"x")))
    assert found == {state(a=content) for content in (b"old", b"", b"\0", b"x")}, found
