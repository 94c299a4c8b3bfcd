"""Debian's OpenSM on our simulated fabric, unchanged: every engine, LMC 0 and 1, generated and real fabrics."""

import re
import unittest

from served_fabric import FABRICS, ServedFabric

ENGINES = ["minhop", "updn", "ftree", "dfsssp"]

# What an engine rightly says of a topology that is not for it, before OpenSM goes on with another engine.
NOT_A_TREE = re.compile(r"^(construct_fabric: ERR AB2B|fabric_mark_leaf_switches: ERR AB26)")


class OpenSm(unittest.TestCase):
    def bring_up(self, fabric, engines=ENGINES, tree=False, options=(), switches_read=2):
        for engine in engines:
            for lmc in (0, 1):
                with self.subTest(engine=engine, lmc=lmc), ServedFabric(fabric, *options) as served:
                    errors = served.opensm_once("-R", engine, "-l", str(lmc))
                    if engine == "ftree" and not tree:
                        errors = [line for line in errors if not NOT_A_TREE.match(line)]
                    self.assertEqual(errors, [])
                    self.assertEqual(served.heddle("status")["lost_route"], 0)
                    self.read_tables(served, lmc, switches_read)

    def read_tables(self, served, lmc, most):
        code, listing, complaints = served.run("ibswitches")
        self.assertEqual((code, complaints), (0, []))
        code, tables, complaints = served.run("dump_fts", "-n")
        self.assertEqual((code, complaints), (0, []))
        self.assertNotIn("illegal port", tables)
        known = re.findall(r"^(\d+) valid lids dumped", tables, re.M)
        self.assertEqual(len(known), listing.count("Switch"))
        # Every host's LIDs; to another switch, up*/down* has no path in places.
        hosts = served.run("ibhosts")[1].count("Ca\t")
        self.assertGreater(hosts, 0)
        self.assertGreaterEqual(min(int(number) for number in known), hosts << lmc)
        lids = [int(lid) for lid in re.findall(r"lid (\d+) lmc", listing)]
        self.assertTrue(lids)
        for lid in lids[:most]:
            # Without names of destinations: for each of them it waits 100 ms at most, too short on a busy machine.
            code, table, complaints = served.run("ibroute", "-n", lid)
            self.assertEqual((code, complaints), (0, []))
            self.assertRegex(table, r"\d+ valid lids dumped")
            self.assertNotIn("illegal port", table)

    def test_two_level_tree(self):
        self.bring_up("tree:k=6,n=2", tree=True, switches_read=100)

    def test_torus_with_trunks(self):
        # dfsssp needs nine VLs here.
        self.bring_up("torus:8x8,hosts=2,links=2", options=("--data-vls", "15"))

    def test_real_fabrics(self):
        files = sorted(FABRICS.glob("*.ibnetdiscover"))
        if not files:
            self.skipTest("no shared data")
        for file in files:
            with self.subTest(file=file.name):
                large = file.stat().st_size > 500_000
                self.bring_up(file, engines=["minhop", "updn", "ftree"] if large else ENGINES)


if __name__ == "__main__":
    unittest.main()
