"""docs/accept.md as it stands there, on the fabric of tools/demo; and what is said of tables that OpenSM made."""

import os
import re
import subprocess
import unittest

from daemon_under_test import HEDDLE, Daemon
from demo_fabric import DEMO, cable_list, demo_fabric, play
from served_fabric import ServedFabric

NAME = f"accept-{os.getpid()}"


def timeless(text):
    return re.sub(r"\(for [^)]*\)", "(for ...)", re.sub(r"read back [\d.]+ \w+ ago", "read back ... ago", text))


class Page(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_a_transcript(self):
        with demo_fabric(NAME) as daemon:
            network = subprocess.run([HEDDLE, "fabric", "generate", DEMO], check=True, capture_output=True, text=True, timeout=60).stdout
            self.assertEqual(play(self, "accept.md", daemon, NAME, timeless, {"cables.csv": cable_list(daemon), "demo.net": network}), 6)


class BesideOpenSm(unittest.TestCase):
    """Tables that are not ours: good ones, and a ring's, by which buffers may wait in a circle."""

    def accept(self, fabric, engine):
        with ServedFabric(fabric) as served:
            served.start_opensm("-R", engine)
            with Daemon({"fabric.backend": "umad", "sm.mode": "off", "metrics.listen": "", "sampling.interval": "200ms"},
                        served.shim("host-0 mlx5_0")) as daemon:
                said = None

                def is_judged(_):
                    nonlocal said
                    said = daemon.heddle_raw("accept", fabric)
                    return said.returncode != 2
                daemon.wait_for(is_judged, "tables that were read back", seconds=120)
                return said

    def test_a_tree(self):
        said = self.accept("tree:k=3,n=2", "updn")
        self.assertEqual(said.returncode, 0, said.stdout)
        self.assertIn("accepted", said.stdout.splitlines())

    def test_a_ring(self):
        said = self.accept("torus:5,hosts=1", "minhop")
        self.assertEqual(said.returncode, 1, said.stdout)
        self.assertRegex(said.stdout, r"\nroutes     failed     25 paths, 0 broken; a cycle of buffers on one VL")


if __name__ == "__main__":
    unittest.main()
