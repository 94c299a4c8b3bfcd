"""The baseline that heddled keeps: compared with the fabric, told by status, metrics and verify, and there after kill -9."""

import os
import re
import signal
import unittest

from daemon_under_test import Daemon
from demo_fabric import cable_list, demo_fabric, play

FABRIC = {"fabric.generate": "xgft:2;4,4;1,4", "fabric.training_delay": "500ms", "sampling.interval": "200ms",
          "regulation.drain": "1s", "sweep.light_interval": "200ms"}


def differences(daemon):
    return {line.split('"')[1]: int(float(line.split()[-1])) for line in daemon.metrics().splitlines()
            if line.startswith("heddle_baseline_differences{")}


def timeless(text):
    return re.sub(r"kept [\d.]+ (?:us|ms|s|min) ago by (?:root|uid 0)", "kept ... ago by root", text)


class Page(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_a_transcript(self):
        name = f"cabling-{os.getpid()}"
        with demo_fabric(name) as daemon:
            cables = cable_list(daemon, "leaf-1-0,17,host-1024,1\n")  # a host that is not there
            self.assertEqual(play(self, "cabling.md", daemon, name, timeless, {"cables.csv": cables}), 12)


class Baseline(unittest.TestCase):
    def setUp(self):
        self.name = f"baseline-{os.getpid()}"

    def start(self):
        return Daemon({**FABRIC, "fabric.serve": self.name})

    def settled(self, daemon, differ):
        return daemon.wait_for(lambda status: status.get("baseline", {}).get("differ") == differ, f"{differ} differences")

    def measured(self, daemon, condition):
        """A scrape shows what the last sample found, which may be older than the status."""
        daemon.wait_for(lambda _: condition(differences(daemon)), "the metric")

    def test_what_is_kept_is_compared_and_survives(self):
        with self.start() as daemon:
            daemon.wait_for_sweeps(3)
            refused = daemon.heddle_raw("fabric", "verify")
            self.assertEqual(refused.returncode, 2)
            self.assertIn("no baseline is kept", refused.stderr)
            self.assertIn("is kept as the baseline", daemon.heddle("fabric", "baseline", "save"))
            status = self.settled(daemon, 0)
            self.assertEqual(status["baseline"]["as_planned"], 32)
            self.measured(daemon, lambda found: found and not any(found.values()))
            self.assertIn("32 of 32 cables as planned", daemon.heddle("status"))
            daemon.heddle("link", "pin", "leaf-0/5", "--for", "2h", "--reason", "storage")
            # What is off on purpose is where it was, a whole switch that nothing leads to any more as well.
            daemon.heddle("drain", "spine-1", "--reason", "fan 2")
            status = self.settled(daemon, 0)
            self.assertEqual(daemon.heddle_raw("fabric", "verify").returncode, 0)
            # A cable that nobody ordered off is missing.
            daemon.heddle("sim", "--name", self.name, "link", "leaf-2", "7", "down")
            self.settled(daemon, 1)
            verified = daemon.heddle_raw("fabric", "verify")
            self.assertEqual(verified.returncode, 1)
            self.assertIn("missing     leaf-2/7 -- spine-2/3: leaf-2/7 has no cable", verified.stdout)
            self.measured(daemon, lambda found: found.get("missing") == 1)
            kept = daemon.json("status")
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.wait()
            daemon.__enter__()
            self.settled(daemon, 0)  # the simulated fabric is a new one, and whole
            status = daemon.json("status")
            self.assertEqual([status["baseline"][key] for key in ("name", "by", "planned")],
                             [kept["baseline"][key] for key in ("name", "by", "planned")])
            self.assertEqual([drain["what"] for drain in status["drains"]], ["spine-1"])
            self.assertEqual([(wish["link"], wish["wish"], wish["reason"]) for wish in status["wishes"]],
                             [("leaf-0/5 -- spine-0/1", "pin", "storage")])
            self.assertIn("leaf-0/5 -- spine-0/1: pin, by ", daemon.heddle("status"))
            daemon.heddle("fabric", "baseline", "forget")
            self.assertNotIn("baseline", daemon.json("status"))


if __name__ == "__main__":
    unittest.main()
