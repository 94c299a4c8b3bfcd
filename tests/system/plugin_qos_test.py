"""QoS tables of a plan, read back from every port with smpquery. What OpenSM does with tables of exactly 64 entries
(facts/opensm.md) must not show."""

import re
import unittest

from plugin_fabric import PluginFabric, plan_text
from served_fabric import wait_until

TREE = "tree:k=3,n=2"


def tables(high, low, limit, sl2vl=None):
    result = {"vlarb_high": [[i % 4, high + i] for i in range(64)], "vlarb_low": [[4 + i % 4, low + i] for i in range(64)],
              "high_limit": limit}
    if sl2vl:
        result["sl2vl"] = sl2vl
    return result


class Qos(unittest.TestCase):
    def ports(self, served):
        """LID and number of every port that is up."""
        _, text, _ = served.run("ibnetdiscover")
        found, lid = [], None
        for line in text.splitlines():
            if re.match(r"Switch\s", line):
                lid = int(re.search(r" lid (\d+) ", line).group(1))
            elif lid and (port := re.match(r"\[(\d+)\]", line)):
                found.append((lid, int(port.group(1))))
                if host := re.search(r"lid (\d+) 4x", line):
                    if '"H-' in line:
                        found.append((int(host.group(1)), 1))
            elif not line.strip():
                lid = None
        self.assertGreater(len(found), 18)
        return found

    def arbitration(self, served, lid, port):
        """The two tables, as lists of [vl, weight]."""
        code, text, complaints = served.run("smpquery", "vlarb", lid, port)
        self.assertEqual((code, complaints), (0, []), text)
        high, low, table = [], [], None
        for line in text.splitlines():
            if "VLArb" in line or "priority" in line.lower():
                table = high if re.search("high", line, re.I) else low
            cells = re.findall(r"0x([0-9A-Fa-f]+)", line)
            if line.startswith("VL") and "|" in line:
                vls = [int(cell, 16) for cell in cells]
            elif line.startswith("WEIGHT"):
                table.extend([vl, int(cell, 16)] for vl, cell in zip(vls, cells))
        return high, low

    def high_limit(self, served, lid, port):
        _, text, _ = served.run("smpquery", "portinfo", lid, port)
        return int(re.search(r"VLHighLimit:\.*(\d+)", text).group(1))

    def expect(self, served, wanted):
        for lid, port in self.ports(served):
            high, low = self.arbitration(served, lid, port)
            self.assertEqual((len(high), len(low)), (64, 64))
            self.assertEqual(high, wanted["vlarb_high"], f"LID {lid} port {port}")
            self.assertEqual(low, wanted["vlarb_low"], f"LID {lid} port {port}")
            self.assertEqual(self.high_limit(served, lid, port), wanted["high_limit"])

    def test_full_tables_from_the_start_and_after_a_change(self):
        with PluginFabric(TREE, "--data-vls", "8") as served:
            first = tables(1, 100, 7)
            served.write_plan(plan_text(1, qos=first))
            served.start_opensm(lines=["qos TRUE"])
            wait_until(lambda: self.settled(served), 20, "the QoS step")
            self.expect(served, first)
            second = tables(150, 30, 255)
            before = served.sweeps()
            self.assertEqual(served.new_plan(plan_text(2, qos=second))["epoch"], 2)
            # HighLimit goes out with a heavy sweep, which the plugin asks for by itself.
            wait_until(lambda: served.sweeps() > before, 20, "the heavy sweep")
            self.expect(served, second)
            self.assertEqual(served.errors(), [])

    def settled(self, served):
        lid, port = self.ports(served)[0]
        return self.high_limit(served, lid, port) == 7

    def test_sl2vl_of_the_plan_reaches_switches_and_hosts(self):
        levels = [0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 15]
        with PluginFabric(TREE, "--data-vls", "8") as served:
            served.write_plan(plan_text(1, qos=tables(1, 100, 7, levels)))
            served.start_opensm(lines=["qos TRUE"])
            wait_until(lambda: self.settled(served), 20, "the QoS step")
            for lid, port in self.ports(served):
                code, text, _ = served.run("smpquery", "sl2vl", lid, port)
                self.assertEqual(code, 0)
                rows = re.findall(r"^ports: in +\d+, out +\d+: *\|(.*)\|", text, re.M)
                self.assertTrue(rows, text)
                for row in rows:
                    self.assertEqual([int(vl) for vl in row.split("|")], levels)

    def test_sl2vl_of_single_ports_comes_and_goes_where_switches_set_all_ports_at_once(self):
        """OpenSM's optimized programming looks at one port of a switch, and would leave the others as they are."""
        levels, plain = [7 - sl % 8 for sl in range(16)], [sl % 8 for sl in range(8)] * 2
        own = {"vlarb_high": [[1, 1]], "vlarb_low": [[0, 9]], "high_limit": 3, "sl2vl": levels}
        lines = ["qos TRUE", "use_optimized_slvl TRUE", f"qos_sl2vl {','.join(map(str, plain))}"]
        with PluginFabric(TREE, "--data-vls", "8", "--optimized-sl2vl") as served:
            served.start_opensm(lines=lines)
            guid, port = served.cables()[0][0][0].split("/")
            lid = int(re.search(rf'^Switch.*"S-{guid[2:]}".* lid (\d+) ', served.run("ibnetdiscover")[1], re.M).group(1))
            planned = {**tables(1, 100, 7), "groups": [{"ports": [f"{guid}/{port}"], **own}]}
            for epoch, qos, wanted in ((1, None, plain), (2, planned, levels), (3, None, plain), (4, planned, levels)):
                served.new_plan(plan_text(epoch, qos=qos))
                wait_until(lambda: self.rows(served, lid, port) == {tuple(wanted)}, 20, f"the table of plan {epoch}")
                self.assertEqual(self.rows(served, lid, 1 if port != "1" else 2), {tuple(plain)})
            self.assertEqual(served.errors(), [])

    def rows(self, served, lid, out):
        """SL2VL of an output port: what there is, over all cabled inputs."""
        _, text, _ = served.run("smpquery", "sl2vl", lid, out)
        found = re.findall(rf"^ports: in +([1-9]\d*), out +{out}: *\|(.*)\|", text, re.M)
        return {tuple(int(vl) for vl in row.split("|")) for _, row in found}

    def test_tables_that_a_port_cannot_take_are_refused_whole(self):
        with PluginFabric(TREE, "--data-vls", "4") as served:
            served.write_plan(plan_text(1, qos=tables(1, 100, 7)))  # names VL 4 to 7
            errors = served.bring_up(lines=["qos TRUE"])
            self.assertTrue(errors)
            self.assertRegex(errors[0], "HE06.* cannot take the plan's QoS tables: .*VL4")
            lid, port = self.ports(served)[0]
            self.assertNotEqual(self.high_limit(served, lid, port), 7)

    def test_a_plan_with_qos_where_opensm_has_none_says_so(self):
        with PluginFabric(TREE) as served:
            served.write_plan(plan_text(1, qos=tables(1, 100, 7)))
            errors = served.bring_up()
            self.assertEqual(len(errors), 1)
            self.assertIn("opensm.conf does not say `qos TRUE`", errors[0])


if __name__ == "__main__":
    unittest.main()
