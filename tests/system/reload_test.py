"""SIGHUP: who writes the fabric, and whether links are regulated, takes effect at once, and what is under way ends in order."""

import signal
import unittest

from daemon_under_test import Daemon
from served_fabric import ServedFabric

QUICK = """
[sweep]
light_interval = "200ms"
[sampling]
interval = "200ms"
timeout = "50ms"
[regulation]
quiet = "1s"
least_on = "1s"
least_off = "1s"
drain = "100ms"
wake = "100ms"
packet_life = "20ms"
break_even = 1.0
"""
MANAGER = '[sm]\nmode = "auto"\n'


class Reload(unittest.TestCase):
    def reload(self, daemon, text):
        (daemon.directory / "heddle.toml").write_text(text)
        daemon.process.send_signal(signal.SIGHUP)

    def off(self, daemon):
        return [link for link in daemon.json("links", "--power")["links"] if link["state"] == "off"]

    def enforcing(self, settings=""):
        """A daemon that has links off, on a fabric that others see."""
        served = self.enterContext(ServedFabric("torus:2x2,hosts=1,links=2", "--training-delay", "0.1"))
        self.text = QUICK + 'mode = "enforce"\n' + settings
        daemon = self.enterContext(Daemon({"fabric.backend": "umad", "metrics.listen": ""}, served.shim("host-0 mlx5_0"),
                                          MANAGER + self.text))
        daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master" and len(self.off(daemon)) == 4,
                        "having links off")
        return daemon

    def wait_for_observer(self, daemon):
        return daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "observer" and status["fabric"],
                               "only watching")

    def test_read_only_brings_links_back_and_then_writes_nothing_until_it_is_taken_back(self):
        daemon = self.enforcing()
        self.reload(daemon, "[fabric]\nread_only = true\n" + MANAGER + self.text)
        status = self.wait_for_observer(daemon)
        self.assertIn("fabric.read_only is set: no link is turned off", "".join(status["problems"]))
        self.assertIn("fabric.read_only changed: this daemon ends in order and starts anew", daemon.log_text())
        daemon.wait_for(lambda status: status["fabric"]["links"] == 12, "seeing all links", 20)
        self.assertEqual({link["state"] for link in daemon.json("links")["links"]}, {"Active"})
        for refused in (["restore"], ["sm", "take", "--force"]):
            self.assertNotEqual(daemon.heddle_raw(*refused).returncode, 0)
        self.reload(daemon, MANAGER + self.text)
        daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master" and len(self.off(daemon)) == 4,
                        "having links off again")

    def test_sm_mode_off_leaves_links_off_where_that_is_configured(self):
        daemon = self.enforcing('on_stop = "leave"\n')
        self.reload(daemon, '[sm]\nmode = "off"\n' + self.text)
        self.wait_for_observer(daemon)
        daemon.wait_for(lambda status: status["fabric"]["links"] == 8, "four links being off still", 20)
        problems = "".join(daemon.json("status")["problems"])
        self.assertIn("4 links were turned off by this daemon earlier", problems)
        self.assertRegex(problems, r"nobody brings them back: sw-\S+/\d+, sw-\S+/\d+, sw-\S+/\d+, and 1 more; let it regulate again")

    def test_a_mode_of_regulation(self):
        daemon = self.enforcing()
        before = daemon.json("status")["sampling"]["sweeps"]
        self.reload(daemon, MANAGER + self.text.replace("enforce", "advise"))
        daemon.wait_for(lambda _: not self.off(daemon), "everything being back", 30)
        self.assertEqual(daemon.json("regulate")["mode"], "advise")
        self.assertIn("the configuration", daemon.heddle("events"))
        self.assertGreater(daemon.json("status")["sampling"]["sweeps"], before, "the same daemon")

    def test_ending_while_it_ends_to_start_anew(self):
        daemon = self.enforcing()
        self.reload(daemon, "[fabric]\nread_only = true\n" + MANAGER + self.text)
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.process.wait(30), 0)


if __name__ == "__main__":
    unittest.main()
