"""Random clocks."""
from datetime import datetime, timedelta

FIRST, DAYS = datetime(2025, 1, 1), 3_650  # the range of the clocks

def random_now(chance):
    """Returns a random minute, which is more often a special day than by chance."""
    now = FIRST + timedelta(days=chance.randrange(DAYS), minutes=chance.randrange(1440))
    if chance.random() < 0.2:
        now = now.replace(day=chance.choice([1, 28]), month=chance.choice([1, 2, 12]))
    if chance.random() < 0.05:
        now = now.replace(year=2028, month=2, day=29)
    return now
