"""heddled as the subnet administrator of this kernel: Debian's saquery, IPoIB, answers in segments by ib_umad."""

import re
import struct
import subprocess
import unittest

from connection_manager import ConnectionManager
from kernel_fabric import KernelFabric, heddled, wait_until
from mad_port import ADMINISTRATION, DELETE, MadPort, SET, question

TREE = "tree:k=2,n=2"  # 4 hosts, 4 switches
WIDE = "tree:k=4,n=3"  # 64 hosts, 48 switches
HOST, OTHER = "host-0 mlx5_0", "host-1 mlx5_0"
BROADCAST = bytes.fromhex("ff12401bffff000000000000ffffffff")
MC_MEMBER, SERVICE, PATH = 0x38, 0x31, 0x35


def gid(fabric, device):
    return bytes.fromhex(fabric.port("gids/0", device).replace(":", ""))


def join(port, mgid=BROADCAST):
    """Of a port, as IPoIB asks for it."""
    record = mgid + port + bytes(8) + struct.pack(">H", 0xFFFF) + bytes(6) + bytes([1])
    return 1 | 2 | 1 << 7 | 1 << 16, record


class Administration(unittest.TestCase):
    def manage(self, tree, hosts, **settings):
        fabric = self.enterContext(KernelFabric(tree, hosts))
        daemon = self.enterContext(heddled(**{"sm.mode": "auto", **settings}))
        wait_until(lambda: all(fabric.port("state", d) == "4: ACTIVE" for d in fabric.devices()), 60, "Active ports")
        wait_for_service(daemon)
        return fabric, daemon

    def test_saquery_is_answered_and_long_answers_are_whole(self):
        fabric, _ = self.manage(WIDE, [HOST, OTHER])
        lid = int(fabric.port("lid", "heddle1"), 16)

        def ask(*words):
            status, text, complaints = fabric.run("saquery", "-C", "heddle1", "-t", 30000, *words, timeout=300)
            self.assertEqual((status, complaints), (0, []), text)
            return text

        self.assertIn("Class version", ask("-c"))
        self.assertEqual(ask("-N").count("NodeRecord dump"), 64 + 48)
        path = ask("--src-to-dst", f"{lid}:{int(fabric.port('lid'), 16)}")
        self.assertEqual(int(re.search(r"slid\.*(\d+)", path).group(1)), lid)
        self.assertIn("mtu", path)
        self.assertEqual(ask("PR", "--slid", str(lid)).count("PathRecord dump"), 64 + 48)

    def test_long_answers_are_whole_where_mads_are_lost(self):
        fabric, _ = self.manage(WIDE, [HOST, OTHER])
        fabric.heddle("fault", "mads", "--lost", "0.02")
        for _ in range(3):
            # saquery asks once, and one question in fifty is lost itself.
            for _ in range(2):
                status, text, _ = fabric.run("saquery", "-C", "heddle1", "-t", 20000, "-N", timeout=300)
                if status == 0:
                    break
            self.assertEqual((status, text.count("NodeRecord dump")), (0, 64 + 48))

    def test_wrong_keys_are_not_answered_and_what_is_not_there_is_refused(self):
        fabric, _ = self.manage(TREE, [HOST, OTHER])
        manager = int(fabric.port("sm_lid", "heddle1"), 16)
        components, record = join(gid(fabric, "heddle1"))
        foreign = join(gid(fabric, "heddle0"))
        with MadPort("heddle1") as port:
            agent = port.register(ADMINISTRATION, version=2)

            def ask(attribute, components, record=b"", **more):
                # Emulated and beside others that compute, answering may take long; waiting for none may not.
                patience = (300, 3) if "sm_key" in more else (5000, 5)
                self.assertEqual(port.send(agent, question(attribute, components, record, **more), manager, *patience), 0)
                status, mad = port.receive()
                return status, struct.unpack_from(">H", mad, 4)[0] if mad else None

            self.assertEqual(ask(SERVICE, 0), (0, 0x000C))
            self.assertEqual(ask(MC_MEMBER, components, record, method=SET), (0, 0))
            self.assertEqual(ask(MC_MEMBER, foreign[0], foreign[1], method=SET), (0, 0x0700), "for another port")
            self.assertEqual(ask(MC_MEMBER, components, record, method=SET, sm_key=2)[0], 110)
            for number in range(1, 256):
                mgid = bytes.fromhex("ff12401bffff0000") + struct.pack(">Q", number)
                wish = join(gid(fabric, "heddle1"), mgid)
                every = wish[0] | 1 << 2 | 1 << 6 | 1 << 12 | 1 << 13
                self.assertEqual(ask(MC_MEMBER, every, wish[1], method=SET), (0, 0))
            mgid = bytes.fromhex("ff12401bffff0000") + struct.pack(">Q", 999)
            wish = join(gid(fabric, "heddle1"), mgid)
            self.assertEqual(ask(MC_MEMBER, wish[0] | 0x3044, wish[1], method=SET), (0, 0x0100), "one too many")
            self.assertEqual(ask(MC_MEMBER, components, record, method=DELETE), (0, 0))

    def test_ipoib_comes_up_and_its_group_is_in_the_tables(self):
        fabric, daemon = self.manage(TREE, [HOST, OTHER])
        subprocess.run(["modprobe", "ib_ipoib"], check=True)
        try:
            names = interfaces()
            self.assertEqual(len(names), 2)
            for number, name in enumerate(names):
                subprocess.run(["ip", "address", "add", f"10.9.0.{number + 1}/24", "dev", name], check=True)
                subprocess.run(["ip", "link", "set", name, "up"], check=True)
            for name in names:
                wait_until(lambda: "LOWER_UP" in link(name), 60, f"{name}'s joining the broadcast group: {link(name)}")
            wait_until(lambda: len(members(fabric)) == 2, 30, f"both members: {members(fabric)}")
            self.assertRegex(members(fabric)[0], r"(?i)mlid\.+0xc000")

            def delivers():
                _, text, _ = fabric.run("ibroute", "-M", "-D", "0,1")
                return re.search(r"^0xc000", text, re.M)
            wait_until(delivers, 30, "the group in the tables")
            daemon.wait_for(lambda status: status["problems"] == [], "no problem")
            subprocess.run(["ip", "link", "set", names[1], "down"], check=True)
            wait_until(lambda: len(members(fabric)) == 1, 60, "leaving")
        finally:
            subprocess.run(["modprobe", "-r", "ib_ipoib"], check=True)

    def test_the_connection_manager_resolves_routes(self):
        fabric, _ = self.manage(TREE, [HOST, OTHER])
        subprocess.run(["modprobe", "-a", "ib_ipoib", "rdma_ucm"], check=True)
        try:
            near, far = interfaces()
            subprocess.run(["ip", "address", "add", "10.9.0.1/24", "dev", near], check=True)
            for name in (near, far):
                subprocess.run(["ip", "link", "set", name, "up"], check=True)
            wait_until(lambda: "LOWER_UP" in link(near), 60, "joining")
            # Datagrams get lost here, and ARP's with them: the neighbour is told.
            hardware = re.search(r"link/infiniband (\S+)", link(far))[1]
            subprocess.run(["ip", "neighbour", "replace", "10.9.0.2", "lladdr", hardware, "dev", near, "nud", "permanent"], check=True)
            with ConnectionManager() as manager:
                first, = asked_again(lambda: manager.paths("10.9.0.1", "10.9.0.2"))[:1]
                destination, source, to, by = struct.unpack_from(">16s16sHH", first, 8)
                self.assertEqual((source, destination), (gid(fabric, "heddle0"), gid(fabric, "heddle1")))
                self.assertEqual((by, to), tuple(int(fabric.port("lid", device), 16) for device in ("heddle0", "heddle1")))
                with self.assertRaisesRegex(OSError, "not resolved|Network is unreachable"):
                    manager.paths("10.9.0.1", "10.10.0.2", 2)
        finally:
            subprocess.run(["modprobe", "-r", "rdma_ucm", "rdma_cm", "ib_ipoib"], check=True)

    def test_ipoib_joins_again_when_the_daemon_has_been_killed(self):
        fabric, daemon = self.manage(TREE, [HOST, OTHER])
        subprocess.run(["modprobe", "ib_ipoib"], check=True)
        try:
            name = interfaces()[1]
            subprocess.run(["ip", "link", "set", name, "up"], check=True)
            wait_until(lambda: "LOWER_UP" in link(name), 60, "joining")
            daemon.process.kill()
            daemon.process.wait(10)
            with heddled(**{"sm.mode": "auto"}) as second:
                wait_for_service(second)
                wait_until(lambda: len(members(fabric)) == 1, 90, f"registering anew: {members(fabric)}")
        finally:
            subprocess.run(["modprobe", "-r", "ib_ipoib"], check=True)


def asked_again(ask, times=3):
    """The connection manager asks once, too, and a sweep may have changed what it asked about."""
    for _ in range(times - 1):
        try:
            return ask()
        except OSError:
            pass
    return ask()


def wait_for_service(daemon):
    """The subnet administrator serves from the first tables on: who asks once, before that, asks in vain."""
    daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master" and "configured in" in daemon.log_text(), "serving")


def members(fabric):
    """Of IPv4's broadcasts, as who has the SM_Key is told: a record each. saquery asks once, so it may have to be asked again."""
    for _ in range(5):
        _, text, complaints = fabric.run("saquery", "-t", 5000, "--smkey", 1, "MCMR")
        if not complaints:
            break
    assert complaints == [], complaints
    records = re.split(r"^(?=\S)", text, flags=re.M)
    return [record for record in records
            if "ff12:401b:ffff::ffff:ffff" in record and re.search(r"(?i)portgid\.+fe80", record)]


def interfaces():
    """Of IPoIB, in the order of their adapters."""
    text = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    return sorted(re.findall(r"^\d+: (\S+?):.*infiniband", text, re.M))


def link(name):
    return subprocess.run(["ip", "link", "show", name], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    unittest.main()
