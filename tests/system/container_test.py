"""tools/package.d/Containerfile and what it adds: an image is made of them by buildah, and runs as its own user, on a simulated fabric. Takes root,
a Debian mirror, and packages: those in HEDDLE_PACKAGES, or else it makes them."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from prometheus_test import free_port

SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"])


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n", file=sys.stderr)
        done.check_returncode()
    return done.stdout


class Container(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0 or not shutil.which("mmdebstrap") or not shutil.which("buildah"):
            self.skipTest("needs root, mmdebstrap and buildah")
        packages = os.environ.get("HEDDLE_PACKAGES")
        if not packages:
            run(SOURCE / "tools/package")
        self.room = pathlib.Path(tempfile.mkdtemp(prefix="heddle-container-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.room, ignore_errors=True)
        run(SOURCE / "tools/package.d/root-filesystem", self.room, packages or SOURCE / "build/packages")
        self.image = "heddle-under-test"
        # Where there is no namespace or cgroup to be had either: a chroot with the image's user, as buildah has it.
        self.buildah("build", "--isolation", "chroot", "--tag", self.image, self.room)
        self.container = self.buildah("from", self.image).strip()
        self.addCleanup(self.buildah, "rm", self.container)

    def buildah_command(self, *arguments):
        return ["buildah", "--storage-driver", "vfs", "--root", str(self.room / "store"), "--runroot", str(self.room / "run"), *map(str, arguments)]

    def buildah(self, *arguments):
        return run(*self.buildah_command(*arguments))

    def inside(self, *command):
        return self.buildah_command("run", "--isolation", "chroot", self.container, "--", *command)

    def test_it_runs_as_its_own_user_on_a_simulated_fabric(self):
        config = json.loads(self.buildah("inspect", self.container))["OCIv1"]["config"]
        self.assertEqual((config["User"], config["WorkingDir"], list(config["ExposedPorts"])), ("heddle:heddle", "/var/lib/heddle", ["9683/tcp"]))
        self.assertIn("heddle", run(*self.inside("id", "-un")))
        port = free_port()
        # Not the image's port: in a chroot it is the host's.
        daemon = subprocess.Popen(self.inside(*config["Entrypoint"], "--set", "fabric.backend=sim", "--set", "fabric.generate=tree:k=4,n=2", "--set",
                                              f"metrics.listen=127.0.0.1:{port}"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.stderr.close)
        self.addCleanup(daemon.kill)
        end = time.monotonic() + 60
        switches = None
        while not switches and time.monotonic() < end:
            if daemon.poll() is not None:
                self.fail(f"it has ended: {daemon.stderr.read()}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                    switches = re.search(r'^heddle_fabric_nodes\{type="switch"\} (\d+)$', answer.read().decode(), re.MULTILINE)
            except OSError:
                pass
            time.sleep(0.2)
        self.assertIsNotNone(switches, "no fabric in its metrics")
        self.assertEqual(switches.group(1), "8")
        self.assertRegex(run(*self.inside("heddle", "status")), "8 switches")
        pid = next(int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if self.is_daemon(pid, port))
        self.assertNotEqual(pathlib.Path(f"/proc/{pid}").stat().st_uid, 0)
        os.kill(pid, signal.SIGTERM)
        self.assertEqual(daemon.wait(30), 0)

    @staticmethod
    def is_daemon(pid, port):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return words[0].endswith(b"/heddled") and f"metrics.listen=127.0.0.1:{port}".encode() in words


if __name__ == "__main__":
    unittest.main()
