#!/usr/bin/env python3
"""Plays worlds of the swarm and has each judged twice: by the watch of the simulator's state while it is played, and by the
watcher of the wire from what was recorded, at every instant and for as long as packets live.

    tools/swarm --seeds 1..1000 --for 10m --jobs 2

Prints a line for each world that was not well, with what plays it again, and the sum by kind of storm. With --shrink that line has the
fewest steps of the storm that are found to go wrong in the same way.

    tools/swarm --fresh 20 --for 60s --jobs 2

plays seeds that the commit and the date give, and fails of what known_defects.txt does not know."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import fresh
import shrink

BUILD = pathlib.Path(os.environ["HEDDLE_BUILD"])
WORLD = BUILD / "tests/swarm/swarm_world"
CHECK = BUILD / "tests/wire/wire_check"
STORM = 20  # seconds
STORMS = ("operators", "cuts", "kills", "MADs lost", "disk", "own cable", "at any moment", "power", "failing disk", "lying disk", "stops",
          "calendar", "other manager", "odd agents", "MADs twice", "damaged answers", "own training", "many out", "bounces", "late parts", "MADs overtaken", "tampering", "plugin", "calms", "aimed")
# What nobody keeps waits for no disk: most of a world's time is its journal's.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def seeds_of(text):
    seeds = []
    for part in text.split(","):
        numbers = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", part)
        if not numbers or (numbers[2] and int(numbers[2]) < int(numbers[1])):
            raise argparse.ArgumentTypeError(f"{part!r} is no number and no range as in 1..100, the smaller one first")
        seeds += range(int(numbers[1]), int(numbers[2] or numbers[1]) + 1)
    return seeds


def seconds_of(text):
    words = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not words:
        raise argparse.ArgumentTypeError(f"{text!r} is no time as in 90s, 10m or 2h")
    number, unit = words.groups()
    return float(number) * {"": 1, "s": 1, "m": 60, "h": 3600}[unit]


def line_of(seed, seconds, some=()):
    """What plays this world again."""
    return " ".join(["tools/swarm", "--keep", "--seeds", str(seed), *(["--seconds", f"{seconds:g}"] if seconds != STORM else []), *some])


def is_of(seed, kind):
    """Whether this kind is in the storm of a world. Nothing is played."""
    words = subprocess.run([WORLD, "--seed", str(seed), "--describe"], capture_output=True, text=True, check=True).stdout
    return kind in words.strip().split(", ")


def play(seed, seconds, kept, some=()):
    """The figures of a world, and what was wrong with it. `some`: swarm_world's options for a part of its storm."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix=f"heddle-swarm-{seed}-", dir=None if kept else MEMORY))
    again = line_of(seed, seconds, some)
    try:
        done = subprocess.run([WORLD, "--seed", str(seed), "--seconds", str(seconds), "--directory", directory, *some],
                              capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return {"seed": seed, "world": "?", "wrong": ["does not end within 600 s"], "again": again, "watched": {}}
    if done.returncode not in (0, 1):
        return {"seed": seed, "world": "?", "wrong": [f"ended with {done.returncode}: {done.stderr[-2000:]}"], "again": again, "watched": {}}
    world = json.loads(done.stdout)
    world |= {"again": again, "watched": {}}
    # Nothing but the daemon sends a MAD again, and none is later than packets live. A world's clock is exact: what waits for as long as packets live goes on in the very nanosecond in which the last one is gone.
    for what, lag in () if not world["judged"] or not world["recorded"] else (("at 0", 0), ("while packets live", world["packet_life_us"] - 1)):
        judged = subprocess.run([CHECK, "--fabric", directory / "fabric.net", "--recordings", directory, "--commands",
                                 directory / "commands", "--lag", str(lag), "--flight", str(world["packet_life_us"])], capture_output=True, text=True, timeout=600)
        if judged.returncode not in (0, 1):
            world["wrong"].append(f"wire_check, {what}: {judged.stderr}")
            continue
        counts = json.loads(judged.stdout.splitlines()[-1])
        world["watched"][what] = counts
        for kind, count in counts["violations"].items():
            world["wrong"].append(f"wire_check, {what}: {kind} {count['times']} times")
    if world["wrong"] and kept:
        world["again"] += f"; what it recorded is in {directory}"
    else:
        shutil.rmtree(directory, ignore_errors=True)
    return world


def shrunk(world, seconds, limit):
    """The line that plays the world again, with as little of its storm as goes wrong in the same way within `limit` seconds."""
    kinds, seed = shrink.kinds_of(world["wrong"]), world["seed"]

    def fails(options):
        return not kinds.isdisjoint(shrink.kinds_of(play(seed, seconds, False, options)["wrong"]))

    def options_of(steps, calm):
        return [*(["--only", ",".join(map(str, steps))] if steps else []), *(["--calm"] if calm else [])]
    count = world.get("step_count", 0)
    calm = "MADs lost" in world["world"] and fails(["--calm"])
    steps, played = shrink.shrink(count, lambda some: fails(options_of(some, calm)), limit)
    return f"{line_of(seed, seconds, options_of(steps, calm))}  ({len(steps)} of {count} steps, {played} storms played)"


def storm_of(world):
    """The column of the sum."""
    there = world["world"].split(", ")
    storms = [word for word in STORMS if word in there]
    return ", ".join(storms) or "loads alone"


def main():
    options = argparse.ArgumentParser(prog="tools/swarm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seeds", type=seeds_of, default=seeds_of("1..100"), help="A..B, or one; several with commas")
    options.add_argument("--for", dest="limit", type=seconds_of, default=0, help="begin none after that; s, m and h count")
    options.add_argument("--seconds", type=float, default=STORM, help="of a storm, in the world's time")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--keep", action="store_true", help="recordings of worlds that were not well")
    options.add_argument("--only", help="of the steps of a storm, those with these numbers: 3,17,20")
    options.add_argument("--calm", action="store_true", help="no MADs are lost or late")
    options.add_argument("--shrink", type=seconds_of, metavar="TIME", default=0, help="for each world that was not well, look so long for a smaller storm")
    options.add_argument("--json", action="store_true", help="a line of JSON for each world, and nothing else")
    options.add_argument("--fresh", type=int, metavar="COUNT", help="so many seeds that nobody chose; what is known to be wrong fails nothing")
    options.add_argument("--word", help="which ones: those of this word, and not of the commit and the date")
    options.add_argument("--all-kinds", action="store_true", help="fresh ones with all kinds of storms")
    options.add_argument("--wider", action="store_true", help="fresh ones with wider storms")
    options.add_argument("--calms", action="store_true", help="fresh ones with calms in their storms")
    options.add_argument("--with", dest="kind", choices=STORMS, metavar="KIND", help="of these worlds, those with this kind of storm: plugin")
    given = options.parse_args()
    known, some = [], [*(["--only", given.only] if given.only else []), *(["--calm"] if given.calm else [])]
    if given.fresh:
        word = given.word or fresh.word_of_today(pathlib.Path(__file__).parent)
        first = fresh.FIRST_OF_ALL_KINDS if given.all_kinds else fresh.FIRST
        first = fresh.FIRST_OF_WIDER_STORMS if given.wider else first
        first = fresh.FIRST_OF_CALMS if given.calms else first
        given.seeds, known = fresh.seeds_from(word, given.fresh, first), fresh.read_known(fresh.KNOWN.read_text())
        print(f"fresh seeds of {word}: {','.join(map(str, given.seeds))}", flush=True)
    for program in (WORLD, CHECK):
        if not program.exists():
            options.error(f"{program} is not there: build swarm_world and wire_check, or name another build with --build")
    began, total, wrong = time.monotonic(), collections.defaultdict(collections.Counter), 0
    lasted, steps = 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        def next_world(seed):
            late = given.limit and time.monotonic() - began > given.limit
            if late or (given.kind and not is_of(seed, given.kind)):
                return None
            return play(seed, given.seconds, given.keep, some)
        for world in pool.map(next_world, given.seeds):
            if world is None:
                continue
            if given.json:
                print(json.dumps(world), flush=True)
                continue
            lasted += world.get("lasted_s", 0)
            steps.update(world.get("steps", {}))
            column = total[storm_of(world)]
            column["worlds"] += 1
            column["not well"] += bool(world["wrong"])
            for what, counts in world["watched"].items():
                column[f"instants {what}"] += counts["instants"]
            if world["wrong"]:
                is_known = fresh.is_known(world, known)
                wrong += not is_known
                # Shrunk is what nobody knows; all of it where nothing is known.
                again = shrunk(world, given.seconds, given.shrink) if given.shrink and not is_known else world["again"]
                print(f"seed {world['seed']} ({world['world']}){', which is known' if is_known else ''}: {'; '.join(world['wrong'][:4])}\n"
                      f"  again: {again}", flush=True)
    if given.json:
        return 0
    for storm, column in sorted(total.items()):
        print(f"{storm}: {', '.join(f'{name} {count}' for name, count in column.items())}")
    print(f"{lasted / 3600:.1f} hours of the worlds' time: {', '.join(f'{name} {count}' for name, count in sorted(steps.items()))}")
    whole = sum(total.values(), collections.Counter())
    print(f"all: {', '.join(f'{name} {count}' for name, count in whole.items())}; {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
