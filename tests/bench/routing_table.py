#!/usr/bin/env python3
"""Our tables beside those of OpenSM's engines on the same fabrics, all judged by `heddle route check`: for docs/routing.md.

Usage, in a network namespace of its own (tests/system/in_netns):
  HEDDLE_BUILD=... HEDDLE_SOURCE=... routing_table.py [--engines=heddle,updn,...] [--patience=400] [FABRIC...]
FABRIC is a file or a generator; without any, all real fabrics that are there and six grown ones. LIDs of a file are taken
out, and every subnet manager gives its own. The manager is the first host of the file. Acyclic "needed" means: the packets that
must arrive are, those that hosts may send to other switches and to aggregation nodes are not (`route check --needed`). Times are processor time, which a busy
machine stretches less than time by the clock: of OpenSM's threads from "building routing" to "tables configured" in its log
(handing the tables over included), read twenty times a second; of ours, all of `heddle route compute` without samples, reading
the file included, the least of three.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from opensm_plugin_ratio import busy  # noqa: E402
from served_fabric import FABRICS, HEDDLE, ServedFabric  # noqa: E402

GROWN = [f"grown:seed={seed},hosts={hosts}" for seed, hosts in
         ((1, 60), (2, 150), (3, 300), (4, 600), (5, 1000), (6, 2000))]
ENGINES = {"updn": [], "ftree": [], "dfsssp": [], "nue": ["--nue_max_num_vls", "1"], "minhop": []}
patience = 400.0  # seconds for one engine on one fabric


def heddle(*words):
    done = subprocess.run([str(HEDDLE), "--json", *map(str, words)], capture_output=True, text=True, timeout=patience)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise RuntimeError(done.stderr.strip()) from error


def bare(fabric, directory):
    """A file of the fabric without LIDs."""
    path = directory / "fabric.net"
    if pathlib.Path(fabric).exists():
        text = pathlib.Path(fabric).read_text(errors="replace")
        path.write_text(re.sub(r" lid \d+(-\d+)?", " lid 0", text))
    else:
        subprocess.run([str(HEDDLE), "fabric", "generate", fabric, "-o", str(path)], check=True)
    return path


def judged(path, tables):
    """The figures of a dump."""
    host = re.search(r'^Ca\s+\d+\s+"(?!.*Aggregation Node).*\n\[\d+\]\(([0-9a-f]+)\)', path.read_text(errors="replace"), re.M)
    line = re.search(rf"^0x([0-9a-fA-F]+) .*portguid 0x0*{int(host.group(1), 16):x}\b", tables.read_text(errors="replace"), re.M)
    wanted = ["--manager", int(line.group(1), 16)]
    result = heddle("route", "check", "--fabric", path, "--lfts", tables, *wanted)
    needed = heddle("route", "check", "--fabric", path, "--lfts", tables, *wanted, "--needed", "--samples", 0)
    return {"load": result["largest_over_bound"][0], "bisection": result["effective_bisection"][0],
            "mean": result["shift_mean"][0], "worst": result["shift_worst"][0],
            "complete": result["broken_paths"] == 0, "broken": result["broken_paths"],
            "acyclic": "yes" if is_acyclic(result) else "needed" if is_acyclic(needed) else "no"}


def is_acyclic(result):
    return not {"deadlock", "loop"} & {finding["fault"] for finding in result["findings"]}


def used_by_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def ours(path, directory):
    tables = directory / "ours.dump"
    times = []
    for _ in range(3):
        before = used_by_children()
        heddle("route", "compute", "--fabric", path, "--samples", 0)
        times.append(used_by_children() - before)
    heddle("route", "compute", "--fabric", path, "--lfts", tables, "--samples", 0)
    return judged(path, tables) | {"seconds": min(times)}


def theirs(path, engine, options):
    """None where the engine gives up."""
    with ServedFabric(path) as served:
        served.leave_unjudged()  # engines of OpenSM's own write tables in no order that anybody promised
        settings = served.directory / "opensm.conf"
        settings.write_text("force_log_flush TRUE\n")  # its moments are read while it works
        opensm = served.start("opensm", "-F", settings, "-o", "-e", "-f", served.log, "-D", "0x47", "-n", "64", "-R",
                              f"{engine},no_fallback", *options)
        end = time.monotonic() + patience
        used = {"building routing with": None, "tables configured on all": None}
        while opensm.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
            log = served.log_text()
            # Whoever can make no tables tries again for ever.
            if "No routing engine able" in log or f"Could not build lid matrices with {engine}" in log:
                return None
            for words in used:
                if used[words] is None and words in log and os.path.exists(f"/proc/{opensm.pid}/task"):
                    used[words] = sum(busy(opensm).values())
        tables = served.directory / "opensm-lfts.dump"
        if opensm.poll() is None:
            raise RuntimeError(f"not done in {patience:.0f} s")
        if not tables.exists() or "tables configured on all" not in served.log_text():
            return None
        seconds = used["tables configured on all"] - used["building routing with"] if all(used.values()) else 0
        return judged(path, tables) | {"seconds": seconds}


def row(name, figures):
    if figures is None:
        return f"| | {name} | - | - | - | - | does not apply | | |"
    took = f"{figures['seconds']:.2f} s" if figures["seconds"] >= 0.05 else "< 0.05 s"
    complete = "yes" if figures["complete"] else f"{figures['broken']} broken"
    return (f"| | {name} | {figures['load']:.3f} | {100 * figures['bisection']:.1f} % | {100 * figures['mean']:.1f} % | "
            f"{100 * figures['worst']:.1f} % | {complete} | {figures['acyclic']} | "
            f"{took} |")


def main():
    global patience
    parser = argparse.ArgumentParser()
    parser.add_argument("--engines", default=",".join(["heddle", *ENGINES]))
    parser.add_argument("--patience", type=float, default=patience)
    parser.add_argument("fabric", nargs="*")
    options = parser.parse_args()
    patience = options.patience
    engines = options.engines.split(",")
    fabrics = options.fabric or [*map(str, sorted(FABRICS.glob("*.ibnetdiscover"))), *GROWN]
    print("| fabric | engine | load / bound | bisection | shift | worst | complete | acyclic | time |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for fabric in fabrics:
        with tempfile.TemporaryDirectory(prefix="heddle-table-") as name:
            path = bare(fabric, pathlib.Path(name))
            print(f"| {pathlib.Path(fabric).stem} | | | | | | | | |", flush=True)
            for engine in engines:
                try:
                    own = engine == "heddle"
                    figures = ours(path, pathlib.Path(name)) if own else theirs(path, engine, ENGINES[engine])
                    print(row("**heddle**" if own else engine, figures), flush=True)
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    print(f"| | {engine} | - | - | - | - | {str(error)[:60]} | | |", flush=True)


if __name__ == "__main__":
    main()
