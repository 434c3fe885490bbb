"""Schedules by their definition: a check of each single day, without cycles or steps."""
import calendar
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

ONE = timedelta(days=1)
MOST_SHIFT = 31  # days that an occurrence on a holiday moves at most
YEARS = 12  # dates are searched in this number of years

@dataclass
class WorkCalendar:
    """The weekdays of work, 0 for Monday, and the holidays."""
    workdays: frozenset
    holidays: frozenset

    def is_workday(self, day): return day.weekday() in self.workdays and day not in self.holidays

@dataclass
class Schedule:
    """A schedule as a person means it.

    `days` of months are pairs: ("day", 15), ("end", 1) for the last day, ("workday", -1), or ("weekday", (1, 0)) for
    the first Monday. A schedule without a `start` begins today; its cycles of several weeks, months or years begin with
    the next date, if `is_anchored`."""
    kind: str  # once, daily, weekly, monthly, annual, after done
    times: list
    interval: int = 1
    weekdays: frozenset = frozenset()
    days: list = field(default_factory=list)
    months: list = field(default_factory=list)
    start: date = None
    is_anchored: bool = True
    until: datetime = None  # the latest possible occurrence
    count: int = None  # the number of occurrences in the future
    length: tuple = None  # a number and a unit: the length of the schedule
    exceptions: frozenset = frozenset()
    on_holiday: str = None  # skip, before, after
    zone: str = None
    # Parts that only choose the words of a schedule.
    period: tuple = None  # a number and a unit, after which an alarm recurs that was done
    omitted: frozenset = frozenset()  # the weekdays that are missing in a weekly rule of all days
    is_on_workdays: bool = False  # a weekly rule of all workdays
    window: tuple = None  # the first and the last time of day, and the distance in minutes, if `times` are such

class Oracle:
    """The dates of a schedule after a moment."""
    def __init__(self, schedule, now, work):
        self.schedule, self.now, self.work = schedule, now, work
        self.start = schedule.start or now.date()
        if schedule.period and not schedule.start:
            self.start = later(now.date(), *schedule.period)
        self.interval = schedule.interval
        self.last = schedule.until
        if schedule.start is None and schedule.is_anchored and self.interval > 1 \
                and schedule.kind in ("weekly", "monthly", "annual"):
            self.interval = 1
            self.start = next(self.plain(), now).date()
            self.interval = schedule.interval
        if schedule.length:
            first = schedule.start or next(self.occurrences(), now).date()
            self.last = datetime.combine(later(first, *schedule.length) - ONE, time.max)
        if schedule.count:
            found = self.next(schedule.count)
            self.last = found[-1] if found else now

    def next(self, count):
        """Returns the next dates. A schedule that follows completions is done on each of them."""
        found = []
        while self.schedule.kind == "after done" and len(found) < count:
            moment = next((moment for moment in self.occurrences() if not found or moment > found[-1]), None)
            if moment is None:
                return found
            found.append(moment)
            self.start = later(moment.date(), *self.schedule.period)
        for moment in self.occurrences():
            if len(found) == count:
                break
            found.append(moment)
        return found

    def end(self): return self.now.replace(year=self.now.year + YEARS, day=1)

    def occurrences(self):
        """Yields the dates until the end of the search."""
        day = self.now.date()
        while day < self.end().date():
            if self.last and datetime.combine(day, time.min) > self.last:
                return
            if self.is_date(day):
                for moment in self.moments(day):
                    if not self.last or moment <= self.last:
                        yield moment
            day += ONE

    def plain(self):
        """Yields the dates without limits."""
        day = self.now.date()
        while day < self.end().date():
            if self.is_ruled(day):
                yield from self.moments(day)
            day += ONE

    def moments(self, day):
        moments = [datetime.combine(day, moment) for moment in sorted(self.schedule.times)]
        return [moment for moment in moments if moment > self.now]

    def is_date(self, day):
        """Returns true if the schedule occurs on a day, after moves from holidays."""
        if day in self.schedule.exceptions:
            return False
        rule = self.schedule.on_holiday
        if rule not in ("before", "after"):
            return self.is_ruled(day) and not (rule == "skip" and day in self.work.holidays)
        # A day stays if it is no holiday, or if it is on a long row of free days.
        if self.is_ruled(day) and self.moved(day, rule) == day:
            return True
        if not self.work.is_workday(day):
            return False
        step = ONE if rule == "before" else -ONE
        origin = day + step
        for _ in range(MOST_SHIFT):
            if self.work.is_workday(origin):
                return False
            if origin in self.work.holidays and self.is_ruled(origin) and self.moved(origin, rule) == day:
                return True
            origin += step
        return False

    def moved(self, day, rule):
        """Returns the workday to which a holiday moves."""
        if day not in self.work.holidays:
            return day
        step = -ONE if rule == "before" else ONE
        other = day
        for _ in range(MOST_SHIFT):
            other += step
            if self.work.is_workday(other):
                return other
        return day

    def is_ruled(self, day):
        """Returns true if a day belongs to the rule."""
        schedule, start = self.schedule, self.start
        if schedule.kind == "once":
            return day == schedule.start
        if day < start:
            return False
        if schedule.kind == "after done":
            return True  # it was never done
        if schedule.kind == "daily":
            return (day - start).days % self.interval == 0
        if schedule.kind == "weekly":
            weeks = (monday(day) - monday(start)).days // 7
            return day.weekday() in schedule.weekdays and weeks % self.interval == 0
        cycles = day.year - start.year
        if schedule.kind == "monthly":
            cycles = cycles * 12 + day.month - start.month
        elif day.month not in schedule.months:
            return False
        return cycles % self.interval == 0 and any(self.is_place(day, *place) for place in schedule.days)

    def is_place(self, day, kind, place):
        """Returns true if a day has a place in its month."""
        length = calendar.monthrange(day.year, day.month)[1]
        if kind == "day":
            return day.day == min(place, length)
        if kind == "end":
            return day.day == max(length - place + 1, 1)
        if kind == "weekday":
            ordinal, weekday = place
            if day.weekday() != weekday:
                return False
            return ordinal == ((day.day - 1) // 7 + 1 if ordinal > 0 else -((length - day.day) // 7 + 1))
        days = [number for number in range(1, length + 1) if self.work.is_workday(day.replace(day=number))]
        index = place - 1 if place > 0 else len(days) + place
        return 0 <= index < len(days) and days[index] == day.day

def monday(day): return day - timedelta(days=day.weekday())

def later(day, count, unit):
    """Returns the day a number of units later. A month that lacks the day has its last day instead."""
    if unit == "day":
        return day + timedelta(days=count)
    if unit == "week":
        return day + timedelta(weeks=count)
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))
