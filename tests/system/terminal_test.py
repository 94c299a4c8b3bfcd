"""heddle top on a terminal of 80 x 24 and in tmux; heddle report; drawings. All of them also with hostile names."""

import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import tempfile
import termios
import time
import unittest

import hostile_names
from daemon_under_test import HEDDLE, Daemon
from page_test import serving

#: What heddle itself may send to a terminal.
OWN_SEQUENCES = re.compile(r"\x1b\[(\?1049[hl]|\?25[hl]|[HJK]|7m|0m)")


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, arguments, columns=80, rows=24):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(arguments[0], arguments)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.output = ""

    def until(self, pattern, seconds=20):
        """Reads until the output since the last call matches."""
        end = time.monotonic() + seconds
        seen = ""
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    seen += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
            if re.search(pattern, seen):
                self.output += seen
                return seen
        raise AssertionError(f"no {pattern!r} in {seen[-3000:]!r}")

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class TopTest(unittest.TestCase):
    def test_on_a_terminal(self):
        jobs = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="heddle-top-"))) / "jobs.csv"
        jobs.write_text("cfd,host-0,host-5\nmd,host-1,host-9\n")
        with Daemon({"fabric.generate": "tree:k=4,n=3", "fabric.scenario": "demo", "jobs.source": jobs}) as daemon:
            daemon.wait_for_sweeps(4)
            terminal = Terminal([str(HEDDLE), "--socket", str(daemon.socket), "top", "--interval", "0.2"])
            terminal.until(r"heddle top - 48 switches")
            whole = r"(?s)\x1b\[H(?:(?!\x1b\[H).)*?q quit.*?\x1b\[J"  # what was read may begin amid a frame
            frame = OWN_SEQUENCES.sub("", re.findall(whole, terminal.until(whole))[-1])
            lines = re.split(r"\r+\n", frame)
            self.assertEqual(len(lines), 24, lines)
            self.assertLessEqual(max(map(len, lines)), 80)
            terminal.type("e")
            terminal.until("links by errors")
            terminal.type("k")
            terminal.until("switch links by errors")
            terminal.type("n\x1b[B\x1b[B")
            terminal.until(r"by name, from 3 of")
            terminal.type("t")
            terminal.until(r"jobs by what they send, from 1 of 2[\s\S]*cfd +2 ")
            terminal.type("q")
            terminal.until(r"\x1b\[\?1049l")
            self.assertEqual(terminal.status(), 0)

    def test_needs_a_terminal(self):
        with Daemon({"fabric.generate": "tree:k=2,n=2"}) as daemon:
            daemon.wait_for_sweeps(1)
            refused = daemon.heddle_raw("top")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("terminal", refused.stderr)

    @unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
    def test_in_tmux(self):
        with Daemon({"fabric.generate": "tree:k=4,n=3", "fabric.scenario": "demo"}) as daemon:
            daemon.wait_for_sweeps(4)
            server = ["tmux", "-S", str(daemon.directory / "tmux")]
            command = f"{HEDDLE} --socket {daemon.socket} top"
            subprocess.run([*server, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", command], check=True)
            try:
                pane = self.pane_with(server, "48 switches")
                self.assertIn("q quit", pane.splitlines()[-1])
                self.assertRegex(pane, r"UTIL ->")
                subprocess.run([*server, "send-keys", "c"], check=True)
                self.pane_with(server, "links by congestion")
                subprocess.run([*server, "send-keys", "q"], check=True)
                end = time.monotonic() + 10
                while subprocess.run([*server, "has-session"], capture_output=True, check=False).returncode == 0:
                    self.assertLess(time.monotonic(), end, "q does not quit")
                    time.sleep(0.1)
            finally:
                subprocess.run([*server, "kill-server"], capture_output=True, check=False)

    def pane_with(self, server, text):
        end = time.monotonic() + 20
        while True:
            pane = subprocess.run([*server, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout
            if text in pane:
                return pane.rstrip("\n")
            self.assertLess(time.monotonic(), end, pane)
            time.sleep(0.1)


class ReportTest(unittest.TestCase):
    def test_is_one_file_with_everything(self):
        with Daemon({"fabric.generate": "tree:k=4,n=3", "fabric.scenario": "demo"}) as daemon:
            daemon.wait_for_sweeps(8)
            out = daemon.directory / "report.html"
            daemon.heddle("report", "--last", "5m", "--out", str(out))
            html = out.read_text()
            for expected in ("Busiest links", "Idlest links", "Profiles", "Locality", "Errors", "Energy", "Changes", "<svg", "leaf/"):
                self.assertIn(expected, html)
            self.assertNotRegex(html, r"<script|src=|href=|url\(|nan %")
            busiest = daemon.json("links", "--sort", "utilization", "--top", "1")["links"][0]
            self.assertIn(busiest["name"], html)
            self.assertEqual(daemon.heddle_raw("report", "--prometheus", "ftp://x", "--out", "-").returncode, 1)
            self.assertEqual(daemon.heddle_raw("report", "--last", "soon", "--out", "-").returncode, 2)


class HostileNamesTest(unittest.TestCase):
    """Names are text everywhere: on the terminal, in metrics, in the report, in drawings."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heddle-hostile-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.file = hostile_names.write(self.directory / "fabric")

    def test_everywhere(self):
        with serving({"fabric.file": self.file}) as daemon:
            daemon.wait_for_sweeps(3)
            for command in (("links",), ("nodes",), ("status",), ("locality",), ("fabric", "export", "--format", "text")):
                text = daemon.heddle(*command)
                self.assertNotRegex(text, r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e]", command)
            self.assertIn("<img src=x onerror=window.hacked=1>", daemon.heddle("nodes"))

            terminal = Terminal([str(HEDDLE), "--socket", str(daemon.socket), "top", "--sort", "name"], 120, 40)
            terminal.until(r"(?s)onerror.*q quit")
            terminal.type("q")
            terminal.until(r"\x1b\[\?1049l")
            self.assertEqual(terminal.status(), 0)
            self.assertNotRegex(OWN_SEQUENCES.sub("", terminal.output), r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

            html = daemon.heddle("report", "--out", "-")
            self.assertNotRegex(html, r"<(img|script)|<b>bold")
            self.assertIn("&lt;img src=x onerror=window.hacked=1&gt;", html)

            metrics = subprocess.run(["curl", "-s", daemon.url + "/metrics"], capture_output=True, check=True).stdout
            metrics.decode()
            if shutil.which("promtool"):
                checked = subprocess.run(["promtool", "check", "metrics"], input=metrics, capture_output=True, check=False)
                self.assertNotIn(b"error while linting", checked.stderr)

            dot = daemon.heddle("fabric", "show", "--format", "dot")
            self.assertNotRegex(dot, r"[\x00-\x08\x0b-\x1f]")
            if shutil.which("dot"):
                svg = daemon.heddle("fabric", "show", "--format", "svg")
                self.assertIn("&lt;img src=x onerror=window.hacked=1&gt;", svg)
                self.assertNotRegex(svg, r"<(img|script)")


if __name__ == "__main__":
    unittest.main()
