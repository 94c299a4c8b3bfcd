#!/usr/bin/env python3
"""Time of routing inside OpenSM, by its own updn and by our plugin, one after the other on the same served fabric.

Usage, in a network namespace of its own (tests/system/in_netns):
  HEDDLE_BUILD=... HEDDLE_SOURCE=... opensm_plugin_ratio.py [SPEC [LMC...]]
Times of each, in OpenSM's log: `whole`, from "building routing" to "tables configured". It ends with handing all blocks of the
tables to OpenSM's sender, which is OpenSM's own code and the same blocks for both; how long that takes is what the plugin's
callbacks do not account for. `routing` is the rest. In brackets the processor time of OpenSM's thread, from /proc, which a
busy machine does not spoil as much.
"""

import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from plugin_fabric import PluginFabric  # noqa: E402
from served_fabric import ServedFabric, wait_until  # noqa: E402

ServedFabric.watched = False  # recording takes time


def moment(log, words):
    line = next(line for line in log.splitlines() if words in line)
    hours, minutes, seconds, microseconds = re.search(r"(\d\d):(\d\d):(\d\d) (\d{6})", line).groups()
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(microseconds) / 1e6


def busy(process):
    """Processor seconds of each thread."""
    result = {}
    for task in os.listdir(f"/proc/{process.pid}/task"):
        fields = pathlib.Path(f"/proc/{process.pid}/task/{task}/stat").read_text().rsplit(")", 1)[1].split()
        result[task] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return result


def route(spec, lmc, engine):
    with PluginFabric(spec) as served:
        conf = served.settings()
        conf.write_text(conf.read_text().replace("heddle,no_fallback", f"{engine},no_fallback"))
        process = served.start("opensm", "-F", conf, "-e", "-f", served.log, "-D", "0x07", "-n", "64", "-l", str(lmc))
        wait_until(lambda: "building routing" in served.log_text(), 120, "routing")
        before = busy(process)
        wait_until(lambda: "tables configured" in served.log_text(), 300, "the tables")
        after = busy(process)
        processor = max(after[task] - before.get(task, 0) for task in after)
        log = served.log_text()
        wall = moment(log, "tables configured on all") - moment(log, "building routing with")
        computing = None
        if engine == "heddle":
            figures = served.daemon.wait(event="timings", seconds=120)["callbacks"]
            computing = (figures["prepare"]["total_ns"] + figures["fill_tables"]["total_ns"]) / 1e9
        return wall, processor, computing


def main():
    spec = sys.argv[1] if len(sys.argv) > 1 else "tree:k=18,n=3,full"
    for lmc in [int(word) for word in sys.argv[2:]] or [0, 1]:
        theirs, their_processor, _ = route(spec, lmc, "updn")
        ours, our_processor, computing = route(spec, lmc, "heddle")
        handing = ours - computing
        print(f"{spec}, LMC {lmc}: whole: updn {theirs:.2f} s ({their_processor:.2f}), heddle {ours:.2f} s "
              f"({our_processor:.2f}), ratio {theirs / ours:.1f} ({their_processor / our_processor:.1f}); handing over "
              f"{handing:.2f} s; routing: updn {theirs - handing:.2f} s, heddle {computing:.2f} s, ratio "
              f"{(theirs - handing) / computing:.1f}", flush=True)


if __name__ == "__main__":
    main()
