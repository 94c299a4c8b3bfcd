"""A heavy sweep of the real OpenSM in which live nodes leave questions unanswered: the plugin asks them once more before
OpenSM drops them. Only OpenSM's own log tells what it drops: the lines of drop_mgr_*. And a routing in which one leaves a Set
unanswered."""

import contextlib
import re
import time
import unittest

from plugin_fabric import BUILD, PluginFabric, plan_text
from served_fabric import SHIM, wait_until

TREE = "tree:k=4,n=2"
NODE_INFO, SWITCH_INFO, PORT_INFO, P_KEYS, FORWARDING_TABLE = "11", "12", "15", "16", "19"
LEAF = "1"  # OpenSM's own, as a directed route


class Losing(PluginFabric):
    """OpenSM loses the questions that `lose` says."""

    @property
    def order(self):
        return self.directory / "lost_questions"

    def start_opensm(self, *options):
        # Behind the recorder, which writes down what OpenSM has sent.
        shim = self.environment()["LD_PRELOAD"]
        assert shim.startswith(SHIM)
        process = self.start("opensm", "-F", self.settings(), "-e", "-f", self.log, "-D", "0x07", *options,
                             LD_PRELOAD=f"{shim}:{BUILD}/tests/system/liblost_questions.so", LOST_QUESTIONS=str(self.order))
        wait_until(lambda: self.sweeps() > 0, 60, "SUBNET UP")
        return process

    def lose(self, attribute, modifier, path, times=1, of="question"):
        scratch = self.directory / "lost_questions.tmp"
        scratch.write_text(f"{of} {attribute} {modifier:x} {path} {times:x}\n")
        scratch.rename(self.order)

    @contextlib.contextmanager
    def without_traps(self):
        """Or a trap has OpenSM begin its sweep anew."""
        mark = self.directory / "lost_questions.traps"
        mark.touch()
        yield
        mark.unlink(missing_ok=True)

    def wait_for_silence(self, sweeps):
        """Until all that OpenSM asks but what it has lost is answered. It waits for that one for 0.8 s."""
        def sent():
            return sum(file.stat().st_size for file in self.watch.directory.glob("*.wire"))
        known, since = sent(), time.monotonic()
        while time.monotonic() - since < 0.25 and self.sweeps() == sweeps:
            time.sleep(0.02)
            if sent() != known:
                known, since = sent(), time.monotonic()

    def cut_where_lost(self, sweeps):
        """The cable of OpenSM's own leaf over which the last question went that it has lost, in that sweep."""
        self.wait_for_silence(sweeps)
        with self.without_traps():
            self.heddle("link", "leaf-0", self.lost_routes()[-1].split(",")[1], "down")
            wait_until(lambda: self.sweeps() > sweeps, 60, "the heavy sweep")

    def lost_routes(self):
        record = self.directory / "lost_questions.lost"
        return record.read_text().splitlines() if record.exists() else []

    def lost(self):
        return len(self.lost_routes())

    def heavy_sweep(self):
        """What OpenSM writes into its log meanwhile."""
        sweeps, before = self.sweeps(), len(self.log_text())
        self.daemon.command("heavy_sweep")
        wait_until(lambda: self.sweeps() > sweeps, 60, "the heavy sweep")
        return self.log_text()[before:]

    def way_to(self, name):
        """A directed route through OpenSM's own leaf."""
        _, text, _ = self.run("ibnetdiscover")
        leaf = re.search(r'^Switch\s+\d+ "\S+"\s+# "leaf-0".*?\n\n', text, re.M | re.S).group()
        port = re.search(rf'^.(\d+).*# "{name}[ "]', leaf, re.M).group(1)
        return f"{LEAF},{port}"


class Asking(unittest.TestCase):
    def dropped(self, log):
        return [line for line in log.splitlines() if re.search(r" drop_mgr_\w+: ", line)]

    def expect_nobody_dropped(self, log, nodes):
        self.assertEqual(self.dropped(log), [])
        self.assertEqual(re.findall(r"(\d+) nodes that did not answer at first do now", log), [str(nodes)])

    def check_one_lost(self, served, *question, nodes=1):
        lost = served.lost()
        served.lose(*question)
        log = served.heavy_sweep()
        self.assertEqual(served.lost(), lost + 1)
        self.expect_nobody_dropped(log, nodes)

    def test_one_lost_question_of_a_live_switch_or_host_takes_nobody_out(self):
        with Losing(TREE) as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            self.assertEqual(self.dropped(served.log_text()), [])
            tables = served.tables()
            host, spine = served.way_to("host-1"), served.way_to("spine-0")
            port = int(spine.split(",")[1])
            for question in ((P_KEYS, 0, LEAF), (PORT_INFO, port, LEAF), (P_KEYS, 0, spine), (SWITCH_INFO, 0, spine),
                             (PORT_INFO, 0, spine), (PORT_INFO, 1, spine), (PORT_INFO, 1, host), (NODE_INFO, 0, host)):
                with self.subTest(question=question):
                    self.check_one_lost(served, *question)
            everybody = len(re.findall(r"^(?:Switch|Ca)\s", served.run("ibnetdiscover")[1], re.M))
            for question in (NODE_INFO, 0, LEAF), (SWITCH_INFO, 0, LEAF), (PORT_INFO, 0, LEAF):
                with self.subTest(question=question):
                    # The way to all the others. OpenSM's own host is found in any case.
                    self.check_one_lost(served, *question, nodes=everybody - 1)
            self.assertEqual(served.tables(), tables)

    def test_a_host_that_has_just_come_is_found_though_the_question_was_lost(self):
        # Random run 1300193 of the real programs: OpenSM had forgotten all hosts, one did not answer, and OpenSM set its link Down.
        with Losing(TREE) as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            host = served.way_to("host-1")
            port = host.split(",")[1]
            served.heddle("link", "leaf-0", port, "down")
            served.heavy_sweep()
            wait_until(lambda: re.search("Removed port .* node: ?host-1 ", served.log_text()), 20, "host-1's end")
            before, lost = len(served.log_text()), served.lost()
            served.lose(NODE_INFO, 0, host)
            served.heddle("link", "leaf-0", port, "up")  # the trap has OpenSM sweep
            wait_until(lambda: served.lost() > lost, 20, "the lost question")
            sweeps = served.sweeps()  # OpenSM waits for its answer for 0.8 s
            wait_until(lambda: served.sweeps() > sweeps, 60, "the heavy sweep")
            self.assertEqual(self.state(served, ("leaf-0", port)), "Active")
            log = served.log_text()[before:]
            self.assertRegex(log, "Discovered new port .* node: ?host-1 ")
            self.assertEqual(re.findall(r"(\d+) nodes that did not answer at first are known now", log), ["1"])

    def test_a_host_that_has_just_come_is_found_though_a_cable_on_the_way_is_cut(self):
        # Random run 1800855 of the real programs: its switch had been found over the cable that was cut then.
        leaf, port = r"1,\d+,2", "1"  # leaf-1, by any spine
        with Losing(TREE) as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            served.heddle("link", "leaf-1", port, "down")
            served.heavy_sweep()
            wait_until(lambda: re.search("Removed port .* node: ?host-", served.log_text()), 20, "the host's end")
            before, lost = len(served.log_text()), served.lost()
            served.lose(NODE_INFO, 0, f"{leaf},{port}")
            with served.without_traps():
                served.heddle("link", "leaf-1", port, "up")
                sweeps = served.sweeps()
                served.daemon.command("heavy_sweep")
                wait_until(lambda: served.lost() > lost, 20, "the lost question")
                served.cut_where_lost(sweeps)
            self.assertEqual(self.state(served, ("leaf-1", port)), "Active")
            log = served.log_text()[before:]
            self.assertRegex(log, "Discovered new port .* node: ?host-")
            self.assertEqual(re.findall(r"(\d+) nodes that did not answer at first are known now", log), ["1"])

    def test_two_lost_questions_take_nobody_out(self):
        # Random run 270542 of the real programs.
        with Losing(TREE) as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            served.lose(PORT_INFO, 1, served.way_to("spine-0"), times=2)
            log = served.heavy_sweep()
            self.assertEqual(served.lost(), 2)
            self.expect_nobody_dropped(log, 1)

    def test_a_cable_that_is_cut_during_the_sweep_takes_nobody_out_who_is_reached_by_another(self):
        # Random run 400213 of the real programs: OpenSM's routes to a leaf and to its host led over the cable.
        leaf = r"1,\d+,2"  # leaf-1, by any spine
        for attribute, modifier, route, nodes in ((P_KEYS, 0, leaf, 1), (PORT_INFO, 2, leaf, 2), (PORT_INFO, 1, rf"{leaf},1", 1)):
            with self.subTest(attribute=attribute, route=route), Losing(TREE) as served:
                served.start_opensm()
                served.daemon.wait(event="subnet_up")
                sweeps, before, lost = served.sweeps(), len(served.log_text()), served.lost()
                served.lose(attribute, modifier, route)
                served.daemon.command("heavy_sweep")
                wait_until(lambda: served.lost() > lost, 20, "the lost question")
                served.cut_where_lost(sweeps)
                self.expect_nobody_dropped(served.log_text()[before:], nodes)

    def test_many_behind_a_cable_that_is_cut_are_asked_few_at_a_time(self):
        # OpenSM has four questions under way, so eighteen in vain take 3.6 s, after which none is asked again.
        with Losing("tree:k=18,n=2") as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            sweeps, before, lost = served.sweeps(), len(served.log_text()), served.lost()
            # Hosts of the last leaf, by any spine: OpenSM asks them last.
            served.lose(NODE_INFO, 0, r"1,\d+,18,([1-9]|1[0-8])", times=18)
            served.daemon.command("heavy_sweep")
            wait_until(lambda: served.lost() == lost + 18, 20, "the lost questions")
            served.cut_where_lost(sweeps)
            self.expect_nobody_dropped(served.log_text()[before:], 18)

    def test_of_a_switch_that_keeps_silent_about_a_port_that_port_is_taken_out_alone(self):
        with Losing(TREE) as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            sweeps, before, lost = served.sweeps(), len(served.log_text()), served.lost()
            served.leave_unjudged()  # OpenSM takes a link out that is up
            served.lose(PORT_INFO, 2, r"1,\d+,2", times=2)  # a host's port of leaf-1
            served.daemon.command("heavy_sweep")
            wait_until(lambda: served.lost() == lost + 2, 20, "OpenSM's question and the plugin's")
            served.lose(NODE_INFO, 0, r"1,.*", times=1)  # by the other route
            wait_until(lambda: served.lost() == lost + 3, 20, "the second one of the plugin")
            wait_until(lambda: served.sweeps() > sweeps, 60, "the heavy sweep")
            unreachable = re.findall(r"Unreachable node (\w+)", served.log_text()[before:])
            self.assertEqual(len(unreachable), 1, "the host behind it")

    def test_a_switch_that_is_silent_for_a_moment_keeps_its_links(self):
        with Losing(TREE) as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            tables = served.tables()
            sweeps, before = served.sweeps(), len(served.log_text())
            served.heddle("fault", "agent", "spine-1", "--mute-sma")
            served.daemon.command("heavy_sweep")
            wait_until(lambda: "Timeout while getting" in served.log_text()[before:], 20, "OpenSM's time-out")
            served.heddle("fault", "agent", "spine-1")
            wait_until(lambda: served.sweeps() > sweeps, 60, "the heavy sweep")
            self.expect_nobody_dropped(served.log_text()[before:], 1)
            self.assertEqual(served.tables(), tables)

    def test_a_link_that_trains_anew_during_the_sweep_is_not_routed_over_until_both_ends_are_active(self):
        # Random run 260151 of the real programs: one end was read before the cable was cut, the other after it was mended.
        with Losing(TREE, "--training-delay", "0.05") as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            tables = served.tables()
            cable = next(ends for _, ends in served.cables() if ("spine-0", 2) in ends)
            cable = sorted(cable, key=lambda end: end != ("spine-0", 2))
            sweeps, before, lost = served.sweeps(), len(served.log_text()), served.lost()
            served.lose(PORT_INFO, 2, served.way_to("spine-0"))
            served.daemon.command("heavy_sweep")
            wait_until(lambda: served.lost() > lost, 20, "the lost question")
            served.wait_for_silence(sweeps)
            with served.without_traps():
                served.heddle("link", "spine-0", 2, "down")
                served.heddle("link", "spine-0", 2, "up")
                wait_until(lambda: served.sweeps() > sweeps, 60, "the heavy sweep")
            self.assertEqual(self.state(served, cable[1]), "Active")
            self.assertEqual(re.findall(r"(\d+) links have trained anew", served.log_text()[before:]), ["1"])
            wait_until(lambda: served.tables() == tables, 20, "the tables of before")

    def test_a_link_that_goes_off_during_the_sweep_is_not_used_in_place_of_a_lost_one(self):
        # Random run 400140 of the real programs: the daemon had not heard yet that a sweep had begun.
        with Losing("tree:k=2,n=2") as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            going, other = (cable for cable in served.cables() if "leaf-1" in dict(cable[1]))
            at_spine, (spine, port) = next(end for end in zip(*going) if end[1][0] != "leaf-1")
            served.new_plan(plan_text(1, off=[going[0]]))
            lost, sweeps = served.lost(), served.sweeps()
            served.lose(P_KEYS, 0, LEAF)
            served.heddle("link", "leaf-1", dict(other[1])["leaf-1"], "down")  # the trap has OpenSM sweep
            wait_until(lambda: served.lost() > lost, 20, "the lost question")
            served.wait_for_silence(sweeps)
            served.set_port(spine, port, "disable")
            wait_until(lambda: served.sweeps() > sweeps, 60, "the heavy sweep")
            self.assertFalse(served.uses(served.tables(), at_spine))

    def state(self, served, end):
        name, port = end
        _, text, _ = served.run("smpquery", "portinfo", served.lid_of(name), port)
        return re.search(r"LinkState:\.*(\w+)", text).group(1)

    def test_who_is_silent_while_opensm_is_cut_off_is_not_dropped(self):
        # Random run 270067 of the real programs: OpenSM's own leaf died for a while, and came back in time for the Set that took
        # the link of a host down which had only not been able to answer.
        with Losing(TREE) as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            host = served.way_to("host-1")
            sweeps, before, lost = served.sweeps(), len(served.log_text()), served.lost()
            served.lose(PORT_INFO, 1, host)
            served.daemon.command("heavy_sweep")
            wait_until(lambda: served.lost() > lost, 20, "the lost question")
            served.wait_for_silence(sweeps)
            served.heddle("node", "leaf-0", "kill")
            wait_until(lambda: "the own switch does not answer any more: 1 nodes" in served.log_text()[before:], 20, "its silence")
            served.heddle("node", "leaf-0", "revive")
            self.assertEqual(self.dropped(served.log_text()[before:]), [])

    def test_an_agent_that_stays_silent_is_asked_again_in_one_sweep_only(self):
        with Losing(TREE) as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            port = served.way_to("spine-0").split(",")[1]  # of each leaf
            served.leave_unjudged()  # OpenSM drops it
            before = len(served.log_text())
            served.lose(P_KEYS, 0, rf"1,(\d+,\d+,)?{port}", times=5)
            served.daemon.command("heavy_sweep")
            wait_until(lambda: served.lost() == 5, 60, "five lost questions: three, one and one")
            self.assertEqual(served.log_text()[before:].count("INITIATING HEAVY SWEEP"), 3)

    def test_what_was_answered_of_a_routing_that_broke_off_is_in_force(self):
        # Random run 270048 of the real programs: entries that led around a link, and that OpenSM had not said to be there,
        # were taken away when that link was lost, as if they still led over it.
        with Losing("torus:4x4,hosts=1,links=2") as served:
            served.start_opensm("-l", "1")
            served.daemon.wait(event="subnet_up")
            ends = next(ends for ends, names in served.cables() if ("sw-0-2", 5) in names)
            self.assertTrue(served.new_plan(plan_text(1))["confirmed"])
            sweeps, lost = served.sweeps(), served.lost()
            # Of sw-3-2: one row and two columns away, whichever is first.
            row, column = "[45]", "[6-9]"
            served.lose(FORWARDING_TABLE, 0, f"1,({row},{column},{column}|{column},{row},{column}|{column},{column},{row})")
            served.write_plan(plan_text(2, off=[ends]))
            served.daemon.command("new_plan")
            wait_until(lambda: served.lost() > lost, 20, "the lost block")
            # OpenSM waits for its answer for 0.8 s.
            for words in (("node", "sw-3-1", "kill"), ("node", "sw-3-1", "revive"), ("link", "sw-0-2", 5, "down"),
                          ("link", "sw-0-2", 5, "up")):
                served.heddle(*words)
            self.assertEqual(served.sweeps(), sweeps)
            wait_until(lambda: served.sweeps() > sweeps, 60, "the heavy sweep")

    def test_a_set_that_arrived_though_its_answer_was_lost_is_in_force(self):
        with Losing(TREE) as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            ends = next(ends for ends, names in served.cables() if ("spine-0", 2) in names)
            sweeps, before, lost = served.sweeps(), len(served.log_text()), served.lost()
            served.lose(FORWARDING_TABLE, 0, served.way_to("spine-0"), of="answer")
            served.write_plan(plan_text(1, off=[ends]))
            served.daemon.command("new_plan")
            wait_until(lambda: served.lost() > lost, 20, "the lost answer")
            wait_until(lambda: served.sweeps() > sweeps, 60, "the heavy sweep")
            self.assertEqual(re.findall(r"blocks of the tables of (\d+) switches read", served.log_text()[before:]), ["1"])


if __name__ == "__main__":
    unittest.main()
