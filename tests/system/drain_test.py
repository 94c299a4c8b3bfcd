"""Switches and links taken out of service under load: docs/drain.md as it stands there, and each uplink of a leaf, a spine, kill -9 in between, on a
served fabric, standalone and beside OpenSM with the plugin."""

import os
import re
import signal
import subprocess
import time
import unittest

from daemon_under_test import HEDDLE, Daemon
from plugin_fabric import PluginFabric
from plugin_loop import LoopTest
from served_fabric import ServedFabric, wait_until
from transcript import transcript

NAME = f"drain-{os.getpid()}"
TREE = "xgft:2;2,3;1,3"  # two hosts at each of three leaves, three spines
LOAD = 'pattern = "uniform"\nload = 0.6\ndestinations = 5'
QUICK = {"regulation.drain": "200ms", "regulation.wake": "200ms", "sampling.interval": "200ms", "sweep.light_interval": "500ms"}


def timeless(text):
    return re.sub(r"(drained|ends in) [\d.]+ (?:ms|s|min|h)\b", r"\1 ...", text)


class Page(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_a_transcript(self):
        steps = transcript("drain.md")
        self.assertGreater(len(steps), 8)
        with Daemon({"fabric.generate": "xgft:2;4,4;1,4", "fabric.serve": NAME, "fabric.training_delay": "200ms", **QUICK}) as daemon:
            daemon.wait_for_sweeps(3)
            for command, printed in steps:
                self.step(daemon, command, "\n".join(printed))

    def step(self, daemon, command, expected):
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command.partition("; echo ")[0].partition(" | grep ")[0])]
        if words[0] == "sim":
            subprocess.run([HEDDLE, "sim", "--name", NAME, *words[1:]], check=True, capture_output=True, timeout=20)
            return
        end = time.monotonic() + 60
        while True:
            done = daemon.heddle_raw(*words)
            said = (done.stdout + done.stderr).rstrip("\n")
            if pattern := command.partition(" | grep -E ")[2].strip('"'):
                said = "\n".join(line.rstrip() for line in said.splitlines() if re.search(pattern, line))
            if "; echo $?" in command:
                said += f"\n{done.returncode}"
            if timeless(said) == timeless(expected) or time.monotonic() > end or "drain" in words[0]:
                break
            time.sleep(0.2)
        self.assertMultiLineEqual(timeless(said), timeless(expected), f"heddle {command}")


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

        cost = self.drain(daemon, "spine-1", "--reason", "a fan")["cost"]
        # Two spines in place of three, and LIDs of which some share a link.
        self.assertAlmostEqual(cost["then"]["largest_load"] / cost["now"]["largest_load"], 1.5, delta=0.26)
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

    def expect_not_missed(self, daemon):
        status = daemon.json("status")
        self.assertFalse([problem for problem in status["problems"] if "gone" in problem or "spine-1" in problem], status["problems"])
        self.assertIn("spine-1: safe to pull", daemon.heddle("status"))


class Standalone(DrainTest):
    def play(self, lmc):
        with ServedFabric(TREE, "--training-delay", "0.2") as served:
            # What an operator takes away with switches behind it is told to the watcher as what it is: see the dead ends.
            served.leave_unjudged()
            with Daemon({"fabric.backend": "umad", "sm.mode": "auto", "metrics.listen": "", "sm.lmc": str(lmc), **QUICK},
                        served.shim("host-0 mlx5_0")) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(3)
                self.each_in_turn(served, daemon, self.kill_9)

    def plan(self, served):
        return {"off": []}

    def kill_9(self, daemon):
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait(20)
        daemon.__enter__()
        daemon.wait_for_sweeps(3)

    def test_lmc_0(self):
        self.play(0)

    def test_lmc_1(self):
        self.play(1)


class BesideOpenSm(DrainTest):
    def play(self, lmc):
        with PluginFabric(TREE, "--training-delay", "0.2", plugin_socket=False) as served:
            served.leave_unjudged()
            served.start_opensm("-s", "1", "-l", str(lmc))
            with self.heddled(served, **{"opensm.lmc": str(lmc), "regulation.mode": "advise"}) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(5)
                self.each_in_turn(served, daemon, self.kill_9)

    kill_9 = Standalone.kill_9

    def test_lmc_0(self):
        self.play(0)

    def test_lmc_1(self):
        self.play(1)


if __name__ == "__main__":
    unittest.main()
