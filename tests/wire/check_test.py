"""The judge is judged: every wrong that is planted in a recording must be seen, and what is sound must pass."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from synthetic import ACTIVE, ARMED, DOWN, GET, INIT, LFT, LINK_UP, NONE, PORT_INFO, SET, Fabric, Recording

CHECKER = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "tests/wire/wire_check"

# a - b
# |   |    and a host at each: port 1. Ports 2 lead clockwise (a b c d), ports 3 back.
# d - c
RING = Fabric(3, [(("a", 2), ("b", 3)), (("b", 2), ("c", 3)), (("c", 2), ("d", 3)), (("d", 2), ("a", 3)),
                  (("a", 1), ("ha", 1)), (("b", 1), ("hb", 1)), (("c", 1), ("hc", 1)), (("d", 1), ("hd", 1))])
LIDS = {"ha": 1, "hb": 2, "hc": 3, "hd": 4, "a": 5, "b": 6, "c": 7, "d": 8}
# Up and down with a on top and c at the bottom, c by b.
UP_DOWN = {"a": {1: 1, 2: 2, 3: 2, 4: 3, 5: 0, 6: 2, 7: 2, 8: 3},
           "b": {1: 3, 2: 1, 3: 2, 4: 3, 5: 3, 6: 0, 7: 2, 8: 3},
           "c": {1: 3, 2: 3, 3: 1, 4: 2, 5: 3, 6: 3, 7: 0, 8: 2},
           "d": {1: 2, 2: 2, 3: 3, 4: 1, 5: 2, 6: 2, 7: 3, 8: 0}}


def with_entries(name, **changes):
    """Entries of a switch, some of them others: lid3=2."""
    return {**UP_DOWN[name], **{int(lid[3:]): port for lid, port in changes.items()}}


class Judged(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.wire = Recording(RING, "ha")
        self.wire.bring_up(LIDS, UP_DOWN)

    def judge(self, *options, wire=None):
        """Counts and text."""
        (wire or self.wire).write(self.directory)
        done = subprocess.run([CHECKER, "--fabric", self.directory / "fabric.net", "--recordings", self.directory,
                               "--commands", self.directory / "commands", *options], capture_output=True, text=True, timeout=60)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        counts = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(done.returncode, 1 if counts["violations"] else 0)
        return counts, done.stdout

    def expect(self, *kinds, options=(), times=1):
        counts, text = self.judge(*options)
        self.assertEqual(set(counts["violations"]), set(kinds), text)
        for kind in kinds:
            self.assertGreaterEqual(counts["violations"][kind]["times"], times)
        return text

    def without_link_cd(self):
        """Nothing leads over c/2 -- d/3."""
        self.wire.write_table("c", with_entries("c", lid4=3, lid8=3))
        self.wire.write_table("d", with_entries("d", lid3=2, lid7=2))


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


class Planted(Judged):
    def test_port_off_too_early(self):
        asked = self.wire.send_table("c", with_entries("c", lid4=3, lid8=3))
        self.wire.write_table("d", with_entries("d", lid3=2, lid7=2))
        self.wire.disable("c", 2)
        self.wire.answer(asked)
        text = self.expect("off")
        self.assertIn("from c to LID 4 (plane 0 of hd/1): c/2 (old or new)", text)
        self.assertIn("Set PortInfo 2 state - physical 3 at c", text)

    def test_a_set_of_a_killed_program_that_was_not_read_may_come(self):
        """The next program reads what was there before: the Set may still be under way, and lead into the link."""
        self.without_link_cd()
        self.wire.send_table("c", UP_DOWN["c"])
        self.wire.time += 200_000_000
        self.wire.answer(self.wire.ask("c", GET, LFT, 0), self.wire.table(with_entries("c", lid4=3, lid8=3)))
        self.wire.disable("c", 2)
        self.expect("off")

    def test_dropped_answer(self):
        self.wire.write_table("d", with_entries("d", lid3=2, lid7=2))
        asked = self.wire.send_table("c", with_entries("c", lid4=3, lid8=3))
        self.wire.lost(asked)
        self.wire.disable("c", 2)
        self.expect("off")

    def test_a_late_copy_of_a_set(self):
        asked = self.wire.send_table("c", UP_DOWN["c"])
        self.wire.answer(asked)
        self.without_link_cd()
        self.wire.answer(asked)  # applied once more
        self.wire.disable("c", 2)
        self.expect("off")

    def repeated_set(self, pause):
        """It goes unanswered, is sent again, and that is answered; after a pause other entries are written."""
        first = self.wire.send_table("c", UP_DOWN["c"])
        self.wire.answer(self.wire.send_table("c", UP_DOWN["c"]))
        self.wire.time += pause
        self.without_link_cd()
        self.wire.lost(first)
        self.wire.disable("c", 2)

    def test_a_repeated_set_that_may_still_come(self):
        self.repeated_set(40_000_000)
        self.expect("off", options=("--late", "60000"))

    def test_what_a_refused_set_asked_for_is_not_there(self):
        """A late copy of Armed comes to a port that is Active."""
        self.wire.refused(self.wire.set_port("c", 2, state=ARMED))
        self.wire.time += 20_000_000
        self.wire.write_table("c", with_entries("c", lid1=2))
        self.expect()

    def test_answers_that_come_in_another_order_than_they_were_asked_for(self):
        first = self.wire.ask("c", GET, PORT_INFO, 2)
        armed = self.wire.set_port("c", 2, state=ARMED)
        self.wire.activate("c", 2)
        self.wire.answer(first, self.wire.port_info(state=ACTIVE, physical=LINK_UP))
        self.wire.answer(armed, self.wire.port_info(state=ARMED, physical=LINK_UP))
        self.wire.time += 20_000_000
        self.wire.write_table("c", with_entries("c", lid1=2))
        self.expect()

    def test_a_set_that_nobody_answered_and_that_is_too_old_to_come(self):
        self.wire.send_table("d", with_entries("d", lid3=3))
        self.wire.time += 200_000_000
        self.without_link_cd()
        self.wire.disable("c", 2)
        self.expect("off")
        self.expect(options=("--flight", "100000"))

    def test_a_late_answer_of_a_set_that_another_one_has_replaced(self):
        """World 4000010198 of the swarm: the Set and its answer were late, each by less than a MAD can be."""
        first = self.wire.send_table("c", UP_DOWN["c"])
        self.wire.time += 200_000_000
        self.without_link_cd()
        self.wire.answer(first)
        self.wire.disable("c", 2)
        self.expect("off")
        self.expect(options=("--flight", "100000"))

    def test_nobody_knows_how_late_a_repeated_set_may_be(self):
        self.repeated_set(70_000_000)
        self.expect("off")

    def use_while(self, *ends):
        """The link is back, Active at these ends only, and c leads over it."""
        self.without_link_cd()
        self.wire.disable("c", 2)
        self.wire.enable("c", 2)
        for name, port in ends:
            self.wire.activate(name, port)
        self.wire.write_table("c", UP_DOWN["c"])

    def test_use_before_active(self):
        for ends in ((), (("c", 2),), (("d", 3),)):
            with self.subTest(ends):
                self.setUp()
                self.use_while(*ends)
                self.expect("not-active")

    def test_active_that_was_asked_before_the_port_went_off(self):
        self.without_link_cd()
        asked = [self.wire.ask(name, 1, 0x15, port) for name, port in (("c", 2), ("d", 3))]
        self.wire.disable("c", 2)
        for each in asked:
            self.wire.answer(each, self.wire.port_info(state=ACTIVE))
        self.wire.write_table("c", UP_DOWN["c"])
        self.expect("off")

    def test_rotated_entries(self):
        table = UP_DOWN["a"]
        self.wire.write_table("a", {lid: table[lid % 8 + 1] for lid in table})
        self.expect("misdelivery", "loop", "deadlock")

    def test_no_entry(self):
        self.wire.write_table("b", with_entries("b", lid3=0xFF))
        self.expect("dead-end")

    # The cable a/3 -- d/2 is to go: hosts at a and b reach d by c then. In stages: first b, then a.

    def stage_1(self):
        return self.wire.send_table("b", with_entries("b", lid4=2, lid8=2))

    def stage_2(self):
        return self.wire.send_table("a", with_entries("a", lid4=2, lid8=2))

    def stage_3(self):
        return self.wire.send_table("d", with_entries("d", lid1=3, lid2=3, lid5=3, lid6=3))

    def test_stages_in_order(self):
        for stage in (self.stage_1, self.stage_2, self.stage_3):
            self.wire.answer(stage())
        self.wire.disable("a", 3)
        # From d by c up to b: against the order, but no cycle without the link that is off.
        self.expect(options=("--ignore", "deadlock"))

    def test_all_stages_at_once(self):
        asked = [self.stage_1(), self.stage_2(), self.stage_3()]
        for each in asked:
            self.wire.answer(each)
        self.expect("loop", "deadlock")

    def test_reversed_batches(self):
        for stage in (self.stage_2, self.stage_1):
            self.wire.answer(stage())
        text = self.expect("loop", "deadlock")
        self.assertIn("a/2 (old or new) b/3 a", text)

    def test_minimal_hops_on_a_ring(self):
        self.wire.write_table("d", with_entries("d", lid2=2))
        # Each clockwise to the one beyond its neighbour.
        self.wire.write_table("a", with_entries("a", lid3=2))
        self.wire.write_table("b", with_entries("b", lid4=2))
        self.wire.write_table("c", with_entries("c", lid1=2))
        text = self.expect("deadlock")
        self.assertIn("wait for each other", text)

    def test_packets_in_flight(self):
        self.without_link_cd()
        self.wire.disable("c", 2)
        self.expect(options=("--lag", "10"))
        self.expect("off", options=("--lag", "50"))

    # LID 7 is that of switch c, which nobody sends to but the manager behind a: d needs an entry only if a leads there.

    def test_what_a_switch_gains_is_there_for_whoever_comes_later(self):
        self.wire.write_table("d", with_entries("d", lid7=NONE))
        self.wire.time += 1_000_000
        self.wire.write_table("d", UP_DOWN["d"])
        self.wire.write_table("a", with_entries("a", lid7=3))
        self.expect(options=("--lag", "500"))

    def test_what_a_switch_loses_while_packets_come(self):
        self.wire.write_table("a", with_entries("a", lid7=3))
        self.wire.time += 1_000_000
        self.wire.write_table("a", UP_DOWN["a"])
        self.wire.write_table("d", with_entries("d", lid7=NONE))
        self.expect(options=("--lag", "5"))
        text = self.expect("dead-end", options=("--lag", "500"))
        self.assertIn("a/3 (replaced) d/255", text)

    def lose_after_a_read(self, pause):
        """Nobody answers a Set that leads a away from d; after a pause a is read, which has taken it, and d loses its way."""
        self.wire.write_table("a", with_entries("a", lid7=3))
        self.wire.send_table("a", UP_DOWN["a"])
        self.wire.time += pause
        self.wire.answer(self.wire.ask("a", GET, LFT, 0), self.wire.table(UP_DOWN["a"]))
        self.wire.write_table("d", with_entries("d", lid7=NONE))

    def test_what_is_read_stood_since_the_last_set_could_come(self):
        self.lose_after_a_read(pause=200_000_000)
        self.expect(options=("--flight", "100000", "--lag", "50000"))
        self.expect("dead-end", options=("--flight", "100000", "--lag", "500000"))

    def test_a_set_that_may_have_come_just_before_it_was_read(self):
        self.lose_after_a_read(pause=120_000_000)
        self.expect("dead-end", options=("--flight", "100000", "--lag", "50000"))

    def test_a_turn_that_was_there_before_the_way_to_it(self):
        """c leads LID 4 to b, until it leads there itself; b by c after that. Neither packet meets the other's circle."""
        self.wire.write_table("c", with_entries("c", lid4=3))
        self.wire.time += 1_000_000
        self.wire.write_table("c", UP_DOWN["c"])
        self.wire.write_table("b", with_entries("b", lid4=2))
        self.expect(options=("--lag", "500"))

    def test_an_entry_that_was_there_before_and_is_again(self):
        """b leads LID 4 to c, then not, then again; c to b in between. Nobody runs in circles, but who was led back by c may wait for
        who came to it."""
        self.wire.write_table("b", with_entries("b", lid4=2))
        self.wire.time += 1_000_000
        self.wire.write_table("b", UP_DOWN["b"])
        self.wire.write_table("c", with_entries("c", lid4=3))
        self.wire.write_table("c", UP_DOWN["c"])
        self.wire.write_table("b", with_entries("b", lid4=2))
        self.expect("deadlock", options=("--lag", "500"))


class Faults(Judged):
    def test_a_cut_excuses_nobody_else(self):
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        self.without_link_cd()
        self.wire.write_table("a", with_entries("a", lid2=0xFF))
        self.expect("dead-end")

    def test_packets_that_a_cut_has_caught_are_its_own(self):
        """b sends LID 4 by c, whose link is cut: what is under way then may be turned by the repair."""
        self.wire.write_table("b", with_entries("b", lid4=2))
        self.wire.time += 5_000_000
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        self.wire.write_table("b", UP_DOWN["b"])
        self.without_link_cd()
        self.wire.command("mend", "c", 2)
        self.wire.activate("c", 2)
        self.wire.activate("d", 3)
        self.wire.write_table("d", UP_DOWN["d"])
        self.wire.write_table("c", with_entries("c", lid1=2))
        self.expect(options=("--lag", "2000"))

    def test_what_was_sent_while_a_lid_was_nobodys_is_nobodys(self):
        """As above, but d's host is restarted, and without its LID for a while."""
        self.wire.write_table("b", with_entries("b", lid4=2))
        self.wire.time += 5_000_000
        self.wire.answer(self.wire.ask("hd", GET, PORT_INFO, 1), self.wire.port_info(0, ACTIVE, LINK_UP))
        self.wire.write_table("b", UP_DOWN["b"])
        self.wire.answer(self.wire.ask("hd", SET, PORT_INFO, 1, self.wire.port_info(LIDS["hd"])),
                         self.wire.port_info(LIDS["hd"], ACTIVE, LINK_UP))
        self.wire.write_table("c", with_entries("c", lid1=2))
        self.expect(options=("--lag", "2000"))

    def test_packets_that_no_cut_has_caught_wait_for_each_other(self):
        self.wire.write_table("b", with_entries("b", lid4=2))
        self.wire.time += 5_000_000
        self.wire.write_table("b", UP_DOWN["b"])
        self.wire.write_table("c", with_entries("c", lid1=2))
        self.expect("deadlock", options=("--lag", "2000"))

    def test_a_cut_that_is_known_is_not_written(self):
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        self.without_link_cd()
        self.wire.time += 20_000_000
        self.wire.write_table("c", UP_DOWN["c"])
        self.expect("known-cut")

    def test_a_cut_that_nobody_knows_of_may_be_written(self):
        self.without_link_cd()
        self.wire.command("cut", "c", 2)
        self.wire.time += 20_000_000
        self.wire.write_table("c", UP_DOWN["c"])
        self.expect()

    def test_a_cut_that_another_program_knows_of_may_be_written(self):
        self.without_link_cd()
        self.wire.command("cut", "c", 2)
        other = Recording(RING, "ha", start=self.wire.time)
        other.see("c", 2, DOWN)
        (self.directory / "2-1.wire").write_bytes(b"".join(other.records))
        self.wire.time += 20_000_000
        self.wire.write_table("c", UP_DOWN["c"])
        self.expect()

    def test_a_set_that_comes_late_to_a_switch_that_was_restarted(self):
        asked = self.wire.send_table("d", with_entries("d", lid7=2))
        self.wire.command("kill", "d")
        self.wire.see("a", 3, DOWN)
        self.wire.command("revive", "d")
        self.wire.see("d", 2, INIT)
        self.wire.time += 20_000_000
        self.wire.answer(asked)
        self.expect()
        self.wire.write_table("d", with_entries("d", lid3=2))
        self.expect("not-active")

    def seen_armed(self, at_once):
        """Another program asks a port just after it was told to be Active, or after that was answered."""
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        self.without_link_cd()
        self.wire.command("mend", "c", 2)
        told = self.wire.set_port("c", 2, state=ACTIVE)
        active = self.wire.port_info(state=ACTIVE, physical=LINK_UP)
        if not at_once:
            self.wire.answer(told, active)
        other = Recording(RING, "ha", start=self.wire.time)
        asked = other.ask("c", GET, PORT_INFO, 2)
        self.wire.time = other.time
        if at_once:
            self.wire.answer(told, active)
        other.time = self.wire.time
        other.answer(asked, self.wire.port_info(state=ARMED, physical=LINK_UP))
        (self.directory / "2-1.wire").write_bytes(b"".join(other.records))
        self.wire.time = other.time + 20_000_000
        self.wire.activate("d", 3)
        self.wire.write_table("c", UP_DOWN["c"])

    def test_a_port_that_was_not_active_yet_when_another_program_asked(self):
        self.seen_armed(at_once=True)
        self.expect()

    def test_a_port_that_is_not_active_any_more(self):
        self.seen_armed(at_once=False)
        self.expect("not-active")

    def repair_of_b(self, pause):
        """b gets a way to d, loses it, and has it again."""
        self.wire.command("cut", "a", 3)
        self.wire.see("a", 3, DOWN)
        self.wire.write_table("a", with_entries("a", lid4=0xFF, lid8=0xFF))
        around = with_entries("b", lid4=2, lid8=2)
        self.wire.write_table("b", around)
        self.wire.time += pause
        self.wire.write_table("b", UP_DOWN["b"])
        self.wire.write_table("b", around)

    def test_a_repair_may_be_half_written(self):
        self.repair_of_b(100_000)
        self.expect()

    def test_what_is_repaired_stays_so(self):
        self.repair_of_b(2_000_000)
        self.expect("dead-end")

    def repair_that_takes_long(self, is_one):
        """Of two cables from a to d one is cut: a takes the other; then b goes to d by c, before c goes there itself."""
        doubled = Fabric(4, [*RING.cables, (("a", 4), ("d", 4))])
        wire = Recording(doubled, "ha")
        wire.bring_up(LIDS, {**UP_DOWN, "c": with_entries("c", lid4=3)})
        wire.command("cut", "a", 3)
        wire.see("a", 3, DOWN)
        asked = wire.send_table("d", with_entries("d", lid1=4, lid2=4, lid5=4, lid6=4)) if is_one else None
        wire.write_table("a", with_entries("a", lid4=4, lid8=4))
        wire.time += 3_000_000
        if asked:
            wire.answer(asked)
        of_b, of_c = wire.send_table("b", with_entries("b", lid4=2)), wire.send_table("c", UP_DOWN["c"])
        wire.answer(of_b)
        wire.answer(of_c)
        self.wire = wire

    def test_a_repair_may_take_long(self):
        self.repair_that_takes_long(is_one=True)
        self.expect()

    def test_what_follows_a_repair_is_none(self):
        self.repair_that_takes_long(is_one=False)
        self.expect("loop", "deadlock")

    def test_a_mended_link_that_trains(self):
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        self.without_link_cd()
        self.wire.command("mend", "c", 2)
        self.wire.see("c", 2, INIT)
        self.wire.time += 20_000_000
        self.wire.write_table("c", UP_DOWN["c"])
        self.expect("not-active")

    def test_an_entry_for_a_host_whose_own_link_trains(self):
        self.wire.command("kill", "d")
        self.wire.command("revive", "d")
        for name, port in (("d", 2), ("a", 3), ("d", 3), ("c", 2)):
            self.wire.activate(name, port)
        self.wire.see("d", 1, INIT)
        self.wire.time += 20_000_000
        self.wire.write_table("d", UP_DOWN["d"])
        self.expect()

    def test_what_stays_broken_though_cables_are_there(self):
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        self.wire.time += 3_000_000_000
        self.wire.see("c", 2, DOWN)
        self.expect()
        self.expect("stays-broken", options=("--back-within", "2"))

    def test_switches_may_stay_without_a_way(self):
        self.wire.command("cut", "a", 3)
        self.wire.see("a", 3, DOWN)
        self.wire.time += 3_000_000_000
        self.wire.see("a", 3, DOWN)
        counts, text = self.judge("--back-within", "2")
        # From a and b to the host at d, and back; not from the manager behind a to d itself.
        self.assertEqual(counts["violations"]["stays-broken"]["pairs"], 4, text)

    def test_nobody_sends_from_a_switch_that_is_off(self):
        self.wire.command("kill", "d")
        self.wire.see("a", 3, DOWN)
        self.wire.time += 20_000_000
        self.wire.send_table("d", with_entries("d", lid3=3))
        self.expect()

    def test_a_switch_that_was_off_has_forgotten_its_table(self):
        self.wire.command("kill", "d")
        self.wire.write_table("a", with_entries("a", lid4=0xFF, lid8=0xFF))
        self.wire.command("revive", "d")
        for name, port in (("d", 1), ("d", 2), ("a", 3), ("d", 3), ("c", 2), ("hd", 1)):
            self.wire.activate(name, port) if name != "hd" else self.wire.answer(
                self.wire.ask("hd", 2, 0x15, 1), self.wire.port_info(4, ACTIVE))
        self.wire.write_table("d", UP_DOWN["d"])
        self.wire.write_table("a", UP_DOWN["a"])
        self.expect()
        self.wire.time += 2_000_000
        self.wire.write_table("a", with_entries("a", lid4=0xFF))
        self.expect("dead-end")

    def test_what_a_switch_is_written_while_it_is_killed_is_no_way_back(self):
        """The command is there before it is done: a's table is written once more, a dies, and has forgotten it."""
        self.wire.command("kill", "a")
        self.wire.write_table("a", UP_DOWN["a"])
        self.wire.time += 20_000_000
        self.wire.command("revive", "a")
        self.wire.see("a", 2, INIT)
        self.expect()
        self.wire.write_table("a", UP_DOWN["a"])
        self.wire.time += 2_000_000
        self.wire.write_table("a", with_entries("a", lid5=0xFF))
        self.expect("dead-end")

    def test_the_own_switch_of_the_manager_dies_and_has_forgotten_its_table(self):
        self.wire.command("kill", "a")
        self.wire.command("revive", "a")
        for name, port in (("a", 1), ("a", 2), ("b", 3), ("a", 3), ("d", 2)):
            self.wire.activate(name, port)
        self.wire.answer(self.wire.ask("ha", 2, 0x15, 1), self.wire.port_info(1, ACTIVE))
        self.expect()
        self.wire.write_table("a", UP_DOWN["a"])
        self.wire.time += 2_000_000
        self.wire.write_table("a", with_entries("a", lid5=0xFF))
        self.expect("dead-end")


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
