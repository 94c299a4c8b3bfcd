"""heddled and Debian's tools on the kernel's own ib_mad and ib_umad."""

import os
import pathlib
import re
import signal
import subprocess
import unittest

from kernel_fabric import CLASS, KernelFabric, heddled, reload, wait_until

TREE = "tree:k=2,n=2"  # 4 hosts, 4 switches
HOST = "host-0 mlx5_0"


class Adapter(unittest.TestCase):
    def test_the_kernel_shows_what_the_fabric_says(self):
        with KernelFabric(TREE, [HOST], "--configured") as fabric:
            self.assertEqual(fabric.port("link_layer"), "InfiniBand")
            self.assertEqual(fabric.port("state"), "4: ACTIVE")
            self.assertEqual(fabric.port("phys_state"), "5: LinkUp")
            self.assertNotEqual(int(fabric.port("lid"), 16), 0)
            self.assertEqual(fabric.port("pkeys/0"), "0xffff")
            self.assertEqual((CLASS / "heddle0/node_desc").read_text().strip(), HOST)
            status, text, _ = fabric.run("ibstat", "heddle0")
            self.assertEqual(status, 0)
            self.assertIn("State: Active", text)
            # Counters come from the simulated PMA, asked for by the kernel without a wire between.
            self.assertGreaterEqual(int(fabric.port("counters/port_xmit_data")), 0)
            self.assertEqual(fabric.port("counters/link_downed"), "0")

    def test_a_cut_cable_and_its_return_are_seen(self):
        with KernelFabric(TREE, [HOST], "--configured") as fabric:
            fabric.heddle("link", HOST, 1, "down")
            wait_until(lambda: fabric.port("state") == "1: DOWN", 5, "the port's going down")
            fabric.heddle("link", HOST, 1, "up")
            wait_until(lambda: fabric.port("state") == "2: INIT", 5, "the port's coming up")

    def test_the_adapter_goes_with_its_program_and_the_module_can_leave(self):
        for count in range(1, int(os.environ.get("HEDDLE_VM_LOADS", "20")) + 1):
            with KernelFabric(TREE, [HOST]) as fabric:
                self.assertEqual(fabric.devices(), ["heddle0"])
            wait_until(lambda: KernelFabric.devices() == [], 10, "the adapter's leaving")
            reload(count)

    def test_two_adapters_in_one_fabric(self):
        with KernelFabric(TREE, [HOST, "host-1 mlx5_0"], "--configured") as fabric:
            self.assertEqual(fabric.devices(), ["heddle0", "heddle1"])
            self.assertNotEqual(fabric.port("lid", "heddle0"), fabric.port("lid", "heddle1"))


class Tools(unittest.TestCase):
    """infiniband-diags on an Active fabric."""

    def test_each_answers(self):
        with KernelFabric(TREE, [HOST], "--configured") as fabric:
            lid = int(fabric.port("lid"), 16)
            commands = {
                "ibnetdiscover": ["ibnetdiscover"],
                "iblinkinfo": ["iblinkinfo"],
                "smpquery directed": ["smpquery", "-D", "nodeinfo", "0,1"],
                "smpquery own": ["smpquery", "-D", "portinfo", "0"],
                "smpquery by LID": ["smpquery", "portinfo", lid, 1],
                "perfquery": ["perfquery", "-x", lid, 1],
                "ibroute": ["ibroute", "-D", "0,1"],
                "ibtracert": ["ibtracert", lid, lid],
            }
            for name, command in commands.items():
                with self.subTest(name):
                    status, text, complaints = fabric.run(*command)
                    self.assertEqual(status, 0, (text, complaints))
                    self.assertEqual(complaints, [])
            _, text, _ = fabric.run("ibnetdiscover")
            self.assertEqual(len(re.findall(r"^Switch", text, re.M)), 4)
            self.assertEqual(len(re.findall(r"^Ca", text, re.M)), 4)

    def test_a_port_is_disabled_and_enabled(self):
        with KernelFabric(TREE, [HOST], "--configured") as fabric:
            status, _, complaints = fabric.run("ibportstate", "-D", "0,1", 3, "disable")
            self.assertEqual((status, complaints), (0, []))
            _, text, _ = fabric.run("smpquery", "-D", "portinfo", "0,1", 3)
            self.assertIn("Disabled", text)
            status, _, complaints = fabric.run("ibportstate", "-D", "0,1", 3, "enable")
            self.assertEqual((status, complaints), (0, []))


class SubnetManagers(unittest.TestCase):
    def test_heddled_is_subnet_manager_through_ib_umad(self):
        with KernelFabric(TREE, [HOST]) as fabric:
            self.assertEqual(fabric.port("state"), "2: INIT")
            with heddled(**{"sm.mode": "auto"}) as daemon:
                daemon.wait_for_sweeps(3)
                wait_until(lambda: fabric.port("state") == "4: ACTIVE", 10, "the port's becoming Active")
                status = daemon.json("status")
                self.assertEqual(status["subnet_manager"]["role"], "master")
                self.assertEqual(status["fabric"]["switches"], 4)
                # It holds the issm device, so the kernel tells the fabric that here is an SM.
                _, text, _ = fabric.run("smpquery", "-D", "portinfo", "0")
                self.assertIn("IsSM", text)
                self.assertEqual(status["mads"]["wrong_length"] if "wrong_length" in status.get("mads", {}) else 0, 0)
            _, text, _ = fabric.run("smpquery", "-D", "portinfo", "0")
            self.assertIsNone(re.search(r"^\s+IsSM$", text, re.M), "it gave the issm device back")

    def test_opensm_with_a_standby_and_rmpp(self):
        with KernelFabric("tree:k=4,n=3", [HOST, "host-1 mlx5_0"]) as fabric:
            fabric.start_opensm()
            wait_until(lambda: fabric.port("state") == "4: ACTIVE", 30, "the port's becoming Active")
            # More than one MAD holds: the kernel's RMPP, on both sides.
            status, text, complaints = fabric.run("saquery", "--src-to-dst", "1:2")
            self.assertEqual((status, complaints), (0, []), text)
            status, text, complaints = fabric.run("saquery", "-N")
            self.assertEqual((status, complaints), (0, []))
            self.assertEqual(text.count("NodeRecord dump"), 64 + 48)
            status, _, complaints = fabric.run("ibqueryerrors", "-s", "PortXmitWait")
            self.assertEqual((status, complaints), (0, []))
            status, text, _ = fabric.run("sminfo")
            self.assertEqual(status, 0)
            self.assertIn("SMINFO_MASTER", text)

    def test_heddled_watches_beside_opensm(self):
        with KernelFabric(TREE, [HOST, "host-1 mlx5_0"]) as fabric:
            fabric.start_opensm("-g", "0x" + fabric_guid(fabric, "heddle1"))
            with heddled(**{"sm.mode": "auto"}) as daemon:
                status = daemon.wait_for(lambda s: s["subnet_manager"]["answers"], "knowing the master")
                self.assertEqual(status["subnet_manager"]["role"], "observer")
                daemon.wait_for_sweeps(3)


def fabric_guid(fabric, device):
    """Of port 1, as OpenSM takes it."""
    return fabric.port("gids/0", device).split(":", 4)[4].replace(":", "")


class Unplugged(unittest.TestCase):
    def test_heddled_lives_through_it(self):
        with KernelFabric(TREE, [HOST]) as fabric:
            daemon = heddled(**{"sm.mode": "auto"})
            with daemon:
                daemon.wait_for_sweeps(2)
                fabric.server.send_signal(signal.SIGKILL)
                fabric.server.wait(10)
                wait_until(lambda: KernelFabric.devices() == [], 15, "the adapter's leaving, under an open umad device")
                daemon.wait_for(lambda status: True, "answering its operator", 5)
                usage = pathlib.Path(f"/proc/{daemon.process.pid}/stat")
                ticks = lambda: sum(int(field) for field in usage.read_text().rsplit(")", 1)[1].split()[11:13])
                before = ticks()
                subprocess.run(["sleep", "2"], check=True)
                self.assertLess(ticks() - before, 100, "half a core at most: it does not spin on a dead device")


if __name__ == "__main__":
    unittest.main()
