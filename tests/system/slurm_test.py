"""Jobs of a real Slurm, as the daemon knows them, and experiments as arrays of jobs: Debian's slurm-wlm with munge, a slurmctld and two slurmd. Needs in_netns."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from daemon_under_test import HEDDLE, Daemon
from served_fabric import wait_until

HERE = "10.99.0.1"  # the resolver takes no address of the loopback net where there is no other
CONF = """ClusterName=heddle
SlurmctldHost=localhost({here})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={at}/munge.sock
CredType=cred/munge
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool-%n
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/slurmd-%n.pid
SlurmctldLogFile={at}/slurmctld.log
SlurmdLogFile={at}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
MailProg=/bin/true
NodeName=host-[0-1] NodeHostname=localhost NodeAddr={here} Port=[17001-17002] CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"])
EXPERIMENT = """
fabric = "tree:k=2,n=2"
warm_up = 200
measure = 500
loads = [0.2, 0.6]
seeds = 4
[[traffic]]
part = 1
"""
# Says who asked.
SQUEUE = """#!/bin/sh
id -un >> {at}/asked
exec /usr/bin/squeue "$@"
"""


class Slurm:
    """A context: a whole Slurm in a directory of its own. Not below /tmp where others may not go."""

    def __init__(self, topology=""):
        self.topology = topology  # a topology.conf of topology/tree

    def __enter__(self):
        self.at = pathlib.Path(tempfile.mkdtemp(prefix="heddle-slurm-"))
        self.at.chmod(0o755)
        (self.at / "state").mkdir()
        (self.at / "bin").mkdir()
        (self.at / "asked").touch()
        (self.at / "asked").chmod(0o666)
        squeue = self.at / "bin/squeue"
        squeue.write_text(SQUEUE.format(at=self.at))
        squeue.chmod(0o755)
        key = self.at / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        (self.at / "slurm.conf").write_text(CONF.format(at=self.at, here=HERE) + ("TopologyPlugin=topology/tree\n" if self.topology else ""))
        (self.at / "topology.conf").write_text(self.topology)
        self.env = {**os.environ, "SLURM_CONF": str(self.at / "slurm.conf"), "PATH": f"{self.at}/bin:{os.environ['PATH']}"}
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        subprocess.run(["ip", "addr", "replace", f"{HERE}/32", "dev", "lo"], check=True)
        self.programs = [self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.at}/munge.sock",
                                    f"--pid-file={self.at}/munge.pid", f"--log-file={self.at}/munged.log", f"--seed-file={self.at}/seed")]
        wait_until(lambda: (self.at / "munge.sock").exists(), 20, "munged")
        self.controller = self.start("slurmctld", "-D")
        self.programs += [self.controller, self.start("slurmd", "-D", "-N", "host-0"), self.start("slurmd", "-D", "-N", "host-1")]
        wait_until(lambda: self.run("sinfo", "--noheader", "--format=%D %T").strip() == "2 idle", 60, "two idle nodes")
        return self

    def __exit__(self, *unused):
        for program in reversed(self.programs):
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.terminate()
                program.wait(20)
            program.kill()
        shutil.rmtree(self.at, ignore_errors=True)

    def start(self, *command):
        return subprocess.Popen(command, env=self.env, cwd=self.at, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, *command):
        return subprocess.run(command, env=self.env, cwd=self.at, capture_output=True, text=True, timeout=60, check=False).stdout


class RealSlurm(unittest.TestCase):
    def jobs(self, daemon):
        asked = daemon.heddle_raw("--json", "jobs")
        return json.loads(asked.stdout) if asked.returncode == 0 else {"jobs": []}

    def test_the_daemon_knows_its_jobs(self):
        if not shutil.which("slurmctld") or not shutil.which("munged"):
            self.skipTest("no slurm-wlm here (tools/dev/packages-night.txt)")
        with Slurm() as slurm, Daemon({"fabric.generate": "tree:k=3,n=2", "fabric.serve": "slurm", "jobs.source": "squeue", "jobs.interval": "1s",
                                       "sampling.interval": "200ms"}, slurm.env) as daemon:
            daemon.wait_for_sweeps()
            wait_until(lambda: daemon.json("jobs").get("age_seconds") is not None, 30, "the first answer")
            self.assertEqual(daemon.json("jobs")["jobs"], [])
            slurm.run("sbatch", "-N", "2", "-J", "cfd|a", "-o", "/dev/null", "--wrap", "sleep 300")
            wait_until(lambda: self.jobs(daemon)["jobs"], 60, "the job")
            job = self.jobs(daemon)["jobs"][0]
            self.assertEqual((job["job"], job["user"], job["name"], job["hosts"], job["unknown_hosts"]), ("1", "root", "cfd|a", 2, []))
            subprocess.run([HEDDLE, "sim", "--name", "slurm", "traffic", "add", "host-0 mlx5_0", "host-1 mlx5_0"], check=True,
                           capture_output=True, timeout=20)
            wait_until(lambda: self.jobs(daemon)["jobs"][0]["injected_bytes_per_second"] > 1e9, 30, "its traffic")
            wait_until(lambda: 'heddle_job_hosts{job="1",user="root"} 2' in daemon.metrics(), 30, "its metrics")
            self.assertEqual(set((slurm.at / "asked").read_text().split()), {"nobody"})

            slurm.controller.kill()
            slurm.controller.wait(20)
            wait_until(lambda: daemon.json("jobs")["trouble"], 90, "word that nobody answers")
            old = daemon.heddle_raw("jobs")
            self.assertIn("the list of jobs is old", old.stderr)
            self.assertIn("root", old.stdout)
            self.assertEqual(daemon.json("status")["sampling"]["overruns"], 0)

    def test_it_reads_the_topology_that_is_exported(self):
        if not shutil.which("slurmctld") or not shutil.which("munged"):
            self.skipTest("no slurm-wlm here (tools/dev/packages-night.txt)")
        # A host at each of two leaves, two spines above.
        with Daemon({"fabric.generate": "xgft:2;1,2;1,2", "sampling.interval": "200ms"}) as daemon:
            daemon.wait_for_sweeps()
            topology = daemon.heddle("fabric", "export", "--format", "slurm-topology")
        with Slurm(topology) as slurm:
            shown = [dict(word.split("=", 1) for word in line.split()) for line in slurm.run("scontrol", "show", "topology").splitlines()]
            leaves = {switch["SwitchName"]: switch["Nodes"] for switch in shown if switch["Level"] == "0"}
            self.assertEqual(leaves, {"leaf-0": "host-0", "leaf-1": "host-1"})
            above, = (switch for switch in shown if switch["Level"] == "1")
            self.assertEqual((above["Nodes"], above["Switches"]), ("host-[0-1]", "leaf-[0-1]"))
            # Slurm finds a job the leaves that it asks for: one has a single host, so that two are refused under one.
            self.assertIn("2", slurm.run("srun", "-N", "2", "sh", "-c", "echo $SLURM_NNODES"))
            log = (slurm.at / "slurmctld.log").read_text()
            self.assertNotIn("topology", "\n".join(line for line in log.splitlines() if "error" in line or "WARNING" in line))

    def test_an_experiment_as_an_array_of_jobs(self):
        if not shutil.which("slurmctld") or not shutil.which("munged"):
            self.skipTest("no slurm-wlm here (tools/dev/packages-night.txt)")
        with Slurm() as slurm:
            slurm.env["PATH"] = f"{pathlib.Path(HEDDLE).parent}:{slurm.env['PATH']}"
            (slurm.at / "e.toml").write_text(EXPERIMENT)
            subprocess.run([HEDDLE, "sim", "run", slurm.at / "e.toml", "--out", slurm.at / "whole", "--quiet"], check=True,
                           capture_output=True, timeout=120)
            slurm.run(SOURCE / "tools/slurm/heddle-sim", "e.toml", "out", "3")
            whole, merged = slurm.at / "whole", slurm.at / "out"
            wait_until((merged / "plot.gp").exists, 120, "the merged results")
            self.assertEqual(len(list(merged.glob("part-*/points.txt"))), 3)
            for name in ("results.json", "runs.csv", "summary.csv", "plot.gp"):
                self.assertEqual((whole / name).read_bytes(), (merged / name).read_bytes(), name)


if __name__ == "__main__":
    unittest.main()
