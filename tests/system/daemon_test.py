"""heddled and heddle as an operator uses them: start, ask, reload, end; good and bad input."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

from daemon_under_test import FABRICS, HEDDLE, HEDDLED, SOURCE, Daemon


def graph(text):
    """Nodes and cables of ibnetdiscover output, read without any of our code: GUIDs, and pairs of GUID[port]."""
    nodes, cables, here = {}, set(), None
    for line in text.splitlines():
        node = re.match(r'(Switch|Ca|Rt)\s+(\d+)\s+"\w-([0-9a-f]{16})"', line)
        if node:
            here = node.group(3)
            nodes[here] = (node.group(1), int(node.group(2)))
            continue
        cable = re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"\w-([0-9a-f]{16})"\[(\d+)\]', line)
        if cable and here:
            ends = sorted([(here, int(cable.group(1))), (cable.group(2), int(cable.group(3)))])
            cables.add(tuple(ends))
    return nodes, cables


class PublishedFabrics(unittest.TestCase):
    """Every published fabric comes up, is counted right, and is exported as the same graph."""

    def test_all(self):
        files = sorted(FABRICS.glob("*.ibnetdiscover"))
        if not files:
            self.skipTest(f"no published fabrics at {FABRICS}")
        for file in files:
            with self.subTest(file.name), Daemon({"fabric.file": file}) as daemon:
                nodes, cables = graph(file.read_text(encoding="utf-8", errors="replace"))
                daemon.wait_for_sweeps()
                status = daemon.json("status")
                switches = sum(1 for kind, _ in nodes.values() if kind == "Switch")
                self.assertEqual(status["fabric"]["switches"], switches)
                self.assertEqual(status["fabric"]["channel_adapters"], len(nodes) - switches)
                self.assertEqual(status["fabric"]["links"], len(cables))
                names = [node["name"] for node in daemon.json("nodes")["nodes"]]
                self.assertEqual(len(names), len(nodes))
                self.assertEqual(len(set(names)), len(names))
                exported = graph(daemon.heddle("fabric", "export", "--format", "ibnetdiscover"))
                self.assertEqual(exported, (nodes, cables))


class LosingFile(unittest.TestCase):
    """A file with two nodes of one GUID."""

    TEXT = ('switchguid=0x1\nSwitch 4 "a" # "first"\n[1] "h"[1]\n\n'
            'switchguid=0x1\nSwitch 4 "b" # "second"\n\ncaguid=0x3\nCa 1 "h" # "host"\n[1] "a"[1]\n')
    SAYS = r":6: two nodes have the GUID 0x0000000000000001: \"first\" on line 2, and \"second\" here"

    def test_no_daemon_runs_on_it_unless_told_to_and_then_status_shows_what_is_missing(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "fabric"
            file.write_text(self.TEXT)
            arguments = ["--set", "fabric.backend=sim", "--set", f"fabric.file={file}", "--set", f"state.directory={directory}",
                         "--set", f"control.socket={directory}/socket"]
            refused = subprocess.run([HEDDLED, *arguments], capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertRegex(refused.stderr, self.SAYS)
            self.assertIn("fabric.partial", refused.stderr)
            with Daemon({"fabric.file": file, "fabric.partial": "true"}) as daemon:
                daemon.wait_for_sweeps()
                self.assertRegex(daemon.heddle("status"), self.SAYS)
                self.assertEqual(daemon.json("status")["fabric"]["switches"], 1)


class Operator(unittest.TestCase):
    """One daemon on a small tree."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon({"fabric.generate": "tree:k=3,n=2", "sampling.interval": "100ms"})
        cls.daemon.__enter__()
        cls.daemon.wait_for_sweeps()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.__exit__()

    def test_every_reading_command_in_both_formats(self):
        for command in (["status"], ["links"], ["nodes"], ["node", "leaf-0"], ["queues", "leaf-0"], ["locality"], ["fabric", "show"]):
            with self.subTest(command):
                self.assertTrue(self.daemon.heddle(*command).strip())
                self.assertTrue(self.daemon.json(*command))

    def test_errors_are_sentences_with_the_right_status(self):
        unknown = self.daemon.heddle_raw("node", "nobody")
        self.assertEqual((unknown.returncode, unknown.stdout), (1, ""))
        self.assertIn("there is no node 'nobody'", unknown.stderr)
        self.assertEqual(self.daemon.heddle_raw("links", "--sort", "size").returncode, 2)
        self.assertEqual(self.daemon.heddle_raw("nonsense").returncode, 2)
        nobody = subprocess.run([HEDDLE, "--socket", "/nonexistent", "status"], capture_output=True, text=True, check=False)
        self.assertEqual(nobody.returncode, 1)
        self.assertIn("Is it running", nobody.stderr)

    def test_a_second_daemon_on_the_same_socket_is_refused(self):
        second = subprocess.run(
            [HEDDLED, "--set", "fabric.backend=sim", "--set", "fabric.generate=tree:k=2,n=2", "--set",
             f"control.socket={self.daemon.socket}", "--set", f"state.directory={self.daemon.directory / 'second'}"],
            capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn("another heddled listens", second.stderr)

    def test_rubbish_on_the_socket_harms_nobody(self):
        for rubbish in (b"\0" * 5000, b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 50000, b"POST /v1/links HTTP/1.1\r\n"):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(self.daemon.socket))
                try:
                    client.sendall(rubbish)
                except OSError:
                    pass
        before = self.daemon.json("status")["sampling"]["sweeps"]
        self.daemon.wait_for(lambda status: status["sampling"]["sweeps"] > before, "sampling on")


class Life(unittest.TestCase):
    def test_tells_systemd_that_it_is_ready_alive_and_stopping(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind("\0heddle-notify-%d" % os.getpid())
            notify.settimeout(20)
            env = {"NOTIFY_SOCKET": "@heddle-notify-%d" % os.getpid(), "WATCHDOG_USEC": "300000"}
            with Daemon({"fabric.generate": "tree:k=2,n=2"}, env) as daemon:
                heard = ""
                while "READY=1" not in heard or "WATCHDOG=1" not in heard:
                    heard += notify.recv(4096).decode() + "\n"
                daemon.process.send_signal(signal.SIGTERM)
                while "STOPPING=1" not in heard:
                    heard += notify.recv(4096).decode() + "\n"
                self.assertEqual(daemon.process.wait(20), 0)
            self.assertFalse(daemon.socket.exists())

    def test_who_configures_a_fabric_takes_itself_for_no_other_manager(self):
        """While ports are told who manages them, and nobody answers as master yet: a matter of minutes for 32,768 hosts on a busy machine."""
        with Daemon({"fabric.generate": "tree:k=10,n=3", "sweep.light_interval": "2ms"}) as daemon:
            seen = []

            def is_master(status):
                seen.append(status["subnet_manager"]["role"])
                self.assertEqual([each for each in status["problems"] if "does not answer" in each], [])
                return seen[-1] == "master"

            daemon.wait_for(is_master, "being master")
            self.assertNotIn("observer", seen)
            self.assertNotIn("the subnet manager is at", daemon.log_text())

    def test_sighup_reads_the_file_again_and_survives_a_bad_one(self):
        text = '[fabric]\nbackend = "sim"\ngenerate = "tree:k=2,n=2"\n[sampling]\ninterval = "1s"\n'
        with Daemon({}, config=text) as daemon:
            config = daemon.directory / "heddle.toml"
            daemon.wait_for_sweeps(1)
            config.write_text(config.read_text().replace('"1s"', '"50ms"'))
            daemon.process.send_signal(signal.SIGHUP)
            daemon.wait_for(lambda status: status["sampling"]["interval_seconds"] == 0.05, "reloaded")
            config.write_text("[sampling]\nintervall = 3\n")
            daemon.process.send_signal(signal.SIGHUP)
            before = daemon.json("status")["sampling"]["sweeps"]
            daemon.wait_for(lambda status: status["sampling"]["sweeps"] > before + 5, "sampling on")
            self.assertIn("heddle.toml:2", daemon.log_text())

    def test_bad_input_is_refused_with_a_sentence(self):
        cases = [
            (["--set", "sampling.intervall=1s"], "did you mean sampling.interval"),
            (["--set", "fabric.backend=sim"], "neither fabric.file nor fabric.generate"),
            (["--set", "fabric.backend=sim", "--set", "fabric.generate=tree:k=x"], "k=x"),
            (["--set", "fabric.backend=sim", "--set", "fabric.file=/nonexistent"], "/nonexistent"),
            (["--set", "fabric.backend=sim", "--set", f"fabric.file={SOURCE}/README.md"], "README.md:3: passed over: expected"),
            (["--config", "/nonexistent"], "/nonexistent"),
        ]
        for arguments, expected in cases:
            with self.subTest(arguments):
                done = subprocess.run([HEDDLED, *arguments, "--set", "control.socket=/tmp/heddle-refused.sock"],
                                      capture_output=True, text=True, timeout=20, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn(expected, done.stderr)
        self.assertEqual(subprocess.run([HEDDLED, "--nonsense"], capture_output=True, check=False).returncode, 2)

    def test_the_shipped_configuration_is_good(self):
        done = subprocess.run([HEDDLED, "--config", SOURCE / "systemd/heddle.toml", "--check-config"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "heddled: the configuration is good\n"), done.stderr)

    def test_a_configuration_whose_fabric_cannot_be_generated_is_not_good(self):
        for spec in ("tree:k=0,n=2", "torus:0x4", "tre:k=2,n=2"):
            done = subprocess.run([HEDDLED, "--set", f"fabric.generate={spec}", "--check-config"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, spec)
            self.assertIn("fabric.generate", done.stderr)

    def test_a_configuration_whose_secrets_cannot_be_read_is_not_good(self):
        for key in ("agents.key_file", "metrics.tokens_file"):
            done = subprocess.run([HEDDLED, "--set", f"{key}=/nonexistent/secret", "--check-config"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, key)
            self.assertIn(key, done.stderr)


if __name__ == "__main__":
    unittest.main()
