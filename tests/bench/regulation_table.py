#!/usr/bin/env python3
"""What heddled's plans save on real and grown fabrics at uniform load: the table of docs/regulation.md.

Usage: HEDDLE_BUILD=... HEDDLE_SOURCE=... regulation_table.py [--lmc=0,1] [--load=0.1] [--patience=300] [--chassis=regulate] [FABRIC...]
FABRIC is a file or a generator; without any, all real fabrics that are there and six grown ones. The flow plane of the
built-in fabric carries the flows: each host sends that share of its link to 64 random others. The plan is heddled's own, in
mode advise, from what it samples; thresholds as shipped, and the times of the regulation
cut, so that the plan comes soon. Columns: watts saved of all links between switches by the trunk rule and by the general
policy, the most that any allowed set may save, how busy the fullest link would be, and which rule holds most of the rest.
"""

import argparse
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from daemon_under_test import FABRICS, Daemon  # noqa: E402

GROWN = [f"grown:seed={seed},hosts={hosts}" for seed, hosts in
         ((1, 60), (2, 150), (3, 300), (4, 600), (5, 1000), (6, 2000))]
PHASE = '[[phase]]\npattern = "uniform"\nload = {load}\ndestinations = 64\n'
QUICK = {"regulation.quiet": "1s", "regulation.least_on": "1s", "regulation.least_off": "1s", "regulation.break_even": "1",
         "regulation.first_closing": "0", "sampling.interval": "5s", "sweep.heavy_interval": "1h"}


def plan_of(daemon, patience):
    """The first one that looks like the one before."""
    end = time.monotonic() + patience
    last = None
    while time.monotonic() < end:
        time.sleep(5)
        answer = daemon.heddle_raw("--json", "plan")
        if answer.returncode != 0:
            continue
        plan = daemon.json("plan").get("plan")
        if not plan or plan.get("watts_now", 0) <= 0:
            continue
        figures = (plan["watts_then"], plan["watts_least"])
        if figures == last and plan["busiest"] > 0:
            return plan
        last = figures
    raise TimeoutError(f"no plan in {patience} s")


def saved(fabric, policy, lmc, options, scenario):
    source = {"fabric.file": fabric} if pathlib.Path(fabric).exists() else {"fabric.generate": fabric}
    settings = {**QUICK, **source, "fabric.scenario": scenario, "regulation.mode": "advise", "regulation.policy": policy,
                "regulation.chassis": options.chassis, "sm.lmc": lmc}
    with Daemon(settings) as daemon:
        return plan_of(daemon, options.patience)


def percent(share):
    return f"{100 * share:.1f} %"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lmc", default="0,1")
    parser.add_argument("--load", type=float, default=0.1)
    parser.add_argument("--patience", type=int, default=300)
    parser.add_argument("--chassis", choices=("regulate", "keep"), default="regulate")
    parser.add_argument("fabric", nargs="*")
    options = parser.parse_args()
    fabrics = options.fabric or [*map(str, sorted(FABRICS.glob("*.ibnetdiscover"))), *GROWN]
    scenario = pathlib.Path(f"/tmp/heddle-regulation-table-{time.time_ns()}.toml")
    scenario.write_text(PHASE.format(load=options.load))
    print("| fabric | LMC | trunk | general | bound | busiest | held by |\n| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    try:
        for fabric in fabrics:
            for lmc in options.lmc.split(","):
                name = f"| {pathlib.Path(fabric).stem if '/' in fabric else fabric} | {lmc} |"
                try:
                    trunk = saved(fabric, "trunk", lmc, options, scenario)
                    general = saved(fabric, "general", lmc, options, scenario)
                except (TimeoutError, AssertionError) as error:
                    print(f"{name} {str(error).splitlines()[0][:120]} |", flush=True)
                    continue
                now = general["watts_now"]
                print(f"{name} {percent(1 - trunk['watts_then'] / trunk['watts_now'])} | "
                      f"{percent(1 - general['watts_then'] / now)} | {percent(1 - general['watts_least'] / now)} | "
                      f"{percent(general['busiest'])} | {general['note']} |", flush=True)
    finally:
        scenario.unlink()


if __name__ == "__main__":
    main()
