"""libheddle-apm.so on queue pairs of the kernel that migrate, under load: loaded, armed, moved, armed again; and a LID that vanishes. The
agent's side of the socket is by hand; agents and heddled are in migration_loop_test.py."""

import os
import pathlib
import socket
import struct
import subprocess
import tempfile
import unittest

import kernel_fabric  # says where the following is
from apm_test import ARM, MOVE, Agent
from migrating_hosts import LIBRARY, PATIENCE, Load, MigratingHost

MOVES = int(os.environ.get("HEDDLE_VM_MOVES", "1000"))
MIGRATED, REARM, ARMED = range(3)  # enum ibv_mig_state


class Migration(unittest.TestCase):
    def setUp(self):
        self.at = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.hosts = [self.enterContext(MigratingHost(number, lid)) for number, lid in enumerate((16, 0x0222))]
        self.order = 0

    def with_agents(self, begin, count=2):
        """What begin(path of the socket) returns: it starts programs with the library, `count` of which are given an agent each."""
        path = self.at / "agent.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(path))
            listener.listen()
            listener.settimeout(PATIENCE)
            begun = begin(path)
            agents = [Agent(self, listener.accept()[0]) for _ in range(count)]
        self.agents = {agent.until(connections=1)["port"][0]: agent for agent in agents}
        return begun

    def load(self):
        return self.with_agents(lambda path: Load(self, self.hosts, socket=path))

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
            self.move(move % 2, hosts=[0])
            self.at_host(1).until(**{f"in_plane_{move % 2}": 1})
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

    def pair(self, path, *command):
        """A server and its client, with the library."""
        processes = []
        for host, more in zip(self.hosts, ([], ["127.0.0.1"])):
            processes.append(subprocess.Popen([*command, "-d", host.device, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                              env={**os.environ, "LD_PRELOAD": str(LIBRARY), "HEDDLE_APM_SOCKET": str(path)}))
            self.addCleanup(processes[-1].wait)
            self.addCleanup(processes[-1].kill)
            if not more:
                kernel_fabric.wait_until(self.listens, PATIENCE, f"{command[0]} listens")
        return processes

    @staticmethod
    def listens():
        """At 18515."""
        lines = [line.split() for name in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()]
        return any(words[1].endswith(":4853") and words[3] == "0A" for words in lines)

    def moves_until_it_ends(self, plane=0):
        """How often both ends have moved. Its end may be seen as that of a connection, and by one end first, which then waits in vain."""
        for moves in range(10**6):
            self.order += 1
            plane = 1 - plane
            try:
                for host in self.hosts:
                    self.agents[host.device].order(MOVE, plane, self.order, host.device)
                reports = [self.agents[host.device].until(order=self.order, moving=0) for host in self.hosts]
            except (struct.error, OSError):
                return moves
            if any(report["connections"] == 0 or report["failed"] > 0 for report in reports):
                return moves

    def test_a_program_of_others_moves_too(self):
        """It checks its data, and reads no events."""
        processes = self.with_agents(lambda path: self.pair(path, "ibv_rc_pingpong", "-e", "-c", "-n", "4000"))
        moves = self.moves_until_it_ends()
        said = [process.communicate(timeout=PATIENCE)[0] for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0], said)
        self.assertGreater(moves, 5, said)
        print(f"{moves} moves", flush=True)

    def test_a_measurement_of_bandwidth_moves_too(self):
        """In both directions; with one only, see below."""
        processes = self.with_agents(lambda path: self.pair(path, "ib_send_bw", "-b", "-s", "4096", "-n", "40000", "-F"))
        moves = self.moves_until_it_ends()
        said = [process.communicate(timeout=PATIENCE)[0] for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0], said)
        self.assertGreater(moves, 5, said)
        print(f"{moves} moves", flush=True)

    def test_where_one_end_only_receives_the_other_one_cannot_move(self):
        """It never becomes ready to send, has no alternate path, and says so in each packet."""
        processes = self.with_agents(lambda path: self.pair(path, "ib_send_bw", "-s", "4096", "-D", "20", "-F"), count=1)
        self.at_host(1).order(MOVE, 1, 1, self.hosts[1].device)
        report = self.at_host(1).until(order=1, failed=1)
        self.assertEqual((report["connections"], report["in_plane_0"], report["armed"]), (1, 1, 0), report)
        self.assertIn("its other end has not answered", report["trouble"])
        said = [process.communicate(timeout=PATIENCE)[0] for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0], said)

    def test_without_the_library_a_connection_ends_there(self):
        load = Load(self, self.hosts)
        load.goes_on()
        self.hosts[1].lose(self.hosts[1].lid)
        words = load.ends[0].hears("failed")
        self.assertIn("transport retry counter exceeded", " ".join(words))


if __name__ == "__main__":
    unittest.main()
