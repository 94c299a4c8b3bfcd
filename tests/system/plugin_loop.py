"""heddled beside OpenSM with the plugin, on a served fabric. For the system tests; needs in_netns."""

import contextlib
import json
import re
import time
import unittest

from daemon_under_test import Daemon
from served_fabric import wait_until

FAST = {"regulation.mode": "enforce", "regulation.quiet": "1s", "regulation.least_on": "100ms", "regulation.least_off": "100ms",
        "regulation.drain": "200ms", "regulation.wake": "100ms", "regulation.break_even": "1.0",
        "regulation.most_closing": "16", "regulation.most_transitions": "1000", "sampling.interval": "200ms",
        "sweep.light_interval": "500ms",
        "power.switches": "sfs7000d"}  # of which it is known what a port draws


class LoopTest(unittest.TestCase):
    def heddled(self, served, **settings):
        return Daemon({"fabric.backend": "umad", "metrics.listen": "", "opensm.plugin": "true",
                       "opensm.socket": served.socket, "state.directory": served.directory, **FAST, **settings},
                      served.shim())

    def down(self, served):
        """Ports of switches that are cabled and whose link is down, as "0xGUID/PORT"."""
        _, text, _ = served.run("iblinkinfo", "-l")
        found = re.findall(r'^0x([0-9a-f]+)\s+"[^"]*"\s+\d+\s+(\d+)\[.*Down/\s*Disabled', text, re.M)
        return [f"0x{guid.zfill(16)}/{port}" for guid, port in found]

    def plan(self, served):
        return json.loads(served.plan.read_text()) if served.plan.exists() else {"off": [], "epoch": 0}

    @contextlib.contextmanager
    def told(self, served, daemon):
        """An assertion that fails says what the programs had to say."""
        try:
            yield
        except AssertionError as wrong:
            raise AssertionError(f"{wrong}: off {self.plan(served)['off']}, down {self.down(served)}\n"
                                 f"{daemon.log_text()[-6000:]}\n{served.log_text()[-3000:]}") from None

    def wait_for_links_off(self, served, daemon, number, seconds=60):
        def settled():
            self.assertIsNone(daemon.process.poll(), "heddled has ended")
            return len(self.plan(served)["off"]) >= number and len(self.down(served)) >= number
        with self.told(served, daemon):
            wait_until(settled, seconds, f"{number} links off")

    def wait_for_all_links(self, served, daemon, seconds=90):
        with self.told(served, daemon):
            wait_until(lambda: not self.plan(served)["off"] and not self.down(served), seconds, "all links back")

    def settle(self, daemon, meanwhile=lambda: None, enough=lambda off: True):
        """Until nothing has changed for some rounds of decisions. What the regulation says then, with the number of links off."""
        said, since = None, 0

        def settled():
            nonlocal said, since
            meanwhile()
            before, said = said, daemon.json("regulate")
            said["off"] = said["links"].get("off", 0)
            if not before or (before["stage"], before["links"]) != (said["stage"], said["links"]):
                since = time.monotonic()
            return said["stage"] == "idle" and enough(said["off"]) and time.monotonic() - since > 3
        wait_until(settled, 60, "the regulation's end")
        return said

    def dead_ends(self, served):
        """Entries of tables that have ever led over a link that does not forward: unicast, multicast."""
        status = served.heddle("status")
        return status["unicast_dead_ends"], status["multicast_dead_ends"]

    def expect_sound(self, served):
        """The tables in the fabric are proved, lead over no link that is off, and OpenSM has nothing to complain of."""
        self.expect_sound_tables(served)
        self.assertEqual(self.errors_but_of_lost_questions(served), [])

    def errors_but_of_lost_questions(self, served):
        """A sweep asks every switch by the directed route that OpenSM knows. Nothing announces one, so its question may meet
        a link that goes off at that moment; OpenSM says three things of each that is lost, and sweeps anew."""
        errors = served.errors()
        lost = sum("SubnGet(" in error and "IB_TIMEOUT" in error for error in errors)
        kept = []
        for error in errors:
            if "ERR 5411" in error and "IB_TIMEOUT" in error and lost > 0:
                lost -= 1
            elif "SubnGet(" not in error and "Timeout while getting" not in error:
                kept.append(error)
        return kept

    def expect_sound_tables(self, served):
        refuted, words = served.check_routes()
        self.assertEqual(refuted, 0, words)
        down = self.down(served)
        if down:
            self.assertFalse(served.uses(served.tables(), *down))
