"""What is wrong stands in `heddle status`, and counts in heddle_problems: each state brought about in a running daemon."""

import re
import signal
import subprocess
import unittest

from daemon_under_test import HEDDLE, SOURCE, Daemon
from served_fabric import ServedFabric, wait_until

QUICK = {"fabric.generate": "tree:k=2,n=2", "sweep.light_interval": "200ms", "sampling.interval": "100ms",
         "sampling.timeout": "50ms"}


class Problems(unittest.TestCase):
    def counts(self, daemon):
        return {kind: int(number) for kind, number in
                re.findall(r'^heddle_problems\{kind="([a-z-]+)"\} (\d+)$', daemon.metrics(), re.M)}

    def says(self, daemon, kind, words, seconds=20):
        """The status says it, and the metric counts it, soon."""
        daemon.wait_for(lambda status: any(words in problem for problem in status["problems"]), words, seconds)
        wait_until(lambda: self.counts(daemon)[kind] > 0, 10, f"counting {kind}")

    def nothing_wrong(self, daemon):
        daemon.wait_for(lambda status: status["fabric"] and status["problems"] == [], "nothing wrong")
        wait_until(lambda: not any(self.counts(daemon).values()), 10, "counting nothing")

    def sim(self, name, *words):
        subprocess.run([HEDDLE, "sim", "--name", name, *words], check=True, timeout=20, stdout=subprocess.DEVNULL)

    def test_all_kinds_that_are_documented_are_counted(self):
        rows = re.findall(r"^\| `([a-z-]+)` \|", (SOURCE / "docs/problems.md").read_text(), re.M)
        with Daemon(QUICK) as daemon:
            self.nothing_wrong(daemon)
            self.assertEqual(sorted(self.counts(daemon)), sorted(rows))

    def test_a_journal_that_was_deleted(self):
        with Daemon(QUICK) as daemon:
            self.nothing_wrong(daemon)
            for file in daemon.directory.glob("journal.db*"):
                file.unlink()
            self.assertIn("the file was deleted", "".join(daemon.json("status")["problems"]))
            self.says(daemon, "journal", "the file was deleted")

    def test_a_configuration_that_waits_for_a_start(self):
        """SIGHUP said "configuration read again", and did nothing about most keys."""
        with Daemon(QUICK) as daemon:
            self.nothing_wrong(daemon)
            file = daemon.directory / "heddle.toml"
            for text, words in (('[regulation]\nu_on = 0.8\n', "changed of regulation.u_on takes effect at the next start"),
                                ("nonsense", "could not be read again")):
                file.write_text(text)
                daemon.process.send_signal(signal.SIGHUP)
                self.says(daemon, "reload", words)
            file.write_text('[log]\nlevel = "debug"\n')
            daemon.process.send_signal(signal.SIGHUP)
            self.nothing_wrong(daemon)

    def test_jobs_that_nobody_tells(self):
        with Daemon({**QUICK, "jobs.source": "jobs.csv", "jobs.interval": "200ms"}) as daemon:
            self.says(daemon, "jobs", "jobs.csv: cannot be read")
            (daemon.directory / "jobs.csv").write_text("one,host-0\n")
            self.nothing_wrong(daemon)

    def test_ports_without_an_answer(self):
        with Daemon({**QUICK, "fabric.serve": "problems"}) as daemon:
            self.nothing_wrong(daemon)
            self.sim("problems", "fault", "agent", "host-3 mlx5_0", "--mute-pma")
            self.says(daemon, "silent-ports", "no answer from 1 port in the last 3 sweeps of the counters: host-3 mlx5_0/1")

    def test_a_link_that_is_gone(self):
        with Daemon({**QUICK, "fabric.serve": "problems"}) as daemon:
            self.nothing_wrong(daemon)
            self.sim("problems", "link", "leaf-1", "3", "down")
            self.says(daemon, "lost-links", "1 link is down, and nobody ordered it: leaf-1/3")
            self.sim("problems", "link", "leaf-1", "3", "up")
            self.nothing_wrong(daemon)

    def test_a_link_that_went_before_the_start(self):
        """Of a daemon that was killed while a cable was out, the next one said nothing of that cable."""
        with ServedFabric("tree:k=2,n=2") as served:
            state = served.directory / "state"
            state.mkdir()
            settings = {**QUICK, "fabric.backend": "umad", "fabric.generate": "", "sm.mode": "auto",
                        "state.directory": state}

            def started():
                return Daemon(settings, served.shim("host-0 mlx5_0"))

            with started() as daemon:
                self.nothing_wrong(daemon)
                served.heddle("link", "leaf-1", 3, "down")
                self.says(daemon, "lost-links", "1 link is down, and nobody ordered it: leaf-1/3")
                daemon.process.kill()
                daemon.process.wait()
            with started() as daemon:
                self.says(daemon, "lost-links", "1 link is down, and nobody ordered it: leaf-1/3")
                served.heddle("link", "leaf-1", 3, "up")
                self.nothing_wrong(daemon)
                served.heddle("link", "leaf-1", 3, "down")
                self.says(daemon, "lost-links", "1 link is down, and nobody ordered it: leaf-1/3")
                self.assertIn("1 link\n", daemon.heddle("fabric", "forget"))
                self.nothing_wrong(daemon)
                self.assertEqual(daemon.heddle("fabric", "forget"), "nothing is gone\n")
                daemon.process.kill()
                daemon.process.wait()
            with started() as daemon:
                self.nothing_wrong(daemon)

    def test_regulation_that_cannot_be(self):
        for settings, words in (({"fabric.read_only": "true"}, "fabric.read_only is set"),
                                ({"sm.engine": "minhop"}, "sm.engine"), ({"sm.mode": "off"}, "sm.mode")):
            with self.subTest(**settings), Daemon({**QUICK, "regulation.mode": "enforce", **settings}) as daemon:
                self.says(daemon, "not-regulated", words)

    def test_opensm_that_is_not_there(self):
        daemon = Daemon({**QUICK, "opensm.plugin": "true", "fabric.time_scale": "60"})
        daemon.settings["opensm.socket"] = daemon.directory / "opensm.sock"
        with daemon:
            self.says(daemon, "opensm-away", "no OpenSM with the plugin")


class OwnCable(unittest.TestCase):
    def test_no_switch_in_sight(self):
        served = self.enterContext(ServedFabric("tree:k=2,n=2"))
        with Daemon({"fabric.backend": "umad", "sm.mode": "auto", "sweep.light_interval": "200ms",
                     "sampling.interval": "200ms", "sampling.timeout": "50ms", "metrics.listen": ""},
                    served.shim("host-0 mlx5_0")) as daemon:
            daemon.wait_for(lambda status: (status["fabric"] or {}).get("switches") == 4 and status["problems"] == [],
                            "a whole fabric")
            served.heddle("link", "host-0 mlx5_0", "1", "down")
            daemon.wait_for(lambda status: any("no switch is in sight, and 4 were" in p for p in status["problems"]),
                            "saying that it sees nothing", 30)
            served.heddle("link", "host-0 mlx5_0", "1", "up")
            daemon.wait_for(lambda status: (status["fabric"] or {}).get("switches") == 4 and status["problems"] == [],
                            "seeing it again", 30)


if __name__ == "__main__":
    unittest.main()
