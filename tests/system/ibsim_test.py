"""heddled on ibsim, beside a real OpenSM that is master: it samples every port, and disturbs nobody."""

import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from daemon_under_test import HEDDLE, Daemon
from served_fabric import Programs, wait_until

EXAMPLES = pathlib.Path("/usr/share/doc/ibsim-utils/net-examples")


class Ibsim(Programs):
    """A context: ibsim on a file."""

    count = 0

    def __init__(self, file):
        Ibsim.count += 1
        super().__init__(f"ibsim{Ibsim.count}", tempfile.mkdtemp(prefix="heddle-ibsim-"))
        self.file = file

    def __enter__(self):
        # Its standard input stays open: at its end ibsim would spin.
        command = ["ibsim", "-s", "-n", "-N", "16384", "-S", "2048", "-P", "131072", "-L", "49151", str(self.file)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env=self.environment(LD_PRELOAD=""))
        wait_until(lambda: f"@{self.name}:out9" in pathlib.Path("/proc/net/unix").read_text(), 30, "ibsim's start")
        return self

    def __exit__(self, *unused):
        super().__exit__()
        self.process.kill()
        self.process.communicate()
        shutil.rmtree(self.directory, ignore_errors=True)

    def heddled(self, settings):
        return Daemon({"fabric.backend": "umad", "metrics.listen": "", "sampling.interval": "200ms",
                       "sm.mode": "auto", **settings},
                      self.shim())


def cables(file):
    """Of a net file, each as a pair of NODE/PORT; read without any of our code."""
    found, here = set(), None
    for line in file.read_text().splitlines():
        node = re.match(r'(?:Switch|Hca)\s+\d+\s+"([^"]+)"', line)
        here = node.group(1) if node else here
        cable = re.match(r'\[(\d+)\]\s*"([^"]+)"\s*\[(\d+)\]', line)
        if cable:
            found.add(tuple(sorted([f"{here}/{cable.group(1)}", f"{cable.group(2)}/{cable.group(3)}"])))
    return found


class BesideOpenSm(unittest.TestCase):
    def sampled(self, file, settings=None):
        """Every cable of the file has figures of both its ends, from a daemon that only watches."""
        with Ibsim(file) as ibsim:
            ibsim.start_opensm()
            with ibsim.heddled(settings or {}) as daemon:
                status = daemon.wait_for_sweeps(3)
                self.check(daemon, status, cables(pathlib.Path(file)))
            self.assertEqual(ibsim.sweeps(), 1)  # nothing made OpenSM sweep again
            self.assertEqual(re.findall(r".*\bERR\b.*", ibsim.log_text()), [])

    def check(self, daemon, status, expected):
        self.assertEqual(status["subnet_manager"]["role"], "observer")
        self.assertEqual(status["transactions"]["failed"] + status["transactions"]["failed_fast"], 0, status)
        links = daemon.json("links")["links"]
        ends = {tuple(sorted(f"{link[end]['node']}/{link[end]['port']}" for end in "ab")) for link in links}
        self.assertEqual(ends, expected)
        missing = [link["name"] for link in links
                   for way in ("a_to_b", "b_to_a") if link[way]["bytes_per_second"] is None]
        self.assertEqual(missing, [])

    def test_examples_of_ibsim(self):
        files = sorted(EXAMPLES.glob("net*"))
        if not files:
            self.skipTest(f"no examples in {EXAMPLES}")
        for file in files:
            with self.subTest(file.name):
                self.sampled(file)

    def test_alone_it_is_the_subnet_manager(self):
        with Ibsim(EXAMPLES / "net.2sw2path4hca2port") as ibsim, ibsim.heddled({}) as daemon:
            status = daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master"
                                     and status["sampling"]["sweeps"] > 2, "being master")
            switch = status["subnet_manager"]["master_lid"]  # ibsim's first node
            links = daemon.json("links")["links"]
            self.assertEqual({link["state"] for link in links}, {"Active"})
            for command, says in ((["sminfo"], "SMINFO_MASTER"), (["ibtracert", 1, 3], "To"), (["ibroute", switch], "valid lids")):
                code, output, complaints = ibsim.run(*command)
                self.assertEqual((code, complaints), (0, []), output)
                self.assertIn(says, output)

    def test_ibdiagnet_dies_here_too(self):
        """What tools_remarks.txt says of it: not our simulator's doing."""
        if shutil.which("ibdiagnet") is None:
            self.skipTest("ibdiagnet is not installed")
        with Ibsim(EXAMPLES / "net.1") as ibsim:
            ibsim.start_opensm()
            code, output, _ = ibsim.run("ibdiagnet", "-o", ibsim.directory)
        self.assertEqual(code, -signal.SIGSEGV)
        self.assertIn("Discovering ... 0 nodes", output)

    def tree(self, directory):
        """1,296 hosts on 72 switches."""
        file = pathlib.Path(directory) / "tree.net"
        subprocess.run([HEDDLE, "fabric", "generate", "tree:k=36,n=2", "-o", file], check=True)
        return file

    def test_a_tree_of_1296_hosts(self):
        with tempfile.TemporaryDirectory() as directory:
            file = self.tree(directory)
            with Ibsim(file) as ibsim:
                ibsim.start_opensm("-n", "16")
                with ibsim.heddled({"sampling.interval": "1s", "sampling.window": 500}) as daemon:
                    status = daemon.wait_for_sweeps(3)
                    self.assertEqual(status["subnet_manager"]["role"], "observer")
                    self.assertEqual(status["fabric"]["links"], 2592)
                    links = daemon.json("links")["links"]
                    self.assertEqual(len(links), 2592)
                    self.assertEqual([link["name"] for link in links if link["a_to_b"]["bytes_per_second"] is None
                                      or link["b_to_a"]["bytes_per_second"] is None], [])
                    self.survives_a_pause(ibsim, daemon)

    def survives_a_pause(self, ibsim, daemon):
        """What is sent again while ibsim does not read fills its queue; nobody waits for ever."""
        ibsim.process.send_signal(signal.SIGSTOP)
        time.sleep(1.5)  # of ibsim's life, not of a test's patience
        ibsim.process.send_signal(signal.SIGCONT)
        before = daemon.json("status")["sampling"]["sweeps"]
        daemon.wait_for(lambda status: status["sampling"]["sweeps"] > before + 1, "sampling on", 30)


if __name__ == "__main__":
    unittest.main()
