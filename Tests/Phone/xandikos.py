"""Xandikos serves the index of a git repository: Belfry adds and commits what it writes."""
import time
from checks import wait
from parts import Phone, Xandikos
from radicale import Story, change_store, complete_ringing, incremental, new_task, unchanged

def play(run, results, program, is_old):
    name = "xandikos-debian" if is_old else "xandikos-new"
    server = Xandikos(run.folder(name), program, is_old)
    story = Story(run, results, server, name, devices=("laptop",))
    try:
        server.start()
        story.prepare(("Pay rent", "2026-12-01 9:00", "--note", "Transfer", "--tag", "home,money"), ("Post", "every thu 10:00"))
        story.laptop.setup(server.folder)
        phone = Phone(server)
        story.start(7, 59, 57)
        results.check("belfry" in phone.names(), "the discovery finds the collection", phone.names())
        phone.find("Pay rent")
        complete_ringing(story, phone)
        change_store(story, phone, 2 if run.short else 5)
        incremental(story, phone)
        new_task(story, phone)
        busy_index(story, phone)
        before = time.time()
        phone.find("Post").delete()
        story.answered("Post", "skipped", "Skipped: Post", before, is_deletion=True)
        unchanged(story)
        repository(story)
    finally:
        story.close()

def busy_index(story, phone):
    """A change of the store while another program holds the lock of the index: it is written afterwards."""
    lock = story.server.folder / ".git/index.lock"
    lock.touch()
    story.laptop.must("edit", "Post", "--note", "Ask for stamps")
    time.sleep(1)
    story.results.check(lock.exists(), "the lock of another program stays")
    lock.unlink()
    before = time.time()
    seen = wait(lambda: "Ask for stamps" in phone.find("Post").data, 15, 0.1)
    story.results.check(seen, "a change is written when the index is free again")
    story.results.note(f"after the lock of another program, the phone saw a change in {time.time() - before:.1f} s")

def repository(story):
    """The repository has all that is in the folder, and nothing is broken."""
    server = story.server
    status = [line for line in server.git("status", "--porcelain").splitlines() if line.endswith(".ics")]
    story.results.equal(status, [], "git status of the collection")
    story.results.equal(server.git("fsck", "--no-dangling").strip(), "", "git fsck of the collection")
    authors = set(server.git("log", "--format=%an").split("\n"))
    story.results.check(len(authors) > 1, "the commits of Belfry and of the server", authors)
