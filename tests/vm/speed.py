"""MADs a second, and processor time of each, of heddled through the kernel, of heddled through libumad2sim, and of OpenSM's
PerfMgr through the kernel, on the same fabric in the same machine:
    tools/vm --shell 'exec python3 speed.py'"""

import os
import pathlib
import time

from kernel_fabric import KernelFabric, heddled, wait_until
from daemon_under_test import Daemon
from served_fabric import ServedFabric

TREE = os.environ.get("HEDDLE_VM_TREE", "tree:k=4,n=3")
SECONDS = float(os.environ.get("HEDDLE_VM_SPEED_SECONDS", "15"))
HOST = "host-0 mlx5_0"
SETTINGS = {"sm.mode": "auto", "sampling.interval": "10ms", "sweep.light_interval": "1h", "sweep.heavy_interval": "1h"}


class Shim(ServedFabric):
    watched = False


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(what, fabric, pid):
    def now():
        return time.monotonic(), processor_seconds(pid), fabric.heddle("status")["sent"]
    before = now()
    time.sleep(SECONDS)
    passed, used, mads = (after - first for first, after in zip(before, now()))
    print(f"{what:32} {mads / passed:8.0f} MADs/s, {used / mads * 1e6 if mads else 0:6.1f} us of its processor time each, "
          f"{100 * used / passed:3.0f} % of a processor")


def sampling(daemon):
    daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "being master")
    daemon.wait_for_sweeps(5)
    return daemon.process.pid


with KernelFabric(TREE, [HOST]) as served:
    with heddled(**SETTINGS) as daemon:
        measure("heddled, ib_umad", served, sampling(daemon))
with Shim(TREE) as served:
    with Daemon({"fabric.backend": "umad", **SETTINGS}, served.shim(HOST)) as daemon:
        measure("heddled, libumad2sim", served, sampling(daemon))
with KernelFabric(TREE, [HOST]) as served:
    log = served.directory / "osm.log"
    settings = served.directory / "opensm.conf"
    settings.write_text("force_log_flush TRUE\nperfmgr TRUE\nperfmgr_sweep_time_s 1\nperfmgr_max_outstanding_queries 64\n")
    opensm = served.start("opensm", "-F", settings, "-f", log, "-D", "0x03")
    wait_until(lambda: "SUBNET UP" in (log.read_text(errors="replace") if log.exists() else ""), 60, "SUBNET UP")
    time.sleep(2)
    measure("OpenSM's PerfMgr, ib_umad", served, opensm.pid)
