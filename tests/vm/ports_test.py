"""heddled and the ports of this kernel: which one it takes, and what becomes of it."""

import json
import re
import subprocess
import unittest

from kernel_fabric import CLASS, HEDDLE, KernelFabric, heddled, wait_until
from mad_port import MadPort, PORT_INFO, SET, SMP_DIRECTED, smp

TREE = "tree:k=2,n=2"  # 4 hosts, 4 switches
HOST, OTHER = "host-0 mlx5_0", "host-1 mlx5_0"


def is_master(status):
    return status["subnet_manager"]["role"] == "master"


class Ports(unittest.TestCase):
    def test_down_init_and_active_again(self):
        with KernelFabric(TREE, [HOST]) as fabric:
            with heddled(**{"sm.mode": "auto", "sweep.light_interval": "200ms"}) as daemon:
                wait_until(lambda: fabric.port("state") == "4: ACTIVE", 30, "Active")
                fabric.heddle("link", HOST, 1, "down")
                wait_until(lambda: fabric.port("state") == "1: DOWN", 10, "Down")
                fabric.heddle("link", HOST, 1, "up")
                wait_until(lambda: fabric.port("state") == "4: ACTIVE", 30, "Active again")
                daemon.wait_for(lambda status: is_master(status) and status["sampling"].get("failed_ports") == 0
                                and (status["fabric"] or {}).get("switches") == 4, "managing and sampling again")

    def test_its_lid_changes_under_a_daemon_that_only_watches(self):
        """Another adapter's heddled is the master. While it is down, the LID is moved by hand; it keeps what is free."""
        master = {"sm.mode": "auto", "fabric.device": "heddle1:1", "sweep.light_interval": "200ms"}
        with KernelFabric(TREE, [HOST, OTHER]) as fabric:
            with heddled(**master) as first:
                wait_until(lambda: fabric.port("state") == "4: ACTIVE", 30, "Active")
                first.wait_for(is_master, "being master")
            with heddled(**{"sm.mode": "off"}) as watcher:
                watcher.wait_for_sweeps(2)
                new = int(fabric.port("lid"), 16) + 40
                with MadPort("heddle0") as port:
                    agent = port.register(SMP_DIRECTED)
                    self.assertEqual(port.send(agent, smp(PORT_INFO, modifier=1)), 0)
                    status, mad = port.receive()
                    self.assertEqual(status, 0)
                    info = bytearray(mad[64:128])
                    info[16:18] = new.to_bytes(2, "big")
                    info[32] &= 0xF0  # no change of state
                    info[33] &= 0x0F
                    self.assertEqual(port.send(agent, smp(PORT_INFO, modifier=1, method=SET, data=bytes(info))), 0)
                    self.assertEqual(port.receive()[0], 0)
                wait_until(lambda: int(fabric.port("lid"), 16) == new, 5, "the new LID")
                watcher.wait_for(lambda status: status["sampling"].get("failed_ports"), "missing what no table leads to")
                with heddled(**master) as second:
                    second.wait_for(is_master, "being master")
                    watcher.wait_for(lambda status: status["sampling"].get("failed_ports") == 0, "sampling from there", 90)
                    self.assertEqual(int(fabric.port("lid"), 16), new)

    def test_two_adapters_in_two_fabrics(self):
        with KernelFabric("tree:k=2,n=3", ["host-5 mlx5_0"]) as first:  # the other one has no node of its GUID
            with KernelFabric(TREE, [HOST]) as second:
                with heddled(**{"sm.mode": "auto", "fabric.device": "heddle1:1"}) as daemon:
                    status = daemon.wait_for(lambda s: is_master(s) and (s["fabric"] or {}).get("switches") == 4, "its fabric")
                    self.assertEqual(status["fabric"]["switches"], 4)
                    wait_until(lambda: second.port("state", "heddle1") == "4: ACTIVE", 20, "Active")
                    self.assertEqual(first.port("state", "heddle0"), "2: INIT", "the other fabric is left alone")
                    self.assertEqual(int(first.port("lid", "heddle0"), 16), 0)
                    with heddled(**{"sm.mode": "auto", "fabric.device": "heddle0:1"}) as other:
                        other.wait_for(is_master, "being master of the other one")
                        wait_until(lambda: first.port("state", "heddle0") == "4: ACTIVE", 20, "Active")
                        daemon.wait_for_sweeps(daemon.json("status")["sampling"]["sweeps"] + 10)
                        self.assertNotIn("no daemon looks", str(daemon.json("status")["problems"]), "each has a daemon")
                    daemon.wait_for(lambda s: "heddle0:1 of this host leads to another fabric" in str(s["problems"]), "naming the rail")

    def test_an_ethernet_adapter_that_is_listed_first(self):
        subprocess.run(["modprobe", "-a", "rdma_rxe", "dummy"], check=True)
        subprocess.run(["ip", "link", "add", "eth9", "type", "dummy"], check=True)
        subprocess.run(["ip", "link", "set", "eth9", "up"], check=True)
        subprocess.run(["rdma", "link", "add", "aroce0", "type", "rxe", "netdev", "eth9"], check=True)
        try:
            self.assertEqual((CLASS / "aroce0/ports/1/link_layer").read_text().strip(), "Ethernet")
            with KernelFabric(TREE, [HOST]) as fabric:
                self.assertEqual(fabric.devices(), ["aroce0", "heddle0"])
                with heddled(**{"sm.mode": "auto", "fabric.device": ""}) as daemon:
                    status = daemon.wait_for(is_master, "being master")
                    self.assertIn("heddle0:1", str(status))
                    wait_until(lambda: fabric.port("state") == "4: ACTIVE", 20, "Active")
                with heddled(**{"fabric.device": "aroce0:1"}) as daemon:
                    self.assertNotEqual(daemon.process.wait(20), 0)
                    self.assertIn("RoCE", daemon.log_text())
        finally:
            subprocess.run(["rdma", "link", "delete", "aroce0"], check=True)
            subprocess.run(["ip", "link", "delete", "eth9"], check=True)
            subprocess.run(["modprobe", "-r", "rdma_rxe"], check=False)


class Tools(unittest.TestCase):
    """Programs of Debian that need two ends, or a subnet manager."""

    def test_ibping_there_and_back(self):
        with KernelFabric(TREE, [HOST, OTHER], "--configured") as fabric:
            fabric.start("ibping", "-S", "-C", "heddle1")
            lid = int(fabric.port("lid", "heddle1"), 16)

            def answered():
                status, text, _ = fabric.run("ibping", "-C", "heddle0", "-c", 5, "-f", lid)
                return status == 0 and re.search(r"5 packets transmitted, 5 received, 0% packet loss", text)
            wait_until(answered, 20, "five answers")

    def test_a_port_is_reset_and_the_manager_brings_it_back(self):
        with KernelFabric(TREE, [HOST]) as fabric:
            with heddled(**{"sm.mode": "auto", "sweep.light_interval": "200ms"}) as daemon:
                daemon.wait_for(is_master, "being master")
                wait_until(lambda: fabric.port("state") == "4: ACTIVE", 20, "Active")
                status, text, complaints = fabric.run("ibportstate", "-D", "0,1", 3, "reset")
                self.assertEqual((status, complaints), (0, []), text)

                def active():
                    _, state, _ = fabric.run("ibportstate", "-D", "0,1", 3, "query")
                    return "Active" in state
                wait_until(active, 30, "Active again")

    def test_ibdiagnet_finds_the_fabric(self):
        with KernelFabric(TREE, [HOST], "--configured") as fabric:
            status, text, _ = fabric.run("ibdiagnet", "-o", fabric.directory, timeout=120)
            self.assertEqual(status, 0, text)
            self.assertRegex(text, r"Discovering \.\.\. 8 nodes \(4 Switches & 4 CA-s\) discovered")
            self.assert_is_read_as(TREE, fabric.directory / "ibdiagnet.lst")

    def assert_is_read_as(self, source, file):
        """Read by us, what ibdiagnet wrote is the fabric as far as it tells: QDR is the fastest that it knows."""
        found, wanted = (json.loads(subprocess.check_output([HEDDLE, "--json", "fabric", "show", of])) for of in (file, source))
        for key in ("switches", "channel_adapters", "links", "switch_links", "switches_by_ports", "islands"):
            self.assertEqual(found[key], wanted[key], key)
        self.assertEqual(found["links_by_rate"], {"4xQDR": wanted["links"]})
        differences = subprocess.run([HEDDLE, "fabric", "diff", source, file], capture_output=True, text=True).stdout
        self.assertEqual([line for line in differences.splitlines() if re.search("(?i)node|cable", line)], [], differences)

    def test_counters_beyond_32_bits_and_of_errors(self):
        """ibqueryerrors does nothing without a subnet administrator: heddled is one."""
        with KernelFabric(TREE, [HOST, OTHER]) as fabric:
            with heddled(**{"sm.mode": "auto", "fabric.device": "heddle1:1"}) as daemon:
                daemon.wait_for(is_master, "being master")
                wait_until(lambda: fabric.port("state") == "4: ACTIVE", 20, "Active")
                lid = int(fabric.port("lid"), 16)
                fabric.heddle("fault", "errors", HOST, 1, "symbol", 70)
                status, text, complaints = fabric.run("perfquery", "-x", lid, 1)
                self.assertEqual((status, complaints), (0, []))
                self.assertIn("PortXmitData", text)
                self.assertEqual(fabric.port("counters/symbol_error"), "70")
                _, text, complaints = fabric.run("ibqueryerrors", "-s", "PortXmitWait")
                self.assertEqual(complaints, [])
                self.assertIn("[SymbolErrorCounter == 70", text)


if __name__ == "__main__":
    unittest.main()
