"""The judge is judged: every wrong that is planted in a recording must be seen, and what is sound must pass."""

import pathlib
import subprocess
import tempfile
import unittest

from judged import CHECKER, LIDS, RING, UP_DOWN, Judged, with_entries
from synthetic import ACTIVE, DOWN, GET, INIT, LFT, NONE, Fabric, Recording


class Sound(Judged):
    def test_a_fabric_that_comes_up(self):
        counts, text = self.judge()
        self.assertEqual((counts["violations"], counts["pairs"], counts["established"]), ({}, 20, 20), text)
        self.assertGreater(counts["instants"], 20)

    def test_a_link_that_goes_off_and_comes_back(self):
        self.without_link_cd()
        self.wire.disable("c", 2)
        self.wire.enable("c", 2)
        for name, port in (("c", 2), ("d", 3)):
            self.wire.see(name, port, INIT)
            self.wire.activate(name, port)
        self.wire.write_table("c", UP_DOWN["c"])
        self.wire.write_table("d", UP_DOWN["d"])
        self.expect()

    def test_an_answer_that_is_lost_and_settled_by_a_get(self):
        asked = self.wire.send_table("c", with_entries("c", lid4=3, lid8=3))
        self.wire.lost(asked)
        self.wire.write_table("d", with_entries("d", lid3=2, lid7=2))
        read = self.wire.ask("c", 1, 0x19, 0)
        self.wire.answer(read, self.wire.table(with_entries("c", lid4=3, lid8=3)))
        self.wire.disable("c", 2)
        self.expect()

    def test_a_number_that_another_set_had_that_nobody_answered(self):
        asked = self.wire.send_table("d", with_entries("d", lid3=3))
        self.wire.time += 200_000_000
        self.without_link_cd()
        self.wire.tid = asked[-1] - 1
        self.wire.write_table("b", with_entries("b", lid7=2))
        self.expect(options=("--flight", "100000"))

    def test_a_set_that_was_never_taken(self):
        """c would lead LID 4 over c/2 again; it is read, and does not. So nobody waits for that link, which goes off at once."""
        self.without_link_cd()
        self.wire.send_table("c", with_entries("c", lid8=3))
        self.wire.time += 200_000_000
        self.wire.answer(self.wire.ask("c", GET, LFT, 0), self.wire.table(with_entries("c", lid4=3, lid8=3)))
        self.wire.disable("c", 2)
        self.expect(options=("--flight", "100000", "--lag", "500"))

    def test_a_set_that_came_later_than_it_can(self):
        """Random run 510710: it was lost, c was read, and the server sent it again in the kernel's place, after 231 ms. Then it was
        answered, and nothing else can be there."""
        self.wire.write_table("d", with_entries("d", lid3=2, lid7=2))
        asked = self.wire.send_table("c", with_entries("c", lid4=3, lid8=3))
        self.wire.time += 200_000_000
        self.wire.answer(self.wire.ask("c", GET, LFT, 0), self.wire.table(UP_DOWN["c"]))
        self.wire.answer(asked)
        self.wire.disable("c", 2)
        self.expect(options=("--flight", "100000"))

    def test_a_set_of_a_killed_program_that_is_read_has_come(self):
        """Nobody hears of the answer; what the next program reads is what the Set carried, and the link goes off."""
        self.wire.write_table("d", with_entries("d", lid3=2, lid7=2))
        self.wire.send_table("c", with_entries("c", lid4=3, lid8=3))
        self.wire.time += 200_000_000
        self.wire.answer(self.wire.ask("c", GET, LFT, 0), self.wire.table(with_entries("c", lid4=3, lid8=3)))
        self.wire.disable("c", 2)
        self.expect()

    def test_an_answer_that_comes_after_what_it_tells_was_read(self):
        self.wire.write_table("d", with_entries("d", lid3=2, lid7=2))
        asked = self.wire.send_table("c", with_entries("c", lid4=3, lid8=3))
        self.wire.answer(self.wire.ask("c", GET, LFT, 0), self.wire.table(with_entries("c", lid4=3, lid8=3)))
        self.wire.write_table("c", with_entries("c", lid4=3, lid8=3, lid20=3))
        self.wire.answer(asked)
        self.wire.disable("c", 2)
        self.expect()

    def test_a_set_that_was_repeated_and_is_too_late_to_count(self):
        first = self.wire.send_table("c", UP_DOWN["c"])
        self.wire.answer(self.wire.send_table("c", UP_DOWN["c"]))
        self.wire.time += 70_000_000
        self.without_link_cd()
        self.wire.lost(first)
        self.wire.disable("c", 2)
        self.expect(options=("--late", "60000"))

    def repetition_that_is_lost(self, *more):
        """The answer comes after the Set has been sent again; nobody answers that."""
        first = self.wire.send_table("c", UP_DOWN["c"])
        again = self.wire.send_table("c", UP_DOWN["c"])
        self.wire.answer(first)
        for each in more:
            each()
        self.wire.time += 70_000_000
        self.without_link_cd()
        self.wire.disable("c", 2)
        self.wire.lost(again)

    def test_a_repetition_that_is_lost_and_too_late_to_count(self):
        # Something that was sent after it has been answered: the server has handed it on.
        self.repetition_that_is_lost(lambda: self.wire.see("a", 1, ACTIVE))
        self.expect(options=("--late", "60000"))

    def test_a_repetition_that_nobody_knows_to_have_been_handed_on(self):
        self.repetition_that_is_lost()
        self.expect("off", options=("--late", "60000"))

    def test_a_link_that_is_used_until_it_is_really_cut(self):
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        self.without_link_cd()
        self.wire.command("mend", "c", 2)
        self.wire.command("cut", "c", 2)
        for name, port in (("c", 2), ("d", 3)):
            self.wire.activate(name, port)
        self.wire.time += 50_000_000
        self.wire.write_table("c", UP_DOWN["c"])
        self.wire.see("c", 2, DOWN)
        self.wire.write_table("c", with_entries("c", lid4=3, lid8=3))
        self.expect()

    def test_what_a_cut_breaks(self):
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        self.without_link_cd()
        self.expect(options=("--back-within", "1"))


class Aggregation(Judged):
    """A line a - b - c, hosts at a and c, an aggregation node at b and one at c."""

    def setUp(self):
        super().setUp()
        fabric = Fabric(4, [(("a", 2), ("b", 3)), (("b", 2), ("c", 3)), (("a", 1), ("ha", 1)), (("c", 1), ("hc", 1)),
                            (("b", 4), ("h Aggregation Node b", 1)), (("c", 4), ("h Aggregation Node c", 1))])
        self.tables = {"a": {1: 1, 2: 2, 3: 2, 4: 2, 5: 0, 6: 2, 7: 2}, "b": {1: 3, 2: 2, 3: 4, 4: 2, 5: 3, 6: 0, 7: 2},
                       "c": {1: 3, 2: 1, 3: 3, 4: 4, 5: 3, 6: 3, 7: 0}}
        self.wire = Recording(fabric, "ha")
        self.wire.bring_up({"ha": 1, "hc": 2, "h Aggregation Node b": 3, "h Aggregation Node c": 4, "a": 5, "b": 6, "c": 7}, self.tables)

    def change(self, name, lid, port):
        self.tables[name][lid] = port
        self.wire.write_table(name, self.tables[name])

    def test_they_may_be_without_a_way(self):
        self.change("c", 3, NONE)  # from c's host to b's
        self.change("b", 2, NONE)  # what b's sends to c's host; but a has one, too, whose packets come by
        text = self.expect("dead-end")
        self.assertIn("from a to LID 2", text)
        self.assertNotIn("from b to", text)
        self.assertNotIn("LID 3", text)

    def test_they_run_in_no_circle(self):
        self.change("b", 3, 2)
        self.expect("loop", "deadlock")

    def test_managers_and_hosts_have_ways(self):
        self.change("a", 3, NONE)
        self.expect("dead-end")
        self.change("a", 3, 2)
        self.change("c", 1, NONE)
        self.expect("dead-end", times=2)


class WithoutHosts(Judged):
    """A switch s beside a and b, which have hosts with two LIDs each. The manager is behind a: s answers to its base LID, and sends
    nothing to the other one."""

    def setUp(self):
        super().setUp()
        fabric = Fabric(3, [(("a", 1), ("ha", 1)), (("b", 1), ("hb", 1)), (("a", 2), ("b", 2)), (("a", 3), ("s", 1))])
        self.tables = {"a": {2: 1, 3: 1, 4: 2, 5: 2, 6: 0, 7: 2, 8: 3}, "b": {2: 2, 3: 2, 4: 1, 5: 1, 6: 2, 7: 0, 8: 2},
                       "s": {2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 0}}
        self.wire = Recording(fabric, "ha")
        self.wire.bring_up({"ha": 2, "hb": 4, "a": 6, "b": 7, "s": 8}, self.tables, lmc=1)

    def test_it_sends_to_the_managers_base_lid_alone(self):
        self.wire.write_table("s", {**self.tables["s"], 3: NONE, 4: NONE, 5: NONE})
        self.expect()
        self.wire.write_table("s", {**self.tables["s"], 2: NONE})
        self.assertIn("from s to LID 2 ", self.expect("dead-end"))

    def test_hosts_send_to_all_of_its_lids(self):
        self.wire.write_table("b", {**self.tables["b"], 3: NONE})
        self.assertIn("from b to LID 3 ", self.expect("dead-end"))


class Groups(Judged):
    def setUp(self):
        super().setUp()
        # a in the middle; members at b, c and d.
        for name, ports in (("a", (2, 3)), ("b", (1, 2, 3)), ("c", (1, 3)), ("d", (1, 2))):
            self.wire.write_group(name, ports)

    def test_a_tree(self):
        self.expect()

    def test_a_circle(self):
        self.wire.write_group("c", (1, 2, 3))
        self.wire.write_group("d", (1, 2, 3))
        self.expect("multicast-twice")

    def test_into_a_link_that_is_off(self):
        self.without_link_cd()
        # What the new tree has not goes first: c by d.
        for name, ports in (("b", (1, 3)), ("c", (1,)), ("d", (1, 2, 3)), ("c", (1, 2))):
            self.wire.write_group(name, ports)
        self.wire.disable("c", 2)
        self.expect("multicast-off")


class Unjudged(unittest.TestCase):
    def test_nothing_to_judge_is_an_error(self):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            wire = Recording(RING, "ha")
            wire.write(directory)
            (directory / "1-1.wire").unlink()
            done = subprocess.run([CHECKER, "--fabric", directory / "fabric.net", "--recordings", directory],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn("no recording", done.stderr)

    def test_a_record_that_was_cut_short_is_left_out(self):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            wire = Recording(RING, "ha")
            wire.bring_up(LIDS, UP_DOWN)
            wire.write(directory)
            whole = (directory / "1-1.wire").read_bytes()
            (directory / "1-1.wire").write_bytes(whole[:-100])
            done = subprocess.run([CHECKER, "--fabric", directory / "fabric.net", "--recordings", directory],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
