"""Measures parts of belfry's work, and prints their tables, targets and notes."""
import sys, textwrap
from itertools import chain

import answers, daemon, devices, everyday, flushes, partners, phone, remotes, screen, ssh, syncing, years
from cells import TOOLS, cell_notes, measure, notes, print_tables, table
from options import EXCHANGE_RUNS
from sandbox import BINARY, GIT, REMIND, TASK, machine, main, output, progress, version

PARTS = sys.argv[5].split(",")

def measure_parts():
    circles, answered, tasks, screens, letters, vigil = [], [], [], [], None, None
    flushed = flushes.count_flushes() if "flushes" in PARTS else []
    if "everyday" in PARTS:
        everyday.measure_everyday()
    if "years" in PARTS:
        years.measure_years()
    with ssh.ssh_server() as server:
        if server:
            remotes.WAYS["ssh"] = server
        if "syncing" in PARTS:
            measure("syncing", syncing.syncing(), EXCHANGE_RUNS)
        if "pushing" in PARTS:
            measure("pushing", syncing.pushing(), EXCHANGE_RUNS)
        ssh.disconnect()
        if "answers" in PARTS:
            answered = answers.measure_answers()
        ssh.disconnect()
    if "devices" in PARTS:
        circles = devices.take_turns()
    if "partners" in PARTS:
        letters = partners.write_letters()
    if "phone" in PARTS:
        tasks = phone.measure_phone()
    if "screen" in PARTS:
        screens = screen.measure_screens()
    if {"daemon", "lateness"} & {*PARTS}:
        vigil = daemon.measure_daemon(PARTS)
    progress("")
    print_tables([tool.name for tool in remotes.SYNC_TOOLS])
    flushes.print_flushes(flushed)
    years.print_uses()
    devices.print_circles(circles)
    answers.print_answers(answered)
    partners.print_letters(letters)
    phone.print_phone(tasks)
    screen.print_screens(screens)
    daemon.print_vigil(vigil)
    print_targets(circles, answered, tasks, screens, vigil)
    print_notes(vigil)
    print(f"Machine: {machine()}; {tool_versions()}")
    return 1 if any(each.failure for each in chain(table, answered, tasks, screens, [vigil] if vigil else [])) else 0

def print_targets(circles, answered, tasks, screens, vigil):
    print("\nTargets")
    if "everyday" in PARTS:
        everyday.print_everyday_targets()
    if "years" in PARTS:
        years.print_years_targets()
    syncing.print_exchange_targets(PARTS)
    if circles:
        devices.print_circle_targets(circles)
    answers.print_answer_targets(answered)
    phone.print_phone_targets(tasks)
    screen.print_screen_targets(screens)
    if vigil:
        daemon.print_vigil_targets(vigil, PARTS)

def print_notes(vigil):
    print("\nNotes")
    shown = []
    if any(not cell.is_exchange for cell in table):
        shown += everyday.everyday_notes()
    if any(cell.is_exchange for cell in table):
        shown += syncing.exchange_notes()
    if years.uses:
        shown += years.year_notes()
    for note in chain(shown, notes, cell_notes(), daemon.vigil_notes(vigil) if vigil else []):
        words = " ".join(note.split())
        print(textwrap.fill(words, 116, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False))
    print()

def tool_versions():
    versions = [version(path) for path in (BINARY, GIT, TASK)]
    versions.append(output(["/bin/sh", "-c", '"$1" -h 2>&1 || true', "sh", REMIND]).split()[1])  # REMIND VERSION …
    return ", ".join(f"{tool} {each}" for tool, each in zip(TOOLS, versions))

main(measure_parts)
