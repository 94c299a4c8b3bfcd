"""A run that is recorded is played again, and comes to the same; what must not leave the site is not in it."""

import pathlib
import signal
import stat
import subprocess
import tempfile
import unittest

from daemon_under_test import HEDDLED, Daemon
from reload_test import MANAGER, QUICK

SECRET = 0x1234567890ABCDE5
SIMULATED = {"fabric.backend": "sim", "fabric.generate": "torus:2x2,hosts=1,links=2", "fabric.training_delay": "100ms",
             "metrics.listen": ""}


def replay(*arguments):
    return subprocess.run([HEDDLED, "--replay", *map(str, arguments)], capture_output=True, text=True, timeout=200, check=False)


class Recorded(unittest.TestCase):
    def setUp(self):
        self.room = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.room / "run.rec"

    def record(self, mode="enforce", **settings):
        return self.enterContext(Daemon({**SIMULATED, **settings}, config=MANAGER + QUICK + f'mode = "{mode}"\n',
                                        arguments=["--record", self.file]))

    def off(self, daemon):
        return [link for link in daemon.json("links", "--power")["links"] if link["state"] == "off"]

    def live(self, daemon):
        """Links go off, an operator has one on and one off, and looks at what was decided."""
        daemon.wait_for(lambda status: len(self.off(daemon)) == 4, "having links off")
        daemon.heddle("link", "on", self.off(daemon)[0]["name"])
        daemon.wait_for(lambda status: len(self.off(daemon)) < 4, "having one on")
        daemon.heddle("events")
        daemon.heddle("regulate", "advise")
        daemon.wait_for_sweeps(3)

    def expect_the_same(self, end, *arguments):
        played = replay(self.file, *arguments)
        self.assertEqual(played.returncode, 0, played.stderr + played.stdout[-2000:])
        self.assertRegex(played.stdout, r"\d+ events, \d+ deeds, to [\d.]+ s: the same; " + end)
        return played.stdout

    def end(self, daemon, with_signal=signal.SIGTERM):
        daemon.process.send_signal(with_signal)
        daemon.process.wait(20)

    def test_a_closed_loop_does_the_same_again(self):
        daemon = self.record()
        self.live(daemon)
        self.end(daemon)
        said = self.expect_the_same("the daemon ended")
        self.assertIn("regulation: ", said)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)

    def test_a_killed_daemon_and_the_one_after_it(self):
        daemon = self.record(**{"state.directory": self.room})
        self.live(daemon)
        self.end(daemon, signal.SIGKILL)
        self.expect_the_same("it breaks off there")
        self.file = self.room / "next.rec"
        daemon = self.record(**{"state.directory": self.room})
        daemon.wait_for_sweeps(5)
        self.end(daemon)
        self.expect_the_same("the daemon ended")

    def test_keys_are_not_in_it(self):
        daemon = self.record(**{"fabric.m_key": f"0x{SECRET:016x}", "sm.sm_key": f"0x{SECRET + 1:016x}"})
        daemon.wait_for_sweeps(5)
        self.end(daemon)
        recorded = self.file.read_bytes()
        for key in (SECRET, SECRET + 1):
            for form in (key.to_bytes(8, "big"), key.to_bytes(8, "little"), f"{key:x}".encode()):
                self.assertNotIn(form, recorded)
        self.expect_the_same("the daemon ended")

    def test_keys_that_cannot_be_left_out_are_refused(self):
        config = self.room / "heddle.toml"
        config.write_text(f'fabric = {{ backend = "sim", generate = "torus:2x2,hosts=1,links=2", m_key = "0x{SECRET:x}" }}\n')
        started = subprocess.run([HEDDLED, "--config", config, "--record", self.file, f"--set=state.directory={self.room}",
                                  f"--set=control.socket={self.room}/socket"], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(started.returncode, 1)
        self.assertIn("lines and sections of their own", started.stderr)
        self.assertNotIn(f"{SECRET:x}".encode(), self.file.read_bytes())

    def test_it_ends_when_it_has_all_that_it_may_have(self):
        daemon = self.record(**{"record.most": 1_000_000, "sampling.interval": "100ms"})
        daemon.wait_for(lambda status: self.file.stat().st_size > 990_000, "having recorded", 60)
        self.end(daemon)
        self.assertLess(self.file.stat().st_size, 1_001_000)
        self.expect_the_same("record.most was reached")

    def test_what_is_refused(self):
        daemon = self.record("advise")
        daemon.wait_for_sweeps(2)
        self.end(daemon)
        started = subprocess.run([HEDDLED, "--record", self.file, *(f"--set={key}={value}" for key, value in SIMULATED.items()),
                                  f"--set=state.directory={self.room}", f"--set=control.socket={self.room}/socket"],
                                 capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(started.returncode, 1)
        self.assertIn("File exists", started.stderr)
        recorded = self.file.read_bytes()
        build = recorded[28:28 + recorded[24]]
        self.file.write_bytes(recorded.replace(build, b"9" * len(build), 1))
        other = replay(self.file)
        self.assertEqual(other.returncode, 1)
        self.assertIn("--try plays it all the same", other.stderr)
        self.expect_the_same("the daemon ended", "--try")
        self.file.write_bytes(b"nothing of the kind")
        self.assertIn("is no recording", replay(self.file).stderr)
        self.assertEqual(replay(self.room / "none.rec").stderr, f"heddled: --replay {self.room}/none.rec: No such file or directory\n")
        self.assertEqual(replay(self.room).stderr, f"heddled: --replay {self.room}: Is a directory\n")


if __name__ == "__main__":
    unittest.main()
