"""QoS from request to fabric: design, push, verify and test, with the real heddled on a simulated fabric, read back
by Debian's smpquery through the fabric that heddled serves."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from daemon_under_test import HEDDLE, Daemon
from served_fabric import Programs, ServedFabric, wait_until

REQUEST = """
[port]
mtu = 4096
rate = "4xEDR"
vls = 4
[[sl]]
sl = 0
share = 0.5
[[sl]]
sl = 1
share = 0.25
distance = 4
[[sl]]
sl = 2
share = 0.15
[[sl]]
sl = 3
share = 0.1
priority = "low"
"""


def design(directory):
    """The plan of REQUEST, as file and as JSON."""
    request = directory / "request.toml"
    request.write_text(REQUEST)
    plan = directory / "plan.json.wanted"
    subprocess.run([HEDDLE, "qos", "design", "--request", request, "--plan", plan], check=True, capture_output=True, timeout=60)
    return plan, json.loads(plan.read_text())["qos"]


class Tables(unittest.TestCase):
    """What smpquery prints of a port, compared with the plan in self.qos."""

    def check_vlarb(self, text):
        """Every entry of both tables, in order; smpquery prints VL and WEIGHT rows below each block's title."""
        tables = {"Low": [], "High": []}
        which = None
        lanes = None
        for line in text.splitlines():
            title = re.search(r"(Low|High) priority", line, re.IGNORECASE)
            if title:
                which = title.group(1).capitalize()
            cells = re.findall(r"\|\s*(0x[0-9A-Fa-f]+|\d+)\s*(?=\|)", line)
            if line.startswith("VL"):
                lanes = [int(cell, 0) for cell in cells]
            elif line.startswith("WEIGHT") and which:
                tables[which] += [[lane, int(cell, 0)] for lane, cell in zip(lanes, cells)]
        for which, key in (("High", "vlarb_high"), ("Low", "vlarb_low")):
            wanted = self.qos[key]
            self.assertEqual(tables[which][: len(wanted)], wanted, text)
            self.assertTrue(all(weight == 0 for _, weight in tables[which][len(wanted) :]), text)

    def check_sl2vl(self, text):
        rows = re.findall(r"^.*in\s+(\d+), out\s+(\d+):\s*\|(.*)\|", text, re.MULTILINE)
        self.assertTrue(rows, text)
        checked = 0
        for _, _, cells in rows:
            lanes = [int(cell) for cell in cells.split("|") if cell.strip()]
            if lanes == self.qos["sl2vl"]:
                checked += 1
        self.assertGreaterEqual(checked, 2, text)  # at least what comes from the switch itself and from a cabled port


class Fabric(Tables):
    """One daemon on a tree of 4 switches and 4 hosts, served to other programs."""

    def setUp(self):
        self.name = f"heddle-qos-{os.getpid()}"
        self.daemon = Daemon({"fabric.generate": "tree:k=2,n=2", "fabric.serve": self.name, "sampling.interval": "200ms",
                              "sweep.light_interval": "200ms"})
        self.daemon.__enter__()
        self.addCleanup(self.daemon.__exit__)
        self.daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "master")
        self.daemon.wait_for_sweeps(1)
        self.plan, self.qos = design(self.daemon.directory)
        self.ends = 2 * self.daemon.json("status")["fabric"]["links"]

    def smpquery(self, *arguments):
        with Programs(self.name, self.daemon.directory) as programs:
            code, output, complaints = programs.run("smpquery", *arguments)
        self.assertEqual((code, complaints), (0, []), output)
        return output

    def test_push_verify_drift_and_smpquery(self):
        dry = self.daemon.json("qos", "push", str(self.plan), "--dry-run")
        self.assertEqual((dry["ports"], dry["differ_count"], dry["blocks_written"]), (self.ends, self.ends, 0))
        self.assertEqual(self.daemon.json("qos", "show")["plans"], [])

        pushed = self.daemon.json("qos", "push", str(self.plan))
        self.assertEqual((pushed["ports"], pushed["ports_written"]), (self.ends, self.ends))
        self.assertEqual((pushed["differ"], pushed["silent"], pushed["reduced"]), ([], [], []))
        self.assertEqual(self.daemon.json("qos", "verify")["differ_count"], 0)

        lid = next(n["lid"] for n in self.daemon.json("nodes")["nodes"] if n["type"] == "switch")
        self.check_vlarb(self.smpquery("vlarb", str(lid), "1"))
        self.check_sl2vl(self.smpquery("sl2vl", str(lid), "1"))
        limit = re.search(r"VLHighLimit:\.*(\d+)", self.smpquery("portinfo", str(lid), "1"))
        self.assertEqual(int(limit.group(1)), self.qos["high_limit"])

    def test_design_push_verify_test(self):
        """The thesis' method before and after: what the plan promises is there once it is pushed."""
        hosts = [node["name"] for node in self.daemon.json("nodes")["nodes"] if node["type"] == "ca"]
        test = ["qos", "test", str(self.plan), "--name", self.name, "--from", hosts[0], "--to", hosts[-1]]
        before = self.daemon.heddle_raw(*test)
        self.assertEqual(before.returncode, 1)
        self.assertIn("differ by", before.stderr)
        self.daemon.heddle("qos", "push", str(self.plan))
        self.daemon.heddle("qos", "verify")
        after = self.daemon.json(*test)
        self.assertEqual([flow["sl"] for flow in after["flows"]], [0, 1, 2, 3])
        for flow, wanted in zip(after["flows"], (50, 25, 15, 10)):
            self.assertAlmostEqual(flow["measured_percent"], wanted, delta=0.5)
        self.assertLess(after["largest_difference"], 1e-6)
        self.assertIn("ib_send_bw --ib-dev=mlx5_0 --sl=3 ", after["receiver"][3])
        traffic = subprocess.run([HEDDLE, "--json", "sim", "--name", self.name, "traffic", "list"], check=True,
                                 capture_output=True, text=True, timeout=20)
        self.assertEqual(json.loads(traffic.stdout)["flows"], [])

    def test_a_host_that_comes_back_gets_its_tables_and_a_mute_one_is_a_problem(self):
        def sim(*command):
            subprocess.run([HEDDLE, "sim", "--name", self.name, *command], check=True, capture_output=True, timeout=20)

        self.daemon.heddle("qos", "push", str(self.plan))
        before = self.daemon.json("qos", "show")["reapplied"]
        host = [node["name"] for node in self.daemon.json("nodes")["nodes"] if node["type"] == "ca"][-1]
        links = self.daemon.json("status")["fabric"]["links"]
        sim("node", host, "kill")
        self.daemon.wait_for(lambda status: status["fabric"]["links"] == links - 1, "gone")
        sim("node", host, "revive")
        self.daemon.wait_for(lambda _: self.daemon.json("qos", "show")["reapplied"] > before, "reapplied")
        self.assertEqual(self.daemon.json("qos", "verify")["differ_count"], 0)

        sim("fault", "agent", host, "--mute-sma")
        verify = self.daemon.heddle_raw("qos", "verify")
        self.assertEqual(verify.returncode, 1)
        self.assertIn("NO ANSWER", verify.stdout)
        self.daemon.wait_for(lambda status: any("could not be read" in p for p in status["problems"]), "a problem")


class Restart(unittest.TestCase):
    def test_what_was_pushed_survives_the_daemon_and_forget_ends_it(self):
        with Daemon({"fabric.generate": "tree:k=2,n=2"}) as daemon:
            daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "master")
            plan, qos = design(daemon.directory)
            daemon.heddle("qos", "push", str(plan), "--ports", "ca")
            daemon.process.terminate()
            daemon.process.wait(20)
            # The simulated fabric is a new one: its ports come up without tables, and get what was pushed.
            daemon.__enter__()
            daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "master")
            daemon.wait_for(lambda _: daemon.json("qos", "show")["verified"] is not None, "verified")
            state = daemon.json("qos", "show")
            self.assertEqual(state["plans"][0]["qos"], qos)
            self.assertEqual((state["plans"][0]["ports"], state["differ_count"], state["reapplied"]), ("ca", 0, 4))
            self.assertEqual(daemon.json("qos", "verify")["ports"], 4)
            daemon.heddle("qos", "forget")
            self.assertEqual(daemon.heddle_raw("qos", "verify").returncode, 1)
            self.assertIn("No QoS plan", daemon.heddle("qos", "show"))


class Refusals(unittest.TestCase):
    def test_bad_plans_and_no_manager(self):
        with Daemon({"fabric.generate": "tree:k=2,n=2", "sm.mode": "off"}) as daemon:
            daemon.wait_for(lambda status: status["fabric"] is not None, "a fabric")
            bad = daemon.directory / "bad.json"
            bad.write_text('{\n"qos": {\n"vlarb_high": [[15, 1]]')
            refused = daemon.heddle_raw("qos", "push", str(bad))
            self.assertEqual(refused.returncode, 1)
            self.assertIn(f"{bad}:3: not JSON", refused.stderr)
            plan, qos = design(daemon.directory)
            answer = daemon.json("qos", "push", str(plan))
            self.assertIn("no subnet manager", answer["not_written"])
            self.assertEqual((answer["ports_written"], answer["blocks_written"]), (0, 0))
            written = json.loads(pathlib.Path(answer["plan_file"]).read_text())["qos"]
            self.assertEqual({key: written[key] for key in qos}, qos)
            self.assertEqual(daemon.heddle_raw("qos", "push", str(plan), "--ports", "a,,b").returncode, 1)


class ThroughLibibumad(Tables):
    """heddled as any libibumad program, on a fabric that `heddle sim serve` serves."""

    def setUp(self):
        self.served = self.enterContext(ServedFabric("tree:k=2,n=2"))
        self.daemon = self.enterContext(Daemon(
            {"fabric.backend": "umad", "sm.mode": "auto", "sweep.light_interval": "200ms", "sampling.interval": "200ms"},
            self.served.shim("host-0 mlx5_0")))
        self.plan, self.qos = design(self.daemon.directory)

    def query(self, what, *where):
        code, output, _ = self.served.run("smpquery", what, *where, node="host-2 mlx5_0")
        self.assertEqual(code, 0, output)
        return output

    def lid(self, kind):
        return str(next(node["lid"] for node in self.daemon.json("nodes")["nodes"] if node["type"] == kind))

    def test_push_as_subnet_manager(self):
        self.daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "master")
        pushed = self.daemon.json("qos", "push", str(self.plan))
        self.assertGreater(pushed["ports_written"], 0)
        self.assertEqual((pushed["differ"], pushed["silent"]), ([], []))
        for kind in ("switch", "ca"):
            with self.subTest(kind):
                self.check_vlarb(self.query("vlarb", self.lid(kind), "1"))
        self.check_sl2vl(self.query("sl2vl", self.lid("switch"), "1"))

    def test_beside_opensm_nothing_is_written_and_the_plugin_is_told(self):
        self.served.start("opensm", "-e", "-f", self.served.directory / "osm.log", "-p", "9", node="host-1 mlx5_0")
        self.daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "observer"
                             and status["subnet_manager"]["answers"], "observing")
        wait_until(lambda: all(node["lid"] for node in self.daemon.json("nodes")["nodes"]), 20, "seeing OpenSM's LIDs")
        before = self.query("vlarb", self.lid("switch"), "1")
        answer = self.daemon.json("qos", "push", str(self.plan))
        self.assertIn("another subnet manager is master", answer["not_written"])
        self.daemon.json("qos", "push", str(self.plan), "--ports", "ca")
        self.assertEqual(self.query("vlarb", self.lid("switch"), "1"), before)
        written = json.loads(pathlib.Path(answer["plan_file"]).read_text())["qos"]
        self.assertEqual({key: written[key] for key in self.qos}, self.qos)
        verify = self.daemon.heddle_raw("qos", "verify")
        self.assertEqual(verify.returncode, 1)
        self.assertIn("DIFFERS", verify.stdout)


if __name__ == "__main__":
    unittest.main()
