import random
import unittest

import fresh
import shrink


class ShrinkTest(unittest.TestCase):
    def test_leaves_what_it_takes(self):
        for seed in range(50):
            dice = random.Random(seed)
            count = dice.randrange(1, 90)
            needed = set(dice.sample(range(count), min(count, dice.randrange(1, 5))))
            steps, played = shrink.shrink(count, lambda some: needed <= set(some), 60)
            self.assertEqual(set(steps), needed)
            self.assertLess(played, 300)

    def test_kinds_are_without_numbers_and_names(self):
        self.assertEqual(shrink.kinds_of(["wire_check, at 0: dead-end 3 times"]), {"wire_check, at 0: dead-end"})
        self.assertEqual(shrink.kinds_of(['seed 7 at 2.5 s: cycle of channel dependencies (deadlock)\n "sw-1" port 3']),
                         {"cycle of channel dependencies (deadlock)"})
        self.assertEqual(shrink.kinds_of(["sw-1 port 3 stays off"]), shrink.kinds_of(["sw-2 port 11 stays off"]))


class FreshTest(unittest.TestCase):
    def test_a_word_always_gives_the_same_seeds(self):
        self.assertEqual(fresh.seeds_from("a", 3), fresh.seeds_from("a", 5)[:3])
        self.assertNotEqual(fresh.seeds_from("a", 3), fresh.seeds_from("b", 3))
        self.assertGreaterEqual(min(fresh.seeds_from("a", 100)), 1_000_000)

    def test_only_what_is_known_all_of_it_is_known(self):
        known = fresh.read_known("# words\ncuts, kills: deadlock\nkills: dead-end # 12\n")

        def is_known(world, *wrong):
            return fresh.is_known({"world": world, "wrong": wrong}, known)
        self.assertTrue(is_known("tree, kills, cuts", "deadlock 2 times", "dead-end"))
        self.assertFalse(is_known("tree, kills, cuts", "deadlock 2 times", "loop 1 times"))
        self.assertFalse(is_known("tree, cuts", "deadlock 2 times"))
        fresh.read_known(fresh.KNOWN.read_text())  # as it is: a line that is none would be an error


if __name__ == "__main__":
    unittest.main()
