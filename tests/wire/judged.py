"""Has recordings that are made byte by byte judged: for the tests of the judge."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from synthetic import Fabric, Recording

CHECKER = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "tests/wire/wire_check"

# a - b
# |   |    and a host at each: port 1. Ports 2 lead clockwise (a b c d), ports 3 back.
# d - c
RING = Fabric(3, [(("a", 2), ("b", 3)), (("b", 2), ("c", 3)), (("c", 2), ("d", 3)), (("d", 2), ("a", 3)),
                  (("a", 1), ("ha", 1)), (("b", 1), ("hb", 1)), (("c", 1), ("hc", 1)), (("d", 1), ("hd", 1))])
LIDS = {"ha": 1, "hb": 2, "hc": 3, "hd": 4, "a": 5, "b": 6, "c": 7, "d": 8}
# Up and down with a on top and c at the bottom, c by b.
UP_DOWN = {"a": {1: 1, 2: 2, 3: 2, 4: 3, 5: 0, 6: 2, 7: 2, 8: 3},
           "b": {1: 3, 2: 1, 3: 2, 4: 3, 5: 3, 6: 0, 7: 2, 8: 3},
           "c": {1: 3, 2: 3, 3: 1, 4: 2, 5: 3, 6: 3, 7: 0, 8: 2},
           "d": {1: 2, 2: 2, 3: 3, 4: 1, 5: 2, 6: 2, 7: 3, 8: 0}}


def with_entries(name, **changes):
    """Entries of a switch, some of them others: lid3=2."""
    return {**UP_DOWN[name], **{int(lid[3:]): port for lid, port in changes.items()}}


class Judged(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.wire = Recording(RING, "ha")
        self.wire.bring_up(LIDS, UP_DOWN)

    def judge(self, *options, wire=None):
        """Counts and text."""
        (wire or self.wire).write(self.directory)
        done = subprocess.run([CHECKER, "--fabric", self.directory / "fabric.net", "--recordings", self.directory,
                               "--commands", self.directory / "commands", *options], capture_output=True, text=True, timeout=60)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        counts = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(done.returncode, 1 if counts["violations"] else 0)
        return counts, done.stdout

    def expect(self, *kinds, options=(), times=1):
        counts, text = self.judge(*options)
        self.assertEqual(set(counts["violations"]), set(kinds), text)
        for kind in kinds:
            self.assertGreaterEqual(counts["violations"][kind]["times"], times)
        return text

    def without_link_cd(self):
        """Nothing leads over c/2 -- d/3."""
        self.wire.write_table("c", with_entries("c", lid4=3, lid8=3))
        self.wire.write_table("d", with_entries("d", lid3=2, lid7=2))
