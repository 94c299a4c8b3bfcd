"""The loop on connections of the kernel: heddled takes links off and back on, plane by plane, and heddle-agent and libheddle-apm.so move a
connection that is under load out of the way. Each host of a served fabric has an adapter of the kernel for MADs; two have another one, whose
connections migrate (migrating_hosts.py), with the LIDs that heddled has assigned. A LID to which tables and links of the served fabric do not
lead at this moment is not reached: its address is taken away."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from kernel_fabric import KernelFabric, heddled, wait_until
from migrating_hosts import PATIENCE, Load, MigratingHost

AGENT = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "tools/agent/heddle-agent"
TREE = "tree:k=2,n=2"  # 4 hosts, 4 switches
NODES = [f"host-{i} mlx5_0" for i in range(4)]
ENDS = (0, 2)  # of the nodes: each at a leaf of its own
UPLINKS = ("leaf-1/3 -- spine-0/2", "leaf-1/4 -- spine-1/2")  # of the leaf without the manager
CHANGES = int(os.environ.get("HEDDLE_VM_CHANGES", "8"))
SETTINGS = {"sm.mode": "auto", "sm.lmc": 1, "regulation.mode": "enforce", "regulation.quiet": "1h", "regulation.least_on": "100ms",
            "regulation.least_off": "100ms", "regulation.drain": "200ms", "regulation.most_transitions": "1000", "agents.interval": "1s"}


class Reach(threading.Thread):
    """Takes away what does not lead to a host, and gives it back, as the served fabric is. A context."""

    def __init__(self, fabric, hosts):
        super().__init__()
        self.hosts = hosts  # by node
        self.server = f"\0{fabric.name}:heddle\0"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"\0{fabric.name}:heddle-reach\0")
        self.socket.settimeout(PATIENCE)
        self.ends = False
        self.error = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.ends = True
        self.join()
        self.socket.close()
        if self.error:
            raise self.error

    def lids(self, source, destination):
        self.socket.sendto(json.dumps({"command": "reach", "from": NODES[source], "to": NODES[destination]}).encode(), self.server)
        return json.loads(self.socket.recv(65536))["result"]["lids"]

    def run(self):
        try:
            while not self.ends:
                for source, destination in (ENDS, ENDS[::-1]):
                    host = self.hosts[destination]
                    for row in self.lids(source, destination):
                        (host.reach if row["end"] == "delivered" else host.lose)(row["lid"])
                time.sleep(0.01)
        except Exception as error:  # is told where it is waited for
            self.error = error

    def all_reached(self):
        return all(host.reached == set(host.lids) for host in self.hosts.values())


class Loop(unittest.TestCase):
    def setUp(self):
        self.at = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.key = self.write("key", "5a" * 32 + "\n")
        (self.at / "state").mkdir()
        self.fabric = self.enterContext(KernelFabric(TREE, NODES))
        self.agent = self.start_agent()
        self.daemon = self.enterContext(heddled(**{**SETTINGS, "agents.key_file": self.key}))
        port = self.fabric.port
        self.until(lambda: all(port("state", f"heddle{i}") == "4: ACTIVE" for i in range(len(NODES))), "Active ports")
        self.hosts = {i: self.enterContext(MigratingHost(i, int(port("lid", f"heddle{i}"), 16))) for i in ENDS}
        self.until(lambda: self.agents()["by_planes"], "planes")

    def write(self, name, text):
        path = self.at / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def start_agent(self):
        ports = [f"{device}:1" for device in self.fabric.devices() if device.startswith("heddle")]
        file = self.write("agent.toml", f'key_file = "{self.key}"\nsocket = "{self.at}/agent.sock"\nstate = "{self.at}/state"\n'
                          f"ports = {json.dumps(ports)}\n")
        process = subprocess.Popen([AGENT, "--config", file], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stderr.readline(), f"heddle-agent: {len(NODES)} ports\n")
        return process

    def until(self, condition, what):
        try:
            wait_until(condition, PATIENCE, what)
        except AssertionError as late:
            raise AssertionError(f"{late}: {self.agents()}\n{self.daemon.log_text()}") from late

    def agents(self):
        return self.daemon.json("regulate").get("agents", {"by_planes": False})

    def load(self, **more):
        """A connection between the ends, which send to each other all the time."""
        return Load(self, [self.hosts[i] for i in ENDS], called=[f"heddle{i}" for i in ENDS], pause=5, **more)

    def with_library(self):
        load = self.load(socket=self.at / "agent.sock")
        self.until(lambda: self.agents().get("armed") == 2, "both ends armed, as heddled knows")
        return load

    def change(self, link, word, state):
        self.daemon.heddle("link", word, link)
        self.until(lambda: [row["state"] for row in self.daemon.json("links", "--power")["links"] if row["name"] == link] == [state],
                   f"{link} {state}")

    def settle(self, reach):
        """All is reached, and everything in use is in the tables of both planes."""
        self.until(lambda: reach.all_reached() and self.daemon.json("regulate")["stage"] == "idle", "a calm moment")

    def test_a_connection_is_moved_out_of_the_way(self):
        load = self.with_library()
        with Reach(self.fabric, self.hosts) as reach:
            for number in range(CHANGES):
                for word, state in (("off", "off"), ("on", "active")):
                    self.change(UPLINKS[number % 2], word, state)
                    self.settle(reach)
                    load.goes_on()
        moves = self.agents()["moves"]
        self.assertGreaterEqual(moves, 2 * CHANGES)
        migrated = [end.counts()["migrated"] for end in load.ends]
        self.assertGreaterEqual(min(migrated), CHANGES, "by heddled's word, or by the other end's")
        print(f"{CHANGES} links off and on: {moves} moves, each end migrated {migrated} times, {load.finish()} messages", flush=True)

    @contextlib.contextmanager
    def manager_stopped(self):
        self.daemon.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.daemon.process.send_signal(signal.SIGCONT)

    def is_in_first_plane(self, load):
        return [end.paths()[0] for end in load.ends] == [(end.host.lid, 0) for end in reversed(load.ends)]

    def cut_what_is_used(self, load):
        """The first plane leads over spine-0, and that is where the connection is."""
        self.assertTrue(self.is_in_first_plane(load))
        self.fabric.heddle("link", "leaf-1", "3", "down")
        wait_until(lambda: all(host.reached == {host.lid + 1} for host in self.hosts.values()), PATIENCE, "the first plane's loss")

    def test_a_cable_is_cut_while_the_manager_is_stopped(self):
        load = self.with_library()
        with Reach(self.fabric, self.hosts) as reach:
            with self.manager_stopped():
                self.cut_what_is_used(load)
                wait_until(lambda: all(end.counts()["migrated"] > 0 for end in load.ends), PATIENCE, "the other plane, by itself")
                time.sleep(2)  # and stays there, whatever it was told before
                load.goes_on()
            # It has left the plane by itself, and is not sent back before tables are mended.
            self.settle(reach)
            load.goes_on()
            self.until(lambda: self.is_in_first_plane(load), "the first plane again")
            load.goes_on()
        load.finish()

    def test_without_the_library_a_connection_ends_there(self):
        load = self.load()
        with Reach(self.fabric, self.hosts) as reach, self.manager_stopped():
            load.goes_on()
            self.cut_what_is_used(load)
            self.assertIn("transport retry counter exceeded", " ".join(load.ends[0].hears("failed")))

    def test_without_agents_tables_change_in_stages(self):
        """The connection stays where it is, and every entry works all the time."""
        load = self.with_library()
        self.agent.kill()
        self.until(lambda: not self.agents()["by_planes"], "stages")
        before = self.agents()["moves"]
        with Reach(self.fabric, self.hosts) as reach:
            for number in range(2):
                for word, state in (("off", "off"), ("on", "active")):
                    self.change(UPLINKS[number % 2], word, state)
                    self.settle(reach)
                    load.goes_on()
        self.assertEqual(self.agents()["moves"], before)
        self.assertEqual([end.counts()["migrated"] for end in load.ends], [0, 0])
        load.finish()


if __name__ == "__main__":
    unittest.main()
