"""Plans inside the real OpenSM: links that are off, LID planes, stages, broken plans, restarts, a standby that takes
over, multicast, and the pitfalls of facts/opensm.md."""

import json
import random
import re
import signal
import unittest

from plugin_fabric import PLUGIN, PluginFabric, plan_text
from served_fabric import wait_until

TREE = "tree:k=4,n=2"


class PlanTest(unittest.TestCase):
    def spare_cables(self, served):
        """Without those of OpenSM's own leaf: each is its only way up and down to a spine, and no plan of the daemon takes
        a manager's only way to a switch."""
        return [cable for cable in served.cables() if not any(name == "leaf-0" for name, _ in cable[1])]

    def ranks(self, served):
        """As a daemon would choose them for a tree of two levels: the names tell."""
        _, text, _ = served.run("ibnetdiscover")
        return {f"0x{guid}": 0 if name.startswith("spine") else 1
                for guid, name in re.findall(r'^Switch\s+\d+ "S-([0-9a-f]+)"\s+# "(.*?)"', text, re.M)}

    def expect_good(self, served, *off):
        refuted, words = served.check_routes()
        self.assertEqual(refuted, 0, words)
        self.assertFalse(served.uses(served.tables(), *off))


class Links(PlanTest):
    def test_a_link_is_left_turned_off_and_comes_back(self):
        with PluginFabric(TREE, "--training-delay", "0.5") as served:
            served.start_opensm()
            ends, ((name, port), _) = served.cables()[0]
            ranks = self.ranks(served)
            self.assertTrue(served.new_plan(plan_text(1, ranks))["confirmed"])
            self.assertTrue(served.uses(served.tables(), *ends))
            done = served.new_plan(plan_text(2, ranks, off=[ends]))
            self.assertEqual((done["confirmed"], done["epoch"], done["relaxed"]), (True, 2, False))
            self.expect_good(served, *ends)
            settled = served.tables()

            sweeps = served.sweeps()
            served.set_port(name, port, "disable")
            wait_until(lambda: served.sweeps() > sweeps, 30, "the heavy sweep")
            # Nothing had to change: the tables had been around the link before it went.
            self.assertEqual(served.tables(), settled)

            # Back on, and still in the plan: up, but not used.
            sweeps = served.sweeps()
            served.set_port(name, port, "enable")
            wait_until(lambda: served.sweeps() > sweeps, 30, "the heavy sweep")
            self.expect_good(served, *ends)
            self.assertTrue(served.new_plan(plan_text(3, ranks))["confirmed"])
            self.assertTrue(served.uses(served.tables(), *ends))
            self.assertEqual(served.errors(), [])

    def test_a_link_that_may_be_off_by_now_is_not_used_in_need(self):
        """A plan that has it off is confirmed, so the daemon may turn it off at any moment from there on; the next plan would part a leaf
        from all others. OpenSM goes on using what it has to, but not that one, until it has looked at the ports again."""
        with PluginFabric(TREE) as served:
            served.start_opensm()
            ranks = self.ranks(served)
            off, *others = [ends for ends, names in served.cables() if any(name == "leaf-1" for name, _ in names)]
            self.assertTrue(served.new_plan(plan_text(1, ranks, off=[off]))["confirmed"])
            parting = {"off": [off], "planes": [{"avoid": [list(ends) for ends in others]}]}
            self.assertTrue(served.new_plan(plan_text(2, ranks, **parting))["relaxed"])
            self.expect_good(served, *off)
            # Whoever turns it off hears of a heavy sweep before it begins, and leaves it on then.
            sweeps = served.sweeps()
            served.daemon.command("heavy_sweep")
            wait_until(lambda: served.sweeps() > sweeps, 30, "the heavy sweep")
            self.assertTrue(served.new_plan(plan_text(3, ranks, **parting))["relaxed"])
            self.assertTrue(served.uses(served.tables(), *off))

    def test_a_link_that_returns_is_used_only_when_it_is_active(self):
        with PluginFabric(TREE, "--training-delay", "0.5") as served:
            served.start_opensm()
            ends, ((name, port), _) = served.cables()[0]
            before = served.tables()
            for action in ("down", "up"):
                sweeps, since = served.sweeps(), len(served.daemon.poll())
                served.heddle("link", name, port, action)
                wait_until(lambda: served.sweeps() > sweeps, 30, "the heavy sweep")
                if action == "down":
                    self.expect_good(served, *ends)
            # Not the sweep that found it wrote the tables that use it, but the routing after SUBNET UP.
            served.daemon.wait(event="routing_done", kind="reroute", since=since)
            wait_until(lambda: served.tables() == before, 20, "the tables of before")
            self.assertIn("links have come up since routing", served.log_text())
            self.assertEqual(served.errors(), [])

    def test_planes_change_one_by_one(self):
        with PluginFabric(TREE) as served:
            served.start_opensm("-l", "1")
            ranks = self.ranks(served)
            ends, _ = served.cables()[0]
            nothing = {"avoid": []}
            served.new_plan(plan_text(1, ranks, planes=[nothing, nothing]))
            before = served.tables()
            done = served.new_plan(plan_text(2, ranks, planes=[nothing, {"avoid": [list(ends)]}]))
            self.assertTrue(done["confirmed"])
            after = served.tables()
            changed = {lid for guid in before for lid in before[guid] if before[guid][lid] != after[guid].get(lid)}
            self.assertTrue(changed)
            self.assertTrue(all(lid % 2 == 1 for lid in changed), changed)
            served.new_plan(plan_text(3, ranks, off=[ends], planes=[nothing, nothing]))
            self.expect_good(served, *ends)

    def test_a_plan_that_changes_nothing_sends_nothing(self):
        with PluginFabric(TREE) as served:
            served.start_opensm()
            ranks = self.ranks(served)
            ends, _ = served.cables()[0]
            served.new_plan(plan_text(1, ranks))
            self.assertEqual(served.new_plan(plan_text(2, ranks))["lft_blocks"], 0)
            self.assertGreater(served.new_plan(plan_text(3, ranks, off=[ends]))["lft_blocks"], 0)
            self.assertEqual(served.new_plan(plan_text(4, ranks, off=[ends]))["lft_blocks"], 0)

    def test_stages_are_written_one_after_the_other(self):
        with PluginFabric("torus:5x5,hosts=1") as served:
            served.start_opensm()
            staged = 0
            for number, (ends, _) in enumerate(served.cables()[:24:4]):
                epoch = 100 * (number + 1)
                served.new_plan(plan_text(epoch))
                for stage in range(20):
                    plane = {"avoid": [list(ends)], "from": [], "stage": stage}
                    done = served.new_plan(plan_text(epoch + stage + 1, planes=[plane]))
                    self.assertTrue(done["confirmed"])
                    if stage + 1 >= done["stages"][0]:
                        break
                    staged += 1
                self.expect_good(served, *ends)
            self.assertGreater(staged, 0)
            self.assertEqual(served.errors(), [])


class Broken(PlanTest):
    def test_broken_plans_are_refused_with_a_reason_and_change_nothing(self):
        with PluginFabric(TREE, "--training-delay", "0.1") as served:
            served.start_opensm()
            ends, ((name, port), _) = served.cables()[0]
            good = plan_text(1, self.ranks(served), off=[ends])
            self.assertTrue(served.new_plan(good)["confirmed"])
            sweeps = served.sweeps()
            served.set_port(name, port, "disable")
            wait_until(lambda: served.sweeps() > sweeps, 30, "the heavy sweep")
            settled = served.tables()
            chance = random.Random(1)
            damaged = [good[:cut] for cut in sorted(chance.sample(range(len(good)), 15))]
            for place in chance.sample(range(len(good)), 25):
                damaged.append(good[:place] + chr(ord(good[place]) ^ 1 << chance.randrange(7)) + good[place + 1:])
            for number, text in enumerate(damaged):
                done = served.new_plan(text)
                self.assertEqual((done["epoch"], done["confirmed"]), (1, True), text)
                self.assertEqual(served.log_text().count("plan refused: "), number + 1)
            self.assertEqual(served.tables(), settled)
            for line in served.errors():
                self.assertRegex(line, r"ERR HE02: plan refused: .*plan\.json: .*; going on with the plan of epoch 1")
            served.plan.unlink()
            self.assertEqual(served.new_plan_gone()["epoch"], 1)
            self.assertEqual(served.tables(), settled)

    def test_a_start_with_a_broken_plan_goes_on_with_the_one_before(self):
        with PluginFabric(TREE) as served:
            (served.directory / "plan.json.previous").write_text(plan_text(6))
            served.write_plan("{}")
            errors = served.bring_up()
            self.assertEqual(len(errors), 1)
            self.assertRegex(errors[0], "plan refused: .*checksum.*going on with .*previous of epoch 6")

    def test_a_pipe_in_place_of_the_plan_does_not_stop_opensm(self):
        with PluginFabric(TREE) as served:
            import os
            os.mkfifo(served.plan)
            self.assertRegex(served.bring_up()[0], "not a plain file")


class Restarts(PlanTest):
    def off(self, served, count=3):
        """A plan with so many links off, and they are off. The ends of them."""
        chosen = served.cables()[::9][:count]
        off = [ends for ends, _ in chosen]
        self.assertTrue(served.new_plan(plan_text(1, self.ranks(served), off=off))["confirmed"])
        sweeps = served.sweeps()
        for _, ((name, port), _) in chosen:
            served.set_port(name, port, "disable")
        wait_until(lambda: served.sweeps() > sweeps, 30, "the heavy sweep")
        return [end for ends in off for end in ends]

    def test_opensm_killed_and_started_again_has_the_same_tables(self):
        with PluginFabric(TREE) as served:
            process = served.start_opensm()
            ends = self.off(served)
            settled = served.tables()
            since = len(served.daemon.poll())
            process.kill()
            process.wait()
            served.log.unlink()
            served.start_opensm()
            self.assertEqual(served.tables(), settled)
            self.expect_good(served, *ends)
            restarted = served.daemon.wait(event="hello", since=since)
            self.assertEqual(restarted["last"]["epoch"], 0)
            self.assertEqual(served.daemon.wait(event="routing_done", since=since)["epoch"], 1)

    def test_opensm_killed_and_started_again_goes_in_stages_from_what_the_switches_hold(self):
        """The plan has changed meanwhile, and not a little: written in no order, its tables and those of before have loops together. The
        watcher of the wire looks on."""
        with PluginFabric("torus:5x5,hosts=1") as served:
            process = served.start_opensm()
            self.assertTrue(served.new_plan(plan_text(1))["confirmed"])
            before = served.tables()
            since = len(served.daemon.poll())
            process.kill()
            process.wait()
            served.log.unlink()
            served.write_plan(plan_text(2, off=[ends for ends, _ in served.cables()[:24:8]]))
            served.start_opensm()
            self.assertEqual(served.daemon.wait(event="hello", since=since)["last"]["epoch"], 0)
            served.daemon.wait(event="routing_done", confirmed=True, since=since)
            self.assertNotEqual(served.tables(), before)
            self.assertEqual(served.errors(), [])

    def test_the_daemon_may_come_and_go(self):
        with PluginFabric(TREE) as served:
            served.start_opensm()
            served.daemon.wait(event="subnet_up")
            served.daemon.connection.close()
            served.daemon.connection = None
            served.daemon.events.clear()
            hello = served.daemon.wait(event="hello")
            self.assertEqual((hello["state"], hello["dropped"], hello["last"]["confirmed"]), ("master", 0, True))

    def test_a_standby_takes_over_and_keeps_the_links_that_are_off_out(self):
        with PluginFabric(TREE) as served:
            master = served.start_opensm("-p", "10")
            ends = self.off(served)
            settled = served.tables()
            standby_log = served.directory / "standby.log"
            conf = served.settings("sminfo_polling_timeout 300", "polling_retry_number 2", socket="none.sock")
            served.start("opensm", "-F", conf, "-e", "-f", standby_log, "-D", "0x03", "-p", "1",
                         node="host-9 mlx5_0", OSM_CACHE_DIR=str(served.directory / "c2"))
            wait_until(lambda: standby_log.exists() and "STANDBY" in standby_log.read_text(), 30, "the standby")
            master.kill()
            master.wait()
            wait_until(lambda: "SUBNET UP" in standby_log.read_text(), 60, "the take-over")
            self.assertIn("plan of epoch 1", standby_log.read_text())
            self.expect_good(served, *ends)
            self.assertEqual(served.tables(), settled)


    def test_a_handover_of_mastership_is_told(self):
        """OpenSM has no event for it."""
        with PluginFabric(TREE) as served:
            served.start_opensm("-p", "1")
            served.daemon.wait(event="subnet_up")
            conf = served.settings(socket="none.sock")
            served.start("opensm", "-F", conf, "-e", "-f", served.directory / "higher.log", "-D", "0x03", "-p", "10",
                         node="host-9 mlx5_0", OSM_CACHE_DIR=str(served.directory / "c2"))
            served.daemon.wait(event="sm_state", state="standby", seconds=60)


class Multicast(PlanTest):
    def test_groups_leave_links_before_they_go_off(self):
        with PluginFabric(TREE) as served:
            served.start_opensm()
            hosts = ["host-0", "host-5", "host-10", "host-15"]
            for host in hosts:
                self.assertEqual(served.join(host), "0xc000")
            ranks = self.ranks(served)
            served.new_plan(plan_text(1, ranks))
            avoided, moved = [], 0
            for epoch, (ends, ((name, port), _)) in enumerate(self.spare_cables(served)[::5], 2):
                avoided.append((ends, (name, port)))
                since = len(served.daemon.poll())
                done = served.new_plan(plan_text(epoch, ranks, off=[each for each, _ in avoided][-3:]))
                self.assertTrue(done["confirmed"])
                if any(event.get("multicast_groups") for event in served.daemon.poll()[since:]):
                    moved += 1
                    self.assertFalse(served.daemon.wait(event="multicast_done", since=since)["errors"])
                forbidden = {end for each, _ in avoided[-3:] for end in each}
                self.assertTrue(served.multicast_arrives(hosts, forbidden))
            self.assertGreater(moved, 0)
            self.assertEqual(served.errors(), [])


class Pitfalls(PlanTest):
    def test_a_plugin_for_another_opensm_is_not_loaded_and_the_log_says_why(self):
        with PluginFabric(TREE) as served:
            image = (PLUGIN / "libheddle-opensm.so").read_bytes()
            self.assertIn(b"OpenSM 3.3.23\0", image)
            (served.directory / "libheddle-opensm.so").write_bytes(image.replace(b"OpenSM 3.3.23\0", b"OpenSM 3.3.99\0"))
            process = served.start("opensm", "-F", served.settings(), "-e", "-f", served.log, "-D", "0x03",
                                   libraries=served.directory)
            wait_until(lambda: "version mismatch" in served.log_text(), 20, "the message")
            self.assertIn("built against OpenSM 3.3.99", served.log_text())
            process.kill()

    def test_queries_with_an_explicit_service_level_get_it(self):
        with PluginFabric(TREE, "--data-vls", "8") as served:
            served.start_opensm(lines=["qos TRUE"])
            one, other = served.lid_of("host-0 mlx5_0"), served.lid_of("host-9 mlx5_0")
            for level in (0, 3):
                code, text, _ = served.run("saquery", "PR", f"--slid={one}", f"--dlid={other}", f"--sl={level}")
                self.assertEqual(code, 0)
                self.assertRegex(text, rf"sl\.*0x{level}\b")

    def test_a_reroute_with_an_error_is_not_confirmed(self):
        """OpenSM sweeps again then; its events by themselves would tell nothing of the error."""
        with PluginFabric(TREE) as served:
            served.start_opensm("-t", "100")
            # A leaf beside the link has other tables then, and is written to.
            ends, names = self.spare_cables(served)[-1]
            leaf = next(name for name, _ in names if name.startswith("leaf"))
            served.write_plan(plan_text(1, self.ranks(served), off=[ends]))
            served.heddle("fault", "agent", leaf, "--mute-sma")
            since = len(served.daemon.poll())
            served.daemon.command("new_plan")
            served.daemon.wait(event="subnet_up", since=since, seconds=60)
            done = [event for event in served.daemon.poll()[since:] if event["event"] == "routing_done"]
            self.assertTrue(done)
            self.assertFalse([event for event in done if event["kind"] == "reroute" and event["confirmed"]], done)

    def test_only_one_symbol_is_visible(self):
        import subprocess
        text = subprocess.run(["nm", "-D", "--defined-only", PLUGIN / "libheddle-opensm.so"], capture_output=True,
                              text=True, check=True).stdout
        self.assertEqual([line.split()[-1] for line in text.splitlines()], ["osm_event_plugin"])

    def test_the_time_of_every_callback_is_told(self):
        with PluginFabric(TREE) as served:
            served.start_opensm()
            served.daemon.command("status")
            figures = served.daemon.wait(event="timings")["callbacks"]
            self.assertEqual(figures["prepare"]["calls"], 1)
            self.assertLess(figures["prepare"]["longest_ns"], 10**9)


class Memory(PlanTest):
    def test_valgrind_has_nothing_to_say_of_the_plugin(self):
        with PluginFabric("tree:k=3,n=2", "--data-vls", "8") as served:
            tables = {"vlarb_high": [[i % 8, i + 1] for i in range(64)], "vlarb_low": [[1, 9]], "high_limit": 3,
                      "sl2vl": [i % 8 for i in range(16)]}
            served.write_plan(plan_text(1, qos=tables))
            report = served.directory / "valgrind.log"
            process = served.start("valgrind", "--leak-check=full", f"--log-file={report}", "opensm", "-F",
                                   served.settings("qos TRUE"), "-e", "-f", served.log, "-D", "0x03")
            wait_until(lambda: served.sweeps() > 0, 120, "SUBNET UP")
            ends, _ = served.cables()[0]
            self.assertTrue(served.new_plan(plan_text(2, off=[ends], qos=tables))["confirmed"])
            served.new_plan("{}")
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            text = report.read_text()
            self.assertIn("ERROR SUMMARY", text)
            blocks = re.split(r"^==\d+== *$", text, flags=re.M)
            # Not what the path of the checkout says.
            ours = [block for block in blocks if re.search(r"(at|by) 0x.*(heddle::|libheddle)", block)]
            self.assertEqual(ours, [])


if __name__ == "__main__":
    unittest.main()
