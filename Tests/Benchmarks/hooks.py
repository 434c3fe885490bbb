"""Delivery hooks that record what they deliver."""
import shutil
from pathlib import Path

from cells import notes
from sandbox import run, work

def make_hooks(part, name, *options):
    """Compiles the hooks with options of the compiler, and returns their configuration folder, or None without a
    compiler."""
    compiler = shutil.which("cc")
    if not compiler:
        notes.append(f"{part} not measured, because cc is missing. Install it with: apt-get install gcc")
        return None
    folder = Path(work(name, "belfry/hooks/deliver"))
    folder.mkdir(parents=True)
    run([compiler, "-O2", *options, "-o", str(folder / "notify"), str(Path(__file__).with_name("hook.c"))])
    shutil.copy("/bin/true", folder / "ring")
    return work(name)
