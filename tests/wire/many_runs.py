#!/usr/bin/env python3
"""Many random runs (random_runs.py), some at a time: counts instants and violations by kind of run, and keeps what was
counted in a file after each run, so that it can be read, and gone on with, at any time.

    in_netns python3 tests/wire/many_runs.py --seed 1000 --runs 400 --at-once 4 --sum night.json

A run mostly waits: for quiet, for packets, for links that train. How many at a time a machine bears depends on what else
it does; a program that gets no time answers late, and is judged all the same."""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent


class Sum:
    """What all runs came to. A file that is there already is gone on with."""

    def __init__(self, path):
        self.path, self.lock, self.groups = path, threading.Lock(), {}
        if path and path.exists():
            self.groups = json.loads(path.read_text())

    def add(self, result):
        with self.lock:
            for group, counts in result["groups"].items():
                mine = self.groups.setdefault(group, {"seeds": []})
                mine["seeds"] += [seed for seed in counts.pop("seeds") if seed not in mine["seeds"]]
                for lag, count in counts.items():
                    mine[lag] = dict(collections.Counter(mine.get(lag, {})) + collections.Counter(count))
            if self.path:
                scratch = self.path.with_suffix(".tmp")
                scratch.write_text(json.dumps(self.groups, indent=1, sort_keys=True))
                scratch.rename(self.path)

    def instants(self):
        with self.lock:
            found = collections.Counter()
            for counts in self.groups.values():
                for lag, count in counts.items():
                    if lag != "seeds":
                        found[lag] += count.get("instants", 0)
            return found


def one(seed, words, total):
    """Runs it in a process of its own. Its output, and whether it was sound."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        done = subprocess.run([sys.executable, str(HERE / "random_runs.py"), "--seeds", str(seed), "--sum", result.name, *words],
                              capture_output=True, text=True)
        text = result.file.read()
        if text:
            total.add(json.loads(text))
        return done.stdout + done.stderr[-2000:], done.returncode == 0


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="What else is given goes to random_runs.py.")
    options.add_argument("--seed", type=int, default=1000, help="of the first run; each following one has the next")
    options.add_argument("--runs", type=int, default=400)
    options.add_argument("--seeds", help="these instead, with commas")
    options.add_argument("--at-once", type=int, default=4)
    options.add_argument("--until", type=float, default=0, help="begin no run after so many seconds; 0: never end before")
    options.add_argument("--instants", type=int, default=0, help="begin no run once there are so many at each lag")
    options.add_argument("--sum", type=pathlib.Path, help="the file with all counts, as JSON")
    given, words = options.parse_known_args()
    total, began, wrong = Sum(given.sum), time.monotonic(), []
    seeds = [int(word) for word in given.seeds.split(",")] if given.seeds else range(given.seed, given.seed + given.runs)

    def run(seed):
        if given.until and time.monotonic() - began > given.until:
            return
        if given.instants and min(total.instants().values(), default=0) >= given.instants:
            return
        text, sound = one(seed, words, total)
        print("\n".join(line for line in text.splitlines() if not line.startswith("lag ")), flush=True)
        if not sound:
            wrong.append(seed)

    with concurrent.futures.ThreadPoolExecutor(given.at_once) as pool:
        list(pool.map(run, seeds))
    for group, counts in sorted(total.groups.items()):
        for lag, count in sorted(counts.items()):
            if lag != "seeds":
                print(f"{group}, lag {lag}: {count}")
    print(f"instants: {dict(total.instants())}; not sound: {wrong or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
