"""Debian's etcd, three of them on loopback, and ways to them that can be cut. For the system tests; needs in_netns."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading

from served_fabric import wait_until

FIRST_PORT = 23790


class Way:
    """What a daemon has for an endpoint: passes bytes on, unless it is cut; then nothing goes either way, as in a network
    that has lost its middle: nobody is told."""

    def __init__(self, port, host="127.0.0.1"):
        self.to, self.open, self.sockets = (host, port), True, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.sockets.append(client)
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def carry(self, client):
        if not self.open:
            return  # the socket stays: it hangs
        try:
            server = socket.create_connection(self.to)
        except OSError:
            client.close()
            return
        self.sockets.append(server)
        threading.Thread(target=self.pump, args=(client, server), daemon=True).start()
        self.pump(server, client)

    def pump(self, source, sink):
        try:
            while data := source.recv(65536):
                if not self.open:
                    return
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        for each in (self.listener, *self.sockets):
            each.close()


def certificates(directory, name="etcd"):
    """An authority, and certificates by it for a server on loopback and for a client."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=directory, capture_output=True, check=True)
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", f"/CN={name}", "-days", "1")
    (directory / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for who in ("server", "client"):
        openssl("req", *curve, "-keyout", f"{who}.key", "-out", f"{who}.csr", "-subj", f"/CN={who}")
        openssl("x509", "-req", "-in", f"{who}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-out", f"{who}.pem", "-days", "1", "-extfile", "names")
    return directory


class EtcdCluster:
    """A context: three members run inside it."""

    def __init__(self, members=3, tls=None):
        """`tls`: files of Certificates; else plain HTTP."""
        self.tls = tls
        # In memory where that is possible: a member that waits for a busy disk loses its leader, and what is tested is the daemons.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heddle-etcd-", dir=memory))
        self.members = range(members)
        self.processes = {}
        self.ways = []

    def __enter__(self):
        try:
            for member in self.members:
                self.start(member)
            wait_until(lambda: self.ctl("endpoint", "health").returncode == 0, 60, "etcd's start")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        for member in list(self.processes):
            self.kill(member)
        for way in self.ways:
            way.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def url(self, member, peer=False):
        return f"http{'s' if self.tls and not peer else ''}://127.0.0.1:{FIRST_PORT + 2 * member + peer}"

    def start(self, member):
        cluster = ",".join(f"m{each}={self.url(each, True)}" for each in self.members)
        with open(self.directory / f"{member}.log", "ab") as log:
            self.processes[member] = subprocess.Popen(
                [*self.within(member), "etcd", "--name", f"m{member}", "--data-dir", str(self.directory / f"m{member}"),
                 "--listen-client-urls", self.url(member), "--advertise-client-urls", self.url(member),
                 "--listen-peer-urls", self.url(member, True), "--initial-advertise-peer-urls", self.url(member, True),
                 "--initial-cluster", cluster, "--log-level", "error", *self.tls_options()], stdout=log, stderr=log)

    def within(self, member):
        """What starts a program where this member is."""
        return []

    def tls_options(self):
        if not self.tls:
            return []
        return ["--client-cert-auth", "--trusted-ca-file", self.tls / "ca.pem", "--cert-file", self.tls / "server.pem",
                "--key-file", self.tls / "server.key"]

    def leader(self):
        for member in self.members:
            told = json.loads(self.ctl("endpoint", "status", "-w", "json", only=member).stdout)[0]["Status"]
            if told["leader"] == told["header"]["member_id"]:
                return member
        raise AssertionError("etcd has no leader")

    def kill(self, member):
        process = self.processes.pop(member)
        process.kill()
        process.wait()

    def ctl(self, *words, only=None, input=None):
        endpoints = ",".join(self.url(member) for member in self.members if only in (None, member))
        files = ["--cacert", self.tls / "ca.pem", "--cert", self.tls / "client.pem", "--key",
                 self.tls / "client.key"] if self.tls else []
        return subprocess.run(["etcdctl", "--endpoints", endpoints, *files, *words], capture_output=True, text=True, check=False, input=input,
                              env={"ETCDCTL_API": "3", "PATH": "/usr/bin:/bin"}, timeout=60)

    def way_to(self, member):
        return Way(FIRST_PORT + 2 * member)

    def ways_in(self):
        """Endpoints of one daemon, each by a way of its own."""
        ways = [self.way_to(member) for member in self.members]
        self.ways += ways
        return ways


class EtcdHosts(EtcdCluster):
    """Members that have a network namespace each, which stands for a host: one network joins them to one another, another one to
    daemons. Each has a disk of its own, of 160 MB, in memory."""

    DISK = "160m"

    def __init__(self):
        super().__init__()
        self.hosts = {}

    def __enter__(self):
        try:
            self.make_hosts()
        except BaseException:
            self.__exit__()
            raise
        return super().__enter__()

    def __exit__(self, *unused):
        for member in list(self.processes):
            self.kill(member)
        # Before their namespaces, which take theirs with them some time later.
        for link in (*(f"{network}{member}" for member in self.hosts for network in "cp"), "peers", "clients"):
            subprocess.run(["ip", "link", "del", link], check=False)
        for member, host in self.hosts.items():
            host.kill()
            host.wait()
            subprocess.run(["umount", self.directory / f"m{member}"], check=False)
        super().__exit__()

    @staticmethod
    def ip(*words, host=None):
        within = ["nsenter", "-t", str(host.pid), "-n"] if host else []
        subprocess.run([*within, "ip", *words], check=True)

    def make_hosts(self):
        for network in ("peers", "clients"):
            self.ip("link", "add", network, "type", "bridge")
            self.ip("link", "set", network, "up")
        self.ip("addr", "add", "10.77.1.100/24", "dev", "clients")
        for member in self.members:
            self.make_host(member)
            disk = self.directory / f"m{member}"
            disk.mkdir(mode=0o700)
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.DISK},mode=0700", "etcd", disk], check=True)

    def make_host(self, member):
        host = self.hosts[member] = subprocess.Popen(["unshare", "-n", "sleep", "1200"])
        own = os.readlink("/proc/self/ns/net")
        wait_until(lambda: os.readlink(f"/proc/{host.pid}/ns/net") != own, 20, "a namespace")
        self.ip("link", "set", "lo", "up", host=host)
        for number, network in enumerate(("clients", "peers"), 1):
            here, there = f"{network[0]}{member}", f"{network[0]}-there"
            self.ip("link", "add", here, "type", "veth", "peer", "name", there)
            self.ip("link", "set", here, "master", network, "up")
            self.ip("link", "set", there, "netns", str(host.pid))
            self.ip("addr", "add", f"10.77.{number}.{member + 1}/24", "dev", there, host=host)
            self.ip("link", "set", there, "up", host=host)

    def cut_peers(self, *members, is_cut=True):
        """These members and the others hear nothing of one another, nor do they among themselves. Whose network it is is told nothing."""
        for member in members:
            self.ip("link", "set", f"p{member}", "nomaster" if is_cut else "up", *([] if is_cut else ["master", "peers"]))

    def fill_disk(self, member):
        """To the last byte, and beyond what etcd has laid aside. Ends when the member has noticed."""
        with open(self.directory / f"m{member}" / "fill", "wb") as fill:
            try:
                while True:
                    fill.write(bytes(1 << 16))
                    fill.flush()
            except OSError:
                pass
        for number in range(200):
            if self.processes[member].poll() is not None:
                return
            self.ctl("put", f"/filler/{number % 4}", input="x" * 1_000_000)
        raise AssertionError("etcd does not mind a disk that is full")

    def empty_disk(self, member):
        (self.directory / f"m{member}" / "fill").unlink()

    def within(self, member):
        return ["nsenter", "-t", str(self.hosts[member].pid), "-n"]

    def url(self, member, peer=False):
        return f"http://10.77.{2 if peer else 1}.{member + 1}:{FIRST_PORT + peer}"

    def way_to(self, member):
        return Way(FIRST_PORT, f"10.77.1.{member + 1}")
