"""The way of alarms through exports and imports, which keeps their dates."""
import json
import importlib.util
from datetime import timedelta
from device import Device

def compare(binary, device, alarms, results):
    """Compares alarms of a store with those of its exports. `alarms` are their options, dates and oracles by title."""
    if not alarms:
        return
    document, exported = device.must("export"), device.run("export", "--format", "ical")
    calendar = exported.out
    records = {alarm["title"]: alarm["schedule"] for alarm in json.loads(document)["alarms"]}
    with Device(binary, device.now) as other:
        other.must("import", "-", source=document)
        for title, (shown, expected, oracle) in alarms.items():
            found = other.next(title, len(expected))
            results.compare("alarms through JSON", f"JSON of {shown}", found, "export", expected)
        again = json.loads(other.must("export"))
        for alarm in again["alarms"]:
            results.compare("records through JSON", f"JSON of {alarms_text(alarms, alarm)}", text(alarm["schedule"]),
                            "export", text(records[alarm["title"]]))
    if not importlib.util.find_spec("icalendar") or not importlib.util.find_spec("dateutil"):
        results.skip("stores without icalendar and dateutil")
        return
    # The messages name the losses.
    whole = {title: alarm for title, alarm in alarms.items()
             if title not in exported.err or alarm[2].schedule.period}
    results.counts["alarms beyond iCalendar"] += len(alarms) - len(whole)
    compare_events(calendar, device, whole, results)
    with Device(binary, device.now) as other:
        # The holidays are those of the store.
        plain = json.loads(document) | {"alarms": [], "log": []}
        other.must("import", "-", source=json.dumps(plain))
        messages = other.run("import", "-", source=calendar).err
        for title, (shown, expected, oracle) in alarms.items():
            if title in messages:
                results.skip("alarms beyond iCalendar")
                continue
            found = other.next(title, len(expected))
            results.compare("alarms through iCalendar", f"iCalendar of {shown}", found, "export", expected)
    compare_foreign(binary, calendar, device, results)

def alarms_text(alarms, alarm): return alarms[alarm["title"]][0] if alarm["title"] in alarms else alarm["title"]

def text(schedule): return json.dumps(schedule, sort_keys=True)

# --- Other programs ---

def compare_events(calendar, device, alarms, results):
    """Compares the dates of the exported events in icalendar and dateutil with those of the alarms."""
    events = {}
    for event in parsed(calendar):
        events.setdefault(str(event["SUMMARY"]), []).append(event)
    for title, (shown, expected, oracle) in alarms.items():
        end = oracle.end()
        # Only the next date of a schedule that follows completions is written.
        count = 2 if oracle.schedule.period else len(expected)
        found = sorted({date for event in events.get(title, []) for date in dates(event, device.now, count, end)})
        results.compare("exported events", f"iCalendar of {shown}", expected, "icalendar", found[:count])

def compare_foreign(binary, calendar, device, results):
    """Imports the events without Belfry's own property, as if another program had written them, and compares their
    dates with those in icalendar and dateutil."""
    lines, events = [], {}
    for event in parsed(calendar):
        title = f"Event {len(events):04}"
        events[title] = event
        del event["X-BELFRY-RECORD"]
        event["SUMMARY"], event["UID"] = title, title
        lines.append(event.to_ical().decode().replace("\r\n", "\n"))
    source = "".join(["BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Belfry//oracles//EN\n", *lines, "END:VCALENDAR\n"])
    with Device(binary, device.now) as other:
        other.must("tier", "premium")
        messages = other.run("import", "-", source=source).err
        end = device.now + timedelta(days=365 * 12)
        for title, event in events.items():
            expected = dates(event, device.now, 10, end)
            if f"{title}: it ended" in messages or f"{title}: it is over" in messages and "RDATE" not in event:
                found = []
            elif title in messages:
                results.skip("events with a loss")
                continue
            else:
                found = [date for date in other.next(title, 10) if date < end]
            shown = " ".join(event.to_ical().decode().replace("\r\n ", "").split()[2:-1]).split(" BEGIN:VALARM")[0]
            results.compare("imported events", f"{shown} at {device.now:%Y-%m-%dT%H:%M}", found, "icalendar", expected)

def parsed(calendar):
    from icalendar import Calendar
    return Calendar.from_ical(calendar).walk("VEVENT")

def dates(event, after, count, end):
    """Returns the first dates of an event after a moment."""
    from dateutil.rrule import rrulestr, rruleset
    start, found = event["DTSTART"].dt, rruleset()
    if "RRULE" in event:
        found.rrule(rrulestr(event["RRULE"].to_ical().decode(), dtstart=start))
    else:
        found.rdate(start)
    for name, add in (("RDATE", found.rdate), ("EXDATE", found.exdate)):
        values = event.get(name, [])
        for value in values if isinstance(values, list) else [values]:
            for date in value.dts:
                add(date.dt)
    moments = []
    for date in found.xafter(after):
        if len(moments) == count or date >= end:
            break
        moments.append(date)
    return moments
