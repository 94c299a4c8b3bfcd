"""Makes recordings as recorder.cc writes them, MAD by MAD, for the test of the checker: nothing but a clock that the
test moves, a topology, and what one subnet manager sends and is answered."""

import struct

SENT, RECEIVED, CONTROL_RECEIVED = 1, 2, 4
PORT_INFO, LFT, MFT = 0x15, 0x19, 0x1B
GET, SET, ANSWER = 0x01, 0x02, 0x81
DOWN, INIT, ARMED, ACTIVE = 1, 2, 3, 4
POLLING, DISABLED, LINK_UP = 2, 3, 5
NONE = 0xFF
TIMED_OUT = 110


class Fabric:
    """Switches and hosts by name, and cables ((name, port), (name, port)). Hosts are called h..."""

    def __init__(self, ports, cables):
        self.names = sorted({name for cable in cables for name, _ in cable})
        self.guids = {name: 0x100 * (1 + number) for number, name in enumerate(self.names)}
        self.ports, self.cables = ports, cables
        self.peers = {}
        for a, b in cables:
            self.peers[a], self.peers[b] = b, a

    def is_switch(self, name):
        return not name.startswith("h")

    def quoted(self, name):
        return f"{'S' if self.is_switch(name) else 'H'}-{self.guids[name]:016x}"

    def text(self):
        """As ibnetdiscover prints it."""
        lines = ["#", "# Topology file", "#", ""]
        for name in self.names:
            kind, ports = ("Switch", self.ports) if self.is_switch(name) else ("Ca", 1)
            lines.append(f'{kind}\t{ports} "{self.quoted(name)}"\t\t# "{name}" base port 0 lid 0 lmc 0')
            for port in range(1, ports + 1):
                if (name, port) in self.peers:
                    peer, other = self.peers[name, port]
                    own = "" if self.is_switch(name) else f"({self.guids[name] + port:x})"
                    lines.append(f'[{port}]{own}\t"{self.quoted(peer)}"[{other}]\t\t# "{peer}" lid 0 4xHDR')
            lines.append("")
        return "\n".join(lines)

    def route(self, start, target):
        """Ports to leave by, from one node to another."""
        ways = {start: []}
        queue = [start]
        for name in queue:
            if name != start and not self.is_switch(name):
                continue
            for port in range(1, self.ports + 1):
                if (name, port) in self.peers and self.peers[name, port][0] not in ways:
                    peer = self.peers[name, port][0]
                    ways[peer] = [*ways[name], port]
                    queue.append(peer)
        return ways[target]


class Recording:
    """What one program sent and received. Every MAD takes `step` nanoseconds."""

    step = 10_000

    def __init__(self, fabric, origin, start=1_000_000_000):
        self.fabric, self.origin, self.time = fabric, origin, start
        self.records, self.commands, self.tid = [], [], 0
        info = bytearray(64)
        struct.pack_into(">Q", info, 12, fabric.guids[origin])
        info[36] = 1
        self.record(CONTROL_RECEIVED, struct.pack("=IIII", 0xDEADBEEF, 0, 7, 64) + info)

    def record(self, kind, data):
        self.records.append(struct.pack("=QBBHI", self.time, kind, 0, len(data), 0) + data)
        self.time += self.step

    def mad(self, kind, target, method, attribute, modifier, data, tid, status=0, refusal=0):
        route = self.fabric.route(self.origin, target)
        mad = bytearray(256)
        mad[0:4] = bytes([1, 0x81, 1, method])
        struct.pack_into(">H", mad, 4, refusal)
        mad[7] = len(route)
        struct.pack_into(">QHHI", mad, 8, 0x1234_0000_0000 + tid, attribute, 0, modifier)
        mad[32:36] = bytes([255] * 4)
        mad[64:64 + len(data)] = data
        mad[129:129 + len(route)] = bytes(route)
        self.record(kind, struct.pack("=IIIIIIQ", 0xFFFF, 0xFFFF, 0, 0, int.from_bytes(struct.pack(">I", status), "little"),
                                      0, 0) + mad)

    def ask(self, target, method, attribute, modifier, data=bytes(64)):
        """Sends a request, and returns what answer() wants."""
        self.tid += 1
        self.mad(SENT, target, method, attribute, modifier, data, self.tid)
        return target, attribute, modifier, data, self.tid

    def answer(self, asked, data=None):
        target, attribute, modifier, sent, tid = asked
        self.mad(RECEIVED, target, ANSWER, attribute, modifier, sent if data is None else data, tid)

    def refused(self, asked):
        """An answer that repeats what was asked: some attribute value is not valid (IBA 13.4.7)."""
        target, attribute, modifier, sent, tid = asked
        self.mad(RECEIVED, target, ANSWER, attribute, modifier, sent, tid, refusal=0x1C)

    def lost(self, asked):
        """What the server says of a request that nobody answers."""
        target, attribute, modifier, sent, tid = asked
        self.mad(RECEIVED, target, SET, attribute, modifier, sent, tid, TIMED_OUT)

    def command(self, what, name, port=0):
        self.commands.append(f"{self.time} {self.time + self.step} {what} {port} {name}")
        self.time += 2 * self.step

    # What a subnet manager does.

    @staticmethod
    def port_info(lid=0, state=0, physical=0, lmc=0):
        data = bytearray(64)
        struct.pack_into(">H", data, 16, lid)
        data[32], data[33], data[34] = state, physical << 4, lmc
        return bytes(data)

    def set_port(self, name, port, state=0, physical=0):
        return self.ask(name, SET, PORT_INFO, port, self.port_info(state=state, physical=physical))

    def disable(self, name, port):
        self.answer(self.set_port(name, port, physical=DISABLED), self.port_info(state=DOWN, physical=DISABLED))

    def enable(self, name, port):
        self.answer(self.set_port(name, port, physical=POLLING), self.port_info(state=DOWN, physical=POLLING))

    def activate(self, name, port):
        self.answer(self.set_port(name, port, state=ACTIVE), self.port_info(state=ACTIVE, physical=LINK_UP))

    def see(self, name, port, state):
        self.answer(self.ask(name, GET, PORT_INFO, port), self.port_info(state=state, physical=LINK_UP))

    @staticmethod
    def table(entries):
        data = bytearray([NONE] * 64)
        for lid, port in entries.items():
            data[lid] = port
        return bytes(data)

    def send_table(self, name, entries):
        return self.ask(name, SET, LFT, 0, self.table(entries))

    def write_table(self, name, entries):
        self.answer(self.send_table(name, entries))

    def write_group(self, name, ports):
        """Of the first multicast LID."""
        self.answer(self.ask(name, SET, MFT, 0, struct.pack(">H", sum(1 << port for port in ports)) + bytes(62)))

    def bring_up(self, lids, tables, lmc=0):
        """Base LIDs by name; entries by switch."""
        for name, lid in lids.items():
            port, of_host = (0, 0) if self.fabric.is_switch(name) else (1, lmc)
            self.answer(self.ask(name, SET, PORT_INFO, port, self.port_info(lid=lid, lmc=of_host)))
        for name, entries in tables.items():
            self.write_table(name, entries)
        for name, port in self.fabric.peers:
            if self.fabric.is_switch(name):
                self.activate(name, port)
            else:
                self.answer(self.ask(name, SET, PORT_INFO, 1, self.port_info(lids[name], ACTIVE, lmc=lmc)),
                            self.port_info(lids[name], ACTIVE, LINK_UP, lmc))

    def write(self, directory):
        (directory / "fabric.net").write_text(self.fabric.text())
        (directory / "1-1.wire").write_bytes(b"".join(self.records))
        (directory / "commands").write_text("".join(line + "\n" for line in self.commands))
