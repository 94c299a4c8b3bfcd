"""What heddled and heddle answer, compared with tests/golden/answers: whoever changes a key, a metric, the plan file, a line
to the plugin or a record of the journal changes a file there in the same commit. `tools/dev/golden --update` writes the files.

Figures that differ from run to run are replaced by what kind of figure they are, so that the files hold names, order and
kinds, and those values that the fabric decides."""

import contextlib
import json
import os
import pathlib
import re
import socket
import sqlite3
import subprocess
import tempfile
import unittest

from daemon_under_test import HEDDLE, SOURCE, Daemon
from served_fabric import wait_until

GOLDEN = SOURCE / "tests/golden/answers"
UPDATE = os.environ.get("HEDDLE_UPDATE_GOLDEN")
os.environ["SUDO_USER"] = "somebody"  # has asked root, whoever runs this
RING = "torus:2x2,hosts=1,links=2,width=4x,speed=DDR"  # four switches, four trunks of two links
SETTINGS = {"fabric.generate": RING, "sampling.interval": "100ms", "sweep.light_interval": "100ms", "sm.lmc": "1",
            "fabric.training_delay": "50ms", "regulation.drain": "50ms", "regulation.least_on": "50ms",
            "regulation.packet_life": "5ms", "regulation.on_stop": "leave"}

QOS_PLAN = json.dumps({"qos": {"vlarb_high": [[0, 3], [1, 1]], "vlarb_low": [[0, 1], [1, 1]], "high_limit": 255,
                               "sl2vl": [0, 1] * 7 + [0, 15]}})

# Values that depend on the instant, the machine or the version.
VOLATILE = re.compile(r"""^(
    version | source | uptime.* | .*seconds | .*_ms | at | times? | begun | ended | seq | epoch | sweeps? | number | overruns
  | .*per_second | utilization | congestion | .*_total | .*joules | .*watts.* | .*bytes.* | .*packets.* | load | busiest | worst
  | sent | received | answered | retried | unmatched | timed_?out | late | .*round_trip.* | window.* | in_flight | transactions | counters
  | verified | last | checksum | generated | consumed | total | least | mads | shape | .*_data | .*_pkts | xmit_.* | rcv_.*
  | blocks_written | wait.* | measured.* | time.* | elapsed | delivered | spent | saved | retries | unmatched
)$""", re.VERBOSE)


def settled(value, key=""):
    """The value with what is volatile in it replaced."""
    if isinstance(value, dict):
        return {name: settled(each, name) for name, each in value.items()}
    if isinstance(value, float):
        return "<number>"
    if isinstance(value, list):
        if VOLATILE.match(key) and value and not isinstance(value[0], (dict, list)):
            return [settled(value[0], key), "..."]
        return [settled(each, key) for each in value]
    if not VOLATILE.match(key) or isinstance(value, bool):
        return in_words(value) if isinstance(value, str) else value
    return "<text>" if isinstance(value, str) else "<number>"


def in_words(text):
    """Sentences: numbers with a unit, and times, are volatile."""
    text = re.sub(rf"{re.escape(tempfile.gettempdir())}/heddle-test-\w+", "<directory>", text)
    text = re.sub(r"\buid \d+", "uid <n>", text)
    text = re.sub(r"\d+(\.\d+)?(e-?\d+)?(?= ?(ms|us|s|%|W|J|kJ|MB|MiB|GB|Gbit/s|seconds|minutes|min|h)\b)", "<n>", text)
    text = re.sub(r"<n> (s|ms|us) ago", "<n> s ago", text)
    return re.sub(r"\d+(\.\d+)?(?= ?%)", "<n>", text)


def figures_out(text):
    """Lines for people, without any number that is no part of a name."""
    text = re.sub(r"; \d+ began late", "", text)
    text = re.sub(r"(?<![\w/:.,-])[-+]?\d+(\.\d+)?(e-?\d+)?", "<n>", text)
    # How long it took or has been decides the unit, too.
    return re.sub(r"<n> (ns|us|ms|s|min|h|days?)\b", "<n> s", text)


class PluginStandIn:
    """Connects as OpenSM's plugin does, and writes down what the daemon tells it."""

    def __init__(self, path):
        wait_until(path.exists, 20, "the plugin's socket")
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(str(path))
        self.connection.settimeout(20)
        self.lines = self.connection.makefile("r")

    def say(self, **event):
        self.connection.send(json.dumps(event).encode() + b"\n")

    def close(self):
        self.lines.close()
        self.connection.close()


class Golden(unittest.TestCase):
    def expect(self, name, text):
        path = GOLDEN / name
        if UPDATE:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return
        with self.subTest(name):
            self.assertTrue(path.exists(), f"{path} is missing: tools/dev/golden --update writes it")
            self.assertMultiLineEqual(path.read_text(), text, f"{path} differs: tools/dev/golden --update writes it anew")

    def expect_json(self, name, value):
        self.expect(f"{name}.json", json.dumps(settled(value), indent=1) + "\n")

    def get(self, daemon, path, data=None, status="200"):
        """Body of an answer, and its kind."""
        with tempfile.NamedTemporaryFile("r") as body:
            command = ["curl", "-s", "--unix-socket", str(daemon.socket), "-o", body.name, "-w", "%{http_code} %{content_type}"]
            if data is not None:
                command += ["--data-binary", json.dumps(data)]
            done = subprocess.run([*command, f"http://heddled{path}"], capture_output=True, text=True, timeout=20, check=True)
            text = body.read()
        code, kind = done.stdout.split(" ", 1)
        self.assertEqual(code, status, f"{path}: {text}")
        return text, kind

    def expect_answer(self, daemon, path, data=None, status="200", name=None):
        """`name`: a command prints this answer as it is."""
        text, kind = self.get(daemon, path, data, status)
        name = name or "v1" + re.sub(r"[^a-z0-9]+", "_", path.removeprefix("/v1").lower()).rstrip("_") + ("_post" if data is not None else "")
        if kind.startswith("application/json"):
            self.expect_json(name, json.loads(text))
        else:
            self.expect(f"{name}.txt", text)

    def expect_metrics(self, name, daemon):
        """Families with their words, and one line of each set of labels."""
        seen, lines = set(), []
        for line in daemon.metrics().splitlines():
            if not line.startswith("#"):
                series = line.rsplit(" ", 1)[0]
                family, _, labels = series.partition("{")
                key = (family, tuple(re.findall(r"(\w+)=", labels)))
                if key in seen:
                    continue
                seen.add(key)
                line = re.sub(r'(version|revision|compiler)="[^"]*"', r'\1="<text>"', series)
            lines.append(line)
        self.expect(f"{name}.txt", "\n".join(lines) + "\n")

    def expect_journal(self, name, daemon):
        """Tables, and their rows with numbers that differ from run to run replaced."""
        with contextlib.closing(sqlite3.connect(f"file:{daemon.directory}/journal.db?mode=ro", uri=True)) as journal:
            journal.row_factory = sqlite3.Row
            made = journal.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
            text = ""
            for table, sql in made:
                text += f"{sql}\n"
                if sql.startswith("CREATE TABLE"):
                    rows = [json.dumps(settled(dict(row))) for row in journal.execute(f"SELECT * FROM {table} ORDER BY 1, 2")]
                    rows = [re.sub(r"\b1[0-9]{12}\b", "<time>", row) for row in rows]
                    text += "".join(f"  {row}\n" for row in rows)
        self.expect(f"{name}.txt", text)


class OwnFabric(Golden):
    """heddled as subnet manager of its own simulated fabric: one link forced off, one pinned, QoS tables pushed."""

    def test_answers(self):
        name = f"heddle-golden-{os.getpid()}"
        with Daemon({**SETTINGS, "fabric.serve": name}) as daemon:
            daemon.wait_for_sweeps(3)
            wait_until(lambda: "advice" in daemon.heddle("--json", "events"), 60, "advice")
            links = [link["name"] for link in daemon.json("links", "--kind", "switch")["links"]]
            self.expect_json("link_off", daemon.json("link", "off", links[0], "--reason", "test"))
            wait_until(lambda: "confirmed" in daemon.heddle("--json", "events"), 20, "a link off")
            self.expect_json("link_pin", daemon.json("link", "pin", links[-1], "--reason", "backup"))
            plan = self.design(daemon)
            self.expect_json("qos_push_dry_run", daemon.json("qos", "push", plan, "--dry-run"))
            self.expect_json("qos_push", daemon.json("qos", "push", plan))
            daemon.wait_for_sweeps(daemon.json("status")["sampling"]["sweeps"] + 3)
            daemon.wait_for(lambda status: "tables" in status, "tables that were read back")
            self.commands(daemon)
            self.paths(daemon, links)
            self.expect_metrics("metrics", daemon)
            self.served(name)
            self.changes(daemon, links)
            daemon.process.terminate()
            daemon.process.wait(20)
            self.expect_journal("journal", daemon)

    def design(self, daemon):
        request = daemon.directory / "request.toml"
        request.write_text('[port]\nmtu = 4096\nrate = "4xEDR"\nvls = 2\n[[sl]]\nsl = 0\nshare = 0.75\n[[sl]]\nsl = 1\nshare = 0.25\n')
        plan = daemon.directory / "qos.plan"
        self.expect_json("qos_design", daemon.json("qos", "design", "--request", str(request), "--plan", str(plan)))
        self.expect("qos_plan.json", plan.read_text())
        return str(plan)

    def commands(self, daemon):
        host = "host-0 mlx5_0"
        for name, words in {"status": ["status"], "links": ["links"], "links_power": ["links", "--power"], "nodes": ["nodes"],
                            "node": ["node", host], "queues": ["queues", host], "locality": ["locality"],
                            "regulate": ["regulate"], "health": ["health"], "plan": ["plan"], "energy": ["energy"], "qos_show": ["qos", "show"],
                            "qos_verify": ["qos", "verify"], "fabric_show": ["fabric", "show"],
                            "fabric_export": ["fabric", "export"]}.items():
            self.expect_json(name, daemon.json(*words))
        events = daemon.heddle("--json", "events").splitlines()
        self.expect_json("events", [json.loads(event) for event in events])
        for words in (["status"], ["plan"]):
            self.expect(f"{words[0]}.txt", figures_out(in_words(daemon.heddle(*words))))

    def paths(self, daemon, links):
        end = links[1].split(" -- ")[0].replace(" ", "%20")
        for name in ("status", "links", "nodes", "locality", "plan", "energy"):
            self.expect_answer(daemon, f"/v1/{name}", name=name)
        for name, path in {"regulate": "regulation", "links_power": "links/power", "fabric_export": "fabric?format=json",
                           "node": "node?name=host-0%20mlx5_0"}.items():
            self.expect_answer(daemon, f"/v1/{path}", name=name)
        for path in ("/v1/links?limit=2", "/v1/nodes?limit=2", "/v1/links/power?top=2", "/v1/events?most=2",
                     "/v1/fabric?format=ibnetdiscover", "/v1/qos", "/v1/page/times", "/v1/page/topology", "/v1/twin"):
            self.expect_answer(daemon, path)
        for path in (f"profile?name={end}&samples=2", f"page/link?name={end}", "page/slice?at=0"):
            text, _ = self.get(daemon, f"/v1/{path}")
            value = json.loads(text)
            for key in ("utilization", "congestion", "errors", "out", "in", "state", "locality", "power", "drift"):
                if isinstance(value.get(key), str):
                    value[key] = "<text>"
            self.expect_json("v1_" + path.split("?")[0].replace("/", "_"), value)
        self.expect_answer(daemon, "/v1/nothing", status="404")
        self.expect_answer(daemon, "/v1/links?sort=beauty", status="400")

    def served(self, name):
        def sim(*words):
            done = subprocess.run([HEDDLE, "--json", "sim", "--name", name, *words], capture_output=True, text=True, timeout=20, check=True)
            return json.loads(done.stdout)
        self.expect_json("sim_traffic_add", sim("traffic", "add", "host-0 mlx5_0", "host-2 mlx5_0", "--rate", "1e9"))
        self.expect_json("sim_traffic_list", sim("traffic", "list"))
        self.expect_json("sim_status", sim("status"))
        self.expect_json("sim_counters", sim("counters", "host-0 mlx5_0", "1"))

    def changes(self, daemon, links):
        self.expect_answer(daemon, "/v1/regulation", {"mode": "enforce", "by": "test"})
        self.expect_answer(daemon, "/v1/link", {"link": links[-1], "wish": "auto", "by": "test"})
        self.expect_answer(daemon, "/v1/sm/take", {"force": True, "by": "test"})
        self.expect_answer(daemon, "/v1/qos/verify", {})
        self.expect_json("qos_forget", daemon.json("qos", "forget"))


class ForAnyTraffic(Golden):
    """Nobody sends, so that every set of links carries it: what stays is what paths need, and what an operator pins."""

    def test_plan(self):
        with Daemon({**SETTINGS, "fabric.generate": "xgft:2;4,4;1,4", "regulation.policy": "general", "regulation.for": "any"},
                    config='[regulation]\npin = ["*leaf-0/*"]\n') as daemon:
            daemon.wait_for_sweeps(3)
            wait_until(lambda: daemon.json("plan")["plan"] is not None, 60, "a plan")
            self.expect_json("plan_any", daemon.json("plan"))
            self.expect("plan_any.txt", figures_out(in_words(daemon.heddle("plan"))))


class BesideOpenSm(Golden):
    """heddled with opensm.plugin, and a stand-in for the plugin: what goes to it, and what the daemon writes for it."""

    def test_answers(self):
        with tempfile.TemporaryDirectory(prefix="heddle-golden-") as directory:
            path = pathlib.Path(directory) / "plugin.sock"
            with Daemon({**SETTINGS, "opensm.plugin": "true", "opensm.socket": str(path), "opensm.lmc": "1"}) as daemon:
                plugin = PluginStandIn(path)
                self.addCleanup(plugin.close)
                plugin.say(event="hello", protocol=1, plugin="test", opensm="test", plan=f"{daemon.directory}/plan.json",
                           state="master", window=True, epoch=0, dropped=0)
                daemon.wait_for(lambda status: status["fabric"], "a sweep")
                plan = daemon.directory / "qos.plan"
                plan.write_text(QOS_PLAN)
                pushed = daemon.json("qos", "push", str(plan))
                self.assertEqual(pathlib.Path(pushed.pop("plan_file")), daemon.directory / "plan.json")
                self.expect_json("opensm/qos_push", pushed)
                self.expect("opensm/to_plugin.txt", plugin.lines.readline())
                written = (daemon.directory / "plan.json").read_text()
                self.expect("opensm/plan.json", re.sub(r'"checksum":"\w{16}"', '"checksum":"<text>"', written))
                wait_until(lambda: "heddle_opensm" in daemon.metrics(), 20, "metrics")
                daemon.wait_for_sweeps(3)
                daemon.wait_for(lambda status: "full_round_seconds" in status and "light_round_seconds" in status, "rounds at a pace")
                self.expect_metrics("opensm/metrics", daemon)
                # A guest reads tables ten seconds after the fabric has changed: that is not waited for.
                self.expect_json("opensm/status", {key: value for key, value in daemon.json("status").items() if key != "tables"})
                self.expect_json("opensm/regulate", daemon.json("regulate"))
                self.expect_json("opensm/restore", json.loads(self.get(daemon, "/v1/restore", {"by": "test"})[0]))


class WithoutDaemon(Golden):
    def run_json(self, *words):
        done = subprocess.run([HEDDLE, "--json", *words], capture_output=True, text=True, timeout=60, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def test_answers(self):
        directory = self.enterContext(tempfile.TemporaryDirectory(prefix="heddle-golden-"))
        plan = f"{directory}/qos.plan"
        pathlib.Path(plan).write_text(QOS_PLAN)
        for name, words in {"offline/fabric_show": ["fabric", "show", RING],
                            "offline/fabric_generate": ["fabric", "generate", RING, "--lids", "--format", "json"],
                            "offline/fabric_diff": ["fabric", "diff", RING, RING.replace("links=2", "links=1")],
                            "offline/route_compute": ["route", "compute", "--fabric", RING, "--engine", "updn", "--samples", "2"],
                            "offline/route_compare": ["route", "compare", "--fabric", RING, "--samples", "2"],
                            "offline/qos_test": ["qos", "test", plan, "--fabric", "tree:k=2,n=2"]}.items():
            self.expect_json(name, self.run_json(*words))
        tables = f"{directory}/lfts"
        self.run_json("route", "compute", "--fabric", RING, "--engine", "updn", "--lfts", tables)
        self.expect_json("offline/accept", self.run_json("accept", RING, "--fabric", RING))
        self.expect_json("offline/route_check", self.run_json("route", "check", "--fabric", RING, "--lfts", tables))


if __name__ == "__main__":
    unittest.main()
