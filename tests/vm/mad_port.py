"""A port of an adapter through libibumad: what the kernel does with a MAD, and what it says of it. For the tests that
tools/vm runs."""

import ctypes
import itertools
import os
import struct

LIBRARY = ctypes.CDLL("libibumad.so.3", use_errno=True)
LIBRARY.umad_get_mad.restype = ctypes.c_void_p
for name in ("umad_get_mad", "umad_status"):
    getattr(LIBRARY, name).argtypes = [ctypes.c_void_p]
LIBRARY.umad_set_addr.argtypes = [ctypes.c_void_p] + 4 * [ctypes.c_int]
LIBRARY.umad_send.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p] + 3 * [ctypes.c_int]
LIBRARY.umad_recv.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int), ctypes.c_int]
LIBRARY.umad_register.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_uint8, ctypes.c_void_p]
LIBRARY.umad_open_port.argtypes = [ctypes.c_char_p, ctypes.c_int]

SMP_LID, SMP_DIRECTED, ADMINISTRATION, PERFORMANCE = 0x01, 0x81, 0x03, 0x04
GET, SET, GET_TABLE, DELETE = 0x01, 0x02, 0x12, 0x15
NODE_INFO, PORT_INFO = 0x11, 0x15
GSI_KEY = 0x80010000
PERMISSIVE = 0xFFFF
# Whoever sends again with the TID of a request that was just answered may be refused: ib_umad hands an answer over before it forgets
# the request (EINVAL: it is a duplicate).
TIDS = itertools.count(0x1000)


def smp(attribute, path=(), modifier=0, method=GET, data=b"", tid=None):
    """By directed route: `path` are the ports that it leaves by."""
    head = struct.pack(">BBBBHBBQHHI", 1, SMP_DIRECTED, 1, method, 0, 0, len(path), next(TIDS) if tid is None else tid, attribute, 0, modifier)
    head += struct.pack(">QHH", 0, PERMISSIVE, PERMISSIVE) + bytes(28)
    return head + data.ljust(64, b"\0") + bytes([0, *path]).ljust(64, b"\0") + bytes(64)


def question(attribute, components, record=b"", method=GET, sm_key=0, modifier=0, tid=None):
    """To the subnet administrator."""
    head = struct.pack(">BBBBHHQHHI", 1, ADMINISTRATION, 2, method, 0, 0, next(TIDS) if tid is None else tid, attribute, 0, modifier)
    return head + bytes(12) + struct.pack(">QHHQ", sm_key, 0, 0, components) + record.ljust(200, b"\0")


class MadPort:
    """A context: the port is open."""

    def __init__(self, device, port=1):
        self.fd = LIBRARY.umad_open_port(device.encode(), port)
        if self.fd < 0:
            raise OSError(-self.fd, os.strerror(-self.fd))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        if self.fd >= 0:
            LIBRARY.umad_close_port(self.fd)
        self.fd = -1

    def register(self, mad_class, version=1, rmpp=0, methods=()):
        """The agent's number; below 0, what the kernel says against it."""
        mask = (ctypes.c_uint64 * 2)()
        for method in methods:
            mask[method // 64] |= 1 << (method % 64)
        ctypes.set_errno(0)
        agent = LIBRARY.umad_register(self.fd, mad_class, version, rmpp, ctypes.byref(mask) if methods else None)
        return agent if agent >= 0 else -(ctypes.get_errno() or -agent)

    def unregister(self, agent):
        return LIBRARY.umad_unregister(self.fd, agent)

    def send(self, agent, mad, lid=PERMISSIVE, timeout=4000, retries=0):
        """0, or the errno."""
        umad = ctypes.create_string_buffer(LIBRARY.umad_size() + len(mad))
        directed = mad[1] in (SMP_LID, SMP_DIRECTED)
        LIBRARY.umad_set_addr(umad, lid, 0 if directed else 1, 0, 0 if directed else ctypes.c_int32(GSI_KEY).value)
        ctypes.memmove(LIBRARY.umad_get_mad(umad), mad, len(mad))
        ctypes.set_errno(0)
        status = LIBRARY.umad_send(self.fd, agent, umad, len(mad), timeout, retries)
        return 0 if status >= 0 else (ctypes.get_errno() or -status)

    def receive(self, timeout=5000, room=256):
        """The umad status and the bytes, or the errno and nothing."""
        umad = ctypes.create_string_buffer(LIBRARY.umad_size() + room)
        length = ctypes.c_int(room)
        ctypes.set_errno(0)
        agent = LIBRARY.umad_recv(self.fd, umad, ctypes.byref(length), timeout)
        if agent < 0:
            return ctypes.get_errno() or -agent, b""
        return LIBRARY.umad_status(umad), ctypes.string_at(LIBRARY.umad_get_mad(umad), length.value)
