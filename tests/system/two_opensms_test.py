"""Two heddleds, each beside an OpenSM with the plugin: whoever's is the master owns the fabric."""

import datetime
import json
import pathlib
import re
import signal
import sys
import tempfile
import time
import unittest

from plugin_fabric import PluginFabric
from plugin_loop import FAST
from served_fabric import wait_until
from two_hosts import LEASE, RING, BadLinks, Hosts


class TwoOpenSms(Hosts):
    """An OpenSM with the plugin on either host. Whoever's is the master owns the fabric."""

    FABRIC = RING

    def setUp(self):
        self.directories = {name: pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix=f"{name}-")))
                            for name in ("host-a", "host-b")}
        self.begin(PluginFabric(self.FABRIC, "--training-delay", "0.2", plugin_socket=False))

    def settings_of(self, host):
        directory = self.directories[host.name]
        return {"opensm.plugin": "true", "opensm.socket": directory / "plugin.sock", "state.directory": directory}

    def before_daemons(self):
        self.opensms = {}
        self.opensm("host-a", "host-0", 7)
        self.said("host-a", "SUBNET UP")
        self.opensm("host-b", "host-1", 3)
        self.said("host-b", "STANDBY")

    def opensm(self, name, node, priority):
        directory = self.directories[name]
        settings = directory / "opensm.conf"
        settings.write_text("\n".join([
            "event_plugin_name heddle-opensm",
            f"event_plugin_options heddle-opensm:plan={directory / 'plan.json'},socket={directory / 'plugin.sock'}",
            "routing_engine heddle,no_fallback", "force_log_flush TRUE", "packet_life_time 0x0a",
            "sminfo_polling_timeout 200", "polling_retry_number 2", f"sm_priority {priority}"]) + "\n")
        self.opensms[name] = self.served.start("opensm", "-F", settings, "-e", "-f", directory / "osm.log", "-D", "0x03",
                                               node=f"{node} mlx5_0")

    def said(self, name, text):
        log = self.directories[name] / "osm.log"
        wait_until(lambda: log.exists() and text in log.read_text(errors="replace"), 60, f"{text} of the OpenSM of {name}")

    def plan(self, name):
        file = self.directories[name] / "plan.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def both_plan(self, number):
        """Both OpenSMs find the same plan, with so many links off."""
        plans = [self.plan(name) for name in self.directories]
        return plans[0] == plans[1] and len(plans[0].get("off", [])) == number

    def goes_on(self, first):
        """The other daemon knows what is off, and brings it back beside its own OpenSM."""
        self.take_over(20)
        self.said("host-b", "SUBNET UP")
        self.wait(lambda: self.b.link("off") == 1, "knowing what is off")
        self.assertEqual(len(self.plan("host-b")["off"]), 1)
        self.b.order("auto", first)
        self.wait(lambda: self.b.link("active") == 8, "the link's return")


class BesideOpenSm(TwoOpenSms):
    """Daemons, OpenSMs and hosts die, or freeze."""

    def test_the_owners_host_dies(self):
        self.expected = ["host-a", "host-b"]
        first = self.links()[0]
        self.turn_off(first)
        self.wait(lambda: self.both_plan(1), "the same plan on both hosts")
        self.a.kill()
        self.opensms["host-a"].kill()
        self.goes_on(first)

    def test_the_owners_opensm_dies(self):
        """Its daemon lives, and makes room for the one beside the master."""
        self.expected = ["host-a", "host-b"]
        first = self.links()[0]
        self.turn_off(first)
        self.wait(lambda: self.both_plan(1), "the same plan on both hosts")
        self.opensms["host-a"].kill()
        self.goes_on(first)
        self.wait(lambda: self.a.follows("host-b"), "following the other one")
        self.wait(lambda: self.both_plan(0), "the other one's plan here")

    def test_the_owners_daemon_is_stopped_beside_a_master_that_goes_on(self):
        """Nobody else can do its work: nobody takes the place, and it goes on when it has woken up."""
        first = self.links()[0]
        self.turn_off(first)
        self.a.signal(signal.SIGSTOP)
        self.wait(lambda: self.b.complains("no daemon owns this fabric"), "a problem at the other one", LEASE + 5)
        self.a.signal(signal.SIGCONT)
        self.wait(lambda: "starts anew" in self.a.daemon.log_text(), "its noticing")
        self.wait(self.a.owns, "ownership again")
        self.wait(lambda: self.a.link("off") == 1, "knowing what is off")
        self.a.order("auto", first)
        self.wait(lambda: self.a.link("active") == 8, "the link's return")

    def test_the_owners_host_freezes_and_comes_back(self):
        """OpenSM and daemon, as a virtual machine that is suspended: by priority its OpenSM is the master again afterwards."""
        self.expected = ["host-a", "host-b", "host-a"]
        first, second = self.links()[:3:2]
        self.turn_off(first)
        for signal_of in (self.a.signal, self.opensms["host-a"].send_signal):
            signal_of(signal.SIGSTOP)
        self.goes_on(first)
        self.b.order("off", second)
        self.wait(lambda: self.b.link("off") == 1, "another link off")
        for signal_of in (self.a.signal, self.opensms["host-a"].send_signal):
            signal_of(signal.SIGCONT)
        self.wait(self.a.owns, "ownership beside the master of higher priority", 60)
        self.wait(lambda: self.a.link("off") == 1 and self.a.link("active") == 7, "knowing what the other one did")
        self.wait(lambda: self.both_plan(1), "the same plan on both hosts")
        self.a.order("auto", second)
        self.wait(lambda: self.a.link("active") == 8, "all links on")


class Isolation(BadLinks, TwoOpenSms):
    def end_the_owner(self):
        super().end_the_owner()
        self.opensms["host-a"].kill()


class ComingBack(TwoOpenSms):
    """The owner's host dies, and in the same moment there is load for links that are off."""

    BUSY = 'pattern = "all-to-all"\nload = 0.9'

    def settings_of(self, host):
        return {**super().settings_of(host), **FAST}

    @staticmethod
    def said_at(host, pattern, since=0.0):
        """When this host's daemon first said so after that time, as CLOCK_MONOTONIC counts; none: it has not."""
        for line in host.daemon.log_text().splitlines():
            if re.search(pattern, line):
                wall = datetime.datetime.strptime(line[:23], "%Y-%m-%d %H:%M:%S.%f").timestamp()
                if (at := wall - time.time() + time.monotonic()) >= since:
                    return at
        return None

    def test_links_that_load_needs_come_back(self):
        """How long the next owner takes is printed."""
        rounds = 6
        self.expected, took = [], []
        for number in range(rounds):
            self.expected += ["host-a", "host-b"]
            self.wait(lambda: self.a.link("off") == 4, "links off for want of load", 120)
            self.wait(lambda: self.both_plan(4), "the same plan on both hosts")
            load = self.served.heddle("traffic", "start", self.BUSY)["phase"]
            killed = time.monotonic()
            self.a.kill()
            self.opensms["host-a"].kill()
            self.take_over(20)
            owned = self.said_at(self.b, "owns the fabric from here on", killed)
            self.wait(lambda: self.said_at(self.b, r"regulation: confirmed: .*: on$", owned), "links on")
            on = self.said_at(self.b, r"regulation: confirmed: .*: on$", owned)
            ordered = [when / 1e9 for when in self.sets_of(self.b) if when / 1e9 >= owned]
            took.append((owned - killed, ordered[0] - owned, on - owned))
            self.served.heddle("traffic", "stop", load)
            if number + 1 < rounds:
                self.opensm("host-a", "host-0", 7)
                self.a.start()
                self.wait(self.a.owns, "ownership beside the master of higher priority", 60)
        print("seconds to the take-over, from there to the first order, and until links are Active at both ends:",
              ", ".join(f"{owned:.1f} {ordered:.2f} {on:.2f}" for owned, ordered, on in took), file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
