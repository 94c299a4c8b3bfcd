"""Adapters of this kernel whose connections migrate (rxe/edit.py): a LID is an address of this machine, so that a LID whose address is
taken away is one that nothing reaches. And programs that load a connection between two of them. For the tests that tools/vm runs."""

import os
import pathlib
import select
import subprocess

MADE = pathlib.Path(os.environ["HEDDLE_VHCA"]).parent.parent / "rxe"
LIBRARY = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "plugins/apm/libheddle-apm.so"
PARAMETERS = pathlib.Path("/sys/module/rdma_rxe/parameters")
PATIENCE = 120


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


def load():
    """The module; and a way to nowhere for every LID that is no host's."""
    if PARAMETERS.exists():
        return
    run("modprobe", "-a", "ib_uverbs", "dummy", "udp_tunnel", "ip6_udp_tunnel")
    run("insmod", MADE / "rdma_rxe.ko")
    run("ip", "link", "add", "nowhere", "type", "dummy")
    run("ip", "link", "set", "nowhere", "up")
    run("ip", "route", "add", "10.77.0.0/16", "dev", "nowhere")


class Addresses:
    """Those of `lo`, by one `ip` that runs all the time: a process for each would be seconds late."""

    def __init__(self):
        self.process = subprocess.Popen(["ip", "-force", "-batch", "-"], stdin=subprocess.PIPE, text=True, bufsize=1)

    def change(self, word, lid):
        self.process.stdin.write(f"address {word} 10.77.{lid >> 8}.{lid & 0xff}/32 dev lo\n")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class MigratingHost:
    """A context: the adapter rxeN is there, with 2^lmc LIDs, all of which are reached."""

    def __init__(self, number, lid, lmc=1):
        self.number, self.lid, self.device, self.network = number, lid, f"rxe{number}", f"host{number}"
        self.lids = range(lid, lid + (1 << lmc))
        self.lmc = lmc

    def __enter__(self):
        load()
        run("ip", "link", "add", self.network, "type", "dummy")
        run("ip", "link", "set", self.network, "mtu", 4200, "up")
        (PARAMETERS / "lid").write_text(str(self.lid))
        (PARAMETERS / "lmc").write_text(str(self.lmc))
        run("rdma", "link", "add", self.device, "type", "rxe", "netdev", self.network)
        self.reached = set()
        self.addresses = Addresses()
        for lid in self.lids:
            self.reach(lid)
        return self

    def __exit__(self, *unused):
        for lid in self.lids:
            self.lose(lid)
        self.addresses.end()
        run("rdma", "link", "delete", self.device)
        run("ip", "link", "delete", self.network)

    def reach(self, lid):
        if lid not in self.reached:
            self.addresses.change("add", lid)
        self.reached.add(lid)

    def lose(self, lid):
        if lid in self.reached:
            self.addresses.change("del", lid)
        self.reached.discard(lid)


class End:
    """rc_load at one host, until the test's end; `socket` is the agent's, and none means without the library."""

    def __init__(self, test, host, socket=None, called=None, pause=0):
        self.test, self.host = test, host
        more = {} if socket is None else {"LD_PRELOAD": str(LIBRARY), "HEDDLE_APM_SOCKET": str(socket)}
        self.process = subprocess.Popen([MADE / "rc_load", host.device, called or host.device, str(pause)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1, env={**os.environ, **more})
        test.addCleanup(self.end)
        words = self.hears("lid")
        test.assertEqual(int(words[1]), host.lid)
        self.number = int(words[3])

    def hears(self, first):
        """The words of its next line, which begins with this one."""
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            self.test.fail(f"{self.host.device} does not say \"{first}\"")
        line = self.process.stdout.readline()
        self.test.assertTrue(line.startswith(first), f"{self.host.device} says: {line}")
        return line.split()

    def says(self, line, answer):
        try:
            self.process.stdin.write(line + "\n")
        except BrokenPipeError:
            pass  # why, it has said
        return self.hears(answer)

    def counts(self):
        words = self.says("count", "sent")
        return dict(zip(words[::2], map(int, words[1::2])))

    def paths(self):
        """(destination, own bits) of both, and the state (enum ibv_mig_state)."""
        words = self.says("paths", "path")
        return tuple(map(int, words[1:3])), tuple(map(int, words[4:6])), int(words[7])

    def end(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except BrokenPipeError:
                pass


class Load:
    """Two ends that send to each other."""

    def __init__(self, test, hosts, called=(None, None), timeout=14, retries=5, **more):
        """67 ms, and five times more: what a starved machine forgives."""
        self.test = test
        self.ends = [End(test, host, called=name, **more) for host, name in zip(hosts, called)]
        for end, other in zip(self.ends, reversed(self.ends)):
            end.says(f"connect {other.host.lid} {other.number} {timeout} {retries}", "connected")
        for end in self.ends:
            end.says("send", "sending")

    def goes_on(self):
        """As many messages as are under way at a time, and one more, arrive at both ends from here on."""
        for end in self.ends:
            before = end.counts()["received"]
            while end.counts()["received"] <= before + 16:
                pass

    def finish(self):
        """All that was sent has arrived, and nothing else; each end has checked number and bytes of every message."""
        sent = [int(end.says("stop", "stopping")[1]) for end in self.ends]
        for end, other in zip(self.ends, reversed(sent)):
            while (counts := end.counts())["received"] < other:
                pass
            self.test.assertEqual(counts["received"], other)
        for end, count in zip(self.ends, sent):
            while end.counts()["sent"] < count:
                pass
        return sum(sent)
