#!/usr/bin/env python3
"""Takes mends back, one at a time (planted/*.patch), and counts the seeds until the swarm notices.

    tools/swarm --planted [NAME...] [--most 300] [--jobs N] [--built DIR]

The source is copied to build/planted, and built there once with all patches: each takes its mend back in runs of its name only (planted/planted.h), so that all
are judged beside one program. Worlds 6,000,000,001, 2,000,000,002, 4,000,000,003, 6,000,000,004, ... are played with and without: a defect is found when a kind of violation appears
that none of these worlds has without it, or when many more of them are not well. What no world has is judged by the unit test that a patch names ("Judged by"):
it must pass without, and fail with. --built: of a build folder where that was done already."""

import argparse
import concurrent.futures
import filecmp
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import fresh
import shrink

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
COPY = SOURCE / "build/planted"
BUILD = COPY / "build/quick"
PATCHES = HERE / "planted"
PATIENCE = 120  # seconds, with a unit test
STEPS = (10, 20, 40, 80, 150, 300, 600, 1200, 2000)  # seeds, after which it looks at what there is


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"planted: {' '.join(map(str, command))}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def apply_all(copy):
    """In the order of their names: those of one file know of each other. With other lines around it a change may land in another function."""
    shutil.copy(PATCHES / "planted.h", copy / "libanalysis/base/planted.h")
    for patch in sorted(PATCHES.glob("*.patch")):
        run("patch", "-p1", "--forward", "--fuzz=0", "--no-backup-if-mismatch", "-i", patch, cwd=copy)


def judge_of(patch):
    """The unit test, as a path in a build folder; none: the swarm."""
    named = re.search(r"^Judged by (\S+):", patch.read_text(), re.MULTILINE)
    return named[1] if named else None


def build(jobs):
    copy_source()
    apply_all(COPY)
    if not (BUILD / "build.ninja").exists():
        run("cmake", "--preset", "dev", "-B", BUILD, "-DHEDDLE_PAGE=OFF", "-DCMAKE_UNITY_BUILD=ON",
            "-DCMAKE_UNITY_BUILD_BATCH_SIZE=16", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g0", cwd=COPY)
    tests = {pathlib.Path(judge).name for judge in map(judge_of, PATCHES.glob("*.patch")) if judge}
    run("cmake", "--build", BUILD, "-j", jobs, "--target", "swarm_world", "wire_check", *sorted(tests), cwd=COPY)
    return BUILD


def copy_source():
    """What differs only, so that little is built again."""
    names = {name for name in run("git", "-C", SOURCE, "ls-files", "-z").split("\0") if name}
    # What is gone would be built all the same.
    for top in {name.split("/")[0] for name in names if "/" in name}:
        for there in (COPY / top).rglob("*"):
            if there.is_file() and str(there.relative_to(COPY)) not in names:
                there.unlink()
    for name in names:
        here, there = SOURCE / name, COPY / name
        if not here.is_file() or (there.is_file() and filecmp.cmp(here, there, shallow=False)):
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(here, there)


class Worlds:
    """What was wrong in worlds without the mend of this name; with all where there is none."""

    def __init__(self, built, name, pool):
        self.pool, self.wrong = pool, {}
        self.environment = {**os.environ, "HEDDLE_BUILD": str(built), "HEDDLE_PLANTED": name, "PYTHONDONTWRITEBYTECODE": "1"}

    def play(self, count):
        # Its own process: which build it plays is said once and for all in its environment.
        seeds = [seed for seed in range(1, count + 1) if seed not in self.wrong]

        def one(number):
            # In turns those with calms, with all kinds of storms and with wider ones (plan.h).
            seed = number + (fresh.FIRST_OF_WIDER_STORMS, fresh.FIRST_OF_CALMS, fresh.FIRST_OF_ALL_KINDS)[number % 3]
            done = subprocess.run([sys.executable, str(HERE / "swarm.py"), "--seeds", str(seed), "--json"], capture_output=True, text=True,
                                  env=self.environment, check=False)
            return json.loads(done.stdout.splitlines()[0])["wrong"]
        for seed, wrong in zip(seeds, self.pool.map(one, seeds)):
            self.wrong[seed] = shrink.kinds_of(wrong)

    def bad(self, count):
        return sum(bool(self.wrong[seed]) for seed in range(1, count + 1))


def passes(test, name):
    """One that waits for what never comes does not."""
    environment = {**os.environ, "HEDDLE_PLANTED": name}
    try:
        return subprocess.run([test], capture_output=True, env=environment, timeout=PATIENCE, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def look(sound, planted, most):
    """How many seeds it took, and by what it was seen; none: `most` were not enough."""
    for count in [step for step in STEPS if step < most] + [most]:
        planted.play(count)
        sound.play(count)
        usual = set().union(*(sound.wrong[seed] for seed in range(1, count + 1)))
        for seed in range(1, count + 1):
            unusual = planted.wrong[seed] - usual
            if unusual:
                return seed, min(unusual)
        before, after = sound.bad(count), planted.bad(count)
        if after > before + 3 * math.sqrt(before) + 3:
            return count, f"{after} worlds not well, {before} without it"
    return None, f"{planted.bad(most)} worlds not well, {sound.bad(most)} without it"


def main():
    options = argparse.ArgumentParser(prog="tools/swarm --planted", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", help=", ".join(sorted(patch.stem for patch in PATCHES.glob("*.patch"))))
    options.add_argument("--most", type=int, default=2000, help="seeds for each")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--built", type=pathlib.Path, metavar="DIR", help="with all patches")
    given = options.parse_args()
    known = sorted(patch.stem for patch in PATCHES.glob("*.patch"))
    for name in given.names:
        if name not in known:
            options.error(f"nobody has planted {name}; there are: {', '.join(known)}")
    names = given.names or known
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        built = given.built or build(given.jobs)
        sound = Worlds(built, "", pool)
        for name in names:
            began = time.monotonic()
            if judge := judge_of(PATCHES / f"{name}.patch"):
                found = passes(built / judge, "") and not passes(built / judge, name)
                missed += not found
                print(f"{name}: {'found' if found else 'NOT FOUND'} by {judge}; {time.monotonic() - began:.0f} s", flush=True)
                continue
            seeds, how = look(sound, Worlds(built, name, pool), given.most)
            missed += seeds is None
            print(f"{name}: {'found with ' + str(seeds) + ' seeds' if seeds else 'NOT FOUND with ' + str(given.most) + ' seeds'}: {how}; "
                  f"{time.monotonic() - began:.0f} s", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
