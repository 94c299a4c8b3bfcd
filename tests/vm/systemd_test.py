"""The shipped unit, its drop-ins and its device rule under a real systemd and udev: tools/vm --systemd."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import unittest

from kernel_fabric import HEDDLE, KernelFabric, load, wait_until

BUILD = pathlib.Path(os.environ["HEDDLE_BUILD"])
SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"])
UNITS = pathlib.Path("/etc/systemd/system")
TREE = "tree:k=2,n=2"  # 4 hosts, 4 switches
HOST = "host-0 mlx5_0"
ELSEWHERE = "10.77.0.1"  # an address of this host that is not loopback's, as a server of scrapes would come from
PORT = 9683


def run(*command, check=True):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}\n{journal()}")
    return done.stdout


def journal():
    return run("journalctl", "-u", "heddled", "-n", "60", "--no-pager", "-o", "cat", check=False)


def shown(what, unit="heddled"):
    return run("systemctl", "show", "-P", what, unit).strip()


def configure(**settings):
    """The shipped file with these values in place of its own; keys as sm.mode."""
    text = (SOURCE / "systemd/heddle.toml").read_text()
    for key, value in settings.items():
        table, name = key.split("__")
        text = re.sub(rf"(\[{table}\](?:(?!\n\[).)*?\n){name} = [^\n]*", rf"\g<1>{name} = {value}", text, count=1, flags=re.S)
    pathlib.Path("/etc/heddle/heddle.toml").write_text(text)


def install():
    """What the packages put there, on a host that never had it."""
    shutil.rmtree("/var/lib/heddle", ignore_errors=True)
    shutil.copy(BUILD / "daemon/app/heddled", "/usr/sbin/heddled")
    for source, place in ((BUILD / "systemd/heddled.service", "/usr/lib/systemd/system"),
                          (SOURCE / "systemd/60-heddle.rules", "/usr/lib/udev/rules.d")):
        shutil.copy(source, place)
    pathlib.Path("/etc/heddle").mkdir(exist_ok=True)
    own = pathlib.Path("/usr/lib/systemd/system/opensm@.service.d")
    own.mkdir(exist_ok=True)
    shutil.copy(SOURCE / "systemd/opensm.service.d/heddle.conf", own)
    run("systemd-sysusers", SOURCE / "systemd/heddle.sysusers")
    run("systemd-tmpfiles", "--create", SOURCE / "systemd/heddle.tmpfiles")
    run("udevadm", "control", "--reload")
    run("systemctl", "daemon-reload")
    run("modprobe", "dummy")
    run("ip", "link", "add", "eth9", "type", "dummy")
    run("ip", "address", "add", f"{ELSEWHERE}/24", "dev", "eth9")
    run("ip", "link", "set", "eth9", "up")


class Unit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        install()
        load()

    def setUp(self):
        configure(sm__mode='"auto"', metrics__listen='""', sweep__light_interval='"500ms"')
        self.fabric = self.enterContext(KernelFabric(TREE, [HOST]))
        run("udevadm", "settle")
        self.addCleanup(run, "systemctl", "stop", "heddled", check=False)
        self.addCleanup(run, "systemctl", "reset-failed", "heddled", check=False)

    def status(self):
        done = subprocess.run([str(HEDDLE), "status"], capture_output=True, text=True, timeout=60)
        return done.stdout if done.returncode == 0 else done.stderr

    def wait_for(self, words, seconds=60):
        wait_until(lambda: words in self.status(), seconds, f'"{words}" in the status: {self.status()}\n{journal()}')

    def start(self):
        run("systemctl", "start", "heddled")
        self.wait_for("4 switches")
        return int(shown("MainPID"))

    def test_it_manages_the_fabric_without_privileges(self):
        pid = self.start()
        wait_until(lambda: self.fabric.port("state") == "4: ACTIVE", 30, "Active")
        self.assertEqual(shown("ActiveState"), "active")
        facts = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
        self.assertEqual(int(facts["CapEff"], 16), 0)
        self.assertEqual(facts["NoNewPrivs"], "1")
        self.assertEqual(facts["Seccomp"], "2")
        self.assertNotEqual(facts["Uid"].split()[0], "0")
        device = pathlib.Path("/dev/infiniband") / self.fabric.umad("heddle0")
        self.assertEqual((device.group(), device.stat().st_mode & 0o777), ("heddle-umad", 0o660))
        self.assertIn("switches", shown("StatusText"))

    def test_it_is_back_after_a_crash_and_after_being_stuck(self):
        pid = self.start()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: shown("MainPID") not in ("0", str(pid)), 30, "another process")
        self.wait_for("4 switches")
        self.assertEqual(shown("NRestarts"), "1")
        stuck = int(shown("MainPID"))
        os.kill(stuck, signal.SIGSTOP)  # what the watchdog is for
        wait_until(lambda: shown("MainPID") not in ("0", str(stuck)), 90, "the watchdog's ending it")
        self.wait_for("4 switches")

    def test_it_reloads_and_stops_in_order(self):
        pid = self.start()
        run("systemctl", "reload", "heddled")
        self.assertEqual(int(shown("MainPID")), pid)
        wait_until(lambda: "configuration read again" in journal(), 20, "reading it again")
        run("systemctl", "stop", "heddled")
        self.assertEqual((shown("ActiveState"), shown("Result")), ("inactive", "success"))

    def test_an_adapter_that_is_pulled_out_and_put_back_does_not_end_it(self):
        pid = self.start()
        self.fabric.server.send_signal(signal.SIGKILL)
        self.fabric.server.wait(10)
        self.wait_for("is gone")
        with KernelFabric(TREE, [HOST]):
            wait_until(lambda: "is gone" not in self.status() and "4 switches" in self.status(), 60, "having it again")
        self.assertEqual(int(shown("MainPID")), pid)

    def test_it_waits_for_an_adapter_that_comes_late(self):
        self.fabric.server.send_signal(signal.SIGKILL)
        self.fabric.server.wait(10)
        wait_until(lambda: not KernelFabric.devices(), 20, "leaving")
        run("systemctl", "start", "--no-block", "heddled")
        wait_until(lambda: int(shown("NRestarts")) > 1, 60, "trying again")
        with KernelFabric(TREE, [HOST]):
            self.wait_for("4 switches")

    def test_scrapers_come_in_only_by_their_drop_in(self):
        configure(sm__mode='"auto"', metrics__listen=f'"0.0.0.0:{PORT}"', sweep__light_interval='"500ms"')
        drop_in = UNITS / "heddled.service.d/scrapers.conf"
        self.start()
        self.assertTrue(connects("127.0.0.1"))
        self.assertFalse(connects(ELSEWHERE), "IPAddressDeny=any")
        drop_in.parent.mkdir(exist_ok=True)
        text = (SOURCE / "systemd/heddled.service.d/scrapers.conf").read_text()
        drop_in.write_text(text.replace("192.0.2.10", ELSEWHERE))
        try:
            run("systemctl", "daemon-reload")
            run("systemctl", "restart", "heddled")
            self.wait_for("4 switches")
            self.assertTrue(connects(ELSEWHERE))
        finally:
            drop_in.unlink()
            run("systemctl", "daemon-reload")

    def test_each_drop_in_starts(self):
        place = UNITS / "heddled.service.d"
        place.mkdir(exist_ok=True)
        for drop_in in sorted((SOURCE / "systemd/heddled.service.d").glob("*.conf")):
            with self.subTest(drop_in.name):
                shutil.copy(drop_in, place)
                try:
                    run("systemctl", "daemon-reload")
                    self.start()
                    allowed = re.findall(r"^IPAddressAllow=(.*)$", drop_in.read_text(), re.M)[0].split()
                    for address in allowed:
                        self.assertIn(address.split("/")[0], shown("IPAddressAllow"))
                    run("systemctl", "stop", "heddled")
                finally:
                    (place / drop_in.name).unlink()
        run("systemctl", "daemon-reload")

    def test_opensm_comes_first_and_is_left_its_registrations(self):
        guid = self.fabric.port("gids/0").split(":", 4)[4].replace(":", "")
        unit = UNITS / "opensm@.service.d"
        unit.mkdir(exist_ok=True)
        log = self.fabric.directory / "opensm.log"
        (unit / "test.conf").write_text(f"[Service]\nExecStart=\nExecStart=/usr/sbin/opensm -g 0x{guid} -f {log} -D 0x03\n")
        try:
            run("systemctl", "daemon-reload")
            self.assertIn("heddled.service", shown("Before", "opensm@one.service").split())
            run("systemctl", "start", "opensm@one.service")  # Wants=heddled.service
            self.addCleanup(run, "systemctl", "stop", "opensm@one.service", check=False)
            wait_until(lambda: self.fabric.port("state") == "4: ACTIVE", 60, "OpenSM's bringing up the fabric")
            self.wait_for("4 switches")
            self.assertIn("observer", run(HEDDLE, "--json", "status"))
            self.assertEqual(shown("ActiveState", "opensm@one.service"), "active")
        finally:
            (unit / "test.conf").unlink()
            run("systemctl", "daemon-reload")


def connects(address):
    try:
        with socket.create_connection((address, PORT), timeout=3):
            return True
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
