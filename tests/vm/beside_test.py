"""heddled and Debian's OpenSM at the same port of this kernel, which knows one owner of each registration."""

import signal
import unittest

from kernel_fabric import KernelFabric, heddled, wait_until

TREE = "tree:k=2,n=2"  # 4 hosts, 4 switches
HOST = "host-0 mlx5_0"


def is_observer(status):
    return status["subnet_manager"]["role"] == "observer"


class SamePort(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(KernelFabric(TREE, [HOST]))

    def expect_opensm_whole(self, opensm):
        """It lives, answers as master and administrator, and complains of no registration."""
        self.assertIsNone(opensm.poll())
        status, text, _ = self.fabric.run("sminfo")
        self.assertEqual((status, "SMINFO_MASTER" in text), (0, True), text)
        status, text, complaints = self.fabric.run("saquery", "-N")
        self.assertEqual((status, complaints), (0, []))
        self.assertEqual(text.count("NodeRecord dump"), 8)
        self.assertNotIn("Unable to register", self.fabric.log_text())
        self.assertNotIn("already", self.fabric.log_text().lower())

    def heddled(self):
        return heddled(**{"sm.mode": "auto", "sweep.light_interval": "200ms"})

    def test_opensm_first_then_heddled_which_is_killed_and_started_again(self):
        opensm = self.fabric.start_opensm()
        for _ in range(2):
            with self.heddled() as daemon:
                daemon.wait_for(is_observer, "watching")
                daemon.wait_for_sweeps(3)
                self.expect_opensm_whole(opensm)
                daemon.process.kill()
                daemon.process.wait(10)
            self.expect_opensm_whole(opensm)

    def test_opensm_is_killed_beside_heddled_and_starts_again(self):
        opensm = self.fabric.start_opensm()
        with self.heddled() as daemon:
            daemon.wait_for(is_observer, "watching")
            for _ in range(2):
                opensm.kill()
                opensm.wait(10)
                sweeps = self.fabric.sweeps()
                opensm = self.fabric.start("opensm", "-F", self.fabric.directory / "opensm.conf", "-f", self.fabric.log,
                                           "-D", "0x03")
                wait_until(lambda: self.fabric.sweeps() > sweeps, 60, "SUBNET UP")
                self.expect_opensm_whole(opensm)
                self.assertTrue(is_observer(daemon.json("status")), "it watches until it is told otherwise")
            done = daemon.json("status")["sampling"]["sweeps"]
            daemon.wait_for(lambda status: status["sampling"]["sweeps"] > done + 2
                            and status["sampling"].get("failed_ports") == 0, "sampling on")

    def test_heddled_first_keeps_its_registrations_and_gives_them_back(self):
        """The kernel refuses OpenSM the classes that a master holds; a watcher holds none."""
        with self.heddled() as daemon:
            daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "being master")
            refused = self.fabric.start("opensm", "-e", "-f", self.fabric.log, "-D", "0x03")
            refused.wait(60)
            self.assertNotIn("SUBNET UP", self.fabric.log_text())
            self.assertRegex(self.fabric.log_text(), "ERR .*(bind|register)")
            self.assertEqual(daemon.json("status")["subnet_manager"]["role"], "master")
            daemon.process.send_signal(signal.SIGTERM)
            daemon.process.wait(30)
        self.fabric.log.unlink()
        opensm = self.fabric.start_opensm()
        self.expect_opensm_whole(opensm)

    def test_heddled_that_only_watches_comes_first(self):
        with heddled(**{"sm.mode": "off"}) as daemon:
            daemon.wait_for(lambda status: (status["fabric"] or {}).get("switches") == 4, "finding the fabric")
            opensm = self.fabric.start_opensm()
            self.expect_opensm_whole(opensm)
            daemon.wait_for(lambda status: status["sampling"].get("failed_ports") == 0
                            and status["sampling"]["sweeps"] > 3, "sampling")


if __name__ == "__main__":
    unittest.main()
