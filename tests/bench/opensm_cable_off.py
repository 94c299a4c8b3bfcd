#!/usr/bin/env python3
"""One cable off until SUBNET UP, with OpenSM's own updn and with our plugin, on the same served fabric, one after the other.

Usage, in a network namespace of its own (tests/system/in_netns):
  HEDDLE_BUILD=... HEDDLE_SOURCE=... opensm_cable_off.py [SPEC [LMC [ENGINE...]]]
By OpenSM's log, from the switch's trap: `rediscovery` until "building routing" (OpenSM's own, whatever the engine),
`routing` until "tables configured" (with the blocks that differ), `the rest` until SUBNET UP (confirmation of the tables,
multicast, link states: OpenSM's own too). Behind each, the processor time of all of OpenSM's threads, which a busy machine does
not spoil as much.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from opensm_plugin_ratio import busy, moment  # noqa: E402
from plugin_fabric import PluginFabric  # noqa: E402
from served_fabric import ServedFabric, wait_until  # noqa: E402

ServedFabric.watched = False  # recording takes time

STEPS = (("rediscovery", "building routing"), ("routing", "tables configured on all"), ("the rest", "-> SUBNET UP"))


def cable_off(spec, lmc, engine):
    with PluginFabric(spec) as served:
        conf = served.settings()
        conf.write_text(conf.read_text().replace("heddle,no_fallback", f"{engine},no_fallback"))
        process = served.start("opensm", "-F", conf, "-e", "-f", served.log, "-D", "0x07", "-n", "64", "-l", str(lmc))
        wait_until(lambda: served.sweeps() > 0, 600, "SUBNET UP")
        before = served.log.stat().st_size
        _, ((name, port), _) = served.cables()[-1]
        spent = [sum(busy(process).values())]
        served.heddle("link", name, port, "down")
        for _, words in STEPS:
            wait_until(lambda: words in tail(served, before), 300, words)
            spent.append(sum(busy(process).values()))
        log = tail(served, before)
        times = [moment(log, "num:128"), *(moment(log, words) for _, words in STEPS)]
        parts = [f"{what} {times[i + 1] - times[i]:.2f} s (processor {spent[i + 1] - spent[i]:.2f})"
                 for i, (what, _) in enumerate(STEPS)]
        return times[-1] - times[0], spent[-1] - spent[0], parts


def tail(served, begin):
    with open(served.log, "rb") as log:
        log.seek(begin)
        return log.read().decode(errors="replace")


def main():
    spec = sys.argv[1] if len(sys.argv) > 1 else "tree:k=18,n=3,full"
    lmc = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for engine in sys.argv[3:] or ["updn", "heddle"]:
        whole, processor, parts = cable_off(spec, lmc, engine)
        print(f"{spec}, LMC {lmc}, {engine}: {whole:.2f} s (processor {processor:.2f}): {', '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
