"""health.isolate = "enforce" on a served fabric under load: a bad link goes out, tables first, stays out over kill -9, and comes back on trial;
standalone, beside OpenSM with the plugin, and beside one that reads its tables from a file."""

import json
import time
import unittest

import drain_test
import lfts_test
from daemon_under_test import Daemon
from plugin_fabric import PluginFabric
from served_fabric import ServedFabric, wait_until

TREE = "xgft:2;2,4;1,4"  # two hosts at each of four leaves, four spines: a tenth of 16 links is one
LOAD = 'pattern = "uniform"\nload = 0.3\ndestinations = 5'
SETTINGS = {**drain_test.QUICK, "health.isolate": "enforce", "health.window": "20s", "health.long_window": "40s", "health.trial_after": "50s"}


class IsolationTest(drain_test.DrainTest):
    def a_bad_link_goes_and_comes_back(self, served, daemon, restart):
        served.heddle("traffic", "start", LOAD)
        before = self.dead_ends(served)
        first, second = self.uplinks(daemon, "leaf-1")[:2]
        for name, count in ((first, 200), (second, 100)):
            leaf, port = name.split("/")
            served.heddle("fault", "errors", leaf, port, "symbol", str(count))
        wait_until(lambda: len(self.down(served)) == 1, 60, "a bad link going")
        self.expect_nobody_led_astray(served, before)
        out = self.health(daemon)["isolated_links"]
        self.assertEqual(len(out), 1, out)
        self.assertIn("symbol-errors", out[0]["reason"])
        restart(daemon)
        self.assertEqual([each["link"] for each in self.health(daemon)["isolated_links"]], [out[0]["link"]])
        wish, = daemon.json("status")["wishes"]
        self.assertEqual((wish["link"], wish["wish"], wish["by"]), (out[0]["link"], "off", "health"))
        time.sleep(5)
        self.assertEqual(len(self.down(served)), 1, "the other bad one stays: no more than a tenth of all links go")
        self.expect_nobody_led_astray(served, before)
        wait_until(lambda: not self.down(served), 150, "the link's trial")
        self.expect_nobody_led_astray(served, before)

    def health(self, daemon):
        daemon.wait_for(lambda status: "health" in status, "a report of health")
        return json.loads(daemon.heddle_raw("--json", "health").stdout)


class Standalone(IsolationTest):
    kill_9 = drain_test.Standalone.kill_9
    plan = drain_test.Standalone.plan

    def test_a_bad_link(self):
        with ServedFabric(TREE, "--training-delay", "0.2") as served:
            with Daemon({"fabric.backend": "umad", "sm.mode": "auto", "metrics.listen": "", **SETTINGS},
                        served.shim("host-0 mlx5_0")) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(3)
                self.a_bad_link_goes_and_comes_back(served, daemon, self.kill_9)


class BesideOpenSm(IsolationTest):
    kill_9 = drain_test.Standalone.kill_9

    def play(self, lmc):
        with PluginFabric(TREE, "--training-delay", "0.2", plugin_socket=False) as served:
            served.start_opensm("-s", "1", "-l", str(lmc))
            with self.heddled(served, **{**SETTINGS, "opensm.lmc": str(lmc), "regulation.mode": "advise"}) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(5)
                self.a_bad_link_goes_and_comes_back(served, daemon, self.kill_9)

    def test_lmc_0(self):
        self.play(0)

    def test_lmc_1(self):
        self.play(1)


class BesideOpenSmWithoutPlugin(IsolationTest):
    kill_9 = drain_test.Standalone.kill_9
    heddled = lfts_test.ByFile.heddled
    begin = lfts_test.ByFile.begin

    def test_a_bad_link(self):
        with lfts_test.FileFabric(TREE, "--training-delay", "0.2", plugin_socket=False) as served:
            self.begin(served, "-s", "1")
            with self.heddled(served, **{**SETTINGS, "regulation.mode": "advise"}) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(5)
                # OpenSM's first sweep has no file yet: no port can be read before the second one, and what it counted before is nobody's.
                daemon.wait_for(lambda status: status["sampling"].get("failed_ports") == 0, "ports that can be read")
                daemon.wait_for_sweeps(daemon.json("status")["sampling"]["sweeps"] + 5)
                self.a_bad_link_goes_and_comes_back(served, daemon, self.kill_9)


if __name__ == "__main__":
    unittest.main()
