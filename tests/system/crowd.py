"""Clients that ask a heddled for everything at once, many of which read nothing: for abuse_test.py.

Usage: crowd.py SOCKET PORT FIRST_ADDRESS ADDRESSES CLIENTS SECONDS
One in two clients comes over TCP, from one of ADDRESSES loopback addresses; the others over the Unix socket. Of each
kind every third one reads what it gets and asks again. Says how many answers it took whole.
"""

import contextlib
import ipaddress
import selectors
import socket
import sys
import time

PATHS = ["/metrics", "/v1/links", "/v1/links?sort=utilization", "/v1/nodes", "/v1/fabric", "/v1/status",
         "/v1/fabric?format=ibnetdiscover", "/v1/page/topology", "/v1/page/times", "/v1/links/power", "/v1/energy", "/"]


class Client:
    def __init__(self, number, unix, port, source):
        self.number = number
        self.unix = unix
        self.port = port
        self.source = source
        self.reads = number % 3 == 0
        self.asked = 0
        self.socket = None
        self.sent = 0.0

    def connect(self):
        """False when there is no getting in at the moment."""
        self.close()
        try:
            if self.unix:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.settimeout(1)
                self.socket.connect(self.unix)
            else:
                self.socket = socket.socket()
                self.socket.settimeout(1)
                self.socket.bind((self.source, 0))
                if not self.reads:
                    self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                self.socket.connect(("127.0.0.1", self.port))
            path = PATHS[(self.number + self.asked) % len(PATHS)]
            self.asked += 1
            self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            self.socket.setblocking(False)
            self.sent = time.monotonic()
            return True
        except OSError:
            self.close()
            return False

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None


def main():
    path, port, first, addresses, count, seconds = sys.argv[1:7]
    first_address = ipaddress.ip_address(first)
    clients = []
    for number in range(int(count)):
        source = str(first_address + number % int(addresses))
        clients.append(Client(number, path if number % 2 else None, int(port), source))
    selector = selectors.DefaultSelector()
    end = time.monotonic() + float(seconds)
    whole = 0

    def begin(client):
        if client.connect() and client.reads:
            selector.register(client.socket, selectors.EVENT_READ, client)

    for client in clients:
        begin(client)
    while time.monotonic() < end:
        for key, _ in selector.select(0.2):
            client = key.data
            with contextlib.suppress(BlockingIOError):
                try:
                    got = client.socket.recv(1 << 18)
                except ConnectionError:
                    got = b""
                if got:
                    continue
                whole += 1
                selector.unregister(client.socket)
                begin(client)
        # Those who read nothing come back now and then: by then they have been cut off, or not.
        for client in clients:
            if time.monotonic() > end:
                break
            if client.socket is None or (not client.reads and time.monotonic() - client.sent > 5):
                begin(client)
        time.sleep(0.01)
    print(whole)


if __name__ == "__main__":
    main()
