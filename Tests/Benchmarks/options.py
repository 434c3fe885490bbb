"""The options of a run, and the sizes of its stores."""
import random, sys
from collections import namedtuple
from datetime import datetime, timedelta

BINARY, QUICK, RUNS, YEARS = sys.argv[1], sys.argv[2] == "1", int(sys.argv[3]), int(sys.argv[4])

Size = namedtuple("Size", "label alarms")
SMALL, MIDDLE, LARGE = Size("30", 30), Size("1,000", 1_000), Size("10,000", 10_000)
SIZES = [SMALL, MIDDLE] if QUICK else [SMALL, MIDDLE, LARGE]
LARGEST = SIZES[-1]
EXCHANGE_RUNS = max(1, RUNS // 2)  # over a remote
SPAN = f"{YEARS} year{'s' * (YEARS != 1)}"

# The clock of every command. All alarms ring between 01:00 and 19:00, so that from here to the next 01:00 only the
# alarms of a measurement are due. Writes move forward from BASE, syncs from SYNC.
BASE = datetime(2026, 11, 20, 20, 0)
FIRST = BASE.replace(hour=1)  # the first ring; the last one is within 18 hours
SYNC = BASE + timedelta(hours=2)
SEED = 20261120  # every run measures the same stores
chance = random.Random(SEED)
