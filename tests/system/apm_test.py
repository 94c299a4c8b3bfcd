"""libheddle-apm.so, preloaded into a program of ours that is linked with a stand-in for libibverbs (apm/ibverbs_stub.c), and the agent's side
of the socket by hand; and heddled with hosts that have agents."""

import os
import pathlib
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import unittest

from daemon_under_test import Daemon
from regulation_test import QUICK, RING, links_in
from served_fabric import wait_until

LIBRARY = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "plugins/apm/libheddle-apm.so"
SOURCES = pathlib.Path(os.environ["HEDDLE_SOURCE"]) / "tests/system/apm"
PATIENCE = 60
# libanalysis/apm/local.h
COMMAND = struct.Struct("=II64sIIQ")
REPORT = struct.Struct("=II64sIIQ8I96s")
ARM, MOVE = 2, 3


class Program:
    """The program with the library; what it and the stub say, line by line."""

    def __init__(self, test, *, stub=None, preload=LIBRARY):
        self.test = test
        self.process = subprocess.Popen(
            [test.at / "program"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
            env={**os.environ, "LD_PRELOAD": str(preload), "LD_LIBRARY_PATH": str(stub or test.at / "can"), "HEDDLE_APM_SOCKET": str(test.socket)})
        test.addCleanup(self.end)

    def say(self, letter):
        self.process.stdin.write(letter + "\n")
        self.process.stdin.flush()

    def hears(self, *lines):
        """These lines, in this order."""
        for line in lines:
            self.test.assertEqual(self.process.stdout.readline().strip(), line)

    def finish(self):
        out, err = self.process.communicate("x\n", timeout=PATIENCE)
        self.test.assertEqual(self.process.returncode, 0, err)
        return out.splitlines(), err.splitlines()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class Agent:
    """What is said to one process."""

    def __init__(self, test, connection):
        self.test, self.connection = test, connection
        test.addCleanup(connection.close)

    def report(self):
        self.test.assertTrue(select.select([self.connection], [], [], PATIENCE)[0], "the library says nothing")
        form, moving, device, port, connections, order, *counts, trouble = REPORT.unpack(self.connection.recv(4096))
        names = ("in_plane_0", "in_plane_1", "armed", "failed", "unable", "others", "migrated", "not_migrated")
        return {"form": form, "moving": moving, "port": (device.rstrip(b"\0").decode(), port), "connections": connections, "order": order,
                "trouble": trouble.rstrip(b"\0").decode(), **dict(zip(names, counts))}

    def until(self, **wanted):
        while True:
            report = self.report()
            if all(report[name] == value for name, value in wanted.items()):
                return report

    def order(self, kind, plane=0, number=0, device="mlx5_0"):
        self.connection.send(COMMAND.pack(1, kind, device.encode(), 1, plane, number))


@unittest.skipUnless(LIBRARY.exists(), "a build with a sanitizer has no library to preload")
class Library(unittest.TestCase):
    def setUp(self):
        self.at = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.socket = self.at / "agent.sock"
        for name, flags in (("can", []), ("cannot", ["-DCANNOT"])):
            (self.at / name).mkdir()
            self.compile("ibverbs_stub.c", f"{name}/libibverbs.so.1", "-shared", "-fPIC", "-Wl,-soname,libibverbs.so.1",
                         f"-Wl,--version-script={SOURCES}/exports.map", *flags)
        self.compile("program.c", "program", str(self.at / "can/libibverbs.so.1"))

    def compile(self, source, name, *flags):
        subprocess.run([shutil.which("cc") or "gcc", "-O1", "-o", self.at / name, SOURCES / source, *flags], check=True)

    def listen(self):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(listener.close)
        listener.bind(str(self.socket))
        listener.listen()
        listener.settimeout(PATIENCE)
        return listener

    def accept(self, listener):
        return Agent(self, listener.accept()[0])

    def test_a_connection_is_armed_moved_and_armed_again(self):
        listener = self.listen()
        program = Program(self)
        agent = self.accept(listener)
        program.hears("state 1", "state 2", "state 3", "loaded 33")
        report = agent.until(connections=1, armed=1)
        self.assertEqual((report["port"], report["in_plane_0"], report["in_plane_1"]), (("mlx5_0", 1), 1, 0))
        agent.order(MOVE, plane=1, number=7)
        program.hears("migrated to 33", "loaded 32")
        agent.until(order=7, moving=0, in_plane_1=1, armed=1)
        agent.order(ARM)
        agent.until(armed=1)
        agent.order(MOVE, plane=0, number=8)
        program.hears("migrated to 32", "loaded 33")
        agent.until(order=8, in_plane_0=1)
        program.say("d")
        program.hears("destroyed 17")
        agent.order(MOVE, plane=1, number=9)
        agent.until(order=9, connections=0)
        self.assertEqual(program.finish(), (["ended"], []))

    def test_a_forked_child_has_its_own_connections_and_no_others(self):
        listener = self.listen()
        program = Program(self)
        parents = self.accept(listener)
        parents.until(armed=1)
        program.hears("state 1", "state 2", "state 3", "loaded 33")
        program.say("f")
        childs = self.accept(listener)
        report = childs.until(armed=1)
        self.assertEqual(report["connections"], 1)
        program.hears("state 1", "state 2", "state 3", "loaded 65")
        childs.order(MOVE, plane=1, number=1)
        program.hears("migrated to 65", "loaded 64")
        parents.order(MOVE, plane=1, number=1)
        program.hears("migrated to 33", "loaded 32")
        self.assertEqual(program.finish(), (["ended"], []))

    def test_who_calls_by_the_old_version_goes_past(self):
        program = Program(self)
        program.hears("state 1", "state 2", "state 3")
        program.say("o")
        program.hears("by the old name")
        program.finish()

    def test_without_an_agent_nothing_happens(self):
        program = Program(self)
        self.assertEqual(program.finish(), (["state 1", "state 2", "state 3", "ended"], []))

    def test_an_adapter_that_cannot_is_one_line(self):
        listener = self.listen()
        program = Program(self, stub=self.at / "cannot")
        agent = self.accept(listener)
        self.assertEqual(agent.until(unable=1)["connections"], 0)
        agent.order(MOVE, plane=1, number=1)
        agent.until(order=1)
        out, err = program.finish()
        self.assertEqual(out, ["state 1", "state 2", "state 3", "ended"])
        self.assertEqual(err, ["heddle-apm: mlx5_0:1: connections do not migrate: the adapter has no automatic path migration"])

    def test_an_agent_that_talks_rubbish_or_goes_is_no_harm(self):
        listener = self.listen()
        program = Program(self)
        agent = self.accept(listener)
        agent.until(armed=1)
        agent.connection.send(b"rubbish")
        again = self.accept(listener)
        again.until(armed=1)
        again.connection.close()
        last = self.accept(listener)
        last.until(armed=1)
        program.finish()

    def test_programs_without_verbs_do_not_notice(self):
        done = subprocess.run(["/bin/sh", "-c", "echo $((6 * 7)) | cat"], env={**os.environ, "LD_PRELOAD": str(LIBRARY)}, capture_output=True,
                              text=True, check=True)
        self.assertEqual((done.stdout, done.stderr), ("42\n", ""))

    def test_the_real_libibverbs_has_what_it_takes(self):
        """The symbols that it comes between, and those that it calls, by this version."""
        real = subprocess.run("readelf -W --dyn-syms $(ldconfig -p | sed -n 's/.*libibverbs.so.1 .*=> //p' | head -1)", shell=True, check=True,
                              capture_output=True, text=True).stdout
        for name in ("modify_qp", "destroy_qp", "get_async_event", "query_qp", "query_device", "query_port"):
            self.assertIn(f"ibv_{name}@@IBVERBS_1.1", real)


class Hosts(unittest.TestCase):
    """heddled, and hosts of its simulated fabric that have agents which answer MADs."""

    def test_links_go_plane_by_plane_once_all_hosts_can_move(self):
        key = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "key"
        key.write_text("5a" * 32 + "\n")
        key.chmod(0o600)
        with Daemon({"fabric.generate": RING, **QUICK, "agents.key_file": key, "agents.interval": "1s"}) as daemon:
            daemon.wait_for_sweeps(3)
            wait_until(lambda: daemon.json("regulate")["agents"]["by_planes"], PATIENCE, "planes")
            wait_until(lambda: links_in(daemon, "off") == 4, PATIENCE, "one link of each trunk off")
            answer = daemon.json("regulate")["agents"]
            self.assertEqual((answer["hosts"], answer["agents"], answer["able"], answer["immovable_hosts"]), (4, 4, 4, []))
            self.assertGreater(answer["moves"], 0)
            self.assertEqual(answer["failed_moves"], 0, answer)
            self.assertIn("4, 4 with an agent, 4 can move all that they send", daemon.heddle("regulate"))
            self.assertIn("plane by plane", daemon.heddle("regulate"))

    def test_a_key_that_everybody_may_read_is_refused(self):
        key = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "key"
        key.write_text("5a" * 32)
        key.chmod(0o644)
        with Daemon({"fabric.generate": RING, "agents.key_file": key}) as daemon:
            self.assertEqual(daemon.process.wait(PATIENCE), 1)
            self.assertIn("agents.key_file", daemon.log_text())


if __name__ == "__main__":
    unittest.main()
