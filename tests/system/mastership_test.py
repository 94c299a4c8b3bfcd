"""heddled beside real subnet managers: it knows who is master, notices a take-over, and never becomes one itself."""

import re
import signal
import unittest

from daemon_under_test import Daemon
from served_fabric import ServedFabric, wait_until

# One that stands by takes over when the master has not answered twice in 200 ms.
POLLING = "force_log_flush TRUE\nsminfo_polling_timeout 200\npolling_retry_number 2\nsm_priority {priority}\n"


class Mastership(unittest.TestCase):
    def setUp(self):
        self.served = self.enterContext(ServedFabric("tree:k=2,n=2"))

    def opensm(self, node, priority):
        self.served.leave_unjudged()
        settings = self.served.directory / f"{node}.conf"
        settings.write_text(POLLING.format(priority=priority))
        log = self.served.directory / f"{node}.log"
        process = self.served.start("opensm", "-F", settings, "-e", "-f", log, "-D", "0x03", node=f"{node} mlx5_0")
        return process, lambda state: wait_until(lambda: log.exists() and state in log.read_text(errors="replace"), 60, state)

    def heddled(self, **settings):
        return Daemon({"fabric.backend": "umad", "sweep.light_interval": "200ms", "sampling.interval": "200ms",
                       "sampling.timeout": "50ms", **settings},
                      self.served.shim("host-0 mlx5_0"))

    def manager(self, daemon, condition, what):
        return daemon.wait_for(lambda status: condition(status["subnet_manager"]), what)["subnet_manager"]



    def scraped(self, daemon, *lines):
        """The metrics of the next sweep say so."""
        wait_until(lambda: all(line + "\n" in daemon.metrics() for line in lines), 20, f"{lines}")

    def test_a_take_over_is_noticed_and_nobody_else_becomes_master(self):
        first, first_says = self.opensm("host-1", 7)
        first_says("SUBNET UP")
        second, second_says = self.opensm("host-2", 3)
        second_says("Entering STANDBY state")
        with self.heddled() as daemon:
            sm = self.manager(daemon, lambda sm: sm["answers"], "knowing the master")
            self.assertEqual((sm["role"], sm["master"], sm["priority"], sm["state"], sm["moves"]),
                             ("observer", "host-1 mlx5_0", 7, "master", 0))
            first.send_signal(signal.SIGKILL)
            second_says("Entering MASTER state")
            sm = self.manager(daemon, lambda sm: sm["moves"] == 1 and sm["answers"], "noticing the take-over")
            self.assertEqual((sm["role"], sm["master"], sm["priority"]), ("observer", "host-2 mlx5_0", 3))
            self.assertIn("mastership moved from", daemon.log_text())
            self.assertIn("at host-2 mlx5_0", daemon.heddle("status"))
            self.scraped(daemon, 'heddle_sm_role{role="observer"} 1', "heddle_sm_master_changes_total 1",
                         'node="host-2 mlx5_0"} 1', "heddle_sm_master_priority 3", "heddle_sm_master_state 3",
                         "heddle_sm_master_answers 1")
            second.send_signal(signal.SIGKILL)
            sm = self.manager(daemon, lambda sm: not sm["answers"], "noticing its end")
            self.assertEqual((sm["role"], sm["master"]), ("observer", "host-2 mlx5_0"))
            sweeps = daemon.json("status")["sampling"]["sweeps"]
            daemon.wait_for(lambda status: status["sampling"]["sweeps"] > sweeps + 5, "sampling on")
            self.assertEqual(daemon.json("status")["subnet_manager"]["role"], "observer")
            self.assertNotIn("configured in", daemon.log_text())
            _, own_port, _ = self.served.run("smpquery", "-D", "portinfo", "0", node="host-0 mlx5_0")
            self.assertIsNone(re.search(r"^\s+IsSM$", own_port, re.M), own_port)

    def test_what_the_master_sees_first_is_seen_all_the_same(self):
        _, says = self.opensm("host-1", 7)
        says("SUBNET UP")
        with self.heddled() as daemon:
            whole = daemon.wait_for_sweeps(2)["fabric"]["links"]
            for node, port in (("leaf-1", 4), ("leaf-1", 2), ("spine-1", 1)):
                with self.subTest(node=node, port=port):
                    # OpenSM hears of it by a trap, and resets the switches' change bits.
                    self.served.heddle("link", node, port, "down")
                    daemon.wait_for(lambda status: status["fabric"]["links"] < whole, "noticing the cut", 20)
                    self.served.heddle("link", node, port, "up")
                    daemon.wait_for(lambda status: status["fabric"]["links"] == whole, "noticing its return", 20)
                    daemon.wait_for(lambda _: {link["state"] for link in daemon.json("links")["links"]} == {"Active"},
                                    "noticing that it is Active", 20)

    def test_the_daemon_yields_to_a_manager_of_higher_priority(self):
        with self.heddled() as daemon:
            self.manager(daemon, lambda sm: sm["role"] == "master", "being master")
            _, says = self.opensm("host-1", 9)
            says("SUBNET UP")
            sm = self.manager(daemon, lambda sm: sm["role"] == "observer" and sm["answers"], "yielding")
            self.assertEqual((sm["master"], sm["priority"]), ("host-1 mlx5_0", 9))
            before = daemon.log_text().count("configured in")
            self.served.heddle("link", "leaf-1", 4, "down")
            daemon.wait_for(lambda status: status["fabric"]["links"] < 8, "seeing the cut")
            self.assertEqual(daemon.log_text().count("configured in"), before)

    def test_a_manager_that_comes_later_is_waited_for(self):
        with self.heddled(**{"sm.mode": "off"}) as daemon:
            sm = self.manager(daemon, lambda sm: True, "answering")
            self.assertEqual((sm["role"], sm["master"], sm["priority"]), ("none", "", None))
            _, says = self.opensm("host-1", 0)
            says("SUBNET UP")
            self.manager(daemon, lambda sm: sm["role"] == "observer" and sm["answers"], "seeing the manager")
            # Without a restart, every port has its LID and its counters.
            daemon.wait_for(lambda status: status["sampling"].get("failed_ports") == 0
                            and status.get("load", {}).get("utilization_max") is not None, "sampling")
            links = daemon.json("links")["links"]
            self.assertEqual({link["state"] for link in links}, {"Active"})
            self.assertEqual([link["name"] for link in links if link["a_to_b"]["bytes_per_second"] is None], [])


if __name__ == "__main__":
    unittest.main()
