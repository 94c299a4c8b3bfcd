"""Attacks on the doors of heddled, as docs/security.md tells them: from an ordinary user of its host, and from the
network. Each was run against a heddled that fell to it."""

import contextlib
import grp
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import daemon_under_test
import odd_bytes
from daemon_under_test import Daemon

HERE = pathlib.Path(__file__).resolve().parent
ROOT = os.geteuid() == 0
# Another user may not be able to run the one that runs this.
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
NOBODY = 65534
SMALL = {"fabric.generate": "tree:k=4,n=2", "sampling.interval": "200ms"}


def resident_megabytes(daemon):
    text = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS:")) / 1024


class Peak:
    """A context: the largest resident memory while it lasts, by looking at it."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.megabytes = 0
        self.done = threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.done.wait(0.02):
            with contextlib.suppress(OSError, StopIteration):
                self.megabytes = max(self.megabytes, resident_megabytes(self.daemon))

    def __exit__(self, *unused):
        self.done.set()
        self.thread.join()


def tcp_port(daemon):
    """Of metrics.listen, which was told to take any."""
    inodes = set()
    for link in pathlib.Path(f"/proc/{daemon.process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found = re.match(r"socket:\[(\d+)\]", os.readlink(link))
            if found:
                inodes.add(found.group(1))
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in inodes:
            return int(fields[1].rsplit(":", 1)[1], 16)
    raise AssertionError("heddled listens on no TCP port")


class DoorsCase(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def start(self, settings, config=""):
        daemon = self.stack.enter_context(Daemon(settings, config=config))
        daemon.directory.chmod(0o755)
        daemon.wait_for_sweeps(2)
        daemon.port = tcp_port(daemon)
        return daemon

    def connect(self, daemon, source="127.0.0.1"):
        client = socket.socket()
        self.stack.callback(client.close)
        client.settimeout(10)
        client.bind((source, 0))
        client.connect(("127.0.0.1", daemon.port))
        return client

    def ask(self, daemon, path, headers=None, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=20)
        self.stack.callback(connection.close)
        connection.request(method, path, headers=headers or {})
        return connection.getresponse()


class DoorsTest(DoorsCase):
    def test_one_connection_cannot_take_all_memory(self):
        daemon = self.start(SMALL)
        idle = resident_megabytes(daemon)
        head = b"POST /v1/restore HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        filler = b"x" * (1 << 20)

        def unix():
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(10)
            client.connect(str(daemon.socket))
            return client

        with Peak(daemon) as peak:
            for connect, begin in ((lambda: self.connect(daemon), b"1;"), (lambda: self.connect(daemon), b"0\r\nfield: "),
                                   (unix, b"1;"), (unix, b"0\r\nfield: ")):
                client = connect()
                with contextlib.suppress(OSError):
                    client.sendall(head + begin)
                    for _ in range(200):
                        client.sendall(filler)
                client.close()
        self.assertLess(peak.megabytes - idle, 50)
        daemon.wait_for_sweeps(3)

    @unittest.skipUnless(ROOT, "takes another user's place")
    def test_an_ordinary_user_cannot_lock_root_out(self):
        daemon = self.start({**SMALL, "control.others_may_read": "true"})
        script = ("import socket, sys, time\n"
                  "held = []\n"
                  "for _ in range(400):\n"
                  "    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); held.append(s)\n"
                  "print('ready', flush=True)\n"
                  "time.sleep(60)\n")
        holder = subprocess.Popen([PYTHON, "-c", script, str(daemon.socket)], stdout=subprocess.PIPE, text=True,
                                  user=NOBODY, group=NOBODY, extra_groups=[])
        self.stack.callback(holder.wait)
        self.stack.callback(holder.stdout.close)
        self.stack.callback(holder.kill)
        self.assertEqual(holder.stdout.readline().strip(), "ready")
        begun = time.monotonic()
        daemon.heddle("status")
        self.assertLess(time.monotonic() - begun, 5)
        # Nor does that user keep another one out.
        done = subprocess.run(["curl", "-sf", "-m", "5", "--unix-socket", str(daemon.socket), "http://h/v1/status"],
                              user=NOBODY - 1, group=NOBODY - 1, extra_groups=[], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0)

    def test_slow_clients_shut_no_scraper_out(self):
        daemon = self.start(SMALL)
        slow = []
        for number in range(600):
            client = self.connect(daemon, source=f"127.0.1.{number % 100 + 1}")
            with contextlib.suppress(OSError):
                client.sendall(b"GET /metr")
            slow.append(client)
        answer = self.ask(daemon, "/metrics")
        self.assertEqual(answer.status, 200)
        self.assertIn(b"infiniband_switch_port_state", answer.read())
        # Whoever does not send a head in time is gone.
        slow[-1].settimeout(15)
        with contextlib.suppress(ConnectionError):
            self.assertEqual(slow[-1].recv(1), b"")

    def test_other_names_and_other_pages_read_nothing(self):
        daemon = self.start({**SMALL, "control.hosts": "fabric.example.org"})
        self.assertEqual(self.ask(daemon, "/v1/status", {"Host": "evil.example.com"}).status, 403)
        self.assertEqual(self.ask(daemon, "/v1/status", {"Origin": "http://evil.example.com"}).status, 403)
        for host in ("fabric.example.org", "localhost:9683", "127.0.0.1", socket.gethostname()):
            self.assertEqual(self.ask(daemon, "/v1/status", {"Host": host}).status, 200, host)

    def test_readers_cause_no_writes(self):
        daemon = self.start(SMALL)
        self.assertEqual(self.ask(daemon, "/v1/queues?name=leaf-0-0/1").status, 403)
        for path in ("/v1/link", "/v1/restore", "/v1/regulation", "/v1/qos/forget"):
            self.assertEqual(self.ask(daemon, path, method="POST").status, 403, path)

    @unittest.skipUnless(ROOT, "takes the places of other users")
    def test_members_of_the_group_may_change_things_and_others_may_not(self):
        group = grp.getgrgid(1)

        def status(daemon, path, groups, gid=NOBODY):
            method = "POST" if path == "/v1/qos/forget" else "GET"
            done = subprocess.run(["curl", "-s", "-m", "10", "-X", method, "-o", "/dev/null", "-w", "%{http_code}",
                                   "--unix-socket", str(daemon.socket), f"http://h{path}"],
                                  user=NOBODY, group=gid, extra_groups=groups, capture_output=True, text=True, check=False)
            return done.stdout

        daemon = self.start({**SMALL, "control.group": group.gr_name})
        many = list(range(30000, 30100))  # more than the daemon asks the kernel for at first
        for groups in ([group.gr_gid], [*many, group.gr_gid]):
            self.assertEqual(status(daemon, "/v1/qos/forget", groups), "200")
        self.assertEqual(status(daemon, "/v1/qos/forget", [], gid=group.gr_gid), "200", "as the primary group")
        for path in ("/v1/status", "/v1/qos/forget"):
            self.assertEqual(status(daemon, path, many), "000", "there is no connecting")

        daemon = self.start({**SMALL, "control.group": group.gr_name, "control.others_may_read": "true"})
        self.assertEqual(status(daemon, "/v1/status", []), "200")
        self.assertEqual(status(daemon, "/v1/qos/forget", many), "403")
        self.assertEqual(status(daemon, "/v1/queues?name=leaf-0-0/1", many), "403")
        self.assertEqual(status(daemon, "/v1/qos/forget", [group.gr_gid]), "200")

    @unittest.skipUnless(ROOT, "takes another user's place")
    def test_only_root_is_opensms_plugin(self):
        """An abstract socket has no permissions."""
        name = f"@heddle-abuse-{os.getpid()}"
        daemon = self.start({**SMALL, "opensm.plugin": "true", "opensm.socket": name})
        say_hello = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.settimeout(1); "
                     "s.connect('\\0' + sys.argv[1][1:]); "
                     "s.sendall(b'{\"event\":\"hello\",\"protocol\":1,\"state\":\"master\"}\\n'); sys.exit(len(s.recv(1)))")

        def hello(**who):
            return subprocess.run([PYTHON, "-c", say_hello, name], capture_output=True, text=True, check=False, **who)

        refused = hello(user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertTrue(refused.returncode == 0 or "ConnectionResetError" in refused.stderr or "BrokenPipe" in refused.stderr,
                        refused.stderr)
        self.assertNotIn("plugin is here", daemon.log_text())
        hello()
        daemon.wait_for(lambda status: "plugin is here" in daemon.log_text(), "root's hello heard")

    def test_odd_bytes_do_no_harm(self):
        """For long with HEDDLE_ODD_BYTES, seconds."""
        daemon = self.start(SMALL)

        def unix():
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(10)
            client.connect(str(daemon.socket))
            return client

        def tcp():
            return socket.create_connection(("127.0.0.1", daemon.port), 10)

        idle = resident_megabytes(daemon)
        seconds = float(os.environ.get("HEDDLE_ODD_BYTES", "5"))
        sent = odd_bytes.run([unix, tcp], seconds, seed=int(os.environ.get("HEDDLE_SEED", "1")))
        print(f"\n{sent} odd requests", file=sys.stderr)
        self.assertIsNone(daemon.process.poll(), daemon.log_text())
        daemon.wait_for_sweeps(daemon.json("status")["sampling"]["sweeps"] + 3)
        if "asan" not in str(daemon_under_test.BUILD):  # which keeps what was freed
            self.assertLess(resident_megabytes(daemon) - idle, 50)

    def test_without_the_systems_proc_it_knows_when_it_started(self):
        if not ROOT:
            self.skipTest("mounts")
        daemon = Daemon(SMALL)
        self.stack.callback(shutil.rmtree, daemon.directory, True)
        wrapper = daemon.directory / "heddled"
        wrapper.write_text("#!/bin/sh\nmount -t proc -o subset=pid proc /proc && "
                           f"exec {daemon_under_test.HEDDLED.resolve()} \"$@\"\n")
        wrapper.chmod(0o755)
        before = daemon_under_test.HEDDLED
        self.addCleanup(setattr, daemon_under_test, "HEDDLED", before)
        outer = daemon.directory / "outer"
        outer.write_text(f"#!/bin/sh\nexec unshare --mount {wrapper} \"$@\"\n")
        outer.chmod(0o755)
        daemon_under_test.HEDDLED = outer
        self.stack.enter_context(daemon)
        daemon.wait_for_sweeps(1)
        line = next(line for line in daemon.metrics().splitlines() if line.startswith("process_start_time_seconds"))
        self.assertAlmostEqual(float(line.split()[1]), time.time(), delta=60)


class TlsTest(DoorsCase):
    """With certificates made by openssl."""

    def new_directory(self):
        return pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="heddle-tls-")))

    def certificate(self, directory, name, alternative="IP:127.0.0.1"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-keyout", str(directory / f"{name}.key"), "-out", str(directory / f"{name}.pem"),
                        "-subj", f"/CN={name}", "-addext", f"subjectAltName={alternative}"],
                       check=True, capture_output=True)
        (directory / f"{name}.key").chmod(0o600)

    def serve(self, daemon_settings=None, tokens="prometheus 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\n",
              **tls):
        directory = self.new_directory()
        self.certificate(directory, "server")
        (directory / "tokens").write_text(tokens)
        (directory / "tokens").chmod(0o600)
        settings = {**SMALL, "metrics.tls.cert_file": directory / "server.pem", "metrics.tls.key_file": directory / "server.key",
                    "metrics.tokens_file": directory / "tokens", **(daemon_settings or {}),
                    **{f"metrics.tls.{key}": value for key, value in tls.items()}}
        return self.start(settings), directory

    def curl(self, daemon, directory, *options, path="/v1/status", ca="server.pem"):
        done = subprocess.run(["curl", "-s", "-m", "20", "--cacert", str(directory / ca), "-o", "/dev/null", "-w", "%{http_code}",
                               *options, f"https://127.0.0.1:{daemon.port}{path}"], capture_output=True, text=True, check=False)
        return done.stdout

    def test_tokens_and_tls(self):
        daemon, directory = self.serve()
        good = ("-H", "Authorization: Bearer secret")
        for path in ("/v1/status", "/metrics", "/"):
            self.assertEqual(self.curl(daemon, directory, path=path), "401", path)
            self.assertNotEqual(self.curl(daemon, directory, *good, path=path), "401", path)
        self.assertEqual(self.curl(daemon, directory, *good, path="/metrics"), "200")
        self.assertEqual(self.curl(daemon, directory, *good, "-X", "POST", path="/v1/restore"), "403")
        # Whoever speaks in the clear is not understood, and does no harm.
        client = self.connect(daemon)
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            self.assertNotIn(b"HTTP/1.1 200", client.recv(1000))
        self.assertNotIn("secret", daemon.log_text())
        self.assertEqual(daemon.json("status")["problems"], [])

        # A certificate and tokens that change are taken up by a reload; a file that cannot be used is not.
        self.certificate(directory, "server")
        (directory / "tokens").write_text("other " + "0" * 64 + "\n")
        daemon.process.send_signal(1)
        self.until(lambda: self.curl(daemon, directory, *good) == "401")
        (directory / "tokens").chmod(0o644)
        daemon.process.send_signal(1)
        self.until(lambda: "chmod o=" in daemon.log_text())
        self.assertEqual(self.curl(daemon, directory, *good), "401")

    def until(self, condition):
        end = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_clients_need_a_certificate_where_it_says_so(self):
        client = self.new_directory()
        self.certificate(client, "client", "DNS:client")
        daemon, directory = self.serve(client_ca_file=client / "client.pem", min_version="TLS13")
        token = ("-H", "Authorization: Bearer secret")
        self.assertEqual(self.curl(daemon, directory, *token), "000")
        with_one = ("--cert", str(client / "client.pem"), "--key", str(client / "client.key"))
        self.assertEqual(self.curl(daemon, directory, *token, *with_one), "200")
        self.assertEqual(self.curl(daemon, directory, *token, *with_one, "--tls-max", "1.2"), "000")

    def test_an_open_listener_is_a_problem(self):
        daemon = self.stack.enter_context(Daemon({**SMALL, "metrics.listen": "0.0.0.0:0"}))
        daemon.wait_for_sweeps(1)
        self.assertTrue(any("metrics.tokens_file" in problem for problem in daemon.json("status")["problems"]))


class Scraper:
    """Asks for /metrics at a steady pace, as Prometheus does: compressed, and left so, since what unpacking costs is its own."""

    def __init__(self, port, address, every, delay):
        self.command = ["curl", "-sS", "-m", "20", "--interface", address, "-H", "Accept-Encoding: gzip", "-o", "/dev/null",
                        "-w", "%{http_code} %{time_total}", f"http://127.0.0.1:{port}/metrics"]
        self.every = every
        self.took = []
        self.failed = []
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.run, args=[time.monotonic() + delay])
        self.thread.start()

    def run(self, at):
        while not self.done.wait(max(0.0, at - time.monotonic())):
            at += self.every
            got = subprocess.run(self.command, capture_output=True, text=True, check=False)
            # curl's own words say more than the 000 of an answer that did not come.
            if got.returncode != 0 or not got.stdout.startswith("200 "):
                self.failed.append(got.stderr.strip() or got.stdout)
            else:
                self.took.append(float(got.stdout.split()[1]))

    def stop(self):
        self.done.set()
        self.thread.join()


class CrowdTest(DoorsCase):
    """Many clients ask for everything, most of them without reading: sampling goes on, memory is bounded, and whoever
    needs an answer gets one. The same at full size by night: HEDDLE_NIGHT=1."""

    learning = 1  # a scrape that nobody could await

    @unittest.skipUnless(ROOT, "takes the places of other users")
    def test_a_crowd(self):
        night = os.environ.get("HEDDLE_NIGHT") == "1"
        spec, users, clients, seconds = ("tree:k=18,n=3,full", 20, 2000, 120) if night else ("tree:k=6,n=3", 5, 400, 12)
        scrapers, every = (4, 15) if night else (2, 2)
        daemon = self.start({"fabric.generate": spec, "sampling.interval": "1s", "control.others_may_read": "true",
                             "sm.mode": "auto"})
        daemon.wait_for_sweeps(5)
        largest = len(daemon.metrics())
        time.sleep(3)
        idle = resident_megabytes(daemon)
        before = daemon.json("status")["sampling"]
        begun = time.monotonic()
        script = shutil.copy(HERE / "crowd.py", daemon.directory)
        crowd = []
        for user in range(users):
            addresses = 10
            command = ["nice", "-n", "19", PYTHON, str(script), str(daemon.socket), str(daemon.port),
                       f"127.0.{user + 1}.1", str(addresses), str(clients // users), str(seconds)]
            crowd.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, user=20000 + user, group=20000 + user,
                                          extra_groups=[]))
        # Apart by what is no multiple of a sample: so they come early and late in it.
        asking = [Scraper(daemon.port, f"127.0.200.{number + 1}", every, delay=number * every / scrapers * 0.97)
                  for number in range(scrapers)]
        operator = []
        try:
            with Peak(daemon) as peak:
                while time.monotonic() - begun < seconds:
                    at = time.monotonic()
                    daemon.heddle("status")
                    operator.append(time.monotonic() - at)
                    time.sleep(1)
        finally:
            for scraper in asking:
                scraper.stop()
        for process in crowd:
            process.wait(30)
            process.stdout.close()
        elapsed = time.monotonic() - begun
        after = daemon.json("status")["sampling"]
        swept = after["sweeps"] - before["sweeps"]
        late = after["overruns"] - before["overruns"]
        first = [took for scraper in asking for took in scraper.took[:self.learning]]
        awaited = [took for scraper in asking for took in scraper.took[self.learning:]]
        print(f"\n{spec}: {clients} clients, {elapsed:.0f} s: {swept} sweeps, {late} late; memory {idle:.0f} MB idle, "
              f"{peak.megabytes:.0f} MB at most, /metrics has {largest / 1e6:.0f} MB; status within {max(operator):.2f} s; "
              f"{len(awaited)} awaited scrapes within {max(awaited, default=0):.3f} s, one in two within "
              f"{statistics.median(awaited or [0]):.3f} s; the {len(first)} first ones within {max(first, default=0):.2f} s, "
              f"one in two within {statistics.median(first or [0]):.2f} s", file=sys.stderr)
        self.assertEqual([what for scraper in asking for what in scraper.failed], [])
        self.assertTrue(awaited)
        self.assertLess(peak.megabytes - idle, 2 * largest / 1e6 + (clients * 64 + 32768) / 1024)
        self.assertGreater(swept, elapsed / 3)
        if night:  # on a machine that has nothing else to do
            self.assertLessEqual(late, swept / 50)
            self.assertLess(max(operator), 1)
            self.assertLess(max(awaited), 1)
            self.assertLess(max(first), 3)


if __name__ == "__main__":
    unittest.main()
