"""Debian packages from nothing: made, installed into a clean Debian, started, upgraded, removed, purged. Takes root and a mirror."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"])
PACKAGES = ["heddled", "heddle", "heddle-opensm", "heddle-agent", "heddle-vef", "heddle-grafana"]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:  # its own words, which CalledProcessError keeps to itself
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n", file=sys.stderr)
        done.check_returncode()
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
            raise unittest.SkipTest("needs root and mmdebstrap")
        run(SOURCE / "tools/package", "--lint")
        cls.debs = {path.name.split("_")[0]: path for path in (SOURCE / "build/packages").glob("*.deb")}
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="heddle-root-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        # What Debian's own installation has, too: a system with its init's tools, but nothing that runs.
        release = run("sh", "-c", ". /etc/os-release && echo $VERSION_CODENAME").strip()
        run("mmdebstrap", "--variant=apt", "--include=systemd,udev,systemd-sysv", "--skip=cleanup/apt/lists", release, cls.root)
        run("mount", "-t", "proc", "proc", cls.root / "proc")
        cls.addClassCleanup(run, "umount", cls.root / "proc")
        for path in cls.debs.values():
            shutil.copy(path, cls.root / "root")

    def inside(self, *command, **options):
        return run("chroot", self.root, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", *command, **options)

    def install(self):
        self.inside("sh", "-c", "apt-get -qq install -y --no-install-recommends " +
                    " ".join(f"/root/{self.debs[name].name}" for name in PACKAGES))

    def heddled(self):
        """The daemon of the package, on a simulated fabric, as the user that the package made."""
        daemon = subprocess.Popen(["chroot", "--userspec=heddle:heddle", self.root, "/usr/sbin/heddled", "--config",
                                   "/etc/heddle/heddle.toml", "--set", "fabric.backend=sim", "--set",
                                   "fabric.generate=torus:3x3,hosts=1", "--set", "metrics.listen="],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(daemon.stdout.close)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        return daemon

    def status(self, daemon):
        deadline = time.monotonic() + 60
        while True:
            self.assertIsNone(daemon.poll(), "heddled has ended")
            try:
                status = json.loads(self.inside("heddle", "--json", "status"))
                if status.get("fabric"):
                    return status
            except subprocess.CalledProcessError:
                pass
            self.assertLess(time.monotonic(), deadline, "heddled does not answer")
            time.sleep(0.2)

    def test_from_installation_to_purge(self):
        self.install()
        self.inside("systemd-analyze", "verify", "--man=no", "heddled.service")
        self.inside("bash", "-n", "/usr/share/bash-completion/completions/heddle")
        self.assertIn("heddle", self.inside("getent", "group", "heddle-umad"))
        self.inside("systemd-analyze", "verify", "--man=no", "heddle-agent.service")
        self.assertIn("heddle-agent", self.inside("getent", "passwd", "heddle-agent"))
        self.inside("sh", "-n", "/usr/share/heddle/slurm/heddle-sim")
        self.inside("systemd-tmpfiles", "--create")
        daemon = self.heddled()
        self.assertEqual(self.status(daemon)["fabric"]["switches"], 9)
        daemon.terminate()
        self.assertEqual(daemon.wait(), 0)

        # Again over itself, with a configuration that somebody has changed: it stays.
        configuration = self.root / "etc/heddle/heddle.toml"
        configuration.write_text(configuration.read_text() + "\n# ours\n")
        self.inside("sh", "-c", "dpkg --force-confold -i " + " ".join(f"/root/{self.debs[name].name}" for name in PACKAGES))
        self.assertTrue(configuration.read_text().endswith("# ours\n"))
        self.assertTrue((self.root / "var/lib/heddle/journal.db").exists())

        self.inside("apt-get", "-qq", "remove", "-y", *PACKAGES)
        self.assertFalse((self.root / "usr/sbin/heddled").exists())
        self.assertTrue(configuration.exists())
        self.assertTrue((self.root / "var/lib/heddle/journal.db").exists())
        self.inside("dpkg", "--purge", *PACKAGES)
        self.assertFalse(configuration.exists())
        self.assertFalse((self.root / "var/lib/heddle").exists())


    def test_the_recorders_bring_no_mpi(self):
        """A host has the MPI of its programs; each library names that one only."""
        depends = run("dpkg-deb", "--field", self.debs["heddle-vef"], "Depends")
        self.assertIn("libc6", depends)
        self.assertNotRegex(depends, "libmpich|libopenmpi")
        with tempfile.TemporaryDirectory() as directory:
            run("dpkg-deb", "--extract", self.debs["heddle-vef"], directory)
            for mpi, needed, other in (("openmpi", "libmpi.so", "libmpich.so"), ("mpich", "libmpich.so", "libmpi.so")):
                needs = run("readelf", "--dynamic", f"{directory}/usr/lib/heddle/{mpi}/libheddle-vef.so")
                self.assertIn(f"[{needed}", needs)
                self.assertNotIn(f"[{other}", needs)


if __name__ == "__main__":
    unittest.main()
