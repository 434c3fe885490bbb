"""The results of comparisons."""
from collections import Counter, namedtuple

# An input with other dates than expected. `tool` is the program with the expected dates.
Difference = namedtuple("Difference", "input belfry tool expected")

class Results:
    """The number of comparisons by kind, and the differences."""
    def __init__(self):
        self.counts, self.differences = Counter(), []

    def compare(self, kind, shown, belfry, tool, expected):
        """Compares two lists of dates, or texts in place of dates."""
        self.counts[kind] += 1
        if belfry != expected:
            self.differences.append(Difference(shown, dates(belfry), tool, dates(expected)))

    def skip(self, reason): self.counts[reason] += 1

    def add(self, other):
        self.counts += other.counts
        self.differences += other.differences

def dates(found):
    """Returns dates as text on one line."""
    if not isinstance(found, list):
        return " ".join(str(found).split())
    shown = " ".join(date.strftime("%Y-%m-%dT%H:%M") for date in found[:SHOWN]) or "none"
    return shown + (f" … ({len(found)})" if len(found) > SHOWN else "")

SHOWN = 12  # printed dates of one list
