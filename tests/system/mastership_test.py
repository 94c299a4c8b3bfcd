"""heddled beside real subnet managers: it knows who is master, notices a take-over, and never becomes one itself."""

import pathlib
import re
import signal
import time
import unittest

from daemon_under_test import BUILD, Daemon
from served_fabric import ServedFabric, wait_until

# One that stands by takes over when the master has not answered twice in 200 ms.
POLLING = "force_log_flush TRUE\nsminfo_polling_timeout 200\npolling_retry_number 2\nsm_priority {priority}\n"


class Mastership(unittest.TestCase):
    def setUp(self):
        self.served = self.enterContext(ServedFabric("tree:k=2,n=2"))

    def opensm(self, node, priority, **more):
        self.served.leave_unjudged()
        settings = self.served.directory / f"{node}.conf"
        settings.write_text(POLLING.format(priority=priority))
        log = self.served.directory / f"{node}.log"
        process = self.served.start("opensm", "-F", settings, "-e", "-f", log, "-D", "0x03", node=f"{node} mlx5_0",
                                    **more)
        return process, lambda state: wait_until(lambda: log.exists() and state in log.read_text(errors="replace"), 60, state)

    def take_over(self, node, priority):
        """OpenSM takes the fabric from the daemon."""
        self.opensm(node, priority)[1]("SUBNET UP")

    def heddled(self, env=None, node="host-0 mlx5_0", **settings):
        return Daemon({"fabric.backend": "umad", "sweep.light_interval": "200ms", "sampling.interval": "200ms",
                       "sampling.timeout": "50ms", "sm.mode": "auto", **settings},
                      {**self.served.shim(node), **(env or {})})

    def kernel(self):
        """The environment in which a port has one owner of each class and method, and what is sent is written down."""
        self.served.leave_unjudged()
        return {"LD_PRELOAD": f"{BUILD / 'tests/system/libkernel_rules.so'}:{self.served.shim()['LD_PRELOAD']}",
                "KERNEL_RULES": str(self.served.directory)}

    def done_at(self, node):
        """What programs on this host asked of its kernel: who, "owns", "refused", "gives" or "sends", and what."""
        log = pathlib.Path(self.served.directory) / f"{node}-mlx5_0.log"
        return [line.split() for line in log.read_text().splitlines()] if log.exists() else []

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

    def test_a_master_that_is_silent_keeps_its_fabric(self):
        first, says = self.opensm("host-1", 7)
        says("SUBNET UP")
        first.send_signal(signal.SIGSTOP)
        with self.heddled(env=self.kernel()) as daemon:
            status = daemon.wait_for(lambda status: any("IsSM" in p or "says that" in p for p in status["problems"]),
                                     "saying that nobody answers")
            self.assertIn("host-1 mlx5_0", "".join(status["problems"]))
            self.assertEqual(status["subnet_manager"]["role"], "observer")
            refused = daemon.heddle_raw("sm", "take")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("--force", refused.stderr)
            sweeps = status["sampling"]["sweeps"]
            daemon.wait_for(lambda status: status["sampling"]["sweeps"] > sweeps + 5, "sampling on")
            self.assertNotIn("configured in", daemon.log_text())
            self.assertEqual({what[3] for what in self.done_at("host-0") if what[1] == "sends"}, {"01"}, "only Get")
            self.assertEqual([what for what in self.done_at("host-0") if what[1] == "owns"], [])
            # It goes on where it was, and nobody has been at its fabric.
            first.send_signal(signal.SIGCONT)
            self.manager(daemon, lambda sm: sm["answers"] and sm["master"] == "host-1 mlx5_0", "seeing it again")
            daemon.wait_for(lambda status: status["problems"] == [], "nothing wrong any more")
            first.send_signal(signal.SIGSTOP)
            self.manager(daemon, lambda sm: not sm["answers"], "noticing the silence")
            daemon.heddle("sm", "take", "--force")
            self.manager(daemon, lambda sm: sm["role"] == "master", "being master on an operator's word")
            self.assertIn("orders this daemon to manage the fabric", daemon.log_text())
            self.assertIn("configured in", daemon.log_text())

    def test_the_defaults_write_nothing(self):
        with self.heddled(env=self.kernel(), **{"sm.mode": ""}) as daemon:
            daemon.wait_for(lambda status: (status["fabric"] or {}).get("links") == 8, "seeing the fabric")
            _, says = self.opensm("host-1", 7)
            says("SUBNET UP")
            self.manager(daemon, lambda sm: sm["answers"], "seeing the manager")
            # And it says why there is no advice.
            self.assertIn("sm.mode", daemon.json("status")["no_regulation"])
            daemon.wait_for(lambda status: (status.get("load") or {}).get("utilization_max") is not None, "sampling")
            own = self.done_at("host-0")
        sent = [what for what in own if what[1] == "sends"]
        self.assertGreater(len(sent), 100)
        self.assertEqual({what[3] for what in sent}, {"01"}, "only Get")
        self.assertEqual([what for what in own if what[1] in ("owns", "refused")], [], "nothing is taken from OpenSM")

    def test_on_one_host_opensm_and_the_daemon_do_not_take_from_each_other(self):
        """As the kernel has it: each class and method has one owner on a port."""
        for settings in ({"opensm.plugin": "true", "opensm.socket": self.served.directory / "o.sock"},
                         {"sm.mode": "off"}, {"sm.mode": "auto", "fabric.read_only": "true"}):
            with self.subTest(**{key.replace(".", "_"): str(value) for key, value in settings.items()}):
                with self.heddled(env=self.kernel(), **settings) as daemon:
                    daemon.wait_for(lambda status: (status["fabric"] or {}).get("links") == 8, "seeing the fabric")
                self.assertEqual([what for what in self.done_at("host-0") if what[1] in ("owns", "refused")], [])
        # The daemon stands for election first: OpenSM finds its place taken, and gets it when the daemon ends.
        with self.heddled(env=self.kernel()) as daemon:
            self.manager(daemon, lambda sm: sm["role"] == "master", "being master")
            taken = {what[2] for what in self.done_at("host-0") if what[1] == "owns"}
            self.assertEqual(taken, {"01", "03", "81"})
        # OpenSM first: the daemon leaves its registrations alone, and says who is there.
        _, says = self.opensm("host-0", 7, **self.kernel())
        says("SUBNET UP")
        before = len(self.done_at("host-0"))
        with self.heddled(env=self.kernel()) as daemon:
            self.manager(daemon, lambda sm: sm["role"] == "observer" and sm["answers"], "yielding")
            own = [what for what in self.done_at("host-0")[before:] if what[0] == str(daemon.process.pid)]
            self.assertEqual([what for what in own if what[1] == "owns"], [])
            self.assertEqual(daemon.json("status")["problems"], [])

    def test_registrations_are_given_back_on_yielding(self):
        with self.heddled(env=self.kernel()) as daemon:
            self.manager(daemon, lambda sm: sm["role"] == "master", "being master")
            self.take_over("host-1", 9)
            self.manager(daemon, lambda sm: sm["role"] == "observer" and sm["answers"], "yielding")
            self.assertEqual(len([what for what in self.done_at("host-0") if what[1] == "gives"]), 3)
            # So that a subnet manager may start on this host.
            _, says = self.opensm("host-0", 1, **self.kernel())
            says("Entering STANDBY state")

    def test_the_daemon_yields_to_a_manager_of_which_no_trap_has_told(self):
        """Its port had no LID of a master yet when it said that a subnet manager is there. The manager asks for its master."""
        lost = self.served.directory / "lost_questions"
        lost.with_name(f"{lost.name}.traps").touch()
        shim = self.served.shim()["LD_PRELOAD"]
        with self.heddled(env={"LD_PRELOAD": f"{shim}:{BUILD / 'tests/system/liblost_questions.so'}",
                               "LOST_QUESTIONS": str(lost)}) as daemon:
            self.manager(daemon, lambda sm: sm["role"] == "master", "being master")
            self.take_over("host-1", 9)
            self.manager(daemon, lambda sm: sm["role"] == "observer" and sm["answers"], "yielding")
            self.assertEqual(daemon.json("status")["subnet_manager"]["master"], "host-1 mlx5_0")

    def test_two_that_start_at_once_end_with_one_master(self):
        """Neither hears a trap of the other. Each may look before the other has said that it is there."""
        lost = self.served.directory / "lost_questions"
        lost.with_name(f"{lost.name}.traps").touch()
        shim = self.served.shim()["LD_PRELOAD"]
        env = {"LD_PRELOAD": f"{shim}:{BUILD / 'tests/system/liblost_questions.so'}", "LOST_QUESTIONS": str(lost)}
        for milliseconds in range(0, 48, 4):
            with self.subTest(milliseconds=milliseconds):
                with self.heddled(env=env) as daemon:
                    time.sleep(milliseconds / 1000)
                    other, _ = self.opensm("host-1", 9)

                    def yields(sm):
                        self.assertIsNone(other.poll(), "OpenSM has ended")
                        return sm["role"] == "observer" and sm["answers"]
                    self.manager(daemon, yields, "yielding")
                    other.kill()
                    other.wait()

    def test_of_two_daemons_that_start_at_once_one_is_master(self):
        """Each may find the other looking who else is there, and yield to it."""
        for milliseconds in range(0, 60, 10):
            with self.subTest(milliseconds=milliseconds), self.heddled() as first:
                time.sleep(milliseconds / 1000)
                with self.heddled(node="host-3 mlx5_0") as second:
                    def roles():
                        return sorted(daemon.json("status")["subnet_manager"]["role"] for daemon in (first, second))
                    for daemon in (first, second):
                        self.manager(daemon, lambda sm: True, "answering")
                    wait_until(lambda: roles() == ["master", "observer"], 30, "one master")
                    for daemon in (first, second):
                        self.manager(daemon, lambda sm: sm["answers"], "knowing the master")

    def test_the_daemon_yields_to_a_manager_of_higher_priority(self):
        with self.heddled() as daemon:
            self.manager(daemon, lambda sm: sm["role"] == "master", "being master")
            self.take_over("host-1", 9)
            sm = self.manager(daemon, lambda sm: sm["role"] == "observer" and sm["answers"], "yielding")
            self.assertEqual((sm["master"], sm["priority"]), ("host-1 mlx5_0", 9))
            self.assertRegex(daemon.log_text(), r"(handed over to|is master)")
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
            # A sweep may just have ended: the first sample of what it found has no rates.
            daemon.wait_for(lambda _: all(link["state"] == "Active" and link["a_to_b"]["bytes_per_second"] is not None
                                          for link in daemon.json("links")["links"]), "knowing every link")


if __name__ == "__main__":
    unittest.main()
