"""A port that goes away under heddled and comes back: the adapter is reset, or its driver loaded anew."""

import pathlib
import unittest

from daemon_under_test import BUILD, Daemon
from served_fabric import ServedFabric


class Device(unittest.TestCase):
    def setUp(self):
        self.served = self.enterContext(ServedFabric("tree:k=2,n=2"))
        self.rules = pathlib.Path(self.served.directory)

    def done(self, what):
        log = self.rules / "host-0-mlx5_0.log"
        return [line for line in log.read_text().splitlines() if line.split()[1] == what]

    def test_a_port_that_is_reset_is_opened_again(self):
        self.served.leave_unjudged()
        shim = self.served.shim("host-0 mlx5_0")
        env = {**shim, "LD_PRELOAD": f"{BUILD / 'tests/system/libkernel_rules.so'}:{shim['LD_PRELOAD']}",
               "KERNEL_RULES": str(self.rules)}
        with Daemon({"fabric.backend": "umad", "sm.mode": "auto", "sweep.light_interval": "200ms",
                     "sampling.interval": "200ms", "sampling.timeout": "50ms", "metrics.listen": ""}, env) as daemon:
            daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master"
                            and (status["fabric"] or {}).get("links") == 8, "being master")
            self.assertEqual(len(self.done("opens")), 1)
            away = self.rules / "host-0-mlx5_0.away"
            away.touch()
            status = daemon.wait_for(lambda status: any("is gone" in p for p in status["problems"]), "saying so")
            self.assertIn("opened again", "".join(status["problems"]))
            # It does not spin on a descriptor that is always ready.
            self.assertLess(len(self.done("polls")), 10)
            away.unlink()
            daemon.wait_for(lambda status: not any("is gone" in p for p in status["problems"])
                            and (status["fabric"] or {}).get("links") == 8
                            and status["subnet_manager"]["role"] == "master", "having it again")
            self.assertEqual(len(self.done("opens")), 2)
            sweeps = daemon.json("status")["sampling"]["sweeps"]
            daemon.wait_for(lambda status: status["sampling"]["sweeps"] > sweeps + 3
                            and status["sampling"].get("failed_ports") == 0, "sampling on")


if __name__ == "__main__":
    unittest.main()
