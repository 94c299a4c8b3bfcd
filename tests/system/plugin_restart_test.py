"""The daemon, OpenSM, or both are killed (SIGKILL) at every stage of a change and started again: no table ever leads over a
link that does not forward, and what is reached in the end is what an undisturbed run reaches."""

import concurrent.futures
import unittest

from plugin_fabric import PluginFabric, plan_text
from plugin_loop import LoopTest
from served_fabric import wait_until

RING = "torus:2x2,hosts=1,links=2"  # four switches, four trunks of two links: four links may go
SLOW = {"opensm.lmc": "1", "regulation.mode": "advise", "regulation.drain": "400ms", "regulation.wake": "400ms"}

# What is waited for before the kill, in the order in which a change of links goes through it.
CLOSING = {
    "before anything is decided": lambda run: True,
    "plane 1 is being written": lambda run: run.epochs() >= 1,
    "plane 0 is being written": lambda run: run.epochs() >= 2,
    "links are in the plan and still up": lambda run: run.off(),
    "ports are being set": lambda run: run.off() and run.said("stage") in ("closing", "idle"),
    "links are off": lambda run: run.is_settled({"active": 4, "off": 4}),
}
OPENING = {
    "links are to come back": lambda run: True,
    "links train": lambda run: run.up() > 4,
    "links are up and not yet in the tables": lambda run: run.up() == 8,
    "links are back in the plan": lambda run: not run.off(),
}


class Run:
    """One fabric, on which OpenSM and the daemon are killed once."""

    def __init__(self, test, served, stage, victims):
        self.test, self.served, self.stage, self.victims = test, served, stage, victims

    def __call__(self):
        with self.served:
            self.opensm = self.served.start_opensm("-s", "1", "-l", "1")
            before = self.test.dead_ends(self.served)
            with self.test.heddled(self.served, **SLOW) as self.daemon, self.test.told(self.served, self.daemon):
                self.daemon.wait_for_sweeps(3)
                self.began_at = self.epoch()
                self.daemon.heddle("regulate", "enforce")
                if self.stage in CLOSING:
                    self.kill_when(CLOSING[self.stage])
                self.wait_for({"active": 4, "off": 4})
                self.daemon.heddle("restore")
                if self.stage in OPENING:
                    self.kill_when(OPENING[self.stage])
                    wait_until(lambda: self.daemon.heddle_raw("status").returncode == 0, 30, "the daemon's answer")
                    self.daemon.heddle("restore")  # a daemon that was killed at once may not have heard of it
                self.wait_for({"active": 8})
            self.test.assertEqual(self.test.dead_ends(self.served), before)

    def epoch(self):
        return self.test.plan(self.served)["epoch"]

    def epochs(self):
        return self.epoch() - self.began_at

    def off(self):
        return self.test.plan(self.served)["off"]

    def up(self):
        return self.said("links").get("active", 0)

    def said(self, key):
        return self.daemon.json("regulate")[key]

    def is_settled(self, links):
        answer = self.daemon.heddle_raw("--json", "regulate")
        return answer.returncode == 0 and self.said("links") == links and self.said("stage") == "idle"

    def wait_for(self, links):
        off = links.get("off", 0)
        wait_until(lambda: self.is_settled(links) and len(self.off()) == len(self.test.down(self.served)) == off, 60, f"{links}")
        # A machine that is too busy loses MADs, and OpenSM speaks of it.
        self.test.expect_sound_tables(self.served)

    def kill_when(self, reached):
        wait_until(lambda: reached(self), 30, self.stage)
        killed = [process for name, process in (("daemon", self.daemon.process), ("OpenSM", self.opensm))
                  if name in self.victims]
        for process in killed:
            process.kill()
        for process in killed:
            process.wait()
        if "OpenSM" in self.victims:
            self.served.log.unlink()
            self.opensm = self.served.start_opensm("-s", "1", "-l", "1")
        if "daemon" in self.victims:
            self.daemon.__enter__()


class Restarts(LoopTest):
    def kill_at_every_stage(self, *victims):
        runs = [Run(self, PluginFabric(RING, "--training-delay", "0.3", plugin_socket=False), stage, victims)
                for stage in (*CLOSING, *OPENING)]
        # They mostly wait.
        with concurrent.futures.ThreadPoolExecutor(max_workers=5) as pool:
            for run, done in [(run, pool.submit(run)) for run in runs]:
                with self.subTest(stage=run.stage):
                    done.result()

    def test_a_link_that_is_up_does_not_stay_off_in_the_plan(self):
        """As a daemon that was killed before it set the port may leave it."""
        with PluginFabric(RING, plugin_socket=False) as served:
            served.start_opensm("-s", "1", "-l", "1")
            ends, _ = served.cables()[0]
            served.write_plan(plan_text(7, off=[ends]))
            with self.heddled(served, **SLOW) as daemon, self.told(served, daemon):
                wait_until(lambda: self.plan(served)["epoch"] > 7 and not self.plan(served)["off"], 30, "a plan without it")
                wait_until(lambda: served.uses(served.tables(), *ends), 30, "tables that use it")

    def test_the_daemon_is_killed(self):
        self.kill_at_every_stage("daemon")

    def test_opensm_is_killed(self):
        self.kill_at_every_stage("OpenSM")

    def test_both_are_killed(self):
        self.kill_at_every_stage("daemon", "OpenSM")


if __name__ == "__main__":
    unittest.main()
