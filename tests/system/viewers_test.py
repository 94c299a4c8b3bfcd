"""Clients of the page that mean harm or do not care: sampling goes on and memory stays bounded."""

import contextlib
import http.client
import json
import pathlib
import socket
import time
import unittest

from page_test import serving

EVENTS = b"GET /v1/page/events HTTP/1.1\r\nHost: localhost\r\n\r\n"


def resident_kilobytes(daemon):
    text = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS"))


class ViewersTest(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.daemon = self.stack.enter_context(serving({"fabric.generate": "tree:k=8,n=3", "sampling.interval": "200ms"}))
        self.daemon.wait_for_sweeps(3)
        self.port = int(self.daemon.url.rsplit(":", 1)[1])

    def connect(self, **options):
        client = socket.socket()
        self.stack.callback(client.close)
        if options.get("small"):
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(10)
        client.connect(("127.0.0.1", self.port))
        return client

    def sweeps_go_on(self):
        """Ten more sweeps come, and in about the time that they take."""
        before = self.daemon.json("status")["sampling"]
        self.daemon.wait_for_sweeps(before["sweeps"] + 10)

    def test_viewers_that_read_nothing(self):
        for _ in range(20):
            self.connect(small=True).sendall(EVENTS)
        self.sweeps_go_on()
        first = resident_kilobytes(self.daemon)
        for _ in range(4):
            self.sweeps_go_on()
        self.assertLess(resident_kilobytes(self.daemon) - first, 16 * 1024)

    def test_viewers_beyond_the_limit_are_told_so(self):
        for _ in range(64):
            self.connect().sendall(EVENTS)
        self.sweeps_go_on()
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self.addCleanup(asked.close)
        asked.request("GET", "/v1/page/events")
        answer = asked.getresponse()
        self.assertEqual(answer.status, 503)
        self.assertIn("64 viewers", json.loads(answer.read())["error"])

    def test_a_thousand_connections(self):
        first = resident_kilobytes(self.daemon)
        for _ in range(1000):
            self.connect()
        self.sweeps_go_on()
        self.assertLess(resident_kilobytes(self.daemon) - first, 64 * 1024)
        # The Unix socket is not theirs to take.
        self.assertGreater(self.daemon.json("status")["sampling"]["sweeps"], 3)

    def test_requests_cut_in_the_middle(self):
        whole = b"GET /v1/page/topology HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \"x\"\r\n\r\n"
        for length in range(0, len(whole), 3):
            client = self.connect()
            client.sendall(whole[:length])
            client.close()
        for half in (b"\x16\x03\x01\x02\x00\x01", b"GET " + b"/" * 20000, b"POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\nx"):
            client = self.connect()
            with contextlib.suppress(OSError):
                client.sendall(half)
                client.recv(4096)
            client.close()
        client = self.connect()
        client.sendall(EVENTS)
        client.recv(100)
        client.close()
        self.sweeps_go_on()
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self.addCleanup(asked.close)
        asked.request("GET", "/")
        answer = asked.getresponse()
        self.assertEqual(answer.status, 200)
        self.assertIn("default-src 'none'", answer.getheader("Content-Security-Policy"))
        self.assertIn(b"Heddle", answer.read())


if __name__ == "__main__":
    unittest.main()
