"""Which job sends how much, how much of that leaves its leaf, and with whom it shares its busiest link: against traffic that is known."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from daemon_under_test import HEDDLE, Daemon
from demo_fabric import demo_fabric, play, sim
from served_fabric import wait_until

# leaf-0 has host-0 to host-2, leaf-1 host-3 to host-5, leaf-2 the rest.
SETTINGS = {"fabric.generate": "tree:k=3,n=2", "fabric.serve": "jobs", "sampling.interval": "100ms",
            "sweep.light_interval": "200ms"}
PAGE_JOBS = """cfd,host-0,host-1,host-2,host-3,host-8,host-9,host-10,host-11
md,host-4,host-5,host-16,host-17
idle,host-1000,host-1001
"""
JOBS = "inside,host-0,host-1\nacross,host-2,host-3\nquiet,host-8,nowhere\n"

SQUEUE = r"""#!/bin/sh
# One that knows no JSON, as Slurm before 21.08.
case "$1" in
  --json) echo "squeue: unrecognized option '--json'" >&2; exit 1;;
esac
[ "$*" = "--noheader --states=running --format=%i|%u|%N|%j" ] || exit 2
printf '11|ann|host-[0-1]|inside\n12|bob|host-[2-3]|a|cross\n'
"""


class Page(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_a_transcript(self):
        name = f"page-of-jobs-{os.getpid()}"
        with demo_fabric(name) as daemon:
            for source, target, rate in ((0, 8, 80), (1, 9, 80), (2, 10, 80), (3, 11, 80), (8, 0, 80), (4, 16, 120), (5, 17, 120), (4, 5, 40)):
                sim(name, "traffic", "add", f"host-{source} mlx5_0", f"host-{target} mlx5_0", "--rate", f"{rate}e9")
            self.assertEqual(play(self, "jobs.md", daemon, name, str, {"jobs.csv": PAGE_JOBS}), 1)


class Jobs(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="heddle-jobs-")))
        self.daemon = self.enterContext(Daemon(SETTINGS))
        self.daemon.wait_for_sweeps()
        for source, target in ((0, 1), (1, 0), (2, 3)):
            subprocess.run([HEDDLE, "sim", "--name", "jobs", "traffic", "add", f"host-{source} mlx5_0", f"host-{target} mlx5_0"],
                           check=True, timeout=20, stdout=subprocess.DEVNULL)

    def jobs(self, *words):
        return {job["job"]: job for job in self.daemon.json("jobs", *words)["jobs"]}

    def settled(self, *words):
        wait_until(lambda: sum(job["injected_bytes_per_second"] > 0 for job in self.jobs(*words).values()) == 2, 20, "traffic")
        self.daemon.wait_for_sweeps(self.daemon.json("status")["sampling"]["sweeps"] + 20)
        return self.jobs(*words)

    def test_of_a_file(self):
        file = self.directory / "jobs.csv"
        file.write_text(JOBS)
        jobs = self.settled("--file", str(file))
        inside, across, quiet = jobs["inside"], jobs["across"], jobs["quiet"]
        self.assertAlmostEqual(inside["injected_bytes_per_second"], 2 * across["injected_bytes_per_second"],
                               delta=0.1 * inside["injected_bytes_per_second"])
        self.assertEqual((inside["hosts"], inside["leaves"]), (2, ["leaf-0"]))
        self.assertEqual(sorted(across["leaves"]), ["leaf-0", "leaf-1"])
        # They share leaf-0: a third of what begins there leaves it, whosever it is.
        self.assertFalse(inside["leaves_leaf_exact"])
        self.assertAlmostEqual(inside["leaves_leaf"], 1 / 3, delta=0.05)
        self.assertIsNone(quiet["leaves_leaf"])
        self.assertEqual(quiet["unknown_hosts"], ["nowhere"])
        text = self.daemon.heddle("jobs", "--file", str(file), "--top", "2")
        self.assertRegex(text, r"inside +2 +\S+ Gbit/s +~3\d\.\d %")
        self.assertIn("and 1 more", text)

    def test_of_a_file_where_each_job_has_its_leaf(self):
        file = self.directory / "jobs.csv"
        file.write_text("left,host-0,host-1,host-2\nright,host-3,host-4\n")
        wait_until(lambda: self.jobs("--file", str(file))["left"]["injected_bytes_per_second"] > 0, 20, "traffic")
        self.daemon.wait_for_sweeps(self.daemon.json("status")["sampling"]["sweeps"] + 20)
        left = self.jobs("--file", str(file))["left"]
        self.assertTrue(left["leaves_leaf_exact"])
        self.assertAlmostEqual(left["leaves_leaf"], 1 / 3, delta=0.05)
        self.assertEqual(left["neighbours"], [])
        self.assertGreater(left["worst_link"]["utilization"], 0.5)

    def test_of_a_squeue_without_json_and_with_it(self):
        squeue = self.directory / "squeue"
        squeue.write_text(SQUEUE)
        squeue.chmod(0o755)
        jobs = self.settled("--squeue", str(squeue))
        self.assertEqual((jobs["12"]["user"], jobs["12"]["name"], jobs["12"]["hosts"]), ("bob", "a|cross", 2))
        said = {"jobs": [{"job_id": 7, "job_state": ["RUNNING"], "nodes": "host-[2-3]", "user_name": "c\u0007", "name": "n"}]}
        squeue.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(said)}\nEND\n")
        self.assertEqual({job: each["user"] for job, each in self.jobs("--squeue", str(squeue)).items()}, {"7": "c?"})

    def test_of_a_daemon_that_knows_them(self):
        """By a file; what it says is what heddle finds by itself."""
        file = self.directory / "jobs.csv"
        file.write_text(JOBS)
        here = self.settled("--file", str(file))
        with Daemon({**SETTINGS, "fabric.serve": "known-jobs", "jobs.source": str(file), "jobs.interval": "200ms"}) as daemon:
            daemon.wait_for_sweeps()
            wait_until(lambda: daemon.heddle_raw("jobs").returncode == 0, 20, "the daemon's first list")
            known = {job["job"]: job for job in daemon.json("jobs")["jobs"]}
            self.assertEqual(set(known), set(here))
            self.assertEqual(known["across"]["leaves"], here["across"]["leaves"])
            self.assertEqual(known["quiet"]["unknown_hosts"], ["nowhere"])
            wait_until(lambda: 'heddle_job_hosts{job="across",user=""} 2' in daemon.metrics(), 20, "metrics")
            self.assertIn("heddle_jobs 3", daemon.metrics())
            file.write_text("{}")
            wait_until(lambda: "expected job,host" in daemon.heddle_raw("jobs").stderr, 20, "word that it is no list")
            self.assertEqual(len(daemon.json("jobs")["jobs"]), 3)
            file.write_text("# nobody computes\n")
            wait_until(lambda: not daemon.json("jobs")["jobs"], 20, "the empty list")

    def test_of_a_squeue_that_is_not_there_or_fails(self):
        gone = self.daemon.heddle_raw("jobs", "--squeue", "/nowhere/squeue")
        self.assertEqual(gone.returncode, 1)
        self.assertIn("give them in a file of job,host", gone.stderr)
        failed = self.daemon.heddle_raw("jobs", "--squeue", "/bin/false")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("slurmctld", failed.stderr)


if __name__ == "__main__":
    unittest.main()
