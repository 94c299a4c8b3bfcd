#!/usr/bin/env python3
"""A long run of heddled, and whether anything of it grows: memory, descriptors, the journal, the share of late sweeps.

    HEDDLE_BUILD=... HEDDLE_SOURCE=... tests/system/in_netns python3 tests/soak/soak.py --for 8h

A fabric of 11,664 hosts with the traffic of day.toml, 60 times as fast as real (a sweep of all counters each 60 s of its time: each second),
regulated (enforce), with 20 viewers of the page, a Prometheus that scrapes every 15 s, and a fault a minute: a cable or a switch that is
gone for 20 s, hosts' MADs lost. A line of figures for each tenth of the run. Growth is judged between the second and the last quarter.

Exit status: 0 nothing grew, 1 something did, or heddled ended."""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system"))

from daemon_under_test import HEDDLE, Daemon  # noqa: E402
from prometheus_test import Prometheus, free_port  # noqa: E402

# Of the fabric's time.
SETTINGS = {
    "fabric.generate": "tree:k=18,n=3,full",
    "fabric.scenario": HERE / "day.toml",
    "sampling.interval": "60s",
    "sampling.timeout": "10s",
    "sweep.light_interval": "120s",
    "sweep.heavy_interval": "1h",
    "regulation.mode": "enforce",
    "regulation.policy": "general",
    "log.level": "warning",
}
# What a site of this size has its Prometheus scrape (docs/metrics.md).
METRICS = """
[metrics]
families = ["traffic", "load", "energy", "daemon"]
ports = "uplink"
"""
KILOBYTE = 1024
SETTLED = 600  # seconds


def seconds_of(text):
    words = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not words:
        raise argparse.ArgumentTypeError(f"{text!r} is no time as in 90s, 10m or 8h")
    return float(words[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[words[2]]


class Watched:
    """A daemon, as /proc and its own metrics show it."""

    def __init__(self, daemon):
        self.daemon, self.process = daemon, pathlib.Path(f"/proc/{daemon.process.pid}")

    def look(self):
        status = dict(line.split(":", 1) for line in (self.process / "status").read_text().splitlines())
        stat = (self.process / "stat").read_text().rsplit(")", 1)[1].split()
        told = self.daemon.json("status")
        return {
            "at": time.monotonic(),
            "memory": int(status["VmRSS"].split()[0]),
            "threads": int(status["Threads"]),
            "descriptors": len(os.listdir(self.process / "fd")),
            "journal": sum(file.stat().st_size for file in self.daemon.directory.glob("journal.db*")) // KILOBYTE,
            "processor": (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"),
            "sweeps": told["sampling"]["sweeps"],
            "late": told["sampling"]["overruns"],
            "off": (told.get("regulation") or {}).get("links", {}).get("off", 0),
            "problems": told["problems"],
        }


class Faults:
    """Of one a minute: what is broken now, and how it is mended."""

    KINDS = ("cable", "switch", "lost")

    def __init__(self, daemon, name, seed):
        self.name, self.dice, self.mend, self.count = name, random.Random(seed), None, 0
        links = daemon.json("links", "--power")["links"]
        self.cables = [each["name"].split(" -- ")[0].rsplit("/", 1) for each in links]

    def sim(self, *words):
        """A daemon that is busy may let it wait longer than it does."""
        for _ in range(5):
            done = subprocess.run([HEDDLE, "sim", *words, "--name", self.name], check=False, capture_output=True, text=True, timeout=60)
            if done.returncode == 0:
                return
        raise SystemExit(f"heddle sim {' '.join(words)}: {done.stderr}")

    def begin(self):
        kind = self.KINDS[self.count % len(self.KINDS)]
        self.count += 1
        node, port = self.dice.choice(self.cables)
        if kind == "cable":
            self.sim("link", node, port, "down")
            self.mend = ("link", node, port, "up")
        elif kind == "switch":
            self.sim("node", node, "kill")
            self.mend = ("node", node, "revive")
        else:
            self.sim("fault", "mads", "--lost", "0.01")
            self.mend = ("fault", "mads", "--lost", "0")

    def end(self):
        if self.mend:
            self.sim(*self.mend)
            self.mend = None


def grown(rows, length):
    """What has grown from the second quarter of the run to the last. Of minutes, most is how a daemon begins."""
    count, begins = len(rows), length < SETTLED
    share = 1.5 if begins else 1.05
    then, now = rows[count // 4:count // 2], rows[-max(count // 4, 1):]

    def medians(what):
        return statistics.median(row[what] for row in then), statistics.median(row[what] for row in now)

    def late(part):
        return (part[-1]["late"] - part[0]["late"]) / max(1, part[-1]["sweeps"] - part[0]["sweeps"] + part[-1]["late"] - part[0]["late"])
    bounds = {"memory": lambda before: before * share + 32 * KILOBYTE, "threads": lambda before: before + 2, "descriptors": lambda before: before + 8,
              # Its log of decisions has an end (10,000 of them); until then it grows.
              "journal": lambda before: max(before * 1.1, 16 * KILOBYTE)}
    wrong = []
    for what, bound in bounds.items():
        before, after = medians(what)
        if after > bound(before):
            wrong.append(f"{what}: {before:.0f} in the second quarter, {after:.0f} in the last")
    if not begins and late(now) > 2 * late(then) + 0.1:
        wrong.append(f"late sweeps: {late(then):.1%} in the second quarter, {late(now):.1%} in the last")
    return wrong


def line_of(row, first):
    sweeps, late = row["sweeps"] - first["sweeps"], row["late"] - first["late"]
    spent = row["at"] - first["at"]
    return (f"{spent / 60:6.1f} min: {row['memory'] / KILOBYTE:.0f} MB, {row['descriptors']} descriptors, {row['threads']} threads, journal {row['journal']} kB, "
            f"{sweeps} sweeps, {late} late, {(row['processor'] - first['processor']) / max(spent, 1):.2f} cores, {row['off']} links off")


def run(given, stack):
    port, name = free_port(), f"soak-{os.getpid()}"
    daemon = Daemon({**SETTINGS, "fabric.generate": given.fabric, "fabric.time_scale": given.scale, "fabric.serve": name, "metrics.listen": f"127.0.0.1:{port}"}, config=METRICS)
    daemon.ends_within = 300
    stack.enter_context(daemon)
    daemon.wait_for(lambda status: status["sampling"]["sweeps"] >= 3, "3 sweeps", 600)
    prometheus = stack.enter_context(Prometheus(f"127.0.0.1:{port}", interval="15s", evaluation="15s"))
    for _ in range(given.viewers):
        viewer = subprocess.Popen(["curl", "-sN", "-o", "/dev/null", f"http://127.0.0.1:{port}/v1/page/events"])
        stack.callback(viewer.wait)
        stack.callback(viewer.terminate)
    watched, faults = Watched(daemon), Faults(daemon, name, given.seed)
    rows = [watched.look()]
    begin = rows[0]["at"]
    each, shown, next_fault = max(1.0, given.length / 400), 0, begin + 10
    while time.monotonic() - begin < given.length:
        time.sleep(each)
        if time.monotonic() >= next_fault:
            faults.begin()
            next_fault += 60
        elif time.monotonic() >= next_fault - 40:
            faults.end()
        rows.append(watched.look())
        if (rows[-1]["at"] - begin) * 10 / given.length >= shown:
            print(line_of(rows[-1], rows[0]), flush=True)
            shown += 1
    faults.end()
    scrapes = prometheus.query("count_over_time(up[8h])")
    failed = prometheus.query("count_over_time(up[8h]) - sum_over_time(up[8h])")
    print(line_of(rows[-1], rows[0]))
    print(f"{faults.count} faults; scrapes: {scrapes[0]['value'][1] if scrapes else 0}, failed {failed[0]['value'][1] if failed else '?'}; "
          f"memory at the start {rows[0]['memory'] // KILOBYTE} MB, at most {max(row['memory'] for row in rows) // KILOBYTE} MB")
    daemon.wait_for(lambda status: not status["problems"], "all well when the faults are over", 300)
    return grown(rows, given.length)


def main():
    options = argparse.ArgumentParser(prog="soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--for", dest="length", type=seconds_of, default=seconds_of("3m"), help="s, m and h count")
    options.add_argument("--fabric", default=SETTINGS["fabric.generate"], help="what to generate")
    options.add_argument("--scale", type=float, default=60, help="simulated seconds a second: what a machine with two free cores bears")
    options.add_argument("--viewers", type=int, default=20)
    options.add_argument("--seed", type=int, default=1, help="of the faults")
    given = options.parse_args()
    with contextlib.ExitStack() as stack:
        wrong = run(given, stack)
    print("nothing grew" if not wrong else "\n".join(wrong))
    print(json.dumps({"grown": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
