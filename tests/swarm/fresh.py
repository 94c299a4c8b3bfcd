"""Seeds that nobody chose, for every run of .ci/run, and what is known to be wrong in some worlds of a kind."""

import datetime
import hashlib
import pathlib
import re
import subprocess

KNOWN = pathlib.Path(__file__).with_name("known_defects.txt")


def word_of_today(source):
    """The same in one clone on one day, so that a run can be had again: the commit and the date."""
    commit = subprocess.run(["git", "-C", source, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    return f"{commit.stdout.strip() or 'no-commit'}-{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}"


# Of worlds with calms, with wider storms, with all kinds of storms, and of those before (plan.h).
FIRST, FIRST_OF_ALL_KINDS, FIRST_OF_WIDER_STORMS, FIRST_OF_CALMS = 1_000_000, 2_000_000_000, 4_000_000_000, 6_000_000_000


def seeds_from(word, count, first=FIRST):
    return [int.from_bytes(hashlib.sha256(f"{word} {number}".encode()).digest()[:4], "big") % 1_000_000_000 + first
            for number in range(count)]


def read_known(text):
    """Pairs: the kinds of storm that a world must have, and what such a world may be found to do wrong."""
    known = []
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        storms, _, wrong = line.partition(":")
        known.append(({word.strip() for word in storms.split(",")}, re.compile(wrong.strip())))
    return known


def is_known(world, known):
    """Whether all that is wrong in a world is a defect that is known to be there."""
    return all(any(storms <= set(world["world"].split(", ")) and wrong.search(what) for storms, wrong in known)
               for what in world["wrong"])
