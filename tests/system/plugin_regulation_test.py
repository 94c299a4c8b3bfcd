"""The closed loop beside OpenSM: heddled measures and decides, OpenSM routes through the plugin, links go off and come
back. At every stage the forwarding tables in the fabric are proved, and lead over no link that is off."""

import json
import re
import unittest

from daemon_under_test import Daemon
from plugin_fabric import PluginFabric
from served_fabric import SHIM, wait_until

TORUS = "torus:4x4,hosts=1,links=2"
FAST = {"regulation.mode": "enforce", "regulation.quiet": "1s", "regulation.least_on": "100ms", "regulation.least_off": "100ms",
        "regulation.drain": "200ms", "regulation.wake": "100ms", "regulation.break_even": "1.0",
        "regulation.most_closing": "16", "sampling.interval": "200ms", "sweep.light_interval": "500ms"}


class Regulation(unittest.TestCase):
    def heddled(self, served, **settings):
        return Daemon({"fabric.backend": "umad", "metrics.listen": "", "opensm.plugin": "true",
                       "opensm.socket": served.socket, "state.directory": served.directory, **FAST, **settings},
                      {"LD_PRELOAD": SHIM, "IBSIM_SOCKNAME": served.name})

    def down(self, served):
        """Ports of switches that are cabled and whose link is down, as "0xGUID/PORT"."""
        _, text, _ = served.run("iblinkinfo", "-l")
        found = re.findall(r'^0x([0-9a-f]+)\s+"[^"]*"\s+\d+\s+(\d+)\[.*Down/\s*Disabled', text, re.M)
        return [f"0x{guid.zfill(16)}/{port}" for guid, port in found]

    def plan(self, served):
        return json.loads(served.plan.read_text()) if served.plan.exists() else {"off": [], "epoch": 0}

    def wait_for_links_off(self, served, daemon, number, seconds=60):
        def settled():
            assert daemon.process.poll() is None, daemon.log_text()
            return len(self.plan(served)["off"]) >= number and len(self.down(served)) >= number
        try:
            wait_until(settled, seconds, f"{number} links off")
        except AssertionError as wrong:
            raise AssertionError(f"{wrong}: {self.plan(served)['off']} {self.down(served)}\n{daemon.log_text()[-6000:]}\n"
                                 f"{served.log_text()[-3000:]}") from None

    def expect_sound(self, served):
        refuted, words = served.check_routes()
        self.assertEqual(refuted, 0, words)
        down = self.down(served)
        if down:
            self.assertFalse(served.uses(served.tables(), *down))
        self.assertEqual(served.errors(), [])

    def test_idle_links_go_off_and_come_back(self):
        with PluginFabric(TORUS, "--training-delay", "0.2", plugin_socket=False) as served:
            with self.heddled(served) as daemon:
                served.start_opensm("-s", "1")
                self.wait_for_links_off(served, daemon, 8)
                self.expect_sound(served)
                self.assertIn("OpenSM's plugin is here", daemon.log_text())
                daemon.heddle("regulate", "advise")
                daemon.heddle("restore")
                wait_until(lambda: not self.plan(served)["off"] and not self.down(served), 90, "all links back")
                self.expect_sound(served)

    def test_opensm_and_the_daemon_are_killed_and_the_links_stay_out_of_the_tables(self):
        with PluginFabric(TORUS, "--training-delay", "0.2", plugin_socket=False) as served:
            with self.heddled(served) as daemon:
                opensm = served.start_opensm("-s", "1")
                self.wait_for_links_off(served, daemon, 4)
                daemon.process.kill()
                daemon.process.wait()
                opensm.kill()
                opensm.wait()
            before = set(self.down(served))
            self.assertTrue(before)
            served.log.unlink()
            served.start_opensm("-s", "1")
            self.assertLessEqual(before, set(self.down(served)))
            self.expect_sound(served)


if __name__ == "__main__":
    unittest.main()
