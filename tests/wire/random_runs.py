#!/usr/bin/env python3
"""Random runs of the real programs on served fabrics, each from one number, each judged at every instant: loads,
operators in pairs, cuts, mends, switches that die, daemons that are killed, MADs that are lost and late.

    in_netns python3 tests/wire/random_runs.py --seed 1 --runs 100

needs HEDDLE_BUILD and HEDDLE_SOURCE. The same seed makes the same choices; what the programs do in between is theirs.
Prints a line for each run, the verdict of each that was not sound with the directory of its recordings, and the sum."""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from daemon_under_test import HEDDLE, Daemon  # noqa: E402
from plugin_fabric import PluginFabric  # noqa: E402
from served_fabric import FABRICS, ServedFabric, wait_until  # noqa: E402

SMALL = FABRICS / "small-4sw-12ca.ibnetdiscover"
KINDS = ("torus:4x4,hosts=1,links=2", "torus:4x4,hosts=1,links=1", "torus:3x3,hosts=2,links=2", "tree:k=4,n=2",
         "tree:k=3,n=3", "xgft:3;3,3,2;1,2,2", "random:switches=10,hosts=20,links=20,seed={seed}", str(SMALL))

# Changes as often as they can be made.
SETTINGS = {"metrics.listen": "", "fabric.backend": "umad", "sm.mode": "auto", "regulation.mode": "enforce",
            "regulation.quiet": "600ms", "regulation.least_on": "100ms", "regulation.least_off": "100ms",
            "regulation.drain": "100ms", "regulation.wake": "100ms", "regulation.break_even": "1.0", "regulation.most_closing": "16",
            "regulation.most_transitions": "100000", "sampling.interval": "200ms", "sweep.light_interval": "400ms",
            # Many at a time starve each other: an answer that comes late is no node that is gone.
            "sampling.timeout": "1s"}
TRAINING = 0.1
LOADS = ('pattern = "uniform"\nload = 0.9\ndestinations = 7', 'pattern = "uniform"\nload = 0.4\ndestinations = 3',
         'pattern = "uniform"\nload = 0.1\ndestinations = 2')

# The default of regulation.packet_life, ms (libanalysis/routing/packet_life.h).
SHIPPED_LIFE = 1074
# How late `heddle fault mads` makes a MAD, and what the server takes besides, s.
DELAY, LATE = 0.05, 0.06
# How late it may take and make one on a machine that is busy, s.
FLIGHT = 0.1

# Until what a cut broke must be back where spare cables can carry it: noticing, training, 2 s.
BACK_WITHIN = 2.5 + TRAINING
# The same on what has rings: the order counts on every cable, and is made anew without the lost one once spares are back and
# tables have rested for five seconds (docs/routing.md, Mends).
RING_BACK_WITHIN = 5 + BACK_WITHIN


class Plan:
    """What a run is to be, from its number."""

    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(f"wire {seed}")
        self.fabric = KINDS[seed % len(KINDS)].format(seed=seed)
        self.lmc = self.random.choice((0, 1))
        self.policy = self.random.choice(("trunk", "general"))
        self.beside_opensm = self.random.random() < 0.4
        self.lossy = self.random.random() < 0.35
        self.faults = self.random.random() < 0.6
        self.operators = True
        # Nobody but the regulation, and one cut at a time: spares must come back for it.
        self.patient = self.random.random() < 0.15
        # Numbers of their own, so that those before them stay what they were.
        self.packet_life = random.Random(f"life {seed}").choice((5, 20, 100))  # ms
        if self.lossy:
            self.packet_life = 100  # a MAD is a packet too: none may be later than that
        self.as_shipped = random.Random(f"as shipped {seed}").random() < 0.2
        if self.as_shipped:
            self.packet_life = SHIPPED_LIFE

    def __str__(self):
        words = [f"seed {self.seed}: {pathlib.Path(self.fabric).name}", f"LMC {self.lmc}", self.policy,
                 f"packets live {self.packet_life} ms" + " (as shipped)" * self.as_shipped,
                 "beside OpenSM" if self.beside_opensm else "alone", "with cuts" if self.faults else "without cuts"]
        return ", ".join(words + ["2 % of MADs lost, 1 % late"] * self.lossy + ["one cut at a time"] * self.patient)

    @property
    def group(self):
        """What a table of counts has a column for."""
        words = ["beside OpenSM" if self.beside_opensm else "alone"] + ["faults"] * self.faults + ["MADs lost"] * self.lossy
        words += ["as shipped"] * self.as_shipped
        return ", ".join(words)

    def back(self, slack):
        """How long whoever a cut concerns may be without a way, s."""
        has_rings = not self.fabric.startswith(("tree:", "xgft:"))
        return (RING_BACK_WITHIN if has_rings else BACK_WITHIN) + slack

    @property
    def flight(self):
        """How late a Set of a program that was killed can be, s: as late as a packet, or as the server takes it. What OpenSM sends,
        the server repeats in the kernel's place: as late as the judge has it."""
        return 0 if self.beside_opensm else max(self.packet_life / 1000, FLIGHT)

    @property
    def late(self):
        """How late one can be that its program sent again and that was answered then, s. Likewise."""
        return LATE if self.beside_opensm else min(self.packet_life / 1000, LATE)

    def back_within(self, slack):
        """That, where the run is judged by it; else 0."""
        return self.back(slack) if self.patient and not self.lossy else 0


class RecordedDaemon(Daemon):
    """Leaves a log and a recording of each of its starts (`heddled --replay`) beside what was on the wire."""

    def __init__(self, directory, *arguments):
        super().__init__(*arguments)
        self.kept_in, self.starts = directory, 0

    def __enter__(self):
        name = self.kept_in / f"heddled-{self.starts}"
        self.starts += 1
        self.log, self.arguments = name.with_suffix(".log"), ["--record", name.with_suffix(".rec")]
        return super().__enter__()


class Run:
    def __init__(self, plan, seconds, slack):
        self.plan, self.seconds, self.slack, self.random = plan, seconds, slack, plan.random
        self.loads, self.cut, self.dead, self.done = [], [], [], collections.Counter()

    def __call__(self):
        """The watch of what was recorded."""
        fabric = PluginFabric if self.plan.beside_opensm else ServedFabric
        more = {"plugin_socket": False} if self.plan.beside_opensm else {}
        self.served = fabric(self.plan.fabric, "--training-delay", str(TRAINING), **more)
        self.served.judge = lambda *unused: None  # by whoever ordered the run
        with self.served:
            if self.plan.beside_opensm:
                if self.plan.as_shipped:
                    self.served.packet_life_time = "0x12"
                self.served.start_opensm("-s", "1", "-l", str(self.plan.lmc))
            with self.heddled() as self.daemon:
                try:
                    self.play()
                finally:
                    self.keep_log()
        return self.served.watch

    def play(self):
        self.daemon.wait_for_sweeps(2)
        self.learn()
        if self.plan.lossy:
            self.served.heddle("fault", "mads", "--lost", 0.02, "--delayed", 0.01, "--delay", DELAY)
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            if self.plan.patient:
                self.wait_for_spares()
            else:
                self.step()
                time.sleep(self.random.uniform(0.02, 0.4))
        self.settle()

    def keep_log(self):
        """OpenSM's, beside the recordings."""
        if self.served.log.exists():
            shutil.copy(self.served.log, self.served.watch.directory / f"{self.served.log.stem}.log")

    def heddled(self):
        settings = {**SETTINGS, "regulation.policy": self.plan.policy}
        if self.plan.patient:  # what is gone has to be known as gone in time
            settings["sampling.timeout"] = "200ms"
        if not self.plan.as_shipped:
            settings["regulation.packet_life"] = f"{self.plan.packet_life}ms"
        if self.plan.beside_opensm:
            settings |= {"opensm.plugin": "true", "opensm.socket": self.served.socket, "opensm.lmc": self.plan.lmc,
                         "state.directory": self.served.directory}
        else:
            settings["sm.lmc"] = self.plan.lmc
        daemon = RecordedDaemon(self.served.watch.directory, settings, self.served.shim())
        daemon.ends_within = 75  # it waits up to 60 s for links that it brings back
        return daemon

    def learn(self):
        """Switches, and the cables between them."""
        wait_until(lambda: self.daemon.json("links", "--kind", "switch")["links"], 60, "the first survey")
        links = self.daemon.json("links", "--kind", "switch")["links"]
        self.links = [link["name"] for link in links]
        self.ends = [(link["a"]["node"], link["a"]["port"]) for link in links]
        self.nodes = sorted({node for node, _ in self.ends})

    def wait_for_spares(self):
        time.sleep(2.5)  # so that links go off
        self.cut_or_mend()
        time.sleep(self.plan.back(self.slack) + 0.5)
        self.cut_or_mend()

    def step(self):
        steps = {self.load: 4, self.regulate: 1}
        if self.plan.operators:
            steps[self.operators] = 5
        if self.plan.faults:
            steps |= {self.cut_or_mend: 3, self.kill_or_revive: 1, self.kill_daemon: 1}
        chosen = self.random.choices(list(steps), list(steps.values()))[0]
        self.done[chosen.__name__] += 1
        chosen()

    def load(self):
        if self.loads and self.random.random() < 0.6:
            self.served.heddle("traffic", "stop", self.loads.pop())
        elif len(self.loads) < 3:
            self.loads.append(self.served.heddle("traffic", "start", self.random.choice(LOADS))["phase"])

    def operators(self):
        """Two at the same time; what is refused is refused."""
        orders = [(self.random.choice(("off", "off", "on", "auto")), self.random.choice(self.links)) for _ in range(2)]
        threads = [threading.Thread(target=self.daemon.heddle_raw, args=("link", *order)) for order in orders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def regulate(self):
        self.daemon.heddle_raw("regulate", self.random.choice(("enforce", "enforce", "advise")))
        if self.random.random() < 0.3:
            self.daemon.heddle_raw("restore")
            self.daemon.heddle_raw("regulate", "enforce")

    def cut_or_mend(self):
        """One cable at a time: what more of them cut off no spare can reach."""
        if self.cut:
            self.served.heddle("link", *self.cut.pop(), "up")
        else:
            self.cut.append(self.random.choice(self.ends))
            self.served.heddle("link", *self.cut[0], "down")

    def kill_or_revive(self):
        if self.dead:
            self.served.heddle("node", self.dead.pop(), "revive")
        elif not self.cut:
            self.dead.append(self.random.choice(self.nodes))
            self.served.heddle("node", self.dead[0], "kill")

    def kill_daemon(self):
        self.daemon.process.send_signal(signal.SIGKILL)
        self.daemon.process.wait(20)
        self.daemon.__enter__()
        while True:
            with contextlib.suppress(AssertionError):
                self.daemon.wait_for(lambda status: True, "answering", 10)
            if not self.shim_died():
                return
            self.done["shim_died"] += 1
            self.daemon.__enter__()

    def shim_died(self):
        """Debian's shim takes a late answer to the program before it for one to it, while it still makes its files for the new one, and
        takes that along (docs/campaigns.md, 170012): before heddled has said its first word."""
        lines = self.daemon.log_text().splitlines()
        return self.daemon.process.poll() == -signal.SIGSEGV and all(line.startswith("ibwarn:") for line in lines)

    def settle(self):
        """All mended, and time to find that out."""
        self.served.heddle("fault", "mads")
        while self.cut:
            self.cut_or_mend()
        while self.dead:
            self.kill_or_revive()
        self.daemon.heddle_raw("restore")
        time.sleep(1.5)
        assert self.daemon.process.poll() is None, f"heddled has ended: {self.daemon.log_text()[-3000:]}"


def report(plan, watch, lags, slack):
    """Judges a run at each lag. Whether it was sound, and the counts by lag."""
    sound, counts = True, {}
    for lag in lags:
        verdict = watch.verdict(plan.packet_life * 1000 if lag == "life" else lag, back_within=plan.back_within(slack),
                                late_us=plan.late * 1e6, flight_us=plan.flight * 1e6)
        counts[lag] = verdict.counts
        violations = {kind: count["times"] for kind, count in verdict.counts["violations"].items()}
        print(f"  lag {lag}: {verdict.counts['instants']} instants, {violations or 'sound'}", flush=True)
        if not verdict.is_sound:
            (watch.directory / f"verdict-{lag}.txt").write_text(f"{plan}\n{verdict.text}")
            sound = False
    return sound, counts


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seed", type=int, default=1, help="of the first run; each following one has the next")
    options.add_argument("--runs", type=int, default=8)
    options.add_argument("--seeds", help="these instead, with commas")
    options.add_argument("--seconds", type=float, default=8, help="of a run, without its beginning and end")
    options.add_argument("--lag", default="0,life", help="microseconds that packets live, or life: as the run's settings say; "
                         "several with commas")
    options.add_argument("--slack", type=float, default=0, help="seconds that spares may take longer, on a machine that is busy")
    options.add_argument("--without-faults", action="store_true", help="no cuts, nobody killed, no MAD lost")
    options.add_argument("--without-operators", action="store_true", help="loads and the regulation alone")
    options.add_argument("--until", type=float, default=0, help="begin no run after so many seconds; 0: never end before")
    options.add_argument("--sum", help="write the sum of all counts to this file, as JSON")
    given = options.parse_args()
    lags = [word if word == "life" else int(word) for word in given.lag.split(",")]
    total = {lag: collections.Counter() for lag in lags}
    groups = {}
    wrong, began = [], time.monotonic()
    seeds = range(given.seed, given.seed + given.runs)
    if given.seeds:
        seeds = [int(word) for word in given.seeds.split(",")]
    for seed in seeds:
        if given.until and time.monotonic() - began > given.until:
            break
        plan = Plan(seed)
        if given.without_faults:
            plan.faults = plan.lossy = plan.patient = False
        plan.operators = not given.without_operators
        if not os.path.exists(plan.fabric) and plan.fabric == str(SMALL):
            print(f"{plan}: SKIPPED, {SMALL} is not there", flush=True)
            continue
        print(plan, flush=True)
        run, ended = Run(plan, given.seconds, given.slack), True
        try:
            watch = run()
        except (AssertionError, subprocess.SubprocessError) as error:
            print(f"  DID NOT END: {str(error)[-1500:]}", flush=True)
            ended = False
            watch = run.served.watch
        sound, counts = report(plan, watch, lags, given.slack)
        sound = sound and ended
        group = groups.setdefault(plan.group, {"seeds": []})
        for lag, count in counts.items():
            found = collections.Counter({"runs": 1, "sound": 0 if count["violations"] else 1, "instants": count["instants"],
                                         "smps": count["smps"]})
            found += collections.Counter({kind: each["times"] for kind, each in count["violations"].items()})
            found += collections.Counter({} if ended else {"did not end": 1})
            total[lag] += found
            group[str(lag)] = dict(collections.Counter(group.get(str(lag), {})) + found)
        group["seeds"] += [] if sound else [seed]
        if sound:
            shutil.rmtree(watch.directory, ignore_errors=True)
        else:
            wrong.append(seed)
            print(f"  NOT SOUND: {watch.directory}; again with --seed {seed} --runs 1 --seconds {given.seconds}", flush=True)
    for lag in lags:
        print(f"lag {lag}: {dict(total[lag])}")
    if given.sum:
        pathlib.Path(given.sum).write_text(json.dumps({"wrong": wrong, "groups": groups}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
