"""The kernel's connection manager (rdma_cm) as librdmacm asks it, through /dev/infiniband/rdma_cm: which path leads to the host
that has an address. librdmacm itself needs a provider for its verbs, which heddle_vhca has not."""

import ctypes
import os
import select
import socket
import struct

# include/uapi/rdma/rdma_user_cm.h
CREATE_ID, DESTROY_ID, RESOLVE_IP, RESOLVE_ROUTE, GET_EVENT, QUERY = 0, 1, 3, 4, 12, 19
TCP, RELIABLE_CONNECTION, QUERY_PATH = 0x0106, 2, 1
ADDRESS_RESOLVED, ADDRESS_ERROR, ROUTE_RESOLVED, ROUTE_ERROR = range(4)


def address(text):
    """As a sockaddr_in6 that holds a sockaddr_in."""
    return struct.pack("=HH4s", socket.AF_INET, 0, socket.inet_aton(text)).ljust(28, b"\0")


class ConnectionManager:
    """A context: the device is open."""

    def __enter__(self):
        self.fd = os.open("/dev/infiniband/rdma_cm", os.O_RDWR | os.O_CLOEXEC)
        return self

    def __exit__(self, *unused):
        os.close(self.fd)

    def call(self, command, before, after=b"", room=0):
        """What the kernel answers; `before` and `after` are the fields around the address of the room for it."""
        answer = ctypes.create_string_buffer(max(room, 1))
        fields = before + (struct.pack("=Q", ctypes.addressof(answer)) if room else b"") + after
        os.write(self.fd, struct.pack("=IHH", command, len(fields), room) + fields)
        return answer.raw[:room]

    def event(self, seconds):
        """Its number and status."""
        if not select.select([self.fd], [], [], seconds)[0]:
            raise TimeoutError(f"no event of the connection manager within {seconds} s")
        return struct.unpack_from("=QIII", self.call(GET_EVENT, b"", room=512))[2:]

    def paths(self, source, destination, seconds=30):
        """PathRecords of 64 bytes (IBA 15.2.5.16), as the subnet administrator gave them."""
        milliseconds = int(seconds * 1000)
        number, = struct.unpack("=I", self.call(CREATE_ID, struct.pack("=Q", 1), struct.pack("=HB5x", TCP, RELIABLE_CONNECTION), 4))
        try:
            self.call(RESOLVE_IP, address(source) + address(destination) + struct.pack("=II", number, milliseconds))
            found = self.event(seconds + 5)
            if found != (ADDRESS_RESOLVED, 0):
                raise OSError(f"{destination} is not resolved: event {found}")
            self.call(RESOLVE_ROUTE, struct.pack("=II", number, milliseconds))
            found = self.event(seconds + 5)
            if found != (ROUTE_RESOLVED, 0):
                raise OSError(f"no route to {destination}: event {found}")
            answer = self.call(QUERY, b"", struct.pack("=II", number, QUERY_PATH), 8 + 6 * 72)
            count, = struct.unpack_from("=I", answer)
            return [answer[8 + 72 * i + 8:][:64] for i in range(count)]
        finally:
            self.call(DESTROY_ID, b"", struct.pack("=II", number, 0), 4)
