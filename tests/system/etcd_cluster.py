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

    def __init__(self, to):
        self.to, self.open, self.sockets = to, True, []
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
            server = socket.create_connection(("127.0.0.1", self.to))
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
                ["etcd", "--name", f"m{member}", "--data-dir", str(self.directory / f"m{member}"),
                 "--listen-client-urls", self.url(member), "--advertise-client-urls", self.url(member),
                 "--listen-peer-urls", self.url(member, True), "--initial-advertise-peer-urls", self.url(member, True),
                 "--initial-cluster", cluster, "--log-level", "error", *self.tls_options()], stdout=log, stderr=log)

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

    def ctl(self, *words, only=None):
        endpoints = ",".join(self.url(member) for member in self.members if only in (None, member))
        files = ["--cacert", self.tls / "ca.pem", "--cert", self.tls / "client.pem", "--key",
                 self.tls / "client.key"] if self.tls else []
        return subprocess.run(["etcdctl", "--endpoints", endpoints, *files, *words], capture_output=True, text=True, check=False,
                              env={"ETCDCTL_API": "3", "PATH": "/usr/bin:/bin"}, timeout=60)

    def ways_in(self):
        """Endpoints of one daemon, each by a way of its own."""
        ways = [Way(FIRST_PORT + 2 * member) for member in self.members]
        self.ways += ways
        return ways
