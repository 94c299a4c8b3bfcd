"""The page in headless Chromium, on fabrics of several kinds. The checks are in page_browser.mjs."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import hostile_names
import qos_drift
from daemon_under_test import BUILD, FABRICS, HEDDLE, SOURCE, Daemon
from prometheus_test import Prometheus
from served_fabric import Programs, wait_until

PACKAGES = BUILD / "daemon/web/page"
CHROMIUM = shutil.which("chromium")
EVERYTHING = "map,drag,numbers,link,table,search,keyboard,deep_links,time"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serving(settings, config=""):
    """A daemon whose page is at .url."""
    port = free_port()
    daemon = Daemon({"metrics.listen": f"127.0.0.1:{port}", "fabric.scenario": "demo", **settings}, config=config)
    daemon.url = f"http://127.0.0.1:{port}"
    return daemon


@unittest.skipUnless((PACKAGES / "node_modules").exists(), "built without the page (HEDDLE_PAGE=OFF)")
@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class PageTest(unittest.TestCase):
    def look(self, settings, checks=EVERYTHING):
        with serving(settings) as daemon:
            daemon.wait_for_sweeps(3)
            self.look_at(daemon, checks)

    def look_at(self, daemon, checks, **environment):
        done = subprocess.run(
            ["node", SOURCE / "tests/system/page_browser.mjs", checks, daemon.url],
            env={
                **os.environ,
                "HEDDLE_PAGE_PACKAGES": str(PACKAGES),
                "HEDDLE_CHROMIUM": CHROMIUM,
                "HEDDLE_PROGRAM": str(HEDDLE),
                "HEDDLE_SOCKET": str(daemon.socket),
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + daemon.log_text())
        print(done.stdout, end="")

    def test_a_fat_tree(self):
        self.look({"fabric.generate": "tree:k=6,n=3"})

    def test_a_large_tree_from_afar(self):
        self.look({"fabric.generate": "tree:k=13,n=3"}, "bundles")

    def test_a_torus(self):
        self.look({"fabric.generate": "torus:8x8,hosts=2"}, "map,numbers,search,time")

    @unittest.skipUnless(FABRICS.exists(), "shared data is missing")
    def test_superpod(self):
        self.look({"fabric.file": FABRICS / "superpod-krskp-hdr-2022.ibnetdiscover"}, "map,numbers,table,search,names,deep_links")

    @unittest.skipUnless(FABRICS.exists(), "shared data is missing")
    def test_search_finds_every_node_of_published_fabrics(self):
        """Of the small ones in every run (test_superpod has its own), of all by night: HEDDLE_NIGHT=1."""
        for file in sorted(FABRICS.glob("*.ibnetdiscover")):
            if os.environ.get("HEDDLE_NIGHT") == "1" or file.stat().st_size < 500_000:
                with self.subTest(file.name):
                    self.look({"fabric.file": file}, "search,names")

    def test_a_link_that_is_turned_off(self):
        self.look({"fabric.generate": "tree:k=4,n=3", "regulation.quiet": "4s", "regulation.policy": "general"}, "forced_off")

    def test_a_bad_cable(self):
        name = f"heddle-page-{os.getpid()}"
        # 20 s of the fabric in a second: bit error rates are known after half a minute.
        with serving({"fabric.generate": "tree:k=4,n=2", "fabric.serve": name, "fabric.scenario": "", "fabric.time_scale": "20",
                      "sampling.interval": "10s", "sampling.timeout": "10s"}) as daemon:
            daemon.wait_for_sweeps(3)
            daemon.heddle("sim", "--name", name, "fault", "errors", "leaf-0", "5", "symbol", "40")
            daemon.heddle("sim", "--name", name, "fault", "bits", "leaf-0", "6", "--uncorrectable", "5")
            wait_until(lambda: daemon.heddle_raw("health").returncode == 1, 30, "a finding")

            def rates():
                return {each["port"]: each["effective"] for each in daemon.json("health", "--bits")["ports"]}
            wait_until(lambda: all(rate is not None for rate in rates().values()) and rates()["leaf-0/6"] > 0, 60, "rates that are known")
            daemon.heddle("sim", "--name", name, "fault", "bits", "leaf-0", "6")
            self.look_at(daemon, "health,bits")

    def test_bad_links_that_are_out_of_use_and_those_that_must_stay(self):
        name = f"heddle-page-{os.getpid()}"
        with serving({"fabric.generate": "xgft:2;4,4;1,4", "fabric.serve": name, "fabric.scenario": "", "fabric.time_scale": "20",
                      "fabric.training_delay": "1s", "sampling.interval": "10s", "sampling.timeout": "10s", "sweep.light_interval": "10s",
                      "health.isolate": "enforce", "regulation.drain": "50ms", "regulation.packet_life": "5ms"}) as daemon:
            daemon.wait_for_sweeps(3)
            daemon.heddle("link", "pin", "leaf-1/5", "--for", "40h", "--reason", "storage")
            # leaf-0 is where the manager is: each of its cables is its only way to a spine.
            for leaf in ("leaf-2", "leaf-1"):
                daemon.heddle("sim", "--name", name, "fault", "errors", leaf, "5", "symbol", "100")
            daemon.wait_for(lambda status: status["health"]["isolated_links"] == 1, "a bad link out of use", seconds=60)
            self.look_at(daemon, "out_of_use")

    def test_what_is_drained_and_who_loads_which_link(self):
        with tempfile.TemporaryDirectory() as directory:
            jobs = pathlib.Path(directory) / "jobs.csv"
            jobs.write_text("17,host-0,host-5\n18,host-1,host-9\n")
            with serving({"fabric.generate": "xgft:2;4,4;1,4", "fabric.training_delay": "500ms", "sampling.interval": "500ms",
                          "regulation.drain": "1s", "jobs.source": str(jobs)}) as daemon:
                daemon.wait_for_sweeps(3)
                daemon.heddle("drain", "spine-1", "--reason", "fan 2")
                self.look_at(daemon, "drained_and_jobs")

    def test_what_differs_from_the_baseline(self):
        config = ('[[notify.destination]]\nname = "log"\ntype = "program"\nprogram = ["/bin/true"]\nevery = "100ms"\n'
                  '[[notify.destination]]\nname = "oncall"\ntype = "webhook"\nurl = "http://127.0.0.1:1/"\nevery = "100ms"\n')
        with serving({"fabric.generate": "xgft:2;4,4;1,4", "fabric.scenario": "", "sampling.interval": "500ms"}, config) as daemon:
            daemon.wait_for_sweeps(3)
            plan = daemon.directory / "cables.csv"
            cables = [[end[key] for end in (link["a"], link["b"]) for key in ("node", "port")] for link in daemon.json("links")["links"]]
            first, second = (cable for cable in cables if cable[0] == "leaf-0" and cable[1] in (5, 6))
            first[2:], second[2:] = second[2:], first[2:]
            rows = [["StartDevice", "StartPort", "EndDevice", "EndPort"], *cables, ["leaf-1", 9, "host-77", 1]]
            plan.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
            daemon.heddle("fabric", "baseline", "save", "--plan", str(plan))
            daemon.wait_for(lambda status: status["baseline"]["compared"], "the comparison")
            daemon.wait_for(lambda status: status["notify"][0]["sent"] > 0 and status["notify"][1]["trouble"], "a notice, and one that does not arrive")
            self.look_at(daemon, "cabling,standing")

    def test_what_if(self):
        with serving({"fabric.generate": "xgft:2;4,4;1,4", "sampling.interval": "500ms"}) as daemon:
            daemon.wait_for_sweeps(3)
            daemon.wait_for(lambda status: "tables" in status, "the tables in force")
            flows = daemon.directory / "traffic.toml"
            flows.write_text('[[phase]]\npattern = "all-to-all"\nload = 0.3\ndestinations = 15\n')
            plan, _ = qos_drift.design(daemon.directory)
            self.look_at(daemon, "what_if", HEDDLE_FLOWS=str(flows), HEDDLE_QOS_PLAN=str(plan))

    def test_accept(self):
        with serving({"fabric.generate": "xgft:2;4,4;1,4", "fabric.scenario": "", "sampling.interval": "500ms"}) as daemon:
            daemon.wait_for_sweeps(3)
            daemon.wait_for(lambda status: "tables" in status, "the tables in force")
            plan = daemon.directory / "cables.csv"
            cables = [[end[key] for end in (link["a"], link["b"]) for key in ("node", "port")] for link in daemon.json("links")["links"]]
            rows = [["StartDevice", "StartPort", "EndDevice", "EndPort"], *cables, ["leaf-1", 9, "host-77", 1]]
            plan.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
            daemon.heddle("fabric", "baseline", "save", "--plan", str(plan))
            daemon.wait_for(lambda status: status["baseline"]["compared"], "the comparison")
            self.look_at(daemon, "accept")

    def test_qos_tables_that_somebody_else_writes(self):
        name = f"heddle-page-{os.getpid()}"
        with serving({"fabric.generate": "tree:k=2,n=2", "fabric.serve": name, "sweep.light_interval": "200ms"}) as daemon:
            daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "master")
            daemon.wait_for_sweeps(3)
            plan, _ = qos_drift.design(daemon.directory)
            daemon.heddle("qos", "push", str(plan))
            node = daemon.json("nodes")["nodes"][0]
            with Programs(name, daemon.directory) as programs:
                qos_drift.overwrite(programs, node["lid"], 1)
            self.assertEqual(daemon.heddle_raw("qos", "verify").returncode, 1)
            self.look_at(daemon, "drift")

    @unittest.skipIf(shutil.which("prometheus") is None, "prometheus is not installed")
    def test_a_report_of_what_prometheus_keeps(self):
        with serving({"fabric.generate": "tree:k=4,n=3", "sampling.interval": "200ms"}) as daemon:
            with Prometheus(daemon.url.removeprefix("http://")) as prometheus:
                daemon.wait_for_sweeps(3)
                prometheus.wait_for("count_over_time(heddle_link_utilization_ratio[1h]) > 25")
                out = daemon.directory / "report.html"
                url = f"http://127.0.0.1:{prometheus.port}"
                daemon.heddle("report", "--last", "10s", "--prometheus", url, "--out", str(out))
                most = prometheus.query("max(max_over_time(heddle_link_utilization_ratio[10s]))")[0]["value"][1]
            html = out.read_text()
            self.assertIn(f"{float(most):.1%}".replace("%", " %"), html)
            busiest = re.search(r"<h2>Busiest links</h2>.*?</table>", html, re.DOTALL)[0]
            self.assertNotIn("<td class=\"right\">-</td>", busiest)  # Prometheus has both directions
            curves = re.findall(r'<path d="(M[^"]*)" fill="none" stroke="#(?:1f6fb2|b8720a)"', html)
            self.assertGreaterEqual(len(curves), 8)
            self.assertTrue(all(curve.count("L") >= 2 for curve in curves), curves)
            self.look_at(daemon, "report", HEDDLE_REPORT=str(out), HEDDLE_REPORT_SAYS="Prometheus: the last")

    def test_hostile_names(self):
        with tempfile.TemporaryDirectory() as directory:
            file = hostile_names.write(pathlib.Path(directory) / "fabric")
            self.look({"fabric.file": file}, "hostile,numbers")


if __name__ == "__main__":
    unittest.main()
