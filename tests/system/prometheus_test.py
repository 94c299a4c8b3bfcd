"""A real Prometheus scrapes heddled; what it answers is what `heddle links --json` says."""

import contextlib
import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from daemon_under_test import HEDDLE, SOURCE, Daemon

SCENARIO = """
[[phase]]
pattern = "neighbour"
load = 0.4
"""


def dashboard_queries(node, port):
    """Of all dashboards that are shipped, as they ask for this port of this node."""
    for path in sorted((SOURCE / "tools/grafana").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                yield re.sub(r"\$(node|switch)\b", node, target["expr"]).replace("$port", str(port)).replace("$fabric", ".*")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prometheus:
    """A context: prometheus scrapes its targets at an interval, and evaluates rules. `params` go into each scrape's query.
    `reads` are other servers (of this class), whose series it answers with as well."""

    def __init__(self, *targets, rules=(), params=None, interval="200ms", evaluation="200ms", reads=()):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heddle-prometheus-"))
        self.port = free_port()
        config = {"global": {"evaluation_interval": evaluation}, "rule_files": [str(file) for file in rules],
                  "scrape_configs": [{"job_name": "heddle", "scrape_interval": interval, "scrape_timeout": interval, "params": params or {},
                                      "static_configs": [{"targets": list(targets)}]}]}
        config["remote_read"] = [{"url": f"http://127.0.0.1:{other.port}/api/v1/read", "read_recent": True} for other in reads]
        (self.directory / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
        self.process = None

    def __enter__(self):
        with open(self.directory / "log", "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.directory}/prometheus.yml",
                 f"--storage.tsdb.path={self.directory}/data", f"--web.listen-address=127.0.0.1:{self.port}"], stderr=log)
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        self.process.wait(120)
        shutil.rmtree(self.directory, ignore_errors=True)

    def query(self, text, timeout=10):
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": text})
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return json.load(answer)["data"]["result"]

    def samples(self, text):
        """Of one series over a range: the value of each scrape."""
        return {at: float(value) for at, value in self.query(text)[0]["values"]}

    def wait_for(self, text, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                result = self.query(text)
                if result:
                    return result
            except OSError:
                pass
            time.sleep(0.2)
        raise AssertionError(f"{text}: nothing within {seconds} s\n" + (self.directory / "log").read_text())


class Scraped(unittest.TestCase):
    def test_prometheus_and_the_command_line_agree(self):
        if shutil.which("prometheus") is None:
            self.skipTest("prometheus is not installed")
        listen = f"127.0.0.1:{free_port()}"
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as scenario:
            scenario.write(SCENARIO)
            scenario.flush()
            settings = {"fabric.generate": "tree:k=4,n=2", "fabric.scenario": scenario.name, "metrics.listen": listen,
                        "sampling.interval": "200ms"}
            with Daemon(settings) as daemon, Prometheus(listen) as prometheus:
                daemon.wait_for(lambda status: status.get("load", {}).get("utilization_max") or 0 > 0, "loaded")
                daemon.wait_for_sweeps(daemon.json("status")["sampling"]["sweeps"] + 3)
                prometheus.wait_for("heddle_link_utilization_ratio > 0")
                time.sleep(1)  # for Prometheus to have scraped a sweep of steady traffic
                links = daemon.json("links")["links"]
                seen = {(row["metric"]["node"], int(row["metric"]["port"])): float(row["value"][1])
                        for row in prometheus.query("heddle_link_utilization_ratio")}
                busy = 0
                for link in links:
                    for end, direction in (("a", "a_to_b"), ("b", "b_to_a")):
                        said = link[direction]["utilization"]
                        scraped = seen[(link[end]["node"], link[end]["port"])]
                        # The rate is constant; each sweep rounds it to units of 4 bytes in 200 ms.
                        self.assertAlmostEqual(scraped, said, delta=1e-6)
                        busy += said > 0.3
                self.assertGreaterEqual(busy, 32)  # 16 hosts send and receive 40 % of their links
                # The exporters' own names: bytes counted between two sweeps, over the time between them.
                switch, port = links[0]["a"]["guid"], links[0]["a"]["port"]
                labels = f'{{guid="{switch}",port="{port}"}}'
                counted = prometheus.samples(f"infiniband_switch_port_transmit_data_bytes_total{labels}[5s]")
                swept = prometheus.samples("heddle_last_sweep_timestamp_seconds[5s]")
                scrapes = sorted(set(counted) & set(swept))
                span = swept[scrapes[-1]] - swept[scrapes[0]]
                self.assertGreater(span, 0.5)
                rate = (counted[scrapes[-1]] - counted[scrapes[0]]) / span
                self.assertAlmostEqual(rate / 25e9, links[0]["a_to_b"]["utilization"], delta=0.01)

    def test_shards_have_every_series_once(self):
        if shutil.which("prometheus") is None:
            self.skipTest("prometheus is not installed")
        listen = f"127.0.0.1:{free_port()}"
        settings = {"fabric.generate": "tree:k=4,n=2", "metrics.listen": listen, "sampling.interval": "200ms", "metrics.fabric": "hall"}
        of_prometheus = ("up", "scrape_")

        def series(prometheus):
            return [tuple(sorted((name, value) for name, value in row["metric"].items() if name not in ("job", "instance")))
                    for row in prometheus.query('{job="heddle"}')
                    if not row["metric"]["__name__"].startswith(of_prometheus)]
        with contextlib.ExitStack() as stack:
            daemon = stack.enter_context(Daemon(settings))
            daemon.wait_for_sweeps(3)
            whole, first, second = (stack.enter_context(Prometheus(listen, params=params))
                                    for params in (None, {"shard": ["1/2"]}, {"shard": ["2/2"]}))
            for prometheus in (whole, first, second):
                prometheus.wait_for("infiniband_switch_info")
            halves = [series(first), series(second)]
            for half in halves:
                self.assertGreater(len(half), 100)
            together = sorted(halves[0] + halves[1])
            self.assertEqual(together, sorted(set(together)), "nothing is there twice")
            self.assertEqual(together, sorted(series(whole)))
            self.assertEqual({labels["fabric"] for labels in map(dict, together)}, {"hall"})


class FirstError(unittest.TestCase):
    """By night: the series is 0 for a minute."""

    def test_the_alert_fires_on_the_first_error_of_a_series_that_was_not_there(self):
        listen = f"127.0.0.1:{free_port()}"
        name = f"first-error-{free_port()}"
        settings = {"fabric.generate": "tree:k=2,n=2", "metrics.listen": listen, "sampling.interval": "200ms",
                    "metrics.skip_zero_errors": "true", "fabric.serve": name}
        counter = "infiniband_switch_port_local_link_integrity_errors_total"
        with Daemon(settings) as daemon, Prometheus(listen, rules=[SOURCE / "tools/prometheus/heddle.alerts.yml"]) as prometheus:
            daemon.wait_for_sweeps(5)
            prometheus.wait_for("infiniband_switch_port_transmit_data_bytes_total")
            self.assertEqual(prometheus.query(counter), [])
            subprocess.run([HEDDLE, "sim", "--name", name, "fault", "errors", "leaf-1", "1", "local_link_integrity", "1"], check=True)
            began = time.monotonic()
            (row,) = prometheus.wait_for(counter)
            self.assertEqual((row["metric"]["port"], row["value"][1]), ("1", "0"))
            prometheus.wait_for(f"{counter} == 1", 90)
            self.assertGreater(time.monotonic() - began, 55)
            prometheus.wait_for('ALERTS{alertname="InfinibandSwitchIntegrityErrors"}', 30)


if __name__ == "__main__":
    unittest.main()
