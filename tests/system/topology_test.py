"""Topology files between heddle, ibsim and ibnetdiscover: each reads what the other wrote, and it is the same fabric."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from daemon_under_test import FABRICS, HEDDLE

IBNETDISCOVER = shutil.which("ibnetdiscover", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")

NET = """# names without GUIDs
Switch	8 "Left"
[1]	"Host"[1]
[2]	"Right"[3]	w=2 s=1

Switch 8 "Right"
[3]	"Left"[2]

Hca	2 "Host"
[1]	"Left"[1]

Hca	2 "Idle"
"""


def heddle(*arguments):
    done = subprocess.run([str(HEDDLE), *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Ibsim:
    """A context: ibsim on a file, on an abstract socket of its own."""

    def __init__(self, file, directory):
        self.file = file
        self.env = {**os.environ, "IBSIM_SOCKNAME": f"heddle-{os.getpid()}-{directory.name}"}
        self.log = directory / "ibsim.log"

    def __enter__(self):
        with open(self.log, "wb") as log:
            # Its standard input stays open: at its end ibsim would spin.
            command = ["ibsim", "-s", "-N", "4096", "-S", "1024", "-P", "65536", str(self.file)]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=self.env)
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()

    def ibnetdiscover(self, *options):
        end = time.monotonic() + 30
        while b"sim>" not in self.log.read_bytes():  # a client that comes earlier waits for ever
            assert self.process.poll() is None and time.monotonic() < end, self.log.read_text(errors="replace")
            time.sleep(0.05)
        done = subprocess.run(["ibsim-run", IBNETDISCOVER, *options], capture_output=True, text=True, timeout=60,
                              env=self.env, check=False)
        assert done.returncode == 0, f"{done.stderr}\n{self.log.read_text(errors='replace')}"
        return done.stdout


@unittest.skipUnless(shutil.which("ibsim") and shutil.which("ibsim-run") and IBNETDISCOVER, "ibsim is not installed")
class ThroughIbsim(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heddle-topology-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def discovered(self, file, *options):
        with Ibsim(file, self.directory) as ibsim:
            found = self.directory / "discovered"
            found.write_text(ibsim.ibnetdiscover(*options))
        return found

    def test_what_heddle_writes(self):
        sources = ["tree:k=4,n=3,speed=EDR", "torus:4x4,hosts=2,links=2,width=1x,speed=QDR",
                   "random:switches=9,hosts=12,links=20,speed=FDR", *sorted(FABRICS.glob("*x5*")), *sorted(FABRICS.glob("*quantum*"))]
        for source in sources:
            with self.subTest(str(source)):
                written = self.directory / "written"
                heddle("fabric", "export", source, "-o", written)
                self.assertEqual(heddle("fabric", "diff", written, self.discovered(written)), "")

    def test_the_other_reports_of_ibnetdiscover(self):
        written = self.directory / "written"
        heddle("fabric", "generate", "tree:k=3,n=2,speed=EDR", "-o", written)
        for options in (["--full"], ["--grouping"], ["--full", "--grouping"], ["--max_hops"]):
            with self.subTest(options):
                self.assertEqual(heddle("fabric", "diff", written, self.discovered(written, *options)), "")
        for option in ("--ports", "--list", "--Hca_list"):
            with self.subTest(option):
                report = self.discovered(written, option)
                refused = subprocess.run([str(HEDDLE), "fabric", "show", str(report)], capture_output=True, text=True,
                                         timeout=60, check=False)
                self.assertEqual(refused.returncode, 1)
                self.assertIn("run ibnetdiscover without", refused.stderr)

    def test_names_without_guids(self):
        net = self.directory / "net"
        net.write_text(NET)
        # What nothing is cabled to cannot be discovered.
        lines = heddle("fabric", "diff", net, self.discovered(net)).splitlines()
        self.assertEqual([line for line in lines if "Idle" not in line and "/0" not in line], [])


if __name__ == "__main__":
    unittest.main()
