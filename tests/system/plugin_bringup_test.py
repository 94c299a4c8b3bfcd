"""Debian's OpenSM with engine heddle on our simulated fabric: every shape comes up, and the tables are proved."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from plugin_fabric import PluginFabric, PluginIbsim
from served_fabric import FABRICS, HEDDLE


class Unwatched(PluginFabric):
    """A fabric that comes up once has nothing to lose, and these are too large to be judged in passing."""

    watched = False


class BringUp(unittest.TestCase):
    def bring_up(self, fabric, lmcs=(0, 1), options=(), flags="0x43"):
        for lmc in lmcs:
            with self.subTest(fabric=str(fabric), lmc=lmc), Unwatched(fabric, *options) as served:
                self.assertEqual(served.bring_up("-l", lmc, flags=flags), [])
                self.assertIn("heddle tables configured on all switches", served.log_text())
                self.assertEqual(served.heddle("status")["lost_route"], 0)
                if "0x43" in flags:
                    self.assertEqual(self.hop_counts_missing(served), [])
                refuted, words = served.check_routes()
                self.assertEqual(refuted, 0, words)
                self.assertIn("proved: every path arrives, no loop, no cycle of channel dependencies", words)

    def hop_counts_missing(self, served):
        """Entries of OpenSM's dump of the routes that lead somewhere it does not know to be how far."""
        dump = (served.directory / "opensm.fdbs").read_text()
        self.assertRegex(dump, r"(?m)^0x[0-9A-F]{4} : \d{3}  : 01   : yes$")
        return re.findall(r"(?m)^0x[0-9A-F]{4} : \d{3}  : HOPS UNKNOWN.*$", dump)[:3]

    def test_tree_of_648_hosts(self):
        self.bring_up("tree:k=18,n=2,full")

    def test_torus(self):
        self.bring_up("torus:8x8,hosts=2,links=2")

    def test_real_fabrics(self):
        files = sorted(FABRICS.glob("*.ibnetdiscover"))
        if not files:
            self.skipTest("no shared data")
        for file in files:
            self.bring_up(file)

    def test_on_ibsim(self):
        for spec, lmc in (("tree:k=6,n=2", 1), ("torus:5x5,hosts=2,links=2", 0)):
            with self.subTest(spec=spec), tempfile.TemporaryDirectory() as scratch:
                file = pathlib.Path(scratch) / "fabric.net"
                subprocess.run([HEDDLE, "fabric", "generate", spec, "-o", file], check=True)
                with PluginIbsim(file) as served:
                    self.assertEqual(served.bring_up("-l", lmc), [])
                    refuted, words = served.check_routes()
                    self.assertEqual(refuted, 0, words)

    def test_tree_of_11664_hosts(self):
        self.bring_up("tree:k=18,n=3,full", lmcs=(0,), flags="0x03")


if __name__ == "__main__":
    unittest.main()
