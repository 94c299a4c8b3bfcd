"""The fewest steps of a storm that still go wrong in the same way: halves, then smaller parts are left out, as long as it does."""

import re
import time


def kinds_of(wrong):
    """What was wrong, without when, where and how often."""
    kinds = set()
    for what in wrong:
        line = what.splitlines()[0]
        checked = re.match(r"(wire_check, [^:]*: [a-z-]+) ", line)
        line = re.sub(r"^.*? at [\d.]+ s: ", "", line)
        kinds.add(checked[1] if checked else re.sub(r'"[^"]*"|0x[0-9a-f]+|\d+', "#", line)[:60])
    return kinds


def shrink(count, fails, limit):
    """`fails(steps)` plays a storm of these steps out of 0..count-1. Returns the steps, and how many storms were played. No more
    are begun after `limit` seconds."""
    end, played, steps, parts = time.monotonic() + limit, 0, list(range(count)), 2
    while len(steps) > 1 and time.monotonic() < end:
        size = -(-len(steps) // parts)
        for at in range(0, len(steps), size):
            if time.monotonic() > end:
                break
            fewer = steps[:at] + steps[at + size:]
            played += 1
            if fails(fewer):
                steps, parts = fewer, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(parts * 2, len(steps))
    return steps, played
