"""Two Prometheus servers share one fabric by `shard=I/N`: together they have every series once, and a third that reads from both answers
what the dashboards ask as one server with all of it does."""

import contextlib
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from daemon_under_test import SOURCE, Daemon
from prometheus_test import Prometheus, dashboard_queries, free_port

RECORDING = SOURCE / "tools/prometheus/heddle.recording.yml"
NODE = "leaf-0-0"
NOT_OF_HEDDLED = re.compile(r"up|scrape_\w+|heddle:.*")  # of Prometheus, and recorded


def labels_of(row):
    return tuple(sorted(row["metric"].items()))


def scraped_names(text):
    """By name, the sets of labels of a file in the text format."""
    names = {}
    pair = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
    with open(text, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            name, brace, rest = line.rpartition(" ")[0].partition("{")
            names.setdefault(name, set()).add(tuple(sorted(pair.findall(rest))) if brace else ())
    return names


@unittest.skipIf(shutil.which("prometheus") is None, "prometheus is not installed")
class Shards(unittest.TestCase):
    def share(self, settings, interval, patience):
        """The daemon, its address, and two servers that have scraped it, with what is recorded."""
        listen = f"127.0.0.1:{free_port()}"
        daemon = self.enterContext(Daemon({"metrics.listen": listen, "fabric.scenario": "demo", "sampling.interval": interval, **settings}))
        daemon.ends_within = 120
        end = time.monotonic() + patience
        while True:  # a large fabric may keep a busy daemon from answering for a minute, while it is brought up
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait_for(lambda status: status.get("sampling", {}).get("sweeps", 0) >= 3, "3 sweeps", end - time.monotonic())
                break
        halves = [self.enterContext(Prometheus(listen, params={"shard": [f"{i}/2"]}, rules=[RECORDING], interval=interval, evaluation=interval))
                  for i in (1, 2)]
        for half in halves:
            half.wait_for("heddle:link_utilization:avg5m", patience)
        return daemon, listen, halves

    def test_a_reader_of_both_answers_as_one_server_with_all_of_it(self):
        _, listen, halves = self.share({"fabric.generate": "tree:k=4,n=3"}, "200ms", 60)
        whole = self.enterContext(Prometheus(listen, rules=[RECORDING]))
        reader = self.enterContext(Prometheus(reads=halves))
        whole.wait_for("heddle:switch_errors:rate5m")
        reader.wait_for("heddle:switch_errors:rate5m")
        answered = 0
        for query in dashboard_queries(NODE, 1):
            with self.subTest(query):
                end = time.monotonic() + 20
                while True:
                    expected, got = whole.query(query), reader.query(query)
                    same = len(expected) == len(got) if "topk" in query else {*map(labels_of, expected)} == {*map(labels_of, got)}
                    if same or time.monotonic() > end:
                        break
                    time.sleep(0.2)
                self.assertTrue(same, f"{len(got)} of {len(expected)} series")
                answered += bool(expected)
        self.assertGreater(answered, 70)
        self.assertEqual(len(halves[0].query("heddle_fabric_nodes")), len(whole.query("heddle_fabric_nodes")))
        self.assertEqual(halves[1].query("heddle_fabric_nodes"), [], "what belongs to no node is in the first")


@unittest.skipIf(shutil.which("prometheus") is None, "prometheus is not installed")
class FiftyThousandPorts(Shards):
    """By night: 55,566 ports with what docs/metrics.md recommends. Takes 6 GB and some minutes of a core."""

    def test_a_reader_of_both_answers_as_one_server_with_all_of_it(self):
        daemon, listen, halves = self.share({"fabric.generate": "tree:k=21,n=3", "metrics.ports": "switch", "metrics.skip_zero_errors": "true",
                                             "metrics.energy": "switch", "log.level": "warning"}, "15s", 900)
        self.every_series_once(listen, halves)
        reader = self.enterContext(Prometheus(reads=halves))
        reader.wait_for("heddle_fabric_nodes")
        names = {row["metric"]["__name__"] for half in halves for row in half.query('count by (__name__) (last_over_time({__name__=~".+"}[5m]))', timeout=300)}
        began, slowest, queries = time.monotonic(), 0.0, 0
        for query in dashboard_queries(NODE, 1):
            queries += 1
            for _ in range(5):  # or the same after the next scrape, where one came too late
                asked = time.monotonic()
                rows = reader.query(query, timeout=300)
                slowest = max(slowest, time.monotonic() - asked)
                if rows or not self.needs_answer(query):
                    break
                time.sleep(15)
            if not rows and self.needs_answer(query):
                with self.subTest(query):
                    used = set(re.findall(r"\b(?:heddle|infiniband|process)[\w:]+", query))
                    self.assertFalse(used <= names, "all of it has been scraped, and there is no answer")
        print(f"{queries} queries of dashboards, by a reader of both: {time.monotonic() - began:.1f} s, the longest {slowest:.1f} s", flush=True)
        self.assertIsNone(daemon.process.poll())

    @staticmethod
    def needs_answer(query):
        """Errors have no series until there are any; nor has what compares with a threshold."""
        return not re.search(r"error|discard|recover|downed|dropped|saturated|gaps|[<>]|==", query)

    def every_series_once(self, listen, halves):
        """While a port does not answer, as on a busy machine, text and servers may differ: it must hold at one time of ten minutes."""
        end = time.monotonic() + 600
        while (wrong := self.compared(listen, halves)) and time.monotonic() < end:
            time.sleep(15)
        self.assertEqual(wrong, {})

    def compared(self, listen, halves):
        """By name, how many series are there twice, and how many on one side only; nothing where both have the same."""
        with tempfile.TemporaryDirectory() as directory:
            text = pathlib.Path(directory) / "metrics"
            subprocess.run(["curl", "-sf", "--retry", "20", "-m", "300", "-o", text, f"http://{listen}/metrics"], check=True)
            expected = scraped_names(text)
        held, wrong = [0, 0], {}
        for name, series in expected.items():
            parts = []
            for i, half in enumerate(halves):
                # The last of each: after a scrape that came too late, there is none at this instant.
                rows = half.query(f'last_over_time({{__name__="{name}"}}[5m])', timeout=300)
                parts.append({tuple((k, v) for k, v in labels_of(row) if k not in ("__name__", "job", "instance")) for row in rows})
                held[i] += len(parts[i])
            twice, apart = len(parts[0] & parts[1]), len(series ^ (parts[0] | parts[1]))
            if twice or apart:
                wrong[name] = (twice, apart)
        for half in halves:
            names = {row["metric"]["__name__"] for row in half.query('count by (__name__) (last_over_time({__name__=~".+"}[5m]))', timeout=300)}
            wrong |= {name: (0, -1) for name in names - set(expected) if not NOT_OF_HEDDLED.fullmatch(name)}
        print(f"{sum(map(len, expected.values()))} series of {len(expected)} names: {held[0]} and {held[1]}; {wrong}", flush=True)
        self.assertGreater(min(held), 0.4 * sum(held))
        return wrong


if __name__ == "__main__":
    unittest.main()
