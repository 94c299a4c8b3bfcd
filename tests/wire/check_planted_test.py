"""Wrongs that are planted in recordings without a fault, each beside what is sound."""

import unittest

from judged import UP_DOWN, Judged, with_entries
from synthetic import ACTIVE, ARMED, GET, LFT, LINK_UP, NONE, PORT_INFO


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

    def set_that_is_too_old_to_come(self, entries):
        """What c leads by is read when nobody counts on the Set any more."""
        before = UP_DOWN["c"] if entries != UP_DOWN["c"] else with_entries("c", lid4=3, lid8=3)
        asked = self.wire.send_table("c", entries)
        self.wire.time += 200_000_000
        self.wire.answer(self.wire.ask("c", GET, LFT, 0), self.wire.table(before))
        return asked

    def test_a_set_that_came_later_than_it_can_leads_over_the_link(self):
        self.without_link_cd()
        asked = self.set_that_is_too_old_to_come(UP_DOWN["c"])
        self.wire.answer(asked)
        self.wire.disable("c", 2)
        self.expect("off", options=("--flight", "100000"))

    def test_a_set_that_came_later_than_it_can_before_another_one_or_after_it(self):
        """That one was not answered, but read."""
        self.wire.write_table("d", with_entries("d", lid3=2, lid7=2))
        asked = self.set_that_is_too_old_to_come(with_entries("c", lid4=3, lid8=3))
        self.wire.send_table("c", with_entries("c", lid20=3))
        self.wire.answer(self.wire.ask("c", GET, LFT, 0), self.wire.table(with_entries("c", lid20=3)))
        self.wire.answer(asked)
        self.wire.disable("c", 2)
        self.expect("off", options=("--flight", "100000"))

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


if __name__ == "__main__":
    unittest.main()
