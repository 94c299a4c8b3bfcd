"""docs/what-if.md as it stands there, on a simulated fabric under steady traffic; and that the twin of a fabric that OpenSM routes says so."""

import os
import re
import unittest

from daemon_under_test import SOURCE, Daemon
from demo_fabric import demo_fabric, play
from served_fabric import ServedFabric

SETTINGS = {"fabric.generate": "xgft:2;4,4;1,4", "sampling.interval": "200ms", "sweep.light_interval": "500ms"}
TRAFFIC = '[[phase]]\npattern = "all-to-all"\nload = 0.3\ndestinations = 15\n'


def lasting(text):
    """How old something is differs from run to run."""
    return re.sub(r"(read back|the loads of) [\d.]+ (?:ms|s|min) ago", r"\1 ... ago", text)


class Page(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_a_transcript(self):
        with demo_fabric(f"what-if-{os.getpid()}") as daemon:
            self.assertEqual(play(self, "what-if.md", daemon, "", lasting, {"traffic.toml": TRAFFIC}), 5)

    def test_the_error_that_is_stated_stands_on_the_page(self):
        page = (SOURCE / "docs/what-if.md").read_text()
        with Daemon(SETTINGS) as daemon:
            daemon.wait_for_sweeps(3)
            error = daemon.json("what-if", "--without", "spine-0")["flows"]["error"]
            self.assertIn(f"within {100 * error['median']:.0f} % in half of\nall cases", page)
            self.assertIn(f"within {100 * error['worst']:.0f} % in all", page)


class BesideOpenSm(unittest.TestCase):
    def twin(self, engine):
        with ServedFabric("tree:k=3,n=2") as served:
            served.start_opensm("-R", engine)
            settings = {"fabric.backend": "umad", "sm.mode": "off", "metrics.listen": "", "sampling.interval": "200ms"}
            with Daemon(settings, served.shim("host-0 mlx5_0")) as daemon:
                served.heddle("traffic", "add", "host-1 mlx5_0", "host-8 mlx5_0", "--rate", "40e9")
                daemon.wait_for(lambda status: status.get("tables", {}).get("unread_switches") == 0, "tables that were read back", seconds=120)
                daemon.wait_for(lambda status: (status.get("load") or {}).get("utilization_max") or 0 > 0.1, "the load")
                return daemon.json("what-if", "--without", "spine-0")

    def test_tables_that_it_made_are_read_back(self):
        for engine in ("updn", "minhop"):
            with self.subTest(engine):
                said = self.twin(engine)
                self.assertTrue(said["tables"]["read_back"])
                self.assertGreater(said["tables"]["agreement"], 0.3)
                self.assertEqual(said["now"]["pairs_without_path"], 0)
                self.assertEqual(said["then"]["pairs_without_path"], 0)
                self.assertAlmostEqual(said["now"]["traffic"]["carried_bytes_per_second"], 5e9, delta=0.05 * 5e9)
                self.assertIsNone(said["now"]["watts"])


if __name__ == "__main__":
    unittest.main()
