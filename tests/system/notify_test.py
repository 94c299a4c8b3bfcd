"""Events and problems go out: to web hooks, programs and syslog, over restarts of both sides, and no secret is shown."""

import contextlib
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import socketserver
import ssl
import subprocess
import tempfile
import threading
import unittest

from daemon_under_test import HEDDLE, Daemon
from served_fabric import wait_until

QUICK = {"fabric.generate": "tree:k=2,n=2", "sweep.light_interval": "200ms", "sampling.interval": "100ms",
         "sampling.timeout": "50ms"}
SECRET = "open-sesame-4711"


class WebReceiver:
    """Takes what is posted, on a port that stays its own while it is away."""

    def __init__(self, tls=None):
        self.tls, self.status, self.posts, self.port, self.server = tls, 200, [], 0, None

    def start(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.status(body) if callable(receiver.status) else receiver.status
                if status == 200:
                    receiver.posts.append((self.path, dict(self.headers), json.loads(body)))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *unused):
                pass

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        if self.tls:
            self.server.socket = self.tls.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *unused):
        self.stop()

    def notices(self):
        return [notice for _, _, body in self.posts for notice in body["notices"]]

    def orders(self):
        return [notice for notice in self.notices() if notice["kind"] == "operator"]


def destination(name, kind, **keys):
    keys = {"every": "50ms", "timeout": "2s", **keys}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(["[[notify.destination]]", f'name = "{name}"', f'type = "{kind}"', *lines, ""])


def state_of(daemon, name):
    return next(each for each in daemon.json("status")["notify"] if each["name"] == name)


class Notify(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="heddle-notify-")))

    def secret(self, text, name="secret"):
        file = self.directory / name
        file.write_text(text + "\n")
        file.chmod(0o600)
        return str(file)

    def sim(self, *words):
        subprocess.run([HEDDLE, "sim", "--name", "notify", *words], check=True, timeout=20, stdout=subprocess.DEVNULL)

    def daemon(self, config):
        daemon = self.enterContext(Daemon({**QUICK, "fabric.serve": "notify"}, config=config))
        daemon.wait_for(lambda status: status["fabric"] and status["problems"] == [], "nothing wrong")
        return daemon

    @staticmethod
    def events(daemon):
        done = subprocess.run(["curl", "-sf", "--unix-socket", str(daemon.socket), "http://heddled/v1/events?most=1000"],
                              capture_output=True, text=True, timeout=20, check=True)
        return [event["text"] for event in json.loads(done.stdout)["events"]]

    def order(self, daemon, times):
        """Each makes an event."""
        for i in range(times):
            daemon.heddle("regulate", "enforce" if i % 2 == 0 else "advise")

    def no_secret_is_shown(self, daemon):
        for text in (daemon.log_text(), daemon.heddle("--json", "status"), daemon.heddle("status"), daemon.metrics()):
            self.assertNotIn(SECRET, text)

    def test_a_problem_begins_and_ends_at_a_web_hook(self):
        with WebReceiver() as receiver:
            url = self.secret(f"http://localhost:{receiver.port}/hooks/{SECRET}", "url")
            daemon = self.daemon(destination("hook", "webhook", url_file=url, token_file=self.secret(SECRET)))
            self.sim("link", "leaf-1", "3", "down")
            wait_until(lambda: any(n["kind"] == "lost-links" for n in receiver.notices()), 20, "telling of the link")
            self.sim("link", "leaf-1", "3", "up")
            wait_until(lambda: any(n.get("state") == "ended" for n in receiver.notices()), 30, "telling of its end")
            path, headers, body = receiver.posts[0]
            self.assertEqual(path, f"/hooks/{SECRET}")
            self.assertEqual(headers["Authorization"], f"Bearer {SECRET}")
            self.assertEqual((body["version"], body["source"], body["host"]), (1, "heddled", socket.gethostname()))
            lost = [n for n in receiver.notices() if n["kind"] == "lost-links"]
            self.assertEqual([n["state"] for n in lost if n["state"] != "changed"], ["began", "ended"])
            self.assertIn("leaf-1/3", lost[0]["text"])
            self.assertEqual(state_of(daemon, "hook")["what"], "webhook")
            wait_until(lambda: state_of(daemon, "hook")["queued"] == 0, 10, "an empty queue")
            self.no_secret_is_shown(daemon)

    def test_nothing_is_lost_over_restarts_of_both_sides(self):
        """The receiver is away, the daemon is killed, the receiver breaks off: all that is in the journal arrives, in order."""
        receiver = WebReceiver().start()
        daemon = self.daemon(destination("hook", "webhook", url=f"http://127.0.0.1:{receiver.port}/"))
        self.order(daemon, 2)
        wait_until(lambda: len(receiver.notices()) >= 2, 20, "the first events")
        receiver.stop()
        self.order(daemon, 20)
        daemon.wait_for(lambda status: any("hook (webhook) has taken no notice" in p for p in status["problems"]),
                        "saying that the receiver is away", 40)
        wait_until(lambda: 'heddle_problems{kind="notify"} 1\n' in daemon.metrics(), 30, "the problem's metric")
        self.assertGreaterEqual(state_of(daemon, "hook")["queued"], 20)
        self.assertIn("waiting; cannot connect: Connection refused", daemon.heddle("status"))
        daemon.process.kill()
        daemon.process.wait()
        daemon.__enter__()
        daemon.wait_for(lambda status: status["fabric"], "a fabric")
        self.order(daemon, 3)
        receiver.status = 503
        receiver.start()
        wait_until(lambda: "HTTP status 503" in state_of(daemon, "hook")["trouble"], 20, "a receiver that refuses")
        receiver.status = 200
        # Orders of the journal; problems may have begun and ended besides.
        events = self.events(daemon)
        self.assertGreaterEqual(len(events), 25)

        def told():
            by_id = {n["id"]: n for n in receiver.notices() if n["class"] == "event"}
            return [by_id[i]["text"] for i in sorted(by_id)]

        wait_until(lambda: len(told()) >= len(events), 40, "all events")
        self.assertEqual(told(), events)
        ids = [n["id"] for n in receiver.notices()]
        self.assertEqual(sorted(set(ids)), list(range(1, max(ids) + 1)))
        first = {}
        for position, number in enumerate(ids):
            first.setdefault(number, position)
        self.assertEqual(sorted(first, key=first.get), sorted(first), "in order")
        self.assertEqual(state_of(daemon, "hook")["dropped"], 0)
        receiver.stop()

    def test_what_a_receiver_refuses_for_good_holds_up_nothing(self):
        with WebReceiver() as receiver:
            receiver.status = lambda body: 400 if b"advise" in body else 200
            daemon = self.daemon(destination("hook", "webhook", url=f"http://127.0.0.1:{receiver.port}/", every="500ms"))
            self.order(daemon, 6)
            wait_until(lambda: len(receiver.notices()) >= 3 and state_of(daemon, "hook")["dropped"] == 3, 30,
                       "three of six")
            wait_until(lambda: 'heddle_notify_dropped_total{destination="hook"} 3\n' in daemon.metrics(), 30, "the metric")

    def test_a_full_queue_drops_the_oldest_and_says_so(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            port = nobody.getsockname()[1]
            daemon = self.daemon("[notify]\nqueue = 10\n" + destination("hook", "webhook", url=f"http://127.0.0.1:{port}/"))
            self.order(daemon, 30)
            wait_until(lambda: state_of(daemon, "hook")["dropped"] >= 20, 20, "dropping the oldest")
            self.assertEqual(state_of(daemon, "hook")["queued"], 10)

    def test_a_program_gets_json_on_its_standard_input(self):
        out = self.directory / "told"
        script = self.directory / "tell"
        script.write_text(f'#!/bin/sh\necho "$@" >> {out}.arguments\nenv >> {out}.environment\ncat >> {out}\n')
        script.chmod(0o755)
        daemon = self.daemon(destination("tell", "program", program=[str(script), "a b", "$(id)"]))
        self.sim("link", "leaf-1", "3", "down")
        wait_until(lambda: out.exists() and "lost-links" in out.read_text(), 20, "the program's telling")
        notices = [n for line in out.read_text().splitlines() for n in json.loads(line)["notices"]]
        self.assertIn("lost-links", {n["kind"] for n in notices})
        self.assertEqual(set(pathlib.Path(f"{out}.arguments").read_text().splitlines()), {"a b $(id)"})
        self.assertNotIn("HEDDLE", pathlib.Path(f"{out}.environment").read_text())
        self.assertEqual(state_of(daemon, "tell")["trouble"], "")

    def test_a_program_that_takes_too_long_is_killed_with_its_children(self):
        out = self.directory / "processes"
        script = self.directory / "tell"
        script.write_text(f"#!/bin/sh\nsleep 300 &\necho $$ $! >> {out}\nsleep 300\n")
        script.chmod(0o755)
        daemon = self.daemon(destination("tell", "program", program=[str(script)], timeout="200ms"))
        self.order(daemon, 1)
        wait_until(lambda: "was killed" in state_of(daemon, "tell")["trouble"], 20, "killing it")
        for process in out.read_text().split():
            self.assertFalse(self.runs(process), process)
        script.write_text("#!/bin/sh\nexit 3\n")
        wait_until(lambda: "ended with status 3" in state_of(daemon, "tell")["trouble"], 20, "its status")
        script.unlink()
        wait_until(lambda: "cannot be run: No such file" in state_of(daemon, "tell")["trouble"], 30, "its absence")

    @staticmethod
    def runs(process):
        try:
            return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
        except FileNotFoundError:
            return False

    def test_syslog_by_a_socket_by_datagrams_and_over_tcp(self):
        local = self.enterContext(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        local.bind(str(self.directory / "log"))
        udp = self.enterContext(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        streams = []

        class Stream(socketserver.StreamRequestHandler):
            def handle(self):
                streams.append(self.rfile.read())

        server = self.enterContext(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Stream))
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.addCleanup(server.shutdown)
        daemon = self.daemon(destination("local", "syslog", address=str(self.directory / "log"), what=["events"]) +
                             destination("udp", "syslog", address=f"udp:127.0.0.1:{udp.getsockname()[1]}", what=["events"]) +
                             destination("tcp", "syslog", address=f"tcp:localhost:{server.server_address[1]}", what=["events"]))
        self.order(daemon, 1)
        form = re.compile(rb'<30>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (\S+) heddled (\d+) operator '
                          rb'\[heddle@32473 id="\d+" what="event" kind="operator"[^\]]*\] \xef\xbb\xbf(.*)')
        wait_until(lambda: all(state_of(daemon, name)["sent"] > 1 and state_of(daemon, name)["queued"] == 0
                               for name in ("local", "udp", "tcp")), 20, "all sent")
        framed = []
        for stream in streams:
            while stream:
                length, _, stream = stream.partition(b" ")
                framed.append(stream[:int(length)])
                stream = stream[int(length):]
        for lines in ([local.recv(4096), local.recv(4096)], [udp.recv(4096), udp.recv(4096)], framed):
            # The first is that of the start.
            self.assertEqual(len(lines), 2)
            self.assertIn(b' kind="recovered"', lines[0])
            match = form.fullmatch(lines[1])
            self.assertTrue(match, lines[1])
            self.assertEqual(match.group(1).decode(), socket.gethostname())
            self.assertEqual(int(match.group(2)), daemon.process.pid)
            self.assertIn("enforce", match.group(3).decode())

    @unittest.skipIf(shutil.which("openssl") is None, "openssl is not installed")
    def test_a_web_hook_over_tls_is_who_it_says(self):
        key, certificate = self.directory / "key.pem", self.directory / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True, timeout=60)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        with WebReceiver(context) as receiver:
            web = {"credentials_file": self.secret(f"heddle:{SECRET}")}
            daemon = self.daemon(
                destination("good", "webhook", url=f"https://localhost:{receiver.port}/", ca_file=str(certificate), **web) +
                destination("stranger", "webhook", url=f"https://localhost:{receiver.port}/", **web) +
                destination("othername", "webhook", url=f"https://127.0.0.1:{receiver.port}/", ca_file=str(certificate), **web))
            self.order(daemon, 1)
            wait_until(lambda: state_of(daemon, "good")["sent"] > 0, 20, "a notice over TLS")
            for name in ("stranger", "othername"):
                wait_until(lambda: "certificate verify failed" in state_of(daemon, name)["trouble"], 20, name)
                self.assertEqual(state_of(daemon, name)["sent"], 0)
            self.assertTrue(all(headers["Authorization"].startswith("Basic ") for _, headers, _ in receiver.posts))
            self.no_secret_is_shown(daemon)

    def test_a_reload_changes_who_is_told(self):
        with WebReceiver() as first, WebReceiver() as second:
            daemon = self.daemon(destination("hook", "webhook", url=f"http://127.0.0.1:{first.port}/"))
            self.order(daemon, 1)
            wait_until(lambda: len(first.orders()) == 1, 20, "the first")
            file = daemon.directory / "heddle.toml"
            file.write_text(destination("hook", "webhook", url=f"http://127.0.0.1:{second.port}/"))
            daemon.heddle("status")
            os.kill(daemon.process.pid, 1)
            wait_until(lambda: "configuration read again" in daemon.log_text(), 10, "reading it again")
            daemon.heddle("regulate", "advise")
            wait_until(lambda: len(second.orders()) == 1, 20, "the second")
            self.assertEqual(len(first.orders()), 1)


@unittest.skipIf(shutil.which("prometheus-alertmanager") is None, "prometheus-alertmanager is not installed")
class Alertmanager(unittest.TestCase):
    """Debian's own at the other end."""

    @contextlib.contextmanager
    def alertmanager(self, directory, port):
        config = directory / "alertmanager.yml"
        config.write_text("route: {receiver: none}\nreceivers: [{name: none}]\n")
        log = open(directory / "alertmanager.log", "ab")
        process = subprocess.Popen(["prometheus-alertmanager", f"--config.file={config}", f"--storage.path={directory}/data",
                                    f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="],
                                   stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(20)
            log.close()

    @staticmethod
    def ask(port, path):
        done = subprocess.run(["curl", "-sf", f"http://127.0.0.1:{port}/api/v2/{path}"], capture_output=True, text=True,
                              timeout=20, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def alerts(self, port, name):
        return [alert for alert in self.ask(port, "alerts") or [] if alert["labels"]["alertname"] == name]

    def test_problems_and_events_are_alerts_that_end(self):
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="heddle-alertmanager-")))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = {**QUICK, "fabric.serve": "alerts", "metrics.fabric": "north"}
        config = destination("alerts", "alertmanager", url=f"http://127.0.0.1:{port}")
        link = [HEDDLE, "sim", "--name", "alerts", "link", "leaf-1", "3"]
        with Daemon(settings, config=config) as daemon:
            daemon.wait_for(lambda status: status["fabric"] and status["problems"] == [], "nothing wrong")
            # It is away when the link goes.
            subprocess.run([*link, "down"], check=True, timeout=20, stdout=subprocess.DEVNULL)
            wait_until(lambda: state_of(daemon, "alerts")["trouble"], 20, "an Alertmanager that is away")
            with self.alertmanager(directory, port):
                wait_until(lambda: any(alert["labels"]["kind"] == "lost-links"
                                       for alert in self.alerts(port, "HeddleProblem")), 40, "the alert")
                alert = next(a for a in self.alerts(port, "HeddleProblem") if a["labels"]["kind"] == "lost-links")
                self.assertEqual(alert["labels"]["fabric"], "north")
                self.assertIn("leaf-1/3", alert["annotations"]["summary"])
                self.assertEqual(alert["status"]["state"], "active")
                daemon.heddle("regulate", "enforce")
                wait_until(lambda: self.alerts(port, "HeddleEvent"), 20, "the event")
                subprocess.run([*link, "up"], check=True, timeout=20, stdout=subprocess.DEVNULL)
                wait_until(lambda: not self.alerts(port, "HeddleProblem"), 60, "the end of the alerts")
                # What it does not understand it would have refused.
                wait_until(lambda: state_of(daemon, "alerts")["queued"] == 0, 20, "an empty queue")
                self.assertEqual(state_of(daemon, "alerts")["dropped"], 0)


if __name__ == "__main__":
    unittest.main()
