"""Odd bytes at the doors of a heddled: well-formed requests, changed, cut, repeated and sent in pieces, and bytes that are
nothing. The same seed sends the same. Whoever calls it says whether the daemon lived through it."""

import random
import socket
import time

HEADS = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n",
    b"GET /v1/links?match=leaf*&sort=utilization&limit=3 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET /v1/nodes?after=0x0000000000000001&limit=1 HTTP/1.0\r\n\r\n",
    b"HEAD /v1/fabric?format=ibnetdiscover HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"GET /v1/node?name=%ff%fe%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/events?after=18446744073709551615&most=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/links/power?match=*&top=3 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/page/slice?at=0 HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \"x\"\r\n\r\n",
    b"GET /v1/page/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/queues?name=leaf-0-0/1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Length: 41\r\n\r\n{\"link\":\"leaf-0-0/3\",\"wish\":\"off\",\"by\":1}",
    b"POST /v1/regulation HTTP/1.1\r\nHost: localhost\r\nContent-Length: 25\r\n\r\n{\"mode\":\"advise\",\"by\":\"x\"}",
    b"POST /v1/restore HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\nx: y\r\n\r\n",
    b"POST /v1/qos HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60\r\n\r\n"
    b"{\"plan\":{\"qos\":{\"vlarb_high\":[[0,300]],\"sl2vl\":[99]}},\"x\":1}",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]
PIECES = [b"\r\n", b"\0", b"%", b"%zz", b"&", b"=", b"?", b"\xff", b": ", b"Host: x\r\n", b"Content-Length: 99999999999999999999\r\n",
          b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip, chunked\r\n", b"ffffffffffffffff\r\n", b"{", b"[" * 200, b"1e999",
          b"-1", b"\"\\ud800\"", b"A" * 5000, b" HTTP/1.1", b"\n", b"\r", b"Expect: 100-continue\r\n", b"Upgrade: h2c\r\n"]


def changed(text, chance):
    """The request, with up to six changes."""
    text = bytearray(text)
    for _ in range(chance.randrange(7)):
        at = chance.randrange(len(text) + 1)
        what = chance.randrange(6)
        if what == 0 and text:
            text[min(at, len(text) - 1)] = chance.randrange(256)
        elif what == 1:
            del text[at:at + chance.randrange(40)]
        elif what == 2:
            text[at:at] = chance.choice(PIECES)
        elif what == 3:
            text[at:at] = text[chance.randrange(len(text) + 1):][:chance.randrange(200)]
        elif what == 4:
            text[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(30)))
        else:
            text += chance.choice(HEADS)  # a second one behind it
    return bytes(text)


def send(connect, text, chance):
    """Over a connection of its own, in pieces; takes some of what comes back, or nothing."""
    try:
        with connect() as client:
            client.settimeout(0.05)
            while text:
                length = chance.choice((len(text), 1 + chance.randrange(len(text))))
                client.sendall(text[:length])
                text = text[length:]
            if chance.randrange(3) == 0:
                client.shutdown(socket.SHUT_WR)
            for _ in range(chance.randrange(4)):
                if not client.recv(1 << 14):
                    break
    except OSError:
        pass


def run(connects, seconds, seed):
    """How many were sent."""
    chance = random.Random(seed)
    end = time.monotonic() + seconds
    sent = 0
    while time.monotonic() < end:
        send(chance.choice(connects), changed(chance.choice(HEADS), chance), chance)
        sent += 1
    return sent
