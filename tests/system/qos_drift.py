"""A plan for QoS tables, and somebody else who writes other ones into the fabric. For the system tests."""

import json
import os
import socket
import struct
import subprocess

from daemon_under_test import HEDDLE

GET_PORT = 3  # of libumad2sim's control messages

REQUEST = """
[port]
mtu = 4096
rate = "4xEDR"
vls = 4
[[sl]]
sl = 0
share = 0.6
[[sl]]
sl = 1
share = 0.4
"""


def design(directory):
    """The file of a plan, and the plan."""
    request = directory / "request.toml"
    request.write_text(REQUEST)
    plan = directory / "plan.json.wanted"
    subprocess.run([HEDDLE, "qos", "design", "--request", request, "--plan", plan], check=True, capture_output=True, timeout=60)
    return plan, json.loads(plan.read_text())["qos"]


def overwrite(programs, lid, port):
    """Sets the first block of a port's high-priority VL arbitration table to zeros, as no plan has it: one
    SubnSet(VLArbitrationTable) by LID (IBA 14.2.5.9), sent past every subnet manager."""
    control, packets, number = programs.attach(os.getpid() & 0xFFFFFF)
    with control, packets:
        control.send(struct.pack("=IIII", 0xDEADBEEF, number, GET_PORT, 4) + bytes(64))
        own = socket.htons(struct.unpack_from("=H", control.recv(80), 16)[0])
        packets.settimeout(10)
        header = struct.pack(">BBBBHHQHHI", 1, 0x01, 1, 0x02, 0, 0, 0x64726966, 0x18, 0, (3 << 16) | port)
        mad = header + bytes(256 - len(header))
        packets.send(struct.pack("=IIIIIIQ", socket.htons(lid), own, 0, 0, 0, 0, len(mad)) + mad)
        while True:
            answer = packets.recv(4096)[-256:]
            if answer[3] == 0x81 and answer[12:16] == mad[12:16]:
                status = int.from_bytes(answer[4:6], "big")
                assert status == 0, f"refused with status {status:#x}"
                return
