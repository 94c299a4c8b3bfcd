#!/usr/bin/env python3
"""What a large fabric costs a real Prometheus, and heddled, for as long as told.

    HEDDLE_BUILD=... HEDDLE_SOURCE=... python3 tests/bench/prometheus_bench.py tree:k=21,n=3 3600 15s metrics.ports=switch

heddled has a simulated fabric, sampled and scraped at that interval; Prometheus has the rules that are shipped. One line of figures each
minute, and a table at the end. Processor time is that of the processes; waiting for a processor is not in it.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
# pylint: disable=wrong-import-position
from daemon_under_test import SOURCE, Daemon
from prometheus_test import Prometheus, dashboard_queries, free_port

TICK = os.sysconf("SC_CLK_TCK")


def processor_time(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(process, field="VmRSS"):
    return int(re.search(rf"{field}:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text()).group(1)) / 1024


def size_of(directory):
    total = 0
    for file in directory.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except FileNotFoundError:  # compacted away
            pass
    return total / 1e6


def value_of(prometheus, query):
    rows = prometheus.query(query)
    return float(rows[0]["value"][1]) if rows else float("nan")


def wait_for_sweeps(daemon, number, seconds):
    """Patiently: while it finds and configures a large fabric on a busy machine, the daemon may not answer for a minute."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.wait_for(lambda status: status.get("sampling", {}).get("sweeps", 0) >= number, f"{number} sweeps", end - time.monotonic())
            return


def figures_of(daemon, prometheus, seconds):
    """Runs for so long; says a line a minute."""
    began = time.monotonic()
    before = [processor_time(process) for process in (daemon.process, prometheus.process)]
    largest = 0.0
    while (left := seconds - (time.monotonic() - began)) > 0:
        time.sleep(min(60, left))
        assert daemon.process.poll() is None, daemon.log_text()
        assert prometheus.process.poll() is None, (prometheus.directory / "log").read_text()[-2000:]
        largest = max(largest, resident(prometheus.process))
        print(f"{time.monotonic() - began:.0f} s: heddled {processor_time(daemon.process) - before[0]:.0f} s, "
              f"{resident(daemon.process):.0f} MB; Prometheus {processor_time(prometheus.process) - before[1]:.0f} s, "
              f"{resident(prometheus.process):.0f} MB, {size_of(prometheus.directory):.0f} MB on disk", flush=True)
    return {"seconds": round(time.monotonic() - began),
            "heddled: processor s": round(processor_time(daemon.process) - before[0]),
            "heddled: MB at most": round(resident(daemon.process, "VmHWM")),
            "Prometheus: processor s": round(processor_time(prometheus.process) - before[1]),
            "Prometheus: MB resident at most, looked at each minute": round(largest),
            "Prometheus: MB on disk": round(size_of(prometheus.directory))}


def scrapes(prometheus, seconds):
    over = f'{{job="heddle"}}[{seconds}s]'
    asked = {"scrapes": f"count_over_time(up{over})", "of them answered": f"sum_over_time(up{over})",
             "series": f"max_over_time(scrape_samples_scraped{over})",
             "scrape, s, mean": f"avg_over_time(scrape_duration_seconds{over})",
             "scrape, s, longest": f"max_over_time(scrape_duration_seconds{over})",
             "sweeps": "heddle_sweeps_total", "late sweeps": "heddle_late_sweeps_total"}
    return {what: round(value_of(prometheus, query), 2) for what, query in asked.items()}


def answers(prometheus):
    """How long the dashboards' queries take, each at an instant."""
    took, empty = [], 0
    for query in dashboard_queries("leaf-0-0", 1):
        began = time.monotonic()
        empty += not prometheus.query(query, timeout=120)
        took.append(time.monotonic() - began)
    took.sort()
    return {"dashboards' queries": len(took), "without data": empty, "s for one in two": round(took[len(took) // 2], 3),
            "s for the longest": round(took[-1], 2)}


def main():
    generator, seconds, interval, *settings = sys.argv[1:]
    # A runner that is stopped ends what it started.
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(1))
    listen = f"127.0.0.1:{free_port()}"
    rules = [SOURCE / "tools/prometheus" / name for name in ("heddle.alerts.yml", "heddle.recording.yml")]
    with Daemon({"fabric.generate": generator, "fabric.scenario": "demo", "metrics.listen": listen, "sampling.interval": interval,
                 "log.level": "warning", **dict(each.split("=", 1) for each in settings)}) as daemon:
        daemon.ends_within = 120
        wait_for_sweeps(daemon, 3, 900)
        fabric = daemon.json("status")["fabric"]
        print("swept; Prometheus begins", flush=True)
        with Prometheus(listen, rules=rules, interval=interval, evaluation="1m") as prometheus:
            # Which makes every series: it may take several scrapes.
            prometheus.wait_for("up == 1", 600)
            print("the first scrape is in", flush=True)
            figures = {"fabric": f"{generator} {fabric}", **figures_of(daemon, prometheus, int(seconds))}
            figures |= scrapes(prometheus, int(seconds)) | answers(prometheus)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
