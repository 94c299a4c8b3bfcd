"""Switches and links taken out of service under load: docs/drain.md as it stands there, and each uplink of a leaf, a spine, kill -9 in between, on a
served fabric, standalone and beside OpenSM with the plugin."""

import itertools
import os
import re
import signal
import unittest

from daemon_under_test import Daemon
from demo_fabric import demo_fabric, play
from plugin_fabric import PluginFabric
from plugin_loop import LoopTest
from served_fabric import ServedFabric, wait_until

NAME = f"drain-{os.getpid()}"
TREE = "xgft:2;2,3;1,3"  # two hosts at each of three leaves, three spines
EVERYBODY = 'pattern = "all-to-all"\nload = 0.4\ndestinations = 5'  # all hosts there are
LOAD = 'pattern = "uniform"\nload = 0.6\ndestinations = 5'
QUICK = {"regulation.drain": "200ms", "regulation.wake": "200ms", "sampling.interval": "200ms", "sweep.light_interval": "500ms"}


def timeless(text):
    return re.sub(r"(drained|ends in) [\d.]+ (?:ms|s|min|h)\b", r"\1 ...", text)


class Page(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_a_transcript(self):
        with demo_fabric(NAME) as daemon:
            # What it costs is said of links that carry traffic, and of tables that were read back: those after the drain before.
            def before(command):
                if re.match(r"drain [^-]", command):
                    wait_until(lambda: daemon.json("regulate")["links"] == {"active": 2048}, 120, "all links")
                    def is_read():
                        tables = daemon.json("what-if", "--without", "spine-0-0")["tables"]
                        return tables["agreement"] == 1 and not tables["outdated"]
                    wait_until(is_read, 120, "tables of all links")

            self.assertEqual(play(self, "drain.md", daemon, NAME, timeless, before=before), 10)


class DrainTest(LoopTest):
    def drain(self, daemon, *words):
        """Ordered, and safe to pull."""
        answer = daemon.json("drain", *words)
        self.assertTrue(answer["drain"]["safe_to_pull"], answer)
        return answer

    def uplinks(self, daemon, leaf):
        return sorted(f"{leaf}/{link[end]['port']}" for link in daemon.json("links", "--kind", "switch")["links"]
                      for end in "ab" if link[end]["node"] == leaf)

    def expect_nobody_led_astray(self, served, before):
        self.assertEqual(self.dead_ends(served), before)
        traffic = served.heddle("traffic", "list")
        self.assertEqual((traffic["lost_bytes"], traffic["unroutable"]), (0, 0))

    def all_links_back(self, served, daemon):
        wait_until(lambda: not self.down(served) and daemon.json("regulate")["links"] == {"active": 9}, 90, "all links back")

    def each_in_turn(self, served, daemon, restart):
        """Each uplink of a leaf, then a spine that is pulled and put back; the daemon is killed in between."""
        served.heddle("traffic", "start", LOAD)
        before = self.dead_ends(served)
        for link in self.uplinks(daemon, "leaf-1"):
            self.drain(daemon, link)
            self.assertEqual(len(self.down(served)), 1)
            restart(daemon)
            self.assertEqual(len(self.down(served)), 1)
            daemon.wait_for(lambda status: status["drains"][0]["safe_to_pull"], "being safe to pull")
            daemon.heddle("drain", "--end", link)
            self.all_links_back(served, daemon)
            self.expect_nobody_led_astray(served, before)
        refused = daemon.heddle_raw("drain", "leaf-1")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("host-2", refused.stderr)

        self.drain(daemon, "spine-1", "--reason", "a fan")
        self.assertEqual(len(self.down(served)), 3)
        self.expect_nobody_led_astray(served, before)
        self.expect_not_missed(daemon)
        served.heddle("node", "spine-1", "kill")
        restart(daemon)
        daemon.wait_for(lambda status: status["drains"] and status["drains"][0]["away"], "the switch being away")
        self.expect_not_missed(daemon)
        served.heddle("node", "spine-1", "revive")
        daemon.heddle("drain", "--end")
        self.all_links_back(served, daemon)
        daemon.wait_for(lambda status: not status["problems"] and not status["drains"] and status["fabric"]["switches"] == 6, "all switches")
        self.assertEqual(self.dead_ends(served), before)

    def as_predicted(self, served, daemon):
        """What what-if says of given, steady traffic, and what is measured when it is done: an uplink, a spine, half of the spines' chassis."""
        flows = daemon.directory / "flows.toml"
        flows.write_text(f"[[phase]]\n{EVERYBODY}\n")
        served.heddle("traffic", "start", EVERYBODY)
        daemon.wait_for(lambda status: status.get("tables", {}).get("unread_switches") == 0, "tables that were read back", seconds=120)
        uplink = self.uplinks(daemon, "leaf-1")[0]
        plans = ([uplink], ["spine-1"], ["spine-1", "spine-2"])
        predictions = [daemon.json("what-if", "--flows", flows, *itertools.chain(*(("--without", each) for each in what))) for what in plans]
        for what, said in zip(plans, predictions):
            self.assertEqual(said["tables"]["agreement"], 1.0, said["tables"])
            self.expect_busiest(daemon, said["now"]["traffic"]["largest_share"], f"before {what}")
            before = self.dead_ends(served)
            self.drain(daemon, *what)
            self.expect_predicted(served, daemon, said["then"]["traffic"]["largest_share"], what)
            self.expect_nobody_led_astray(served, before)
            daemon.heddle("drain", "--end")
            self.all_links_back(served, daemon)
            # The predictions are of tables of all links: what comes back is written into them after it is on.
            wait_until(lambda: daemon.json("what-if", "--without", uplink)["tables"]["agreement"] == 1, 60, "tables of all links")

    def expect_predicted(self, served, daemon, share, what):
        self.expect_busiest(daemon, share, f"without {what}")

    def busiest(self, daemon):
        """Of links between switches."""
        links = daemon.json("links", "--kind", "switch")["links"]
        return max(link[way]["utilization"] or 0 for link in links for way in ("a_to_b", "b_to_a") if link[way])

    def expect_busiest(self, daemon, share, when):
        """Within 2 % of what was predicted, once it is measured so."""
        measured = None

        def is_near():
            nonlocal measured
            measured = self.busiest(daemon)
            return abs(measured - share) <= 0.02 * share
        try:
            wait_until(is_near, 60, "the predicted load")
        except AssertionError:
            self.fail(f"{when}: {measured} measured, {share} predicted")

    def expect_not_missed(self, daemon):
        status = daemon.json("status")
        self.assertFalse([problem for problem in status["problems"] if "gone" in problem or "spine-1" in problem], status["problems"])
        self.assertIn("spine-1: safe to pull", daemon.heddle("status"))


class Standalone(DrainTest):
    def play(self, lmc, story):
        with ServedFabric(TREE, "--training-delay", "0.2") as served:
            # What an operator takes away with switches behind it is told to the watcher as what it is: see the dead ends.
            served.leave_unjudged()
            with Daemon({"fabric.backend": "umad", "sm.mode": "auto", "metrics.listen": "", "sm.lmc": str(lmc), **QUICK},
                        served.shim("host-0 mlx5_0")) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(3)
                story(served, daemon)

    def turns(self, served, daemon):
        self.each_in_turn(served, daemon, self.kill_9)

    def plan(self, served):
        return {"off": []}

    def kill_9(self, daemon):
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait(20)
        daemon.__enter__()
        daemon.wait_for_sweeps(3)

    def test_lmc_0(self):
        self.play(0, self.turns)

    def test_lmc_1(self):
        self.play(1, self.turns)

    def test_what_if_tells_it_before_lmc_0(self):
        self.play(0, self.as_predicted)

    def test_what_if_tells_it_before_lmc_1(self):
        self.play(1, self.as_predicted)


class BesideOpenSm(DrainTest):
    def play(self, lmc, story):
        with PluginFabric(TREE, "--training-delay", "0.2", plugin_socket=False) as served:
            served.leave_unjudged()
            served.start_opensm("-s", "1", "-l", str(lmc))
            with self.heddled(served, **{"opensm.lmc": str(lmc), "regulation.mode": "advise"}) as daemon, self.told(served, daemon):
                self.removed_before = {}
                daemon.wait_for_sweeps(5)
                story(served, daemon)

    def expect_predicted(self, served, daemon, share, what):
        """Also when OpenSM has forgotten a switch that is drained, as none of its links is on."""
        super().expect_predicted(served, daemon, share, what)
        for name in what:
            if "/" in name:
                continue
            wait_until(lambda name=name: self.removed(served, name) > self.removed_before.get(name, 0), 60, f"OpenSM without {name}")
            self.removed_before[name] = self.removed(served, name)

        def is_read():
            tables = daemon.json("what-if", "--without", "leaf-0")["tables"]
            return tables["agreement"] == 1 and not tables["outdated"] and tables["unread_switches"] == 0
        wait_until(is_read, 60, f"tables without {what} as they were made when OpenSM saw it")
        super().expect_predicted(served, daemon, share, what)

    def removed(self, served, name):
        """How often OpenSM has dropped the switch."""
        return len(re.findall(rf"Removed port .* of node:{name}\b", served.log_text()))

    kill_9 = Standalone.kill_9
    turns = Standalone.turns

    def test_lmc_0(self):
        self.play(0, self.turns)

    def test_lmc_1(self):
        self.play(1, self.turns)

    def test_what_if_tells_it_before_lmc_0(self):
        self.play(0, self.as_predicted)

    def test_what_if_tells_it_before_lmc_1(self):
        self.play(1, self.as_predicted)


if __name__ == "__main__":
    unittest.main()
