"""heddled turns links off and on: on its own simulated fabric, and on a served one where it is killed in between."""

import json
import signal
import time
import unittest

from daemon_under_test import Daemon
from plugin_fabric import PluginFabric
from served_fabric import ServedFabric, wait_until

RING = "torus:2x2,hosts=1,links=2,width=4x,speed=DDR"  # four switches, four trunks of two links
QUICK = {
    "regulation.mode": "enforce",
    "regulation.quiet": "2s",
    "regulation.least_on": "2s",
    "regulation.least_off": "1s",
    "regulation.drain": "200ms",
    "regulation.wake": "200ms",
    "fabric.training_delay": "200ms",
    "regulation.break_even": "1",
    "sampling.interval": "200ms",
    "sm.lmc": "1",
}


def links_in(daemon, state):
    return daemon.json("regulate")["links"].get(state, 0)


class OnItsOwnFabric(unittest.TestCase):
    def test_commands(self):
        with Daemon({"fabric.generate": RING, **QUICK}) as daemon:
            daemon.wait_for_sweeps(3)
            wait_until(lambda: links_in(daemon, "off") == 4, 60, "one link of each trunk off")
            power = daemon.json("links", "--power")["links"]
            self.assertEqual(len(power), 8)
            off = [link["name"] for link in power if link["state"] == "off"]
            self.assertIn("off", daemon.heddle("links", "--power"))
            self.assertTrue(all(link["reason"] for link in power if link["state"] == "off"))

            answer = daemon.json("link", "pin", off[0], "--reason", "backup", "--for", "2h")
            self.assertTrue(answer["text"])
            wait_until(lambda: links_in(daemon, "off") == 3, 30, "the pinned link's return")
            refused = daemon.heddle_raw("link", "off", "host-0 mlx5_0/1")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("host-", refused.stderr)
            unknown = daemon.heddle_raw("link", "off", "nowhere/1")
            self.assertEqual(unknown.returncode, 1)
            self.assertIn("nowhere", unknown.stderr)

            plan = daemon.json("plan")["plan"]
            self.assertLess(plan["watts_then"], 8 * 2 * 0.95)
            self.assertIn("links between switches", daemon.heddle("plan"))
            energy = daemon.json("energy")
            self.assertGreater(energy["total"]["saved_joules"], 0)
            self.assertIn("saved", daemon.heddle("energy"))
            events = [json.loads(line) for line in daemon.heddle("--json", "events").splitlines()]
            self.assertTrue({"decided", "confirmed"} <= {event["kind"] for event in events}, events)
            self.assertIn("backup", daemon.heddle("events"))

            metrics = daemon.metrics()
            for line in ("heddle_energy_joules_total ", "heddle_energy_saved_joules_total ",
                         "heddle_link_power_state{", 'heddle_regulation_mode{mode="enforce"} 1',
                         'heddle_link_transitions_total{to="off"} ', "heddle_link_energy_saved_joules_total{",
                         "heddle_switch_energy_joules_total{"):
                self.assertIn(line, metrics)

            daemon.heddle("restore")
            wait_until(lambda: links_in(daemon, "active") == 8, 30, "everything back")
            self.assertEqual(daemon.json("regulate")["mode"], "advise")
            daemon.heddle("regulate", "off")
            self.assertEqual(daemon.json("regulate")["mode"], "off")

    def test_a_journal_of_another_program_is_refused(self):
        daemon = Daemon({"fabric.generate": RING})
        (daemon.directory / "journal.db").write_bytes(b"x" * 8192)
        with daemon:
            daemon.process.wait(20)
            self.assertIn("journal.db", daemon.log_text())


class Killed(unittest.TestCase):
    def disabled(self, fabric):
        code, output, complaints = fabric.run("iblinkinfo", "--switches-only", node="host-3 mlx5_0")
        self.assertEqual(code, 0, complaints)
        return output.count("Disabled")

    def test_kill_9_at_any_time(self):
        with ServedFabric(RING) as fabric:
            daemon = Daemon({"fabric.backend": "umad", "sm.mode": "auto", "metrics.listen": "", **QUICK},
                            fabric.shim())
            with daemon:
                daemon.wait_for_sweeps(3)
                wait_until(lambda: links_in(daemon, "off") == 4, 60, "one link of each trunk off")
                self.assertEqual(self.disabled(fabric), 4)
            # Stopping has brought them back.
            self.assertEqual(self.disabled(fabric), 0)

            daemon = Daemon({"fabric.backend": "umad", "sm.mode": "auto", "metrics.listen": "", **QUICK},
                            fabric.shim())
            with daemon:
                for pause in (2.0, 2.4, 2.6, 2.8, 3.2):  # around the time at which links go
                    time.sleep(pause)
                    daemon.process.send_signal(signal.SIGKILL)
                    daemon.process.wait(20)
                    daemon.__enter__()
                daemon.wait_for_sweeps(3)
                wait_until(lambda: links_in(daemon, "off") == 4, 60, "one link of each trunk off")
                self.assertEqual(self.disabled(fabric), 4)
                self.assertIn("recovered", daemon.heddle("events", "--last", "1000"))
                daemon.heddle("restore")
                wait_until(lambda: links_in(daemon, "active") == 8, 60, "everything back")
                self.assertEqual(self.disabled(fabric), 0)


class AfterOpenSm(unittest.TestCase):
    """OpenSM made the groups and is gone; heddled takes its place, and nobody joins anew."""

    def test_its_multicast_groups_go_round_links_that_are_off(self):
        hosts = [f"host-{number}" for number in range(4)]
        with PluginFabric(RING) as fabric:
            log = fabric.directory / "opensm.log"
            settings = fabric.directory / "plain.conf"
            settings.write_text("force_log_flush TRUE\n")
            opensm = fabric.start("opensm", "-F", settings, "-e", "-f", log, "-D", "0x03", node="host-0 mlx5_0")
            wait_until(lambda: log.exists() and "SUBNET UP" in log.read_text(errors="replace"), 60, "SUBNET UP")
            for host in hosts:
                fabric.join(host)
            wait_until(lambda: fabric.multicast_arrives(hosts), 60, "the group's tree")
            opensm.send_signal(signal.SIGKILL)
            opensm.wait(20)
            before = fabric.heddle("status")["multicast_dead_ends"]
            with Daemon({"fabric.backend": "umad", "sm.mode": "auto", "metrics.listen": "", **QUICK},
                        fabric.shim("host-0 mlx5_0")) as daemon:
                daemon.wait_for_sweeps(3)
                wait_until(lambda: links_in(daemon, "off") == 4, 60, "one link of each trunk off")
                self.assertIn("multicast groups have members", daemon.log_text())
                self.assertTrue(fabric.multicast_arrives(hosts))
                self.assertEqual(daemon.json("regulate")["transitions"]["failed"], 0)
            self.assertTrue(fabric.multicast_arrives(hosts))
            self.assertEqual(fabric.heddle("status")["multicast_dead_ends"], before)


class Joined(unittest.TestCase):
    """heddled is subnet administrator: it makes the groups itself, and keeps them whole."""

    def test_groups_that_hosts_join_go_round_links_that_are_off(self):
        hosts = [f"host-{number}" for number in range(4)]
        with PluginFabric(RING) as fabric:
            with Daemon({"fabric.backend": "umad", "sm.mode": "auto", "metrics.listen": "", **QUICK},
                        fabric.shim("host-0 mlx5_0")) as daemon:
                daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "being master")
                self.assertEqual({fabric.join(host) for host in hosts}, {"0xc000"})
                wait_until(lambda: fabric.multicast_arrives(hosts), 30, "the group's tree")
                before = fabric.heddle("status")["multicast_dead_ends"]
                wait_until(lambda: links_in(daemon, "off") == 4, 60, "one link of each trunk off")
                self.assertTrue(fabric.multicast_arrives(hosts))
                self.assertEqual(daemon.json("regulate")["transitions"]["failed"], 0)
                daemon.heddle("restore")
                wait_until(lambda: links_in(daemon, "active") == 8, 60, "everything back")
            self.assertTrue(fabric.multicast_arrives(hosts))
            self.assertEqual(fabric.heddle("status")["multicast_dead_ends"], before)


if __name__ == "__main__":
    unittest.main()
