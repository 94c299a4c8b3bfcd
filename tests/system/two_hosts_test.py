"""Two heddleds, one of which is the subnet manager: it is killed, stopped or cut off, or its etcds are, and the other one takes its place."""

import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

from daemon_under_test import Daemon
from etcd_cluster import EtcdCluster, EtcdHosts, certificates
from served_fabric import ServedFabric
from two_hosts import LEASE, RING, BadLinks, Hosts


class OneManager(Hosts):
    """One daemon at a time is the subnet manager."""

    ETCD, FABRIC = EtcdCluster, RING

    def setUp(self):
        self.begin(ServedFabric(self.FABRIC, "--training-delay", "0.2"), self.ETCD)

    def settings_of(self, _):
        return {"sm.mode": "auto"}


class Standalone(OneManager):
    def test_the_owner_is_killed(self):
        self.expected = ["host-a", "host-b", "host-a"]
        first, second = self.links()[:2]
        self.turn_off(first)
        self.assertIn("host-a owns the fabric", self.b.status()["no_regulation"])
        self.assertEqual(self.b.status()["problems"], [])
        refused = self.b.daemon.heddle_raw("link", "off", second)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("host-a", refused.stderr)
        self.a.kill()
        self.take_over()
        self.wait(lambda: self.b.link("off") == 1, "knowing what is off")
        self.b.order("auto", first)
        self.wait(lambda: self.b.link("off") == 0 and self.b.link("active") == 8, "the link's return")
        # Back, it follows, and gets its turn when the other one ends in order.
        self.a.start()
        self.wait(lambda: self.a.follows("host-b"), "following after a restart")
        self.b.order("off", second)
        self.wait(lambda: self.b.link("off") == 1, "another link off")
        self.b.signal(signal.SIGTERM)
        self.wait(self.a.owns, "taking over from one that ended", 3)
        self.wait(lambda: self.a.link("off") == 1 and self.a.link("active") == 7, "knowing what the other one did")
        self.a.order("auto", second)
        self.wait(lambda: self.a.link("active") == 8, "all links on")

    def test_what_was_pushed_is_known_to_the_next_owner(self):
        self.expected = ["host-a", "host-b"]
        plan = self.a.daemon.directory / "qos.plan"
        plan.write_text(json.dumps({"qos": {"vlarb_high": [[0, 3], [1, 1]], "vlarb_low": [[0, 1], [1, 1]], "high_limit": 255,
                                            "sl2vl": [0, 1] * 7 + [0, 15]}}))
        self.a.daemon.heddle("qos", "push", str(plan))
        pushed = self.a.daemon.json("qos", "show")["plans"]
        self.assertEqual(len(pushed), 1)
        self.assertEqual(self.b.daemon.json("qos", "show")["plans"], [])
        self.a.kill()
        self.take_over()
        self.wait(lambda: self.b.daemon.json("qos", "show")["plans"] == pushed, "knowing what was pushed")
        self.wait(lambda: self.sets_of(self.b), "writing by the next owner")

    @staticmethod
    def standing(status):
        """What an operator has ordered, and who."""
        return ([(drain["what"], drain["reason"], drain["by"], drain["safe_to_pull"]) for drain in status.get("drains", [])],
                [(wish["link"], wish["wish"], wish["reason"], wish["by"]) for wish in status.get("wishes", [])],
                [status.get("baseline", {}).get(key) for key in ("name", "by", "planned", "as_planned", "differ")])

    def test_what_stands_is_taken_over(self):
        """A drain, a link that an operator keeps in, and the baseline."""
        self.expected = ["host-a", "host-b"]
        first, second = self.links()[:2]
        self.a.daemon.heddle("fabric", "baseline", "save")
        self.a.order("pin", second, "--for", "2h", "--reason", "storage")
        self.a.daemon.heddle("drain", first, "--reason", "a plug")
        self.wait(lambda: self.a.says(lambda status: self.standing(status)[2][-1] == 0), "a baseline that was compared")
        drains, wishes, baseline = self.standing(self.a.status())
        self.assertEqual([drain[:2] + drain[3:] for drain in drains], [(first, "a plug", True)])
        self.assertEqual([wish[:3] for wish in wishes], [(second, "pin", "storage")])
        self.assertEqual(baseline[2], baseline[3])
        self.a.kill()
        self.take_over()
        self.wait(lambda: self.b.says(lambda status: self.standing(status) == (drains, wishes, baseline)), "what stands")
        self.b.daemon.heddle("drain", "--end")
        self.wait(lambda: self.b.link("active") == 8, "the link's return")

    def test_the_owner_is_stopped_for_longer_than_its_lease(self):
        self.expected = ["host-a", "host-b"]
        first = self.links()[0]
        self.turn_off(first)
        self.a.signal(signal.SIGSTOP)
        self.take_over()
        self.wait(lambda: self.b.link("off") == 1, "knowing what is off")
        self.b.order("auto", first)
        self.wait(lambda: self.b.link("active") == 8, "the link's return")
        self.a.signal(signal.SIGCONT)
        self.wait(lambda: self.a.follows("host-b"), "following after waking up")
        self.assertIn("does not own the fabric any more", self.a.daemon.log_text())

    def test_the_owner_is_cut_off_from_etcd(self):
        self.expected = ["host-a", "host-b"]
        self.turn_off(self.links()[0])
        self.a.cut()
        self.wait(lambda: self.a.complains("etcd cannot be asked"), "a problem")
        self.take_over(LEASE + 5)
        self.wait(lambda: self.b.link("off") == 1, "knowing what is off")
        self.a.cut(False)
        self.wait(lambda: self.a.follows("host-b"), "following when etcd is back")

    def test_etcd_goes_away(self):
        """Whoever owned stops writing, links stay as they are, and it goes on when etcd is back."""
        first, second = self.links()[:3:2]
        self.turn_off(first)
        for member in (1, 2):
            self.etcd.kill(member)
        self.wait(lambda: "starts anew" in self.a.daemon.log_text(), "the end of the lease", LEASE + 10)
        self.wait(lambda: self.a.complains("etcd cannot be asked"), "a problem")
        self.assertNotEqual(self.a.daemon.heddle_raw("link", "off", second).returncode, 0)
        quiet = len(self.sets_of(self.a)) + len(self.sets_of(self.b))
        for member in (1, 2):
            self.etcd.start(member)
        self.assertEqual(len(self.sets_of(self.a)) + len(self.sets_of(self.b)), quiet)
        self.wait(lambda: self.a.owns() or self.b.owns(), "an owner when etcd is back", 60)
        owner = self.a if self.a.owns() else self.b
        self.expected = ["host-a"] if owner is self.a else ["host-a", "host-b"]
        self.wait(lambda: owner.link("off") == 1 and owner.link("active") == 7, "knowing what is off")
        owner.order("auto", first)
        self.wait(lambda: owner.link("active") == 8, "all links on")

    def test_the_owner_is_killed_in_the_middle_of_changes(self):
        """At any stage: what was begun is mended, no link stays off that nobody asked for, those asked for are off."""
        self.expected = ["host-a", "host-b"]
        links = self.links()
        wanted = links[::2]
        for link in wanted:
            self.a.daemon.heddle_raw("link", "off", link)
        self.a.kill()
        self.take_over()
        self.wait(lambda: self.b.daemon.json("regulate")["stage"] == "idle"
                  and self.b.link("active") + self.b.link("off") == 8, "an end of what was begun")
        ordered = {each["name"] for each in self.b.daemon.json("links", "--power")["links"] if each["state"] == "off"}
        self.assertLessEqual(ordered, set(wanted))
        self.b.daemon.heddle("restore")
        self.wait(lambda: self.b.link("active") == 8, "all links on")

    def test_owners_are_killed_at_any_moment(self):
        """Of links going off and of links coming back, one owner after the other."""
        rounds = 24 if os.environ.get("HEDDLE_NIGHT") else 4
        self.expected = []
        owner, other, took = self.a, self.b, []
        for number in range(rounds):
            self.expected.append(owner.name)
            links = self.links_of(owner)[::2]
            for link in links:
                owner.daemon.heddle_raw("link", "off", link)
            if number % 2:
                self.wait(lambda: owner.link("off") == len(links), "links off")
                owner.daemon.heddle("restore")
            time.sleep(1.5 * number / rounds)  # the moment
            owner.kill()
            killed = time.monotonic()
            self.wait(other.owns, "the take-over", LEASE + 3)
            owned = time.monotonic()
            self.wait(lambda: other.daemon.json("regulate")["stage"] == "idle"
                      and other.link("active") + other.link("off") == 8, "an end of what was begun")
            took.append((owned - killed, time.monotonic() - owned))
            other.daemon.heddle("restore")
            self.wait(lambda: other.link("active") == 8, "all links on")
            owner.start()
            self.wait(lambda: owner.follows(other.name), "following after a restart")
            owner, other = other, owner
        self.expected.append(owner.name)
        print("seconds to the take-over, and to the end of what was begun:",
              ", ".join(f"{first:.1f} {then:.1f}" for first, then in took), file=sys.stderr)

    def test_the_owners_cable_is_pulled(self):
        """It makes room for one that sees the fabric."""
        self.expected = ["host-a", "host-b"]
        self.turn_off(self.links()[0])
        self.served.heddle("link", "host-0 mlx5_0", 1, "down")
        self.take_over(20)
        self.wait(lambda: self.b.link("off") == 1, "knowing what is off")
        self.served.heddle("link", "host-0 mlx5_0", 1, "up")
        self.wait(lambda: self.a.follows("host-b"), "following with its cable back")


class OneEtcd(OneManager):
    """With the lease that is shipped: etcd takes up to 2 s for a new leader, and again where two of its members stand for it."""

    def settings_of(self, host):
        return {**super().settings_of(host), "state.etcd.lease": "5s"}

    def test_one_etcd_dies(self):
        """The one that led: nobody's turn ends, and what is ordered meanwhile is stored."""
        first, second = self.links()[:3:2]
        self.turn_off(first)
        self.etcd.kill(self.etcd.leader())
        self.a.order("off", second)
        self.wait(lambda: self.a.link("off") == 2, "another link off")
        self.assertNotIn("starts anew", self.a.daemon.log_text())
        self.assertTrue(self.a.owns())
        self.a.daemon.heddle("restore")
        self.wait(lambda: self.a.link("active") == 8, "all links on")


class Isolation(BadLinks, OneManager):
    pass


class HostsOfTheirOwn(OneManager):
    """The etcds have hosts of their own, with networks that are cut and disks that fill up."""

    ETCD = EtcdHosts

    def goes_on(self, owner, off, seconds=60):
        self.wait(owner.owns, "an owner", seconds)
        self.wait(lambda: owner.link("off") == off and owner.link("active") == 8 - off, "knowing what is off")
        owner.daemon.heddle("restore")
        self.wait(lambda: owner.link("active") == 8, "all links on")

    def test_the_etcd_that_leads_is_cut_off_from_the_others(self):
        """It still takes the daemons' connections, and can store nothing: they find the others."""
        first, second = self.links()[:3:2]
        self.turn_off(first)
        leader = self.etcd.leader()
        self.etcd.cut_peers(leader)
        self.wait(lambda: self.a.owns() or self.b.owns(), "an owner", 60)
        owner = self.a if self.a.owns() else self.b
        self.expected = ["host-a"] if owner is self.a else ["host-a", "host-b"]
        self.wait(lambda: owner.link("off") == 1 and owner.link("active") == 7, "knowing what is off")
        self.wait(lambda: owner.daemon.heddle_raw("link", "off", second).returncode == 0, "an order taken")
        self.wait(lambda: owner.link("off") == 2, "another link off")
        self.etcd.cut_peers(leader, is_cut=False)
        self.goes_on(owner, 2)

    def test_the_owners_host_is_cut_off_from_the_others(self):
        """Its daemon still has the etcd of its own host, which has no majority."""
        self.expected = ["host-a", "host-b"]
        self.turn_off(self.links()[0])
        self.etcd.cut_peers(0)
        for way in self.a.ways[1:]:
            way.open = False
        self.b.ways[0].open = False
        self.take_over(LEASE + 12)
        self.wait(lambda: self.a.complains("etcd cannot be asked"), "a problem")
        self.goes_on(self.b, 1)
        self.etcd.cut_peers(0, is_cut=False)
        self.a.cut(False)
        self.wait(lambda: self.a.follows("host-b"), "following when the network is back")

    def test_all_etcds_are_cut_off_from_one_another(self):
        self.turn_off(self.links()[0])
        self.etcd.cut_peers(0, 1, 2)
        self.wait(lambda: "starts anew" in self.a.daemon.log_text(), "the end of the lease", LEASE + 10)
        self.wait(lambda: self.a.complains("etcd cannot be asked"), "a problem")
        quiet = len(self.sets_of(self.a)) + len(self.sets_of(self.b))
        self.etcd.cut_peers(0, 1, 2, is_cut=False)
        self.assertEqual(len(self.sets_of(self.a)) + len(self.sets_of(self.b)), quiet)
        self.wait(lambda: self.a.owns() or self.b.owns(), "an owner when the network is back", 60)
        owner = self.a if self.a.owns() else self.b
        self.expected = ["host-a"] if owner is self.a else ["host-a", "host-b"]
        self.goes_on(owner, 1)

    def test_disks_fill_up(self):
        """One: nobody's turn ends. A second one: nobody owns the fabric until there is room."""
        first, second = self.links()[:3:2]
        self.turn_off(first)
        self.etcd.fill_disk(2)
        self.a.order("off", second)
        self.wait(lambda: self.a.link("off") == 2, "another link off")
        self.etcd.fill_disk(1)
        self.wait(lambda: "starts anew" in self.a.daemon.log_text(), "the end of the lease", LEASE + 20)
        self.wait(lambda: self.a.complains("etcd cannot be asked"), "a problem")
        for member in (1, 2):
            self.etcd.empty_disk(member)
            self.etcd.kill(member)
            self.etcd.start(member)
        self.wait(lambda: self.a.owns() or self.b.owns(), "an owner when there is room", 60)
        owner = self.a if self.a.owns() else self.b
        self.expected = ["host-a"] if owner is self.a else ["host-a", "host-b"]
        self.goes_on(owner, 2)

    def test_the_owner_is_stopped_for_half_a_minute(self):
        self.expected = ["host-a", "host-b"]
        self.turn_off(self.links()[0])
        self.a.signal(signal.SIGSTOP)
        time.sleep(30)
        self.assertTrue(self.b.owns())
        self.a.signal(signal.SIGCONT)
        self.wait(lambda: self.a.follows("host-b"), "following after waking up")
        self.goes_on(self.b, 1)


class Tls(unittest.TestCase):
    """etcd that asks for certificates, and shows one."""

    def directory(self):
        return pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="heddle-tls-")))

    def test_only_the_authority_of_the_configuration_counts(self):
        files, others = certificates(self.directory()), certificates(self.directory(), "others")
        self.enterContext(EtcdCluster(members=1, tls=files))
        settings = {"fabric.generate": RING, "state.backend": "etcd", "state.etcd.endpoints": "https://127.0.0.1:23790",
                    "state.etcd.cert": files / "client.pem", "state.etcd.key": files / "client.key"}
        with Daemon({**settings, "state.etcd.ca": others / "ca.pem"}) as stranger:
            stranger.wait_for(lambda status: any("etcd cannot be asked" in text for text in status["problems"]), "a problem")
        with Daemon({**settings, "state.etcd.ca": files / "ca.pem", "state.etcd.cert": others / "client.pem",
                     "state.etcd.key": others / "client.key"}) as stranger:
            stranger.wait_for(lambda status: any("etcd cannot be asked" in text for text in status["problems"]), "a problem")
        with Daemon({**settings, "state.etcd.ca": files / "ca.pem"}) as daemon:
            daemon.wait_for(lambda status: status["shared_state"]["owns"], "ownership")
            daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "mastership")
            self.assertIn("heddle_owner 1\n", daemon.metrics())


if __name__ == "__main__":
    unittest.main()
