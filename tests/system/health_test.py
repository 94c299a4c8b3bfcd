"""docs/health.md, as it stands there: its commands are typed, one after the other, on a fabric that is broken on purpose."""

import json
import os
import re
import subprocess
import time
import unittest

from daemon_under_test import HEDDLE, Daemon
from demo_fabric import demo_fabric, play
from served_fabric import ServedFabric

NAME = f"health-{os.getpid()}"
# 20 s of the fabric in a second. No traffic: what a link throws away while it trains fills 16-bit counters now and then.
SETTINGS = {"fabric.generate": "xgft:3;4,4,4;1,4,4", "fabric.serve": NAME, "fabric.time_scale": "20",
            "fabric.training_delay": "1s", "sampling.interval": "10s", "sampling.timeout": "10s", "sweep.light_interval": "10s",
            "log.level": "error"}


def timeless(text):
    return re.sub(r"\(for [^)]*\)", "(for ...)", text)


class Health(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_a_transcript(self):
        # 20 s of the fabric in a second.
        with demo_fabric(NAME, **{"fabric.time_scale": "20", "sampling.interval": "10s", "sampling.timeout": "10s"}) as daemon:
            self.assertEqual(play(self, "health.md", daemon, NAME, timeless), 6)

    def test_exit_statuses_tell_ill_from_unknown(self):
        with Daemon(SETTINGS) as daemon:
            daemon.wait_for_sweeps(3)
            self.assertEqual(daemon.heddle_raw("health").returncode, 0)
            nobody = daemon.heddle_raw("health", "--host", "nobody")
            self.assertEqual(nobody.returncode, 2)
            self.assertIn("no node of the fabric is called 'nobody'", nobody.stderr)
            nameless = daemon.heddle_raw("health", "--host", "")
            self.assertEqual((nameless.returncode, nameless.stdout), (2, ""))
            self.assertIn("the name of a host is wanted", nameless.stderr)
            self.assertEqual(daemon.heddle_raw("--json", "health", "--host", "host-0").returncode, 0)
            subprocess.run([HEDDLE, "sim", "--name", NAME, "fault", "errors", "host-0 mlx5_0", "1", "rcv_errors", "50"], check=True,
                           capture_output=True, timeout=20)
            end = time.monotonic() + 30
            while daemon.heddle_raw("health", "--host", "host-0").returncode != 1:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.2)
            self.assertEqual(daemon.heddle_raw("health", "--host", "host-1").returncode, 0)
            health = json.loads(daemon.heddle_raw("--json", "health").stdout)
            self.assertEqual((health["well"], health["sure"] + health["likely"]), (False, len(health["findings"])))
            self.assertEqual(health["findings"][0]["rule"], "receive-errors")
            self.assertIn('heddle_health_findings{rule="receive-errors"} 1', daemon.metrics())
            self.assertIn('heddle_health_findings{rule="link-width"} 0', daemon.metrics())
            chosen = subprocess.run(["curl", "-sf", "--unix-socket", str(daemon.socket),
                                     "http://heddled/metrics?collect[]=heddle_health_findings", "-g"], capture_output=True,
                                    text=True, timeout=20, check=True)
            self.assertEqual({line.split("{")[0] for line in chosen.stdout.splitlines() if line[0] != "#"}, {"heddle_health_findings"})
            socket = daemon.socket
        gone = subprocess.run([HEDDLE, "--socket", socket, "health"], capture_output=True, timeout=20, check=False)
        self.assertEqual(gone.returncode, 2)

    def test_a_bad_link_is_taken_out_and_comes_back_on_trial(self):
        with Daemon({**SETTINGS, "health.isolate": "enforce", "health.window": "2min", "health.long_window": "3min",
                     "health.trial_after": "5min", "regulation.packet_life": "5ms", "regulation.drain": "50ms"}) as daemon:
            daemon.wait_for_sweeps(3)
            subprocess.run([HEDDLE, "sim", "--name", NAME, "fault", "errors", "leaf-0-1", "7", "symbol", "100"], check=True,
                           capture_output=True, timeout=20)
            self.wait_for_state(daemon, "leaf-0-1/7 -- spine-0-2/2", "off")
            self.assertRegex(daemon.heddle("status"), "health .*1 bad link is out of use until the next trial")
            self.assertRegex(daemon.heddle_raw("health").stdout, "out of use for .* more: leaf-0-1/7 -- spine-0-2/2: symbol-errors")
            self.wait_for_state(daemon, "leaf-0-1/7 -- spine-0-2/2", "active")
            said = daemon.heddle_raw("health")
            self.assertEqual(said.returncode, 0, "that it went was no fault of its own: " + said.stdout)
            said = [event["text"] for event in map(json.loads, daemon.heddle("--json", "events").splitlines())]
            self.assertTrue(any("symbol-errors: 100 symbol errors" in text and "by health" in text for text in said), said)

    def wait_for_state(self, daemon, name, state):
        end = time.monotonic() + 60
        links = {}
        while links.get(name) != state:
            self.assertLess(time.monotonic(), end, f"{name} is not {state}: {links.get(name)}\n{daemon.log_text()}")
            links = {link["name"]: link["state"] for link in daemon.json("links", "--power")["links"]}
            time.sleep(0.2)


class BesideOpenSm(unittest.TestCase):
    def refuted(self, daemon):
        said = daemon.heddle_raw("--json", "health").stdout
        return [finding for finding in json.loads(said or '{"findings": []}')["findings"] if finding["rule"] == "refuted-routes"]

    def read_tables_of(self, engine, condition, what):
        """Until the tables that OpenSM's engine wrote have been read back and proved."""
        with ServedFabric("torus:4x4,hosts=1") as served:
            served.start_opensm("-R", engine)
            settings = {"fabric.backend": "umad", "sm.mode": "off", "metrics.listen": "", "sampling.interval": "1s"}
            with Daemon(settings, served.shim("host-0 mlx5_0")) as daemon:
                daemon.wait_for(lambda _: condition(daemon), what, seconds=240)
                return self.refuted(daemon)

    def test_shortest_paths_on_a_torus_wait_for_one_another(self):
        refuted = self.read_tables_of("minhop", self.refuted, "a refuted route")
        self.assertEqual({finding["sure"] for finding in refuted}, {"likely"})
        self.assertIn("in a circle of", refuted[0]["what"])

    def test_up_and_down_they_do_not(self):
        def read_well(daemon):
            age = daemon.json("status").get("tables", {}).get("age_seconds")
            return age is not None and age > 0 and not self.refuted(daemon)
        self.assertEqual(self.read_tables_of("updn", read_well, "tables that were read"), [])


if __name__ == "__main__":
    unittest.main()
