"""Faults made in a simulated fabric, seen by a real Prometheus: each alert fires, each panel of each dashboard has data."""

import itertools
import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import qos_drift
from daemon_under_test import HEDDLE, SOURCE, Daemon
from prometheus_test import Prometheus, free_port
from served_fabric import Programs, wait_until

RULES = SOURCE / "tools/prometheus"
DASHBOARDS = SOURCE / "tools/grafana"
FABRIC = "tree:k=3,n=2"  # host-0..8 mlx5_0, three on each of leaf-0..2
SPEED_UP = 300  # an hour of the alert rules passes in 12 s
NAME = "monitoring"
LONGEST = 12_000  # ms: of what the rules wait for

# A rack whose hosts talk to each other, until they begin to exchange more with others.
CONFIG = '[[locality.set]]\nname = "rack"\nnodes = ["leaf-0", "host-[012] *"]\n'

# The traffic that is there before anything goes wrong.
SCENARIO = '[[phase]]\npattern = "neighbour"\nload = 0.1\n'

ERRORS = {  # counter: how many, more than the alert bears and less than the counter holds
    "symbol": 1000, "link_recovers": 20, "rcv_errors": 50, "local_link_integrity": 5, "excessive_buffer_overrun": 5,
    "xmit_discards": 500}

# Each alert, and the command of `heddle sim` that brings it about. OpenSM's end and the daemon's are made apart.
FAULTS = {
    "InfinibandSwitchPortDown": ["link leaf-2 3 down"],
    "InfinibandHcaPortDown": ["link leaf-2 3 down"],
    "InfinibandSwitchLinkFlapping": ["fault errors leaf-1 2 link_downed 9"],
    "InfinibandHcaLinkFlapping": ["fault errors host-4 1 link_downed 9"],
    "HeddlePortsMissing": ["fault agent host-6 --mute-pma"],
    "HeddleProblem": ["fault agent host-6 --mute-pma"],
    "HeddleHealth": ["fault errors leaf-1 2 link_recovers 20"],
    "HeddleCountersReset": ["counters leaf-1 1 --set-xmit-data 0"],
    "HeddleCountersSaturated": ["fault agent host-3 --narrow-counters", "counters host-3 1 --set-xmit-data 4294967295"],
    "HeddleLinkBusy": ["traffic add host-6 host-7"],
    "HeddleLinkCongested": ["traffic add host-1 host-7", "traffic add host-2 host-7"],
    "HeddleLocalityLow": [f"traffic add host-{x} host-{y}" for a, b in ((0, 3), (1, 4), (2, 5)) for x, y in ((a, b), (b, a))],
    "HeddleMadsLost": ["fault mads --lost 0.3"],
    "HeddleSweepsLate": ["fault agent host-5 --slow 0.02"],
}
for kind, (node, port) in {"Switch": ("leaf-1", 2), "Hca": ("host-4", 1)}.items():
    for alert, counter in {"SymbolErrors": "symbol", "LinkRecovers": "link_recovers", "ReceiveErrors": "rcv_errors",
                           "IntegrityErrors": "local_link_integrity", "BufferOverruns": "excessive_buffer_overrun",
                           "TransmitDiscards": "xmit_discards"}.items():
        FAULTS[f"Infiniband{kind}{alert}"] = [f"fault errors {node} {port} {counter} {ERRORS[counter]}"]

# Brought about in a second fabric, which this program's daemon is the subnet manager of.
WHERE_IT_MANAGES = {"HeddleQosDrift", "HeddleLinkOff"}
# Needs OpenSM with the plugin, and a disk that is full: rules_test has them, by their metrics.
BESIDE_OPENSM = {"HeddleOpenSmAway", "HeddlePlanNotWritten"}
# Needs a receiver that takes nothing: notify_test has its metric, rules_test the alert.
BY_A_RECEIVER = {"HeddleNoticesDropped"}
# A drain that switches refuse for ten minutes: rules_test has the alert, regulation_metrics_test the metric.
BY_REFUSAL = {"HeddleDrainNotSafe"}
# A baseline that is otherwise: baseline_test has the metric, rules_test the alert.
BY_A_BASELINE = {"HeddleCablesDiffer"}
BY_THEIR_END = {"HeddleSubnetManagerSilent", "HeddleMastershipMoved", "HeddleAbsent", "HeddleSweepsStopped"}


def faster(rules):
    """The rules with every duration divided; an age in seconds, by less than the time from scrape to scrape allows."""
    def shorter(match):
        number, unit = int(match.group(1)), match.group(2)
        milliseconds = number * {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}[unit] // SPEED_UP
        return f"{min(max(milliseconds, 1), LONGEST)}ms" if number else "0s"
    lines = [re.sub(r"\b(\d+)([smhd])\b", shorter, line) if re.match(r"\s+(expr|for):", line) else line
             for line in rules.splitlines()]
    text = "\n".join(lines) + "\n"
    assert text.count(" > 60\n") == 1
    return text.replace(" > 60\n", " > 2\n")


def sim(command):
    words = [re.sub(r"^host-\d$", r"\g<0> mlx5_0", word) for word in command.split()]
    done = subprocess.run([HEDDLE, "sim", "--name", NAME, *words], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"


@unittest.skipIf(shutil.which("prometheus") is None, "prometheus is not installed")
class Monitoring(unittest.TestCase):
    def setUp(self):
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        (directory / "scenario.toml").write_text(SCENARIO)
        (directory / "alerts.yml").write_text(faster((RULES / "heddle.alerts.yml").read_text()))
        listen = f"127.0.0.1:{free_port()}"
        self.daemon = self.enterContext(Daemon(
            {"fabric.generate": FABRIC, "fabric.serve": NAME, "fabric.scenario": directory / "scenario.toml",
             "metrics.listen": listen, "sm.mode": "off", "sampling.interval": "10ms", "sampling.timeout": "50ms",
             "sweep.light_interval": "200ms"}, config=CONFIG))
        self.programs = self.enterContext(Programs(NAME, self.daemon.directory))
        wait_until(self.programs.is_served, 20, "the serving")
        self.opensm = self.manager("host-8", 5)
        self.daemon.wait_for(lambda status: (status.get("load") or {}).get("utilization_max", 0) is not None
                             and status["subnet_manager"]["answers"], "settled")
        listen_too = f"127.0.0.1:{free_port()}"
        self.manages = self.enterContext(Daemon(
            {"fabric.generate": "torus:2x2,hosts=1,links=2", "fabric.serve": NAME + "-2", "fabric.scenario": "demo",
             "metrics.listen": listen_too, "sampling.interval": "200ms", "regulation.mode": "advise"}))
        self.manages.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "master")
        self.prometheus = self.enterContext(
            Prometheus(listen, listen_too, rules=[directory / "alerts.yml", RULES / "heddle.recording.yml"]))
        self.prometheus.wait_for("heddle:switch_errors:rate5m")

    def manager(self, node, priority):
        settings = self.programs.directory / f"{node}.conf"
        settings.write_text(f"force_log_flush TRUE\nsm_priority {priority}\n")
        log = self.programs.directory / f"{node}.log"
        process = self.programs.start("opensm", "-F", settings, "-e", "-f", log, "-D", "0x03", node=f"{node} mlx5_0")
        wait_until(lambda: log.exists() and "SUBNET UP" in log.read_text(errors="replace"), 30, "SUBNET UP")
        return process

    def fired(self):
        """Alerts that fire, or did."""
        rows = self.prometheus.query('max_over_time(ALERTS{alertstate="firing"}[10m])')
        return {row["metric"]["alertname"] for row in rows}

    def wait_for_alerts(self, names):
        try:
            wait_until(lambda: names <= self.fired(), 40)
        except AssertionError:
            self.fail(f"these do not fire: {sorted(names - self.fired())}")

    def change_what_is_managed(self):
        """A link is turned off, and somebody else writes QoS tables."""
        plan, _ = qos_drift.design(self.manages.directory)
        self.manages.heddle("qos", "push", str(plan))
        switch = next(node for node in self.manages.json("nodes")["nodes"] if node["type"] == "switch")
        with Programs(NAME + "-2", self.manages.directory) as programs:
            qos_drift.overwrite(programs, switch["lid"], 1)
        self.assertEqual(self.manages.heddle_raw("qos", "verify").returncode, 1)
        self.manages.heddle("link", "off", self.manages.json("links", "--kind", "switch")["links"][0]["name"])

    def queries_without_data(self, names):
        """Of all dashboards, with each of these names in place of the variables."""
        empty = []
        for path in sorted(DASHBOARDS.glob("*.json")):
            for panel in json.loads(path.read_text())["panels"]:
                for target in panel["targets"]:
                    variants = {re.sub(r"\$(node|switch)\b", name, target["expr"]).replace("$port", str(port)).replace("$fabric", ".*")
                                for name, port in names}
                    if not any(self.prometheus.query(variant) for variant in variants):
                        empty.append(f"{path.name}: {target['expr']}")
        return empty

    def test_alerts_and_dashboards(self):
        alerts = set(re.findall(r"- alert: (\w+)", (RULES / "heddle.alerts.yml").read_text()))
        self.assertEqual(alerts, set(FAULTS) | WHERE_IT_MANAGES | BY_THEIR_END | BESIDE_OPENSM | BY_A_RECEIVER | BY_REFUSAL | BY_A_BASELINE)
        # Nothing fires without a fault; but Prometheus began before its first scrape, and a busy machine makes sweeps late.
        self.assertEqual(self.fired() - {"HeddleAbsent", "HeddleSweepsLate", "HeddleSweepsStopped"}, set())
        self.change_what_is_managed()
        for command in dict.fromkeys(itertools.chain(*FAULTS.values())):
            if "mads" not in command:
                sim(command)
        self.wait_for_alerts((set(FAULTS) | WHERE_IT_MANAGES) - {"HeddleMadsLost"})
        ports = [("leaf-1", 2), ("host-4 mlx5_0", 1), ("leaf-1", 1), ("host-3 mlx5_0", 1)]
        self.assertEqual(self.queries_without_data(ports), [])
        sim(*FAULTS["HeddleMadsLost"])
        self.wait_for_alerts({"HeddleMadsLost"})
        sim("fault mads")

        self.opensm.kill()
        self.wait_for_alerts({"HeddleSubnetManagerSilent"})
        self.manager("host-7", 9)
        self.wait_for_alerts({"HeddleMastershipMoved"})
        # A sweep outlives every fault of the fabric; a daemon that hangs has none.
        firing = 'ALERTS{alertname="HeddleSweepsStopped",alertstate="firing"}'
        wait_until(lambda: not self.prometheus.query(firing), 20, "that sweeps go on")
        self.addCleanup(self.manages.process.send_signal, signal.SIGCONT)
        self.manages.process.send_signal(signal.SIGSTOP)
        self.prometheus.wait_for(firing)
        self.manages.process.send_signal(signal.SIGCONT)
        self.daemon.process.terminate()
        self.manages.process.terminate()
        self.prometheus.wait_for('ALERTS{alertname="HeddleAbsent",alertstate="firing"}')


if __name__ == "__main__":
    unittest.main()
