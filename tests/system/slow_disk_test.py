"""A disk whose syncs take seconds: sampling, scrapes and questions go on, and an operator is answered when the disk
has it."""

import json
import pathlib
import subprocess
import tempfile
import time
import unittest

from daemon_under_test import BUILD, HEDDLE, Daemon

SYNC = 2
INTERVAL = 0.2


class SlowDisk(unittest.TestCase):
    def test_it_holds_no_sweep(self):
        word = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="heddle-disk-"))) / "seconds"
        slow = {"LD_PRELOAD": str(BUILD / "tests/system/libslow_disk.so"), "SLOW_DISK": str(word)}
        settings = {"fabric.generate": "tree:k=4,n=2", "sampling.interval": f"{INTERVAL * 1000:.0f}ms", "sm.mode": "auto"}
        with Daemon(settings, slow) as daemon:
            daemon.wait_for_sweeps(5)
            before = daemon.json("status")["sampling"]
            word.write_text(str(SYNC))
            begun = time.monotonic()
            operator = subprocess.Popen([HEDDLE, "--socket", daemon.socket, "regulate", "enforce"], stdout=subprocess.DEVNULL)
            questions = 0
            while operator.poll() is None:
                daemon.heddle("status")
                daemon.metrics()
                questions += 1
            took = time.monotonic() - begun
            self.assertEqual(operator.returncode, 0)
            after = daemon.json("status")["sampling"]
            self.assertGreaterEqual(took, SYNC, "answered before the disk had it")
            self.assertGreater(questions, 2)
            # Half of them on a busy host; held by the disk, there would be none.
            self.assertGreater(after["sweeps"] - before["sweeps"], took / INTERVAL / 2)
            word.unlink()
            self.assertIn("enforce", daemon.heddle("regulate"))

    def test_a_push_holds_no_sweep_either(self):
        """Tables of QoS, where the daemon is subnet manager, and where it writes a plan for OpenSM's plugin."""
        for manager in ({"sm.mode": "auto"}, {"opensm.plugin": "true"}):
            with self.subTest(**manager):
                self.push_slowly(manager)

    def push_slowly(self, manager):
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="heddle-disk-")))
        word = directory / "seconds"
        slow = {"LD_PRELOAD": str(BUILD / "tests/system/libslow_disk.so"), "SLOW_DISK": str(word)}
        plan = directory / "plan.json"
        plan.write_text(json.dumps({"qos": {"vlarb_high": [[0, 3]], "vlarb_low": [[0, 1]], "high_limit": 3, "sl2vl": [0] * 16}}))
        settings = {"fabric.generate": "tree:k=4,n=2", "sampling.interval": f"{INTERVAL * 1000:.0f}ms", **manager}
        if "opensm.plugin" in manager:
            settings["opensm.socket"] = directory / "plugin.sock"
        with Daemon(settings, slow) as daemon:
            daemon.wait_for_sweeps(5)
            before = daemon.json("status")["sampling"]
            word.write_text(str(SYNC))
            begun = time.monotonic()
            operator = subprocess.Popen([HEDDLE, "--socket", daemon.socket, "qos", "push", plan], stdout=subprocess.DEVNULL)
            questions = 0
            while operator.poll() is None:
                daemon.heddle("status")
                questions += 1
            took = time.monotonic() - begun
            self.assertEqual(operator.returncode, 0)
            after = daemon.json("status")["sampling"]
            self.assertGreaterEqual(took, SYNC, "answered before the disk had it")
            self.assertGreater(questions, 2, "answers waited for the disk")
            self.assertGreater(after["sweeps"] - before["sweeps"], took / INTERVAL / 2)
            word.unlink()


if __name__ == "__main__":
    unittest.main()
