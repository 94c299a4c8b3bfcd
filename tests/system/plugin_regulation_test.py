"""The closed loop beside OpenSM: heddled measures and decides, OpenSM routes through the plugin, links go off and come
back. At every stage the forwarding tables in the fabric are proved, and lead over no link that is off."""

import unittest

from plugin_fabric import PluginFabric
from plugin_loop import LoopTest
from served_fabric import wait_until

BUSY = 'pattern = "uniform"\nload = 0.9\ndestinations = 17'


class Stages:
    """Looks at paths whenever the plan or a link has changed: ibtracert must arrive on every LID."""

    def __init__(self, test, served, hosts, lids):
        self.test, self.served, self.hosts, self.lids = test, served, hosts, lids
        self.base = {host: served.lid_of(f"{host} mlx5_0") for host in hosts}
        self.seen, self.traced = [], 0

    def state(self):
        return self.test.plan(self.served)["epoch"], tuple(self.test.down(self.served))

    def look(self):
        state = self.state()
        if self.seen and self.seen[-1] == state:
            return
        self.seen.append(state)
        for number, source in enumerate(self.hosts):
            target = self.hosts[(number + len(self.seen)) % len(self.hosts)]
            for lid in range(self.base[target], self.base[target] + self.lids):
                self.trace(source, lid)

    def trace(self, source, lid):
        """A link may go while the path is followed; then it is followed again."""
        while True:
            state = self.state()
            code, text, complaints = self.served.run("ibtracert", self.base[source], lid, node=f"{source} mlx5_0")
            if (code, complaints) == (0, []) or state == self.state():
                self.test.assertEqual((code, complaints), (0, []), f"{source} to LID {lid} at {state}: {text}")
                self.traced += 1
                return


class ClosedLoop(LoopTest):
    def test_links_follow_the_load_and_no_packet_finds_a_dead_end(self):
        """LMC 1. Any link may go, not only of trunks."""
        with PluginFabric("torus:3x3,hosts=2,links=2", "--training-delay", "0.2", plugin_socket=False) as served:
            served.start_opensm("-s", "1", "-l", "1")
            members = ["host-0", "host-5", "host-10", "host-15"]
            for host in members:
                self.assertEqual(served.join(host), "0xc000")
            wait_until(lambda: served.multicast_arrives(members), 20, "the multicast tree")
            load = served.heddle("traffic", "start", BUSY)["phase"]
            before = self.dead_ends(served)
            stages = Stages(self, served, members, 2)
            with self.heddled(served, **{"opensm.lmc": "1", "regulation.policy": "general"}) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(5)
                busy = self.rest(served, daemon, stages)
                served.heddle("traffic", "stop", load)
                idle = self.rest(served, daemon, stages, lambda off: off > busy["off"] + 8)
                self.assertTrue(served.multicast_arrives(members, forbidden=self.down(served)))
                served.heddle("traffic", "start", BUSY)
                again = self.rest(served, daemon, stages, lambda off: off < idle["off"] - 8)
                self.assertTrue(served.multicast_arrives(members, forbidden=self.down(served)))
                self.assertLess(idle["power_watts"], busy["power_watts"] - 8)
                self.assertGreater(again["power_watts"], idle["power_watts"] + 8)
                daemon.heddle("restore")
                self.wait_for_all_links(served, daemon)
                self.expect_sound(served)
                self.assertGreater(daemon.json("energy")["total"]["saved_joules"], 0)
            self.assertEqual(self.dead_ends(served), before)
            traffic = served.heddle("traffic", "list")
            self.assertEqual((traffic["lost_bytes"], traffic["unroutable"]), (0, 0))
            self.assertTrue(served.multicast_arrives(members))
            self.assertNotIn("Removed port", served.log_text())
            self.assertGreater(len(stages.seen), 3)  # one before, and one after each change of the load

    def rest(self, served, daemon, stages, enough=lambda off: True):
        said = self.settle(daemon, stages.look, enough)
        self.expect_sound(served)
        return said


class Guarded(LoopTest):
    """OpenSM guards the ports with an M_Key. The daemon sets them with the one of its own configuration."""

    KEY = "0x1a2b3c4d5e6f7081"
    RING = "torus:2x2,hosts=1,links=2"

    def opensm(self, served, protection):
        served.start_opensm("-s", "1", lines=[f"m_key {self.KEY}", f"m_key_protection_level {protection}",
                                              "m_key_lease_period 0"])

    def test_links_go_off_and_come_back_with_the_key(self):
        """At level 2 not even a Get is answered without it."""
        with PluginFabric(self.RING, "--training-delay", "0.2", plugin_socket=False) as served:
            self.opensm(served, 2)
            code, _, _ = served.run("smpquery", "-t", "100", "-D", "portinfo", "0,1", 0)
            self.assertNotEqual(code, 0)
            before = self.dead_ends(served)
            with self.heddled(served, **{"fabric.m_key": self.KEY}) as daemon, self.told(served, daemon):
                links = lambda: daemon.json("regulate")["links"]
                daemon.wait_for_sweeps(2)
                wait_until(lambda: links() == {"active": 4, "off": 4}, 60, "four links off")
                daemon.heddle("restore")
                wait_until(lambda: links() == {"active": 8}, 60, "all links back")
            self.assertEqual(self.dead_ends(served), before)
            self.assertEqual(self.errors_but_of_lost_questions(served), [])

    def test_without_the_key_nothing_goes_off_and_the_plan_says_so_again(self):
        with PluginFabric(self.RING, plugin_socket=False) as served:
            self.opensm(served, 1)
            with self.heddled(served) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(2)
                wait_until(lambda: daemon.json("regulate")["transitions"]["failed"] > 0, 60, "a failed change")
                daemon.heddle("regulate", "advise")
                wait_until(lambda: not self.plan(served)["off"], 60, "the plan without links that are off")
                self.assertEqual(self.down(served), [])
                self.expect_sound(served)


class Regulation(LoopTest):
    TORUS = "torus:4x4,hosts=1,links=2"

    def test_idle_links_go_off_and_come_back(self):
        with PluginFabric(self.TORUS, "--training-delay", "0.2", plugin_socket=False) as served:
            with self.heddled(served) as daemon:
                served.start_opensm("-s", "1")
                self.wait_for_links_off(served, daemon, 8)
                self.expect_sound(served)
                self.assertIn("OpenSM's plugin is here", daemon.log_text())
                daemon.heddle("regulate", "advise")
                daemon.heddle("restore")
                self.wait_for_all_links(served, daemon)
                self.expect_sound(served)


class TwoOpenSms(LoopTest):
    def test_master_and_standby_share_the_socket_and_mastership_moves(self):
        with PluginFabric("torus:2x2,hosts=1,links=2", "--training-delay", "0.2", plugin_socket=False) as served:
            master = served.start_opensm("-s", "1", "-p", "10")
            with self.heddled(served) as daemon, self.told(served, daemon):
                daemon.wait_for(lambda status: True, "answering")
                links = lambda: daemon.json("regulate")["links"]
                log = served.directory / "standby.log"
                conf = served.settings("sminfo_polling_timeout 300", "polling_retry_number 2")
                served.start("opensm", "-F", conf, "-e", "-f", log, "-D", "0x03", "-s", "1", "-p", "1",
                             node="host-2 mlx5_0", OSM_CACHE_DIR=str(served.directory / "c2"))
                wait_until(lambda: log.exists() and "STANDBY" in log.read_text(), 30, "the standby")
                wait_until(lambda: links() == {"active": 4, "off": 4}, 60, "four links off")
                master.kill()
                master.wait()
                wait_until(lambda: "SUBNET UP" in log.read_text(), 60, "the take-over")
                self.assertEqual(links(), {"active": 4, "off": 4})
                daemon.heddle("restore")
                wait_until(lambda: links() == {"active": 8}, 60, "all links back")
                self.assertLess(daemon.log_text().count("OpenSM's plugin is here"), 6)


if __name__ == "__main__":
    unittest.main()
