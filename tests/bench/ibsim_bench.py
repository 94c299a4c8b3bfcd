#!/usr/bin/env python3
"""Our server and our daemon against ibsim and OpenSM: same fabric, same machine, one after the other in one run.

    HEDDLE_BUILD=build/release HEDDLE_SOURCE=. unshare -n tests/bench/ibsim_bench.py bring-up tree:k=18,n=2,full
    HEDDLE_BUILD=build/release HEDDLE_SOURCE=. unshare -n tests/bench/ibsim_bench.py sweep tree:k=36,n=2

bring-up: OpenSM's first sweep until SUBNET UP, on `heddle sim serve` and on ibsim; a third argument is its routing engine.
sweep: the counters of all ports on ibsim, read by heddled, by OpenSM's PerfMgr and by ibqueryerrors. How long a sweep
takes is seen from outside and alike for all: from the first to the last moment in which ibsim works. How many MADs a
sweep takes is counted on `heddle sim serve`.

Each at net.unix.max_dgram_qlen 10 and 512. CPU times are of all threads of a process; on a machine that does other
things as well, wall times say little and CPU times a bit more.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

os.environ["HEDDLE_SOURCE"] = str(pathlib.Path(os.environ["HEDDLE_SOURCE"]).resolve())
os.environ["HEDDLE_BUILD"] = str(pathlib.Path(os.environ["HEDDLE_BUILD"]).resolve())
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))

from daemon_under_test import HEDDLE, Daemon  # noqa: E402
from ibsim_test import Ibsim  # noqa: E402
from served_fabric import ServedFabric  # noqa: E402

ServedFabric.watched = False  # recording takes time


ENGINE = sys.argv[3] if len(sys.argv) > 3 else "updn,no_fallback"


def cpu(pid):
    """Seconds of CPU that all threads of a process have had."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def set_queue(length):
    pathlib.Path("/proc/sys/net/unix/max_dgram_qlen").write_text(str(length))


def server_of(kind, spec, net):
    return ServedFabric(spec) if kind == "heddle" else Ibsim(net)


def pid_of(server):
    return server.process.pid if isinstance(server, Ibsim) else server.server.pid


def bring_up_once(kind, spec, net):
    """Seconds until SUBNET UP; CPU of the server; CPU of OpenSM."""
    with server_of(kind, spec, net) as server:
        server_before, all_before = cpu(pid_of(server)), resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        errors = server.opensm_once("-R", ENGINE, timeout=300)
        took = time.monotonic() - began
        assert not errors, errors
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (took, cpu(pid_of(server)) - server_before,
                after.ru_utime + after.ru_stime - all_before.ru_utime - all_before.ru_stime)


def bring_up(spec, net):
    for queue in (10, 512):
        set_queue(queue)
        runs = {"heddle": [], "ibsim": []}
        first = time.monotonic()
        while len(runs["ibsim"]) < 7 and time.monotonic() - first < 20:  # of a large fabric, one of each
            for kind, seen in runs.items():
                seen.append(bring_up_once(kind, spec, net))
        median = {kind: [statistics.median(column) for column in zip(*seen)] for kind, seen in runs.items()}
        for kind, (took, of_server, of_opensm) in median.items():
            print(f"bring-up {spec}, queue {queue}, {kind}: median of {len(runs[kind])}: {took:.2f} s, CPU {of_server:.3f} s of "
                  f"the server, {of_opensm:.2f} s of OpenSM")
        ratios = [theirs / ours for theirs, ours in zip(median["ibsim"], median["heddle"])]
        print(f"  ibsim / heddle: {ratios[0]:.2f} in time, {ratios[1]:.2f} in CPU of the server, {ratios[2]:.2f} in CPU of OpenSM",
              flush=True)


class Bursts:
    """When a process works, looked at every millisecond or so; what lies less than `gap` apart is one burst."""

    def __init__(self, pid, gap=0.15):
        self.pid, self.gap, self.bursts = pid, gap, []

    def watch(self, enough, limit):
        end = time.monotonic() + limit
        last, begin, active = cpu(self.pid), None, None
        start_cpu = last
        while time.monotonic() < end and len(self.bursts) < enough:
            time.sleep(0.001)
            now, used = time.monotonic(), cpu(self.pid)
            if used > last:
                if begin is None:
                    begin, start_cpu = now, last
                active = now
            elif begin is not None and now - active > self.gap:
                self.bursts.append((active - begin, last - start_cpu))
                begin = None
            last = used
        return self.bursts


def report(name, bursts, ports, client_cpu, least_cpu):
    bursts = [burst for burst in bursts if burst[1] >= least_cpu]  # a light sweep, a poll of SMInfo are none
    if not bursts:
        print(f"  {name}: no sweep seen")
        return None
    took = statistics.median(burst[0] for burst in bursts)
    work = statistics.median(burst[1] for burst in bursts)
    print(f"  {name}: {took * 1e3:.0f} ms a sweep (best {min(b[0] for b in bursts) * 1e3:.0f}), {ports / took:.0f} ports/s; "
          f"CPU a sweep: {client_cpu / len(bursts) * 1e3:.0f} ms its own, {work * 1e3:.0f} ms of ibsim", flush=True)
    return took


PERFMGR = ("force_log_flush TRUE\nperfmgr TRUE\nperfmgr_sweep_time_s 2\nperfmgr_max_outstanding_queries 64\n"
           "perfmgr_log_errors FALSE\nsweep_interval 0\n")
QUERY_ERRORS = ["ibqueryerrors", "--counters"]


def heddled(server, window):
    settings = {"fabric.backend": "umad", "sm.mode": "auto", "metrics.listen": "", "sampling.interval": "2s", "sampling.window": window,
                "sweep.light_interval": "1h"}
    return Daemon(settings, server.shim())


def perfmgr(server):
    settings = server.directory / "perfmgr.conf"
    settings.write_text(PERFMGR)
    return server.start("opensm", "-F", settings, "-e", "-f", server.directory / "perfmgr.log", "-D", "0x03", "-n", "64")


def count_mads(spec, ports):
    """How many MADs each takes for a sweep, on a server that counts."""
    with ServedFabric(spec, "--configured") as server:
        def sent():
            return server.heddle("status")["sent"]
        with heddled(server, 64) as daemon:
            daemon.wait_for_sweeps(2)
            before, sweeps = sent(), daemon.json("status")["sampling"]["sweeps"]
            status = daemon.wait_for_sweeps(sweeps + 2)
            print(f"  heddled: {(sent() - before) / ports / (status['sampling']['sweeps'] - sweeps):.2f} MADs a port")
        before = sent()
        server.run(*QUERY_ERRORS, timeout=300)
        print(f"  ibqueryerrors --counters: {(sent() - before) / ports:.2f} MADs a port, discovery included")
        opensm = perfmgr(server)
        time.sleep(12)  # its bring-up, and a sweep or two
        counts = []
        for _ in range(250):
            counts.append(sent())
            time.sleep(0.02)
        opensm.kill()
        # Growth between two pauses.
        sweeps, low = [], counts[0]
        for i in range(10, len(counts)):
            if counts[i] == counts[i - 10]:
                if counts[i] - low > ports / 2:
                    sweeps.append(counts[i] - low)
                low = counts[i]
        print(f"  PerfMgr: {statistics.median(sweeps) / ports if sweeps else float('nan'):.2f} MADs a port", flush=True)


def sweep(spec, net):
    shown = subprocess.run([HEDDLE, "fabric", "show", spec], capture_output=True, text=True, check=True).stdout
    ports = 2 * next(int(line.split()[0]) for line in shown.splitlines() if " links" in line)
    print(f"sweep {spec}: {ports} cabled ports")
    count_mads(spec, ports)
    for queue in (10, 512):
        set_queue(queue)
        print(f" queue {queue}")
        took = {}
        for window in (64, 500):
            with Ibsim(net) as server:
                server.opensm_once("-R", "minhop")
                with heddled(server, window) as daemon:
                    daemon.wait_for_sweeps(2)
                    before = cpu(daemon.process.pid)
                    bursts = Bursts(server.process.pid).watch(4, 20)
                    used = cpu(daemon.process.pid) - before
                    took[window] = report(f"heddled, window {window}", bursts, ports, used, 0.01)
                    print(f"    {daemon.json('status')['transactions']}")
        with Ibsim(net) as server:
            opensm = perfmgr(server)
            time.sleep(10)  # its bring-up
            before = cpu(opensm.pid)
            bursts = Bursts(server.process.pid).watch(4, 20)
            theirs = report("PerfMgr, 64 outstanding", bursts, ports, cpu(opensm.pid) - before, 0.01)
            opensm.kill()
            opensm.wait()
            began = time.monotonic()
            before = cpu(server.process.pid)
            done = subprocess.Popen([str(word) for word in QUERY_ERRORS], env=server.environment(),
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=server.directory)
            _, _, usage = os.wait4(done.pid, 0)
            done.returncode = 0
            queried = time.monotonic() - began
            print(f"  ibqueryerrors --counters: {queried * 1e3:.0f} ms with its discovery; CPU: "
                  f"{(usage.ru_utime + usage.ru_stime) * 1e3:.0f} ms its own, "
                  f"{(cpu(server.process.pid) - before) * 1e3:.0f} ms of ibsim")
        for window, ours in took.items():
            if ours and theirs:
                print(f"  window {window}: PerfMgr / heddled {theirs / ours:.2f}, ibqueryerrors / heddled {queried / ours:.1f}",
                      flush=True)


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("bring-up", "sweep"):
        sys.exit(__doc__)
    work = pathlib.Path("/tmp") / f"heddle-ibsim-bench-{os.getpid()}.net"
    subprocess.run([HEDDLE, "fabric", "generate", sys.argv[2], "-o", work], check=True, stdout=subprocess.DEVNULL)
    try:
        (bring_up if sys.argv[1] == "bring-up" else sweep)(sys.argv[2], work)
    finally:
        work.unlink()


if __name__ == "__main__":
    main()
