"""A recording of the closed loop beside the real OpenSM is played again without it, and comes to the same: with the plugin, and
by a file; also that of a daemon that was killed, and that of the one after it."""

import signal

from daemon_under_test import Daemon
from lfts_test import FileFabric
from plugin_fabric import PluginFabric
from plugin_loop import FAST, LoopTest
from record_test import replay
from served_fabric import wait_until

RING = "torus:2x2,hosts=1,links=2"


class BesideOpenSm(LoopTest):
    def record(self, served, name, **settings):
        self.file = served.directory / name
        return Daemon({"fabric.backend": "umad", "metrics.listen": "", "state.directory": served.directory, **FAST, **settings},
                      served.shim(), arguments=["--record", self.file])

    def expect_the_same(self, end):
        played = replay(self.file)
        self.assertEqual(played.returncode, 0, played.stderr + played.stdout[-2000:])
        self.assertRegex(played.stdout, r"\d+ events, \d+ deeds, to [\d.]+ s: the same; " + end)
        return played.stdout

    def links(self, daemon):
        return daemon.json("regulate")["links"]

    def live(self, daemon):
        """Links go off, and an operator has them come back."""
        daemon.wait_for_sweeps(1)
        daemon.heddle("regulate", "enforce")  # after a restore it only advises, also the next one
        wait_until(lambda: self.links(daemon).get("off") == 4, 60, "four links off")
        daemon.heddle("restore")
        wait_until(lambda: self.links(daemon) == {"active": 8}, 60, "all links back")

    def live_and_die(self, served, settings):
        """One that ends, one that is killed with links off, and the one after it."""
        with self.record(served, "whole.rec", **settings) as daemon, self.told(served, daemon):
            self.live(daemon)
        self.assertIn("regulation: ", self.expect_the_same("the daemon ended"))
        with self.record(served, "killed.rec", **settings) as daemon, self.told(served, daemon):
            daemon.wait_for_sweeps(1)
            daemon.heddle("regulate", "enforce")
            wait_until(lambda: self.links(daemon).get("off", 0) == 4, 60, "four links off")
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.wait(20)
        self.expect_the_same("it breaks off there")
        with self.record(served, "next.rec", **settings) as daemon, self.told(served, daemon):
            self.live(daemon)
        self.expect_the_same("the daemon ended")

    def test_with_the_plugin(self):
        with PluginFabric(RING, "--training-delay", "0.2", plugin_socket=False) as served:
            served.start_opensm("-s", "1", "-l", "1")
            self.live_and_die(served, {"opensm.plugin": "true", "opensm.socket": served.socket, "opensm.lmc": "1"})

    def test_by_a_file(self):
        with FileFabric(RING, "--training-delay", "0.2", plugin_socket=False) as served:
            opensm = served.begin_opensm("-s", "1")
            (served.directory / "opensm.pid").write_text(f"{opensm.pid}\n")
            self.live_and_die(served, {"opensm.lfts_file": served.lfts,
                                       "opensm.reload": f"pkill -HUP -F {served.directory}/opensm.pid"})
