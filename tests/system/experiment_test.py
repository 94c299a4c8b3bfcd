"""heddle sim run and heddle sim plot: an experiment from its file to its pictures, drawn by the real gnuplot."""

import csv
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from served_fabric import wait_until

HEDDLE = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "tools/heddle/heddle"
EXPERIMENTS = pathlib.Path(os.environ["HEDDLE_SOURCE"]) / "tests/experiments"
EXPERIMENT = """
title = "Two loads on a small tree"
fabric = "tree:k=2,n=2"
warm_up = 500
measure = 2000
loads = [0.2, 0.6]
seeds = 2
[plane]
vls = 2
mtu = 256
[[traffic]]
name = "VO"
sl = 0
part = 0.5
message = 256
[[traffic]]
name = "BE"
sl = 1
part = 0.5
message = 1024
[[variant]]
name = "round robin"
[[variant]]
name = "deficit table"
scheduler = { discipline = "dtable", table = [[0, 4], [1, 2]] }
"""


class FromFileToPicture(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def heddle(self, *arguments, code=0):
        done = subprocess.run([HEDDLE, "sim", *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_the_same_bytes_on_one_core_and_on_two_and_pictures(self):
        experiment = self.directory / "two-loads.toml"
        experiment.write_text(EXPERIMENT)
        one, two = self.directory / "one", self.directory / "two"
        self.heddle("run", experiment, "--out", one, "--threads", "1", "--quiet")
        self.heddle("run", experiment, "--out", two, "--threads", "2", "--quiet")
        self.same(one, two)
        rows = list(csv.DictReader((one / "summary.csv").read_text().splitlines()))
        self.assertEqual(len(rows), 2 * 2 * 2)
        for row in rows:
            self.assertAlmostEqual(float(row["throughput"]), float(row["load"]) / 2, delta=0.03)

        self.heddle("plot", one)
        pictures = sorted(one.glob("*.svg"))
        self.assertTrue(pictures)
        for picture in pictures:
            text = "".join(xml.etree.ElementTree.parse(picture).getroot().itertext())
            self.assertIn("Two loads on a small tree", text, picture.name)
            self.assertIn("deficit table", text, picture.name)

    def test_a_trace_beside_its_experiment(self):
        self.heddle("run", EXPERIMENTS / "trace-example.toml", "--out", self.directory / "out", "--quiet")
        for point in json.loads((self.directory / "out/results.json").read_text())["points"]:
            (trace,) = point["traces"]
            self.assertEqual((trace["finished"], trace["stuck"], trace["messages"], trace["bytes"]), (True, False, 8, 128))

    def same(self, one, two):
        for name in ("results.json", "runs.csv", "summary.csv", "plot.gp"):
            self.assertEqual((one / name).read_bytes(), (two / name).read_bytes(), name)

    def test_what_was_stopped_goes_on(self):
        experiment = self.directory / "two-loads.toml"
        experiment.write_text(EXPERIMENT.replace("measure = 2000", "measure = 20000"))
        whole, stopped = self.directory / "whole", self.directory / "stopped"
        self.heddle("run", experiment, "--out", whole, "--quiet")
        running = subprocess.Popen([HEDDLE, "sim", "run", experiment, "--out", stopped, "--threads", "1", "--quiet"],
                                   stdout=subprocess.DEVNULL)
        log = stopped / "points.txt"
        wait_until(lambda: running.poll() is not None or (log.exists() and log.read_bytes().count(b"\n") > 2), 100, "two runs")
        running.kill()
        running.wait()
        if log.exists():  # else it was through before it was killed
            kept = log.read_bytes()
            log.write_bytes(kept[: len(kept) - 40])  # as if it had been killed while it wrote
            self.assertIn("runs were done before", self.heddle("run", experiment, "--out", stopped).stderr)
        self.same(whole, stopped)
        self.assertFalse(log.exists())

    def test_parts_come_together(self):
        experiment = self.directory / "two-loads.toml"
        experiment.write_text(EXPERIMENT)
        whole = self.directory / "whole"
        self.heddle("run", experiment, "--out", whole, "--seeds", "3", "--quiet")
        parts = [self.directory / f"part-{i}" for i in (1, 2)]
        for i, part in enumerate(parts, 1):
            self.heddle("run", experiment, "--out", part, "--seeds", "3", "--part", f"{i}/2", "--quiet")
        self.heddle("merge", *parts, "--out", self.directory / "merged")
        self.same(whole, self.directory / "merged")

        missing = self.heddle("merge", parts[0], "--out", self.directory / "half", code=1).stderr
        self.assertIn("6 of 12 runs are missing", missing)
        self.heddle("run", experiment, "--out", self.directory / "other", "--seeds", "2", "--part", "1/2", "--quiet")
        mixed = self.heddle("merge", parts[0], self.directory / "other", "--out", self.directory / "mixed", code=1).stderr
        self.assertIn("not parts of one experiment", mixed)
        experiment.write_text(EXPERIMENT.replace("0.6", "0.5"))
        changed = self.heddle("run", experiment, "--out", parts[0], "--seeds", "3", "--quiet", code=1).stderr
        self.assertIn("runs of another experiment", changed)
        self.assertIn("must be I/N", self.heddle("run", experiment, "--out", whole, "--part", "3/2", code=1).stderr)

    def test_what_cannot_be_carried_out(self):
        broken = self.directory / "broken.toml"
        broken.write_text(EXPERIMENT.replace("vls = 2", "vls = 99"))
        self.assertIn("broken.toml:9: vls", self.heddle("run", broken, "--out", self.directory, code=1).stderr)
        self.assertIn("heddle sim run", self.heddle("plot", self.directory, code=1).stderr)


if __name__ == "__main__":
    unittest.main()
