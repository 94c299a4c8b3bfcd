"""Debian's infiniband-diags on our simulated fabric, beside OpenSM: they run clean, and links can be cut."""

import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import unittest

from daemon_test import graph
from served_fabric import FABRICS, HEDDLE, ServedFabric, flood, wait_until

TREE = "tree:k=4,n=2"
SPINE_PORT = 5  # of a leaf: the first of its upper ports, to spine-0


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.served = ServedFabric(TREE, "--training-delay", "0.5")
        cls.served.__enter__()
        cls.served.start_opensm()
        cls.leaf = cls.lid_of("leaf-3")
        cls.host = cls.lid_of("host-15 mlx5_0")

    @classmethod
    def tearDownClass(cls):
        cls.served.__exit__()

    @classmethod
    def lid_of(cls, name):
        _, listing, _ = cls.served.run("ibnetdiscover")
        found = re.search(rf'"{re.escape(name)}".* lid (\d+)', listing)
        return int(found.group(1))

    def clean(self, *command, **more):
        """The output of a program that has nothing to complain about."""
        code, output, complaints = self.served.run(*command, **more)
        self.assertEqual((code, complaints), (0, []), f"{command}: {output}")
        return output

    def test_ibnetdiscover_prints_what_was_loaded(self):
        found = self.served.directory / "found"
        found.write_text(self.clean("ibnetdiscover"))
        done = subprocess.run([HEDDLE, "fabric", "diff", "--exit-code", TREE, found], capture_output=True, text=True)
        differences = [line for line in done.stdout.splitlines() if re.search("lid", line, re.I) is None]
        self.assertEqual([line for line in differences if re.search("node|cable|link", line)], [], done.stdout)

    def test_iblinkinfo(self):
        output = self.clean("iblinkinfo")
        self.assertEqual(output.count("Active/  LinkUp"), 2 * 32)
        for text in (output, self.clean("iblinkinfo", "-l")):
            self.assert_describes_the_tree(text)

    def assert_describes_the_tree(self, text):
        """Read again, an output of iblinkinfo is the fabric as far as it tells."""
        file = self.served.directory / "links.txt"
        file.write_text(text)
        done = subprocess.run([HEDDLE, "--json", "fabric", "show", file], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        found, wanted = json.loads(done.stdout), json.loads(subprocess.check_output([HEDDLE, "--json", "fabric", "show", TREE]))
        for key in ("switches", "channel_adapters", "links", "switch_links", "links_by_rate", "islands"):
            self.assertEqual(found[key], wanted[key], key)
        self.assertIn("given by the GUID of a port", done.stderr)

    def test_ibqueryerrors(self):
        self.assertIn("0 bad nodes found", self.clean("ibqueryerrors"))
        self.served.heddle("fault", "errors", "leaf-3", 1, "rcv_errors", 5)
        try:
            self.assertIn("[PortRcvErrors == 5]", self.clean_or_found("ibqueryerrors"))
        finally:
            self.clean("perfquery", "-R", self.leaf, 1)

    def clean_or_found(self, *command):
        _, output, complaints = self.served.run(*command)
        self.assertEqual(complaints, [])
        return output

    def test_perfquery(self):
        for options in (["-x"], ["-l"], ["-a"], ["-c"], []):
            output = self.clean("perfquery", *options, self.leaf, *([] if options == ["-a"] else [1]))
            self.assertIn("# Port", output)
        self.assertIn("PortXmitData", self.clean("perfquery", "-x", self.host, 1))
        for option in ("-D", "-E", "--oprcvcounters", "--flowctlcounters", "--vloppackets", "--vlopdata",
                       "--vlxmitflowctlerrors", "--vlxmitcounters", "--smplctl"):
            self.clean("perfquery", option, self.leaf, 1)

    def test_smpquery(self):
        for operation in (["nodeinfo"], ["nodedesc"], ["portinfo", 1], ["switchinfo"], ["pkeys", 0], ["sl2vl", 1],
                          ["vlarb", 1], ["GUIDInfo"], ["mepi", 1]):
            output = self.clean("smpquery", operation[0], self.leaf, *operation[1:])
            self.assertTrue(output)
        self.assertIn("host-15", self.clean("smpquery", "nodedesc", self.host))
        self.assertIn("NumPorts", self.clean("smpquery", "-D", "nodeinfo", "0,1"))
        self.assertIn("spine-0", self.clean("smpquery", "-c", "nodedesc", self.leaf, f"0,{SPINE_PORT}"))

    def test_vendstat(self):
        for lid in (self.leaf, self.host):
            output = self.clean("vendstat", "-N", lid)
            self.assertIn("fw_version:  27.2012.4036", output)
            self.assertIn("fw_psid:     'HDL0000000001'", output)

    def test_saquery(self):
        # The shim carries one MAD of 256 bytes: of a longer answer (RMPP) only its first record arrives.
        self.assertEqual(self.clean("saquery", "-N").count("NodeRecord dump"), 1)
        self.assertIn("dlid", self.clean("saquery", "-p", "--src-to-dst", f"1:{self.host}"))
        for query in ("-s", "-c", "-g", "-m", "-x", "-S", "-I", "SMIR", "PIR", "VLAR", "SL2VL", "LFTR", "MFTR", "GIR"):
            with self.subTest(query):
                self.clean("saquery", query)

    def test_ibtracert_and_sminfo(self):
        self.assertIn("host-15", self.clean("ibtracert", self.leaf, self.host))
        self.assertIn("SMINFO_MASTER", self.clean("sminfo"))
        self.assertIn("State: Active", self.clean("ibstat"))
        self.clean("ibhosts")
        self.clean("ibswitches")
        for command in (["ibaddr", self.leaf], ["ibnodes"], ["ibrouters"], ["ibroute", "-n", self.leaf],
                        ["ibroute", "-M", self.leaf], ["smpdump", self.leaf, "0x11"], ["dump_lfts"], ["dump_mfts"]):
            with self.subTest(command):
                self.clean(*command)

    def test_remarks_are_those_that_are_known(self):
        lines = (pathlib.Path(__file__).parent / "tools_remarks.txt").read_text().splitlines()
        for line in lines:
            if not line or line.startswith("#"):
                continue
            with self.subTest(line=line):
                command, status, says, _ = [part.strip() for part in re.split(r"\s\|\s", line)]
                words = command.format(leaf=self.leaf, host=self.host, directory=self.served.directory).split()
                code, output, complaints = self.served.run(*words)
                self.assertEqual(code, int(status), output)
                self.assertRegex(output + "\n".join(complaints), says)

    def counter(self, name, lid, port):
        output = self.clean("perfquery", "-x", lid, port)
        return int(re.search(rf"{name}:\.+(\d+)", output).group(1))

    def test_counters_move_with_the_traffic(self):
        flow = self.served.heddle("traffic", "add", "host-0 mlx5_0", "host-15 mlx5_0", "--rate", "8e9")["flow"]
        wait_until(lambda: self.counter("PortXmitData", self.leaf, 4) > 0, 10, "the traffic")
        low = self.served.heddle("counters", "leaf-3", 4)["xmit_bytes"]
        seen = self.counter("PortXmitData", self.leaf, 4) * 4
        high = self.served.heddle("counters", "leaf-3", 4)["xmit_bytes"]
        self.assertLessEqual(low, seen)
        self.assertLessEqual(seen, high)
        self.served.heddle("traffic", "remove", flow)
        still = self.counter("PortXmitData", self.leaf, 4)
        self.assertEqual(self.counter("PortXmitData", self.leaf, 4), still)


class PublishedFabrics(unittest.TestCase):
    def test_ibnetdiscover_prints_what_was_loaded(self):
        files = sorted(FABRICS.glob("*.ibnetdiscover"))
        if not files:
            self.skipTest("no shared data")
        for file in files:
            with self.subTest(file.name), ServedFabric(file, "--configured") as served:
                code, output, complaints = served.run("ibnetdiscover")
                self.assertEqual((code, complaints), (0, []))
                self.assertEqual(graph(output), graph(file.read_text(encoding="utf-8", errors="replace")))


class LinksUnderOpenSm(unittest.TestCase):
    def setUp(self):
        self.served = ServedFabric(TREE, "--training-delay", "0.5")
        self.served.__enter__()
        self.addCleanup(self.served.__exit__)
        self.served.start_opensm()

    def clean(self, *command):
        code, output, complaints = self.served.run(*command)
        self.assertEqual((code, complaints), (0, []), f"{command}: {output}")
        return output

    def lid_of(self, name):
        return int(re.search(rf'"{name}".* lid (\d+)', self.clean("ibnetdiscover")).group(1))

    def state(self, lid, port):
        output = self.clean("smpquery", "portinfo", lid, port)
        return (re.search(r"LinkState:\.+(\w+)", output).group(1),
                re.search(r"PhysLinkState:\.+(\w+)", output).group(1))

    def first_hop(self, lid, to):
        """Ports at both ends of the first link."""
        trace = self.clean("ibtracert", lid, to)
        hop = re.search(r"^\[(\d+)\] -> switch port \{\w+\}\[(\d+)\]", trace, re.M)
        return int(hop.group(1)), int(hop.group(2))

    def test_a_disabled_link_goes_down_at_both_ends_and_comes_back(self):
        leaf, spine = self.lid_of("leaf-3"), self.lid_of("spine-0")
        own, peer = self.first_hop(leaf, spine)
        before = self.served.sweeps()
        self.clean("ibportstate", leaf, own, "disable")
        wait_until(lambda: self.served.sweeps() > before, 30, "a sweep after the trap")
        self.assertIn("num:128 (Link state change)", self.served.log_text())
        self.assertEqual(self.state(leaf, own), ("Down", "Disabled"))
        self.assertEqual(self.state(spine, peer), ("Down", "Polling"))
        self.assertNotEqual(self.first_hop(leaf, spine)[0], own)
        before = self.served.sweeps()
        self.clean("ibportstate", leaf, own, "enable")
        wait_until(lambda: self.state(spine, peer) == ("Active", "LinkUp"), 30, "the link's return")
        self.assertEqual(self.state(leaf, own), ("Active", "LinkUp"))
        wait_until(lambda: self.first_hop(leaf, spine) == (own, peer), 30, "routes over it")

    def test_a_dead_switch_is_routed_around(self):
        leaf, host = self.lid_of("leaf-3"), self.lid_of("host-0 mlx5_0")
        before = self.served.sweeps()
        self.served.heddle("node", "spine-0", "kill")
        wait_until(lambda: self.served.sweeps() > before, 30, "a sweep without the switch")
        self.assertNotIn("spine-0", self.clean("ibnetdiscover"))
        self.clean("ibtracert", leaf, host)
        before = self.served.sweeps()
        self.served.heddle("node", "spine-0", "revive")
        wait_until(lambda: self.served.sweeps() > before, 30, "a sweep with the switch")
        wait_until(lambda: "spine-0" in self.clean("ibnetdiscover"), 30, "its return")


class Clients(unittest.TestCase):
    """What clients do to each other: nothing."""

    def setUp(self):
        self.served = ServedFabric("tree:k=2,n=2", "--configured", "--udp", "7070")
        self.served.__enter__()
        self.addCleanup(self.served.__exit__)

    def attach(self, name):
        """A client of our own making: its control and packet sockets and its number."""
        control, packets, number = self.served.attach(os.getpid() * 10 + len(name))
        self.addCleanup(control.close)
        self.addCleanup(packets.close)
        return control, packets, number

    def others_are_well(self):
        code, output, complaints = self.served.run("smpquery", "nodedesc", "1", timeout=10)
        self.assertEqual((code, complaints), (0, []))

    def test_more_than_ten(self):
        clients = [self.attach("x" * i) for i in range(15)]
        self.assertEqual(sorted(number for _, _, number in clients), list(range(15)))
        self.others_are_well()

    def test_those_that_come_at_once_get_the_places_of_those_that_ended_at_once(self):
        for control, packets, _ in (self.attach("a"), self.attach("bb"), self.attach("ccc")):
            control.close()
            packets.close()
        # So that it finds all of them gone with the first question, and has the others' before it.
        self.served.server.send_signal(signal.SIGSTOP)
        asked = []
        try:
            for own in range(3):
                asked.append(self.served.ask_to_attach(os.getpid() * 10 + 5 + own))
                for socket in asked[-1]:
                    self.addCleanup(socket.close)
        finally:
            self.served.server.send_signal(signal.SIGCONT)
        self.assertEqual(sorted(self.served.attached(*one) for one in asked), [0, 1, 2])
        self.others_are_well()

    def test_rubbish(self):
        control, packets, _ = self.attach("rubbish")
        for size in (0, 1, 79, 81, 288, 5000):
            control.send(os.urandom(size))
            packets.send(os.urandom(size))
        control.send(struct.pack("=IIII", 0xDEADBEEF, 77, 99, 9999) + os.urandom(64))
        self.assertEqual(struct.unpack_from("=I", control.recv(80), 8)[0], 0)
        for _ in range(500):
            packets.send(os.urandom(288))
        self.others_are_well()

    def test_a_client_that_floods_and_does_not_read(self):
        _, packets, _ = self.attach("flood")
        self.assertGreater(flood(packets, 20000), 100)
        self.others_are_well()

    def test_a_client_that_dies_frees_its_place(self):
        opensm = self.served.start_opensm()
        opensm.send_signal(signal.SIGKILL)
        opensm.wait()

        def no_manager():
            _, output, _ = self.served.run("smpquery", "portinfo", "1", timeout=10)
            return re.search(r"^\s+IsSM$", output, re.M) is None

        wait_until(no_manager, 20, "the end of IsSM")
        self.served.opensm_once()

    def test_udp(self):
        code, output, complaints = self.served.run("smpquery", "nodedesc", "1", IBSIM_SERVER_NAME="127.0.0.1")
        self.assertEqual((code, complaints), (0, []))
        self.assertIn("Node Description", output)

    def test_lost_mads_come_back_as_timed_out(self):
        self.served.heddle("node", "host-3 mlx5_0", "kill")
        errors = self.served.opensm_once()
        self.assertEqual(errors, [])
        self.served.heddle("fault", "mads", "--lost", "0.01")
        self.assertEqual([line for line in self.served.opensm_once() if "timeout" in line.lower()], [])


if __name__ == "__main__":
    unittest.main()
