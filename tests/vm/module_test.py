"""heddle_vhca by itself: what a program may say to it, in any order, and what becomes of it."""

import ctypes
import errno
import os
import random
import struct
import subprocess
import time
import unittest

from kernel_fabric import CLASS, load, reload, unload, wait_until

DEVICE = "/dev/heddle_vhca"
CREATE, PORT, READY, PACKET, LOCAL, MODIFY_PORT = 1, 2, 3, 4, 5, 6
ABI = 1
SIZES = {CREATE: 176, PORT: 112, READY: 0, PACKET: 320, LOCAL: 272}
LOADS = int(os.environ.get("HEDDLE_VM_LOADS", "20"))
FUZZ_SECONDS = float(os.environ.get("HEDDLE_VM_FUZZ_SECONDS", "8"))


def message(kind, payload=b""):
    return struct.pack("=II", kind, 8 + len(payload)) + payload


def create(guid=0x0002C90300000001, ports=1, abi=ABI, name=b"", description=b"tester"):
    return message(CREATE, struct.pack("=QQQIIIIII64s64s", guid, guid, 0, abi, ports, 0x2C9, 4123, 0, 0, name, description))


def port(number=1, state=2, lid=0, pkeys=1, mtu=5, lmc=0):
    return message(PORT, struct.pack("=QQIIHHHHBBBBBBBBBBB5x32H", 0xFE80 << 48, 1, number, 0, lid, 0, 32, pkeys, lmc, 0,
                                     state, 5, 2, mtu, mtu, 4, 18, 0, 0, 0xFFFF, *([0] * 31)))


class Adapter:
    """A program that answers every local question with silence or with an empty answer."""

    def __init__(self):
        self.fd = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        os.close(self.fd)

    def write(self, data):
        return os.write(self.fd, data)

    def refusal(self, data):
        """The errno that a message is refused with, 0 if it is not."""
        try:
            self.write(data)
        except OSError as error:
            return error.errno
        return 0

    def read(self):
        try:
            data = os.read(self.fd, 4096)
        except BlockingIOError:
            return None, b""
        return struct.unpack_from("=I", data)[0], data[8:]

    def serve_until(self, kind, seconds=10):
        """Answers local questions until a message of this kind comes; its payload."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            got, payload = self.read()
            if got == kind:
                return payload
            if got == LOCAL:
                number, which, _ = struct.unpack_from("=QII", payload)
                mad = bytearray(payload[16:272])
                mad[3] |= 0x80
                self.write(message(LOCAL, struct.pack("=QII", number, which, 1) + bytes(mad)))
            if got is None:
                time.sleep(0.005)
        raise AssertionError(f"no message {kind} in {seconds} s")

    def bring_up(self):
        self.write(create())
        self.write(port())
        self.write(message(READY))
        error, _, name = struct.unpack("=iI64s", self.serve_until(READY))
        assert error == 0, os.strerror(-error)
        return name.rstrip(b"\0").decode()


class Module(unittest.TestCase):
    def setUp(self):
        load()

    def tearDown(self):
        wait_until(lambda: not list(CLASS.iterdir()), 20, "every adapter's leaving")

    def test_layouts_are_those_of_the_header(self):
        self.assertEqual({kind: len(data) - 8 for kind, data in
                          {CREATE: create(), PORT: port(), READY: message(READY)}.items()},
                         {kind: SIZES[kind] for kind in (CREATE, PORT, READY)})

    def test_only_root_may_open_it(self):
        self.assertEqual(os.stat(DEVICE).st_mode & 0o777, 0o600)

    def test_lengths_and_order_are_checked(self):
        with Adapter() as adapter:
            cases = [
                ("nothing", b"", errno.EMSGSIZE),
                ("half a header", b"\1\0\0\0", errno.EMSGSIZE),
                ("a type that there is not", message(99), errno.EINVAL),
                ("a length that lies", struct.pack("=II", CREATE, 100) + bytes(176), errno.EMSGSIZE),
                ("too long", message(PACKET, bytes(10000)), errno.EMSGSIZE),
                ("a port before the adapter", port(), errno.ENODEV),
                ("ready before the adapter", message(READY), errno.ENODEV),
                ("a packet before the adapter", message(PACKET, bytes(320)), errno.ENODEV),
                ("another ABI", create(abi=2), errno.EPROTO),
                ("no ports", create(ports=0), errno.EINVAL),
                ("too many ports", create(ports=3), errno.EINVAL),
                ("no GUID", create(guid=0), errno.EINVAL),
                ("a path for a name", create(name=b"../x"), errno.EINVAL),
                ("a pattern for a name", create(name=b"a%n"), errno.EINVAL),
                ("a name without an end", create(name=b"a" * 64), errno.EINVAL),
                ("an escape in the description", create(description=b"\x1b[2J"), errno.EINVAL),
                ("a good one", create(), 0),
                ("a second one", create(), errno.EBUSY),
                ("ready without its port", message(READY), errno.EINVAL),
                ("port 0", port(number=0), errno.EINVAL),
                ("a port beyond", port(number=2), errno.EINVAL),
                ("a state that there is not", port(state=9), errno.EINVAL),
                ("no P_Key", port(pkeys=0), errno.EINVAL),
                ("too many P_Keys", port(pkeys=33), errno.EINVAL),
                ("an MTU that there is not", port(mtu=6), errno.EINVAL),
                ("an LMC that there is not", port(lmc=8), errno.EINVAL),
                ("an answer that nobody asked for", message(LOCAL, struct.pack("=QII", 7, 1, 1) + bytes(256)), errno.ENOENT),
                ("an answer of no kind", message(LOCAL, struct.pack("=QII", 7, 1, 9) + bytes(256)), errno.EINVAL),
            ]
            for what, data, expected in cases:
                with self.subTest(what):
                    self.assertEqual(adapter.refusal(data), expected)

    def test_it_registers_and_its_ports_follow(self):
        with Adapter() as adapter:
            name = adapter.bring_up()
            where = CLASS / name / "ports/1"
            self.assertEqual((where / "state").read_text().strip(), "2: INIT")
            adapter.write(port(state=4, lid=77))
            wait_until(lambda: (where / "state").read_text().strip() == "4: ACTIVE", 5, "Active")
            self.assertEqual(int((where / "lid").read_text(), 16), 77)
            self.assertEqual(adapter.refusal(port(pkeys=2)), errno.EINVAL, "the kernel sized its table")

    def test_a_program_that_answers_nothing_is_not_waited_for(self):
        """Registering asks for counters: each question ends by itself after 2 s."""
        with Adapter() as adapter:
            adapter.write(create())
            adapter.write(port())
            adapter.write(message(READY))
            wait_until(lambda: list(CLASS.iterdir()), 30, "registration without answers")

    def test_closed_while_it_registers(self):
        for _ in range(3):
            with Adapter() as adapter:
                adapter.write(create())
                adapter.write(port())
                adapter.write(message(READY))
        wait_until(lambda: not list(CLASS.iterdir()), 20, "leaving")

    def test_loaded_and_unloaded(self):
        for count in range(1, LOADS + 1):
            with Adapter() as adapter:
                adapter.bring_up()
            reload(count)

    def test_random_messages_and_closes(self):
        seed = int(os.environ.get("HEDDLE_VM_SEED", "1"))
        chance = random.Random(seed)
        end = time.monotonic() + FUZZ_SECONDS
        rounds = 0
        while time.monotonic() < end:
            rounds += 1
            with Adapter() as adapter:
                if chance.random() < 0.7:
                    adapter.bring_up()
                for _ in range(chance.randrange(200)):
                    kind = chance.choice([CREATE, PORT, READY, PACKET, LOCAL, chance.randrange(12)])
                    size = SIZES.get(kind, chance.randrange(64))
                    if chance.random() < 0.05:
                        size = chance.randrange(400)
                    payload = bytearray(chance.randbytes(size))
                    if kind in (PORT, PACKET) and len(payload) > 20 and chance.random() < 0.8:
                        payload[16:20] = struct.pack("=I", 1) if kind == PORT else payload[16:20]
                        payload[0:8] = struct.pack("=II", 1, chance.randrange(2)) if kind == PACKET else payload[0:8]
                    adapter.refusal(message(kind, bytes(payload)))
                    if chance.random() < 0.1:
                        adapter.read()
        print(f"{rounds} adapters of random messages, seed {seed}")
        self.assertGreater(rounds, 0)


if __name__ == "__main__":
    unittest.main()
