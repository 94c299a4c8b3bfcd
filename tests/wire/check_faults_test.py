"""What the judge excuses after a cut, a kill or a repair, and what it does not."""

import unittest

from judged import LIDS, RING, UP_DOWN, Judged, with_entries
from synthetic import ACTIVE, ARMED, DISABLED, DOWN, GET, INIT, LINK_UP, PORT_INFO, SET, Fabric, Recording


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

    def raised_while_it_is_cut(self, ends):
        """The test says that it cuts c/2 -- d/3 when one end has been told to be Active, and not answered yet; then the other is told."""
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        self.without_link_cd()
        self.wire.command("mend", "c", 2)
        self.wire.see("c", 2, INIT)
        self.wire.time += 50_000_000
        (first, port), *others = ends
        told = self.wire.set_port(first, port, state=ACTIVE)
        self.wire.command("cut", "c", 2)
        self.wire.answer(told, self.wire.port_info(state=ACTIVE, physical=LINK_UP))
        for name, port in others:
            self.wire.activate(name, port)
        self.wire.write_table("c", UP_DOWN["c"])

    def test_a_link_that_is_raised_until_it_is_really_cut(self):
        self.raised_while_it_is_cut((("d", 3), ("c", 2)))
        self.wire.see("c", 2, DOWN)
        self.wire.write_table("c", with_entries("c", lid4=3, lid8=3))
        self.expect()
        self.wire.time += 20_000_000
        self.wire.write_table("c", UP_DOWN["c"])
        self.expect("known-cut")

    def test_a_link_of_which_one_end_is_raised_until_it_is_cut(self):
        self.raised_while_it_is_cut((("d", 3),))
        self.expect("known-cut")

    def test_a_cut_that_was_read_before_late_answers_came_is_known(self):
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        self.without_link_cd()
        self.wire.command("mend", "c", 2)
        told = [self.wire.set_port(*end, state=ACTIVE) for end in (("c", 2), ("d", 3))]
        self.wire.command("cut", "c", 2)
        self.wire.see("c", 2, DOWN)
        for each in told:
            self.wire.answer(each, self.wire.port_info(state=ACTIVE, physical=LINK_UP))
        self.wire.time += 20_000_000
        self.wire.write_table("c", UP_DOWN["c"])
        self.expect("known-cut")

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

    def test_to_mend_what_was_not_cut_changes_nothing(self):
        self.wire.command("mend", "c", 2)
        self.wire.time += 20_000_000
        self.wire.write_table("c", UP_DOWN["c"])
        self.expect()

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

    def d_without_its_only_cable(self, disabled_at):
        """c/2 -- d/3 is off when d/2 -- a/3 is cut."""
        self.without_link_cd()
        self.wire.time += 20_000_000
        self.wire.disable(*disabled_at)
        self.wire.command("cut", "a", 3)
        self.wire.see("a", 3, DOWN)

    def after_a_while(self, *kinds):
        self.wire.time += 3_000_000_000
        self.wire.see("a", 3, DOWN)
        return self.expect(*kinds, options=("--back-within", "2"))

    def test_a_port_that_is_off_and_that_nobody_reaches_brings_nothing_back(self):
        self.d_without_its_only_cable(("d", 3))
        self.after_a_while()

    def test_a_port_that_is_off_and_in_sight_is_brought_back(self):
        self.d_without_its_only_cable(("c", 2))
        self.after_a_while("stays-broken")

    def test_a_port_that_was_on_again_when_it_was_lost_is_brought_back(self):
        self.without_link_cd()
        self.wire.time += 20_000_000
        self.wire.disable("d", 3)
        self.wire.enable("d", 3)
        self.wire.command("cut", "a", 3)
        self.wire.see("a", 3, DOWN)
        self.after_a_while("stays-broken")

    def test_a_port_that_was_never_turned_off_as_far_as_anybody_knows_is_brought_back(self):
        self.without_link_cd()
        self.wire.time += 20_000_000
        self.wire.lost(self.wire.set_port("d", 3, physical=DISABLED))
        self.wire.command("cut", "a", 3)
        self.wire.see("a", 3, DOWN)
        self.after_a_while("stays-broken")

    def test_a_switch_that_was_restarted_has_no_port_that_is_off(self):
        self.d_without_its_only_cable(("d", 3))
        self.wire.command("kill", "d")
        self.wire.command("revive", "d")
        self.after_a_while("stays-broken")

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


if __name__ == "__main__":
    unittest.main()
