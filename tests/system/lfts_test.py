"""The closed loop beside an OpenSM that has no plugin: it reads its tables from a file that heddled writes. Links go off and come
back; the wire's watch looks on, and OpenSM, its sweeps and its restarts change nothing of what the file says."""

import pathlib
import signal
import unittest

from daemon_under_test import SOURCE, Daemon
from plugin_fabric import PluginFabric
from plugin_loop import FAST, LoopTest
from served_fabric import wait_until


class FileFabric(PluginFabric):
    """Debian's OpenSM as it is, with its own engine `file`."""

    @property
    def lfts(self):
        return self.directory / "opensm.lfts"

    def settings(self, *lines, socket=None):
        conf = self.directory / "opensm.conf"
        conf.write_text("\n".join(["routing_engine file,no_fallback", f"lfts_file {self.lfts}", "force_log_flush TRUE",
                                   "packet_life_time 0x0a", *lines]) + "\n")
        return conf

    def begin_opensm(self, *options, lines=()):
        """Started; nobody waits for its first sweep, which has no file yet."""
        self.opensm = self.start("opensm", "-F", self.settings(*lines), "-f", self.log, "-D", "0x03", *options)
        return self.opensm


class ByFile(LoopTest):
    def heddled(self, served, **settings):
        # One OpenSM in this network namespace.
        return Daemon({"fabric.backend": "umad", "metrics.listen": "", "opensm.lfts_file": served.lfts,
                       "opensm.reload": f"pkill -HUP -F {served.directory}/opensm.pid", "state.directory": served.directory,
                       **FAST, **settings}, served.shim())

    def begin(self, served, *options, lines=()):
        opensm = served.begin_opensm(*options, lines=lines)
        (served.directory / "opensm.pid").write_text(f"{opensm.pid}\n")

    def loop(self, spec, lmc):
        with FileFabric(spec, "--training-delay", "0.2", plugin_socket=False) as served:
            self.begin(served, "-s", "1", "-l", str(lmc))
            with self.heddled(served, **{"opensm.lmc": str(lmc), "regulation.policy": "general"}) as daemon, self.told(served, daemon):
                links = lambda: daemon.json("regulate")["links"]
                daemon.wait_for_sweeps(1)
                wait_until(lambda: links().get("off", 0) >= 4, 60, "links off")
                self.settle(daemon)
                self.expect_sound_tables(served)
                before = self.dead_ends(served)
                # Heavy sweeps read the file again, and change nothing.
                tables = served.tables()
                served.opensm.send_signal(signal.SIGHUP)
                sweeps = served.sweeps()
                wait_until(lambda: served.sweeps() > sweeps, 20, "a sweep")
                self.assertEqual(served.tables(), tables)
                daemon.heddle("restore")
                wait_until(lambda: not links().get("off") and not self.down(served), 60, "all links back")
                self.expect_sound_tables(served)
                # A sweep that reads the one end before a link has trained and the other one after it says so until the next.
                wait_until(lambda: daemon.json("status")["problems"] == [], 20, "the problems' end")
                self.assertEqual(self.dead_ends(served), before)
            self.expect_no_errors(served)

    def expect_no_errors(self, served):
        """OpenSM's first sweep has no file yet. Later ones are announced to nobody, and lose a question to a link that goes off."""
        known = ("Can't open ucast dump file", "IB_TIMEOUT", "Timeout while getting")
        self.assertEqual([error for error in served.errors() if not any(words in error for words in known)], [])

    def test_links_go_off_and_come_back(self):
        self.loop("torus:3x3,hosts=1,links=2", 0)

    def test_links_go_off_and_come_back_in_two_planes(self):
        self.loop("torus:3x3,hosts=1,links=2", 1)

    def test_kills_leave_what_the_file_says(self):
        """OpenSM killed and started again, the daemon killed with OpenSM sweeping meanwhile."""
        with FileFabric("tree:k=3,n=2", "--training-delay", "0.2", plugin_socket=False) as served:
            self.begin(served, "-s", "1")
            with self.heddled(served, **{"regulation.policy": "general"}) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(1)
                links = lambda: daemon.json("regulate")["links"]
                wait_until(lambda: links().get("off", 0) >= 2, 60, "links off")
                self.settle(daemon)
                off, before = self.down(served), self.dead_ends(served)
                served.opensm.kill()
                served.opensm.wait()
                sweeps = served.sweeps()
                self.begin(served, "-s", "1")
                wait_until(lambda: served.sweeps() > sweeps, 30, "a sweep of OpenSM's second run")
                self.assertEqual(self.down(served), off)
                self.expect_sound_tables(served)
                daemon.process.kill()
                daemon.process.wait()
                for _ in range(3):
                    sweeps = served.sweeps()
                    served.opensm.send_signal(signal.SIGHUP)
                    wait_until(lambda: served.sweeps() > sweeps, 30, "a sweep without the daemon")
                self.assertEqual(self.down(served), off)
                self.expect_sound_tables(served)
                self.assertEqual(self.dead_ends(served), before)
            with self.heddled(served, **{"regulation.policy": "general"}) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(1)
                wait_until(lambda: links().get("off", 0) == len(off), 60, "what is off")
                daemon.heddle("restore")
                wait_until(lambda: links() == {"active": 9}, 60, "all links back")
                self.assertEqual(self.dead_ends(served), before)

    def test_a_cut_cable_is_led_around(self):
        """Not judged on the wire: what leads nowhere after a cut may be taken out in one file and written in the next, and the
        sweep of OpenSM's between them takes longer than an instant (docs/opensm.md)."""
        served = FileFabric("tree:k=3,n=2", plugin_socket=False)
        served.watch = None
        with served:
            self.begin(served, "-s", "1")
            with self.heddled(served, **{"regulation.mode": "advise"}) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(1)
                wait_until(lambda: daemon.json("regulate")["links"] == {"active": 9}, 60, "all links")
                served.heddle("link", "leaf-0", 4, "down")
                wait_until(lambda: daemon.json("status")["fabric"]["links"] == 17, 20, "the cut")
                wait_until(lambda: "leaf-0/4" in str(daemon.json("status")["problems"]), 20, "the problem")
                cut = served.lid_of("host-3 mlx5_0")
                wait_until(lambda: served.run("ibtracert", 1, cut)[0] == 0 and served.check_routes()[0] == 0, 30, "the way around")

    def test_a_file_that_vanishes_is_written_again(self):
        """OpenSM empties every table when it finds none: not judged on the wire."""
        served = FileFabric("tree:k=2,n=2", plugin_socket=False)
        served.watch = None
        with served:
            self.begin(served, "-s", "0")
            with self.heddled(served, **{"regulation.mode": "advise"}) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(1)
                wait_until(lambda: daemon.json("regulate")["links"] == {"active": 4}, 60, "all links")
                wait_until(lambda: served.check_routes()[0] == 0, 20, "tables")
                # While OpenSM does not look.
                served.lfts.unlink()
                wait_until(served.lfts.exists, 20, "the file")
                # And when it does.
                served.lfts.unlink()
                served.lfts.mkdir()
                served.opensm.send_signal(signal.SIGHUP)
                said = lambda: str(daemon.json("status")["problems"])
                wait_until(lambda: "OpenSM does not get its tables: cannot" in said(), 30, "the problem")
                served.lfts.rmdir()
                wait_until(lambda: served.check_routes()[0] == 0, 30, "tables again")
                wait_until(lambda: daemon.json("status")["problems"] == [], 30, "the problem's end")

    def test_tables_that_opensm_does_not_take_are_a_problem(self):
        with FileFabric("tree:k=2,n=2", plugin_socket=False) as served:
            self.begin(served, "-s", "0")
            with self.heddled(served, **{"opensm.reload": "true"}) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(1)
                said = lambda: str(daemon.json("status")["problems"])
                wait_until(lambda: "that something tells it to read it again (opensm.reload" in said(), 30, "the problem")
                self.assertEqual(self.down(served), [])
                served.opensm.send_signal(signal.SIGHUP)
                wait_until(lambda: daemon.json("status")["problems"] == [], 30, "the problem's end")
            with self.heddled(served, **{"opensm.reload": "no-such-program -x"}) as daemon, self.told(served, daemon):
                daemon.wait_for_sweeps(1)
                wait_until(lambda: "cannot run no-such-program" in said(), 30, "the problem")
                refused = daemon.heddle_raw("qos", "push", str(SOURCE / "tests/system/lfts_test.py"))
                self.assertNotEqual(refused.returncode, 0)

    def test_a_reload_that_hangs_holds_up_no_journal(self):
        with FileFabric("tree:k=2,n=2", plugin_socket=False) as served:
            self.begin(served, "-s", "0")
            at_work = served.directory / "reload.pid"
            hangs = served.directory / "hangs"
            hangs.write_text(f"#!/bin/sh\necho $$ > {at_work}.new && mv {at_work}.new {at_work}\nexec sleep 60\n")
            hangs.chmod(0o755)
            with self.heddled(served, **{"opensm.reload": str(hangs)}) as daemon, self.told(served, daemon):
                wait_until(at_work.exists, 30, "the reload")
                wait_until(lambda: daemon.json("regulate")["links"].get("active"), 30, "links")
                at_work.unlink()
                wait_until(at_work.exists, 30, "the next reload")
                daemon.heddle("link", "pin", "leaf-0/3")
                wait_until(lambda: "leaf-0/3" in daemon.heddle("events"), 30, "the event")
                self.assertTrue(pathlib.Path(f"/proc/{at_work.read_text().strip()}").exists(), "written only after the reload")


if __name__ == "__main__":
    unittest.main()
