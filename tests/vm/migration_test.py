"""libheddle-apm.so on queue pairs of the kernel that migrate, under load: loaded, armed, moved, armed again; and a LID that vanishes. The
agent's side of the socket is by hand; agents and heddled are in migration_loop_test.py."""

import os
import pathlib
import socket
import tempfile
import unittest

import kernel_fabric  # noqa: F401  (says where the following is)
from apm_test import ARM, MOVE, Agent
from migrating_hosts import PATIENCE, Load, MigratingHost

MOVES = int(os.environ.get("HEDDLE_VM_MOVES", "1000"))
MIGRATED, REARM, ARMED = range(3)  # enum ibv_mig_state


class Migration(unittest.TestCase):
    def setUp(self):
        self.at = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.hosts = [self.enterContext(MigratingHost(number, lid)) for number, lid in enumerate((16, 0x0222))]
        self.order = 0

    def load(self):
        """Two programs with the library, and their agents."""
        path = self.at / "agent.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(path))
            listener.listen()
            listener.settimeout(PATIENCE)
            load = Load(self, self.hosts, socket=[path, path])
            agents = [Agent(self, listener.accept()[0]) for _ in self.hosts]
        self.agents = {}
        for agent in agents:
            device = agent.until(connections=1)["port"][0]
            self.agents[device] = agent
        return load

    def at_host(self, i):
        return self.agents[self.hosts[i].device]

    def move(self, plane, hosts=(0, 1)):
        """They are told, and say that they are there."""
        self.order += 1
        for i in hosts:
            self.at_host(i).order(MOVE, plane, self.order, self.hosts[i].device)
        for i in hosts:
            report = self.at_host(i).until(order=self.order, moving=0)
            self.assertEqual((report[f"in_plane_{plane}"], report["failed"], report["trouble"]), (1, 0, ""))

    def until_armed(self, load):
        """As the adapters say, which arm by what arrives; the library asks no more often than it is told to."""
        while any(end.paths()[2] != ARMED for end in load.ends):
            pass
        for i in range(2):
            self.at_host(i).order(ARM, device=self.hosts[i].device)
            self.at_host(i).until(armed=1)

    def expect_plane(self, load, plane):
        for end, other in zip(load.ends, reversed(load.ends)):
            primary, alternate, _ = end.paths()
            self.assertEqual(primary, (other.host.lid + plane, plane))
            self.assertEqual(alternate, (other.host.lid + 1 - plane, 1 - plane))

    def test_a_connection_under_load_moves_a_thousand_times(self):
        load = self.load()
        self.until_armed(load)
        self.expect_plane(load, 0)
        for move in range(1, MOVES + 1):
            self.move(move % 2)
        self.until_armed(load)
        self.expect_plane(load, MOVES % 2)
        migrated = [end.counts()["migrated"] for end in load.ends]
        self.assertEqual(migrated, [MOVES, MOVES])
        print(f"{MOVES} moves, {load.finish()} messages", flush=True)

    def test_the_other_end_follows(self):
        load = self.load()
        for move in range(1, 21):
            self.until_armed(load)
            self.move(move % 2, hosts=[move % 2])
            self.at_host(1 - move % 2).until(**{f"in_plane_{move % 2}": 1})
        self.until_armed(load)
        self.expect_plane(load, 0)
        load.finish()

    def test_a_lid_vanishes(self):
        load = self.load()
        for moves, (host, plane) in enumerate([(0, 0), (1, 1), (1, 0), (0, 1)], start=1):
            self.until_armed(load)
            self.expect_plane(load, plane)
            self.hosts[host].lose(self.hosts[host].lid + plane)
            while any(end.counts()["migrated"] < moves for end in load.ends):
                pass
            load.goes_on()
            self.hosts[host].reach(self.hosts[host].lid + plane)
        self.until_armed(load)
        self.expect_plane(load, 0)
        load.finish()

    def test_without_the_library_a_connection_ends_there(self):
        load = Load(self, self.hosts)
        load.goes_on()
        self.hosts[1].lose(self.hosts[1].lid)
        words = load.ends[0].hears("failed")
        self.assertIn("transport retry counter exceeded", " ".join(words))


if __name__ == "__main__":
    unittest.main()
