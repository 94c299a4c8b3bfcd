"""Traffic packet by packet: OpenSM's own tables route it, perfquery and heddled see what it does."""

import os
import re
import tempfile
import unittest

from daemon_under_test import Daemon
from qos_test import design
from regulation_test import QUICK, RING, links_in
from served_fabric import Programs, ServedFabric, wait_until

TREE = "tree:k=2,n=2,speed=EDR"
SCENARIO = """
[[phase]]
name = "all to one"
pattern = "incast"
load = 0.6
"""


def counters(output):
    """perfquery's lines "PortXmitData:....123"."""
    return {name: int(value) for name, value in re.findall(r"^(\w+):\.+(\d+)$", output, re.MULTILINE)}


class Served(unittest.TestCase):
    def test_perfquery_sees_packets_that_follow_the_tables_of_opensm(self):
        with ServedFabric(TREE, "--plane", "packet", "--time-scale", "0.001") as served:
            served.opensm_once()
            code, listing, _ = served.run("ibnetdiscover")
            self.assertEqual(code, 0)

            def lid_of(name):
                return int(re.search(rf'"{re.escape(name)}".* lid (\d+)', listing).group(1))

            def read(name, port=1):
                code, output, complaints = served.run("perfquery", "-x", lid_of(name), port)
                self.assertEqual((code, complaints), (0, []), output)
                return counters(output)

            before = read("host-0 mlx5_0")
            for host in (0, 1):
                served.heddle("traffic", "add", f"host-{host} mlx5_0", "host-3 mlx5_0")
            wait_until(lambda: read("host-3 mlx5_0")["PortRcvPkts"] > 300, 60, "traffic")
            first = read("host-0 mlx5_0")
            self.assertGreater(first["PortXmitData"], before["PortXmitData"])
            # Whole packets of 4,096 bytes; MADs do not count.
            self.assertEqual(first["PortXmitData"], first["PortXmitPkts"] * 1024)
            self.assertEqual(first["PortRcvPkts"], 0)
            # Two hosts want all of one link: it is their own port that waits for credits.
            code, output, _ = served.run("perfquery", lid_of("host-0 mlx5_0"), 1)
            self.assertGreater(counters(output)["PortXmitWait"], 0)
            # What came to the leaf of both has left it upwards, and nothing has been lost.
            came = sum(read("leaf-0", port)["PortRcvPkts"] for port in (1, 2))
            left = sum(read("leaf-0", port)["PortXmitPkts"] for port in (3, 4))
            came_since = sum(read("leaf-0", port)["PortRcvPkts"] for port in (1, 2))
            self.assertGreater(left, came - 2 * 32)  # what the two flows can have under way
            self.assertLessEqual(left, came_since)
            listed = served.heddle("traffic", "list")
            self.assertEqual((listed["all_flows"], listed["unroutable"]), (2, 0))
            wait_until(lambda: served.heddle("traffic", "list")["delivered_bits_per_second"] > 50e9, 60,
                       "a simulated millisecond of both")

            # A cable that is out: what the leaf still routes into it is discarded there, and counted.
            served.heddle("link", "leaf-1", 2, "down")
            wait_until(lambda: served.heddle("counters", "leaf-1", 2)["xmit_discards"] > 20, 60, "discards")


class InTheDaemon(unittest.TestCase):
    def test_the_daemon_measures_packets(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as scenario:
            scenario.write(SCENARIO)
            scenario.flush()
            with Daemon({"fabric.generate": TREE, "fabric.plane": "packet", "fabric.time_scale": "0.001",
                         "fabric.scenario": scenario.name, "fabric.serve": "packets", "metrics.listen": "",
                         "sampling.interval": "2ms", "sweep.light_interval": "100ms"}) as daemon:
                daemon.wait_for(lambda status: ((status.get("load") or {}).get("utilization_max") or 0) > 0.5, "loaded")
                waits = re.findall(r"^infiniband_\w*transmit_wait\w*\{.*\} ([0-9.e+]+)$", daemon.metrics(), re.MULTILINE)
                self.assertTrue(waits)
                self.assertTrue(any(float(value) > 0 for value in waits))
                with Programs("packets", daemon.directory) as programs:
                    code, output, complaints = programs.run("perfquery", "-x")
                    self.assertEqual((code, complaints), (0, []))
                    self.assertGreater(counters(output)["PortXmitData"] + counters(output)["PortRcvData"], 0)

    def test_links_are_empty_of_packets_before_they_go_off(self):
        light = SCENARIO.replace("incast", "uniform").replace("0.6", "0.01")
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as scenario:
            scenario.write(light)
            scenario.flush()
            with Daemon({"fabric.generate": RING, "fabric.plane": "packet", "fabric.scenario": scenario.name,
                         **QUICK, "regulation.mode": "advise"}) as daemon:
                daemon.wait_for_sweeps(5)

                def total(name):
                    lines = re.findall(rf"^infiniband_\w+_port_{name}_total\{{.*\}} ([0-9.e+]+)$", daemon.metrics(), re.MULTILINE)
                    self.assertTrue(lines, name)
                    return sum(map(float, lines))

                # What hosts send before there are routes is discarded, and counted.
                wait_until(lambda: total("transmit_data_bytes") > 1e6, 60, "traffic")
                discarded = total("transmit_discards")
                daemon.heddle("regulate", "enforce")
                wait_until(lambda: links_in(daemon, "off") == 4, 60, "one link of each trunk off")
                moved = total("transmit_data_bytes")
                wait_until(lambda: total("transmit_data_bytes") > 1.2 * moved, 60, "traffic over the others")
                self.assertEqual(total("transmit_discards"), discarded)
                daemon.heddle("restore")
                wait_until(lambda: links_in(daemon, "active") == 8, 30, "everything back")
                self.assertEqual(total("transmit_discards"), discarded)

    def test_arbiters_give_packets_the_shares_that_a_plan_promises(self):
        name = f"heddle-packets-{os.getpid()}"
        with Daemon({"fabric.generate": TREE, "fabric.plane": "packet", "fabric.time_scale": "0.001",
                     "fabric.serve": name, "metrics.listen": "", "sampling.interval": "2ms",
                     "sweep.light_interval": "100ms"}) as daemon:
            daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "master")
            plan, _ = design(daemon.directory)
            test = ["qos", "test", str(plan), "--name", name, "--from", "host-0 mlx5_0", "--to", "host-3 mlx5_0",
                    "--packet-bytes", "4096", "--tolerance", "1"]
            at_once = daemon.heddle_raw(*test)
            self.assertEqual(at_once.returncode, 1)  # no millisecond has passed: nothing is measured yet
            daemon.heddle("qos", "push", str(plan))
            after = daemon.json(*test, "--settle", "5")
            for flow, wanted in zip(after["flows"], (50, 25, 15, 10)):
                self.assertAlmostEqual(flow["measured_percent"], wanted, delta=1)


if __name__ == "__main__":
    unittest.main()
