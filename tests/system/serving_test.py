"""heddled serves the fabric that it simulates: Debian's tools and heddle see the same fabric and the same traffic."""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest

from daemon_under_test import HEDDLE, Daemon
from served_fabric import Programs, flood, wait_until

TREE = "tree:k=4,n=2"
SCENARIO = """
[[phase]]
name = "steady"
pattern = "neighbour"
load = 0.4
"""


class Serving(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scenario = cls.enterClassContext(tempfile.NamedTemporaryFile("w", suffix=".toml"))
        scenario.write(SCENARIO)
        scenario.flush()
        cls.daemon = cls.enterClassContext(Daemon({
            "fabric.generate": TREE, "fabric.scenario": scenario.name, "fabric.serve": "serving", "metrics.listen": "",
            "sampling.interval": "100ms", "sweep.light_interval": "100ms"}))
        cls.programs = cls.enterClassContext(Programs("serving", cls.daemon.directory))
        cls.daemon.wait_for(lambda status: ((status.get("load") or {}).get("utilization_max") or 0) > 0.3, "loaded")

    def clean(self, *command):
        """The output of a program that has nothing to complain about."""
        code, output, complaints = self.programs.run(*command)
        self.assertEqual((code, complaints), (0, []), f"{command}: {output}")
        return output

    def sim(self, *command):
        done = subprocess.run([HEDDLE, "--json", "sim", "--name", "serving", *map(str, command)], capture_output=True,
                              text=True, timeout=20, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def lid_of(self, name):
        return int(re.search(rf'"{re.escape(name)}".* lid (\d+)', self.clean("ibnetdiscover")).group(1))

    def test_ibnetdiscover_and_the_daemon_see_one_fabric(self):
        found = self.daemon.directory / "found"
        found.write_text(self.clean("ibnetdiscover"))
        known = self.daemon.directory / "known"
        known.write_text(self.daemon.heddle("fabric", "export", "--format", "ibnetdiscover"))
        done = subprocess.run([HEDDLE, "fabric", "diff", "--exit-code", known, found], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_smpquery_finds_the_daemon_as_subnet_manager(self):
        leaf, own = self.lid_of("leaf-3"), self.lid_of("host-0 mlx5_0")
        self.assertIn("leaf-3", self.clean("smpquery", "nodedesc", leaf))
        port = self.clean("smpquery", "portinfo", leaf, 1)
        self.assertRegex(port, r"LinkState:\.+Active")
        self.assertRegex(self.clean("smpquery", "portinfo", leaf, 0), rf"SMLid:\.+{own}\n")
        self.assertRegex(self.clean("sminfo", own), r"state 3 SMINFO_MASTER")

    def transmitted(self, lid, port):
        """Bytes, and the earliest and latest moment at which they were counted."""
        before = time.monotonic()
        output = self.clean("perfquery", "-x", lid, port)
        return int(re.search(r"PortXmitData:\.+(\d+)", output).group(1)) * 4, before, time.monotonic()

    def test_perfquery_counts_what_heddle_links_shows(self):
        link = next(link for link in self.daemon.json("links")["links"] if link["a"]["node"] == "leaf-3" and link["a"]["port"] == 2)
        rate = link["a_to_b"]["bytes_per_second"]
        self.assertAlmostEqual(link["a_to_b"]["utilization"], 0.4, delta=1e-6)
        leaf = self.lid_of("leaf-3")
        first, earliest, early = self.transmitted(leaf, 2)
        second, late, latest = self.transmitted(leaf, 2)
        self.assertGreater(second, first)
        self.assertGreaterEqual(second - first, rate * (late - early) * 0.999)
        self.assertLessEqual(second - first, rate * (latest - earliest) * 1.001)

    def test_what_a_tool_or_a_script_does_the_daemon_sees(self):
        leaf = self.lid_of("leaf-2")

        def state():
            links = self.daemon.json("links")["links"]
            return next((link["state"] for link in links if link["a"]["node"] == "leaf-2" and link["a"]["port"] == 5), "gone")

        self.assertEqual(state(), "Active")
        self.clean("ibportstate", leaf, 5, "disable")
        wait_until(lambda: state() != "Active", 20, "the port's being disabled")
        self.clean("ibportstate", leaf, 5, "enable")
        wait_until(lambda: state() == "Active", 20, "its return")
        self.sim("link", "leaf-2", 5, "down")
        wait_until(lambda: state() != "Active", 20, "the cut")
        self.sim("link", "leaf-2", 5, "up")
        wait_until(lambda: state() == "Active", 20, "its being mended")

    def test_a_client_that_floods_does_not_stop_the_daemon(self):
        control, packets, _ = self.programs.attach(os.getpid())
        self.addCleanup(control.close)
        self.addCleanup(packets.close)
        before = self.daemon.json("status")
        self.assertGreater(flood(packets, 20000), 100)
        packets.settimeout(5)
        packets.send(os.urandom(288))
        control.send(os.urandom(80))
        status = self.daemon.wait_for(
            lambda status: status["sampling"]["sweeps"] > before["sampling"]["sweeps"] + 3, "sampling on")
        self.assertEqual(status["sampling"]["failed_ports"], 0)
        self.clean("smpquery", "nodedesc", 1)

    def test_a_script_that_does_not_end_is_given_up_with_what_it_began(self):
        began = time.monotonic()
        with self.assertRaisesRegex(AssertionError, "did not end within 1 s: .*sleep"):
            self.programs.run("sh", "-c", "sleep 60 & wait", timeout=1)
        self.assertLess(time.monotonic() - began, 30)

    def test_a_name_that_is_taken_is_refused(self):
        second = Daemon({"fabric.generate": TREE, "fabric.serve": "serving", "metrics.listen": ""})
        with second:
            self.assertEqual(second.process.wait(20), 1)
            self.assertIn("fabric.serve: cannot bind @serving", second.log_text())


if __name__ == "__main__":
    unittest.main()
