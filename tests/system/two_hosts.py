"""Two heddleds on one served fabric, with three real etcds: one owns it, the other takes its place. Never two who write,
by what each of them sent as the recorder of the wire has it. For the system tests; needs in_netns."""

import json
import pathlib
import signal
import struct
import unittest

from daemon_under_test import Daemon
from etcd_cluster import EtcdCluster
from served_fabric import wait_until

RING = "torus:2x2,hosts=1,links=2,width=4x,speed=DDR"  # four switches, four trunks of two links
THICK_RING = "torus:2x2,hosts=1,links=8,width=4x,speed=DDR"  # a tenth of 32 links is three
LEASE = 3
SENT, SET = 1, 2


class Host:
    """A daemon with its state directory, over its restarts."""

    def __init__(self, test, name, node):
        self.test, self.name, self.node = test, name, node
        self.ways = test.etcd.ways_in()
        self.pids = []
        self.start()

    def start(self):
        settings = {"fabric.backend": "umad", "metrics.listen": "",
                    "sweep.light_interval": "200ms", "sampling.interval": "200ms", "sampling.timeout": "50ms",
                    "regulation.mode": "advise", "regulation.drain": "200ms", "regulation.on_stop": "leave",
                    "state.backend": "etcd", "state.etcd.name": self.name, "state.etcd.lease": f"{LEASE}s",
                    "state.etcd.endpoints": ",".join(f"http://127.0.0.1:{way.port}" for way in self.ways), **self.test.settings_of(self)}
        self.daemon = self.test.enterContext(Daemon(settings, self.test.served.shim(f"{self.node} mlx5_0")))
        self.pids.append(self.daemon.process.pid)

    def signal(self, what):
        self.daemon.process.send_signal(what)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.daemon.process.wait()

    def cut(self, is_cut=True):
        for way in self.ways:
            way.open = not is_cut

    def status(self):
        return self.daemon.json("status")

    def says(self, condition):
        """Of the status; one that is starting anew says nothing."""
        asked = self.daemon.heddle_raw("--json", "status")
        return asked.returncode == 0 and condition(json.loads(asked.stdout))

    def owns(self):
        return self.says(lambda status: status["shared_state"]["owns"])

    def follows(self, owner):
        return self.says(lambda status: not status["shared_state"]["owns"] and status["shared_state"]["owner"] == owner)

    def complains(self, text):
        return self.says(lambda status: any(text in problem for problem in status["problems"]))

    def link(self, state):
        return self.daemon.json("regulate")["links"].get(state, 0)

    def order(self, *words):
        return self.daemon.heddle("link", *words)


class Hosts(unittest.TestCase):
    """What both kinds of fabrics have in common."""

    def begin(self, served, etcd=EtcdCluster):
        self.expected = ["host-a"]  # who writes, turn by turn
        self.etcd = self.enterContext(etcd())
        self.served = self.enterContext(served)
        self.recordings = pathlib.Path(self.served.watch.directory)
        self.before_daemons()
        self.a = Host(self, "host-a", "host-0")
        self.wait(self.a.owns, "the first one's ownership")
        self.b = Host(self, "host-b", "host-1")
        self.wait(lambda: self.b.follows("host-a"), "the other one's following")
        self.wait(lambda: self.b.status()["fabric"] is not None and self.b.status()["sampling"]["sweeps"] > 2,
                  "the other one's picture")

    def before_daemons(self):
        pass

    def tearDown(self):
        if hasattr(self, "b"):
            self.assert_one_writer_at_a_time()

    def wait(self, condition, what, seconds=40):
        try:
            wait_until(condition, seconds, what)
        except AssertionError as wrong:
            logs = "\n".join(f"{host.name}:\n{host.daemon.log_text()[-4000:]}" for host in (self.a, getattr(self, "b", self.a)))
            raise AssertionError(f"{wrong}\n{logs}") from None

    def sets_of(self, host):
        """When this host's daemons sent a Set, in nanoseconds."""
        times = []
        for pid in host.pids:
            for file in self.recordings.glob(f"{pid}-*.wire"):
                data, at = file.read_bytes(), 0
                while at + 16 <= len(data):
                    when, kind, _, size, _ = struct.unpack_from("=QBBHI", data, at)
                    method = data[at + 16 + 32 + 3] if size > 36 else 0
                    if kind == SENT and method == SET:
                        times.append(when)
                    at += 16 + size
        return times

    def assert_one_writer_at_a_time(self):
        """Turns, by who sent: whoever wrote before has ended when the next one begins."""
        turns = sorted((when, host.name) for host in (self.a, self.b) for when in self.sets_of(host))
        order = [name for n, (_, name) in enumerate(turns) if n == 0 or turns[n - 1][1] != name]
        self.assertEqual(order, self.expected, "who wrote, turn by turn")

    def turn_off(self, *links):
        for link in links:
            self.a.order("off", link)
        self.wait(lambda: self.a.link("off") == len(links), f"{links} off")

    def take_over(self, seconds=LEASE + 3):
        """The other one owns the fabric, and knows what is off."""
        self.wait(self.b.owns, "the take-over", seconds)

    @staticmethod
    def links_of(host):
        return [link["name"] for link in host.daemon.json("links", "--power")["links"]]

    def links(self):
        return self.links_of(self.a)


class BadLinks:
    """What health takes out stays out under the next owner, and comes back on trial there; what an operator keeps in stays in."""

    FABRIC = THICK_RING
    ENFORCE = {"health.isolate": "enforce", "health.window": "15s", "health.long_window": "20s", "health.trial_after": "30s"}

    def settings_of(self, host):
        return {**super().settings_of(host), **self.ENFORCE}

    def stands(self, host):
        """What is out, what is kept in, and whether all is as the baseline says."""
        status = host.status()
        return (sorted((wish["link"], wish["wish"], wish["by"], wish["reason"]) for wish in status["wishes"]),
                [each["link"] for each in self.health(host).get("isolated_links", [])],
                [status["baseline"].get(key) for key in ("name", "as_planned", "differ")])

    @staticmethod
    def health(host):
        return json.loads(host.daemon.heddle_raw("--json", "health").stdout or "{}")

    def test_an_isolation_is_taken_over(self):
        self.expected = ["host-a", "host-b"]
        bad, pinned = self.links()[:2]
        self.a.daemon.heddle("fabric", "baseline", "save")
        self.a.order("pin", pinned, "--for", "2h", "--reason", "storage")
        for link in (bad, pinned):
            self.served.heddle("fault", "errors", *link.split(" -- ")[0].split("/"), "symbol", "200")
        self.wait(lambda: self.a.says(lambda status: status["health"]["isolated_links"] == 1) and self.a.link("off") == 1, "a bad link out")
        self.wait(lambda: self.a.says(lambda status: status["baseline"].get("differ") == 0), "a baseline that was compared")
        wishes, isolated, baseline = stood = self.stands(self.a)
        self.assertEqual(isolated, [bad])
        self.assertEqual([wish[:2] for wish in wishes], sorted([(bad, "off"), (pinned, "pin")]))
        self.assertIn((bad, "health"), [(wish[0], wish[2]) for wish in wishes])
        self.assertEqual(baseline[2], 0)
        self.end_the_owner()
        self.take_over(20)
        self.wait(lambda: self.b.link("off") == 1 and self.b.link("active") == 31, "knowing what is out, and nothing else going")
        self.wait(lambda: self.stands(self.b) == stood, "what stands")
        self.assertIn("1 bad link is out of use until the next trial", self.b.daemon.heddle("status"))
        self.wait(lambda: self.b.link("active") == 32, "the link's trial", 150)
        self.assertEqual([wish[:2] for wish in self.stands(self.b)[0]], [(pinned, "pin")])

    def end_the_owner(self):
        self.a.kill()
