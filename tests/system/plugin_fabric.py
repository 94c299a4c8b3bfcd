"""A served fabric whose OpenSM has our plugin. For the system tests; needs in_netns."""

import json
import os
import re
import socket
import subprocess

from ibsim_test import Ibsim
from served_fabric import BUILD, HEDDLE, ServedFabric, wait_until

PLUGIN = BUILD / "plugins/opensm"
BROADCAST = "ff12401bffff0000" + "00000000ffffffff"


def checksum(text):
    """FNV-1a, 64 bits."""
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{value:016x}"


def plan_text(epoch, ranks=None, off=(), planes=(), qos=None):
    """A plan as the daemon writes it. Cables are pairs of "0xGUID/PORT"."""
    body = {"version": 1, "epoch": epoch, "ranks": ranks or {}, "off": [list(cable) for cable in off],
            "planes": list(planes)}
    if qos is not None:
        body["qos"] = qos
    rest = "," + json.dumps(body)[1:] + "\n"
    return '{"checksum":"' + checksum(rest) + '"' + rest


class FakeDaemon:
    """The daemon's end of the channel: what the plugin said, and what is said to it."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.listener.setblocking(False)
        self.connection, self.rest, self.events = None, b"", []

    def close(self):
        for each in (self.connection, self.listener):
            if each:
                each.close()

    def poll(self):
        """Takes what has come."""
        if not self.connection:
            try:
                self.connection, _ = self.listener.accept()
            except BlockingIOError:
                return self.events
            self.connection.setblocking(False)
        try:
            while data := self.connection.recv(65536):
                self.rest += data
            self.connection.close()
            self.connection, self.rest = None, b""
        except BlockingIOError:
            pass
        *lines, self.rest = self.rest.split(b"\n")
        self.events += [json.loads(line) for line in lines]
        return self.events

    def wait(self, seconds=20, since=0, **wanted):
        """The first event from number `since` on that has these values."""
        def found():
            return [event for event in self.poll()[since:] if wanted.items() <= event.items()]
        wait_until(found, seconds, f"event {wanted}")
        return found()[0]

    def command(self, word):
        wait_until(lambda: self.poll() is not None and self.connection, 20, "the plugin's connection")
        self.connection.send(json.dumps({"command": word}).encode() + b"\n")


class WithPlugin:
    """Makes OpenSM load the plugin. It keeps its log and dumps in the directory; the plan is there too."""

    # As OpenSM has it, for each switch: 4.2 ms, which the plugin waits for between stages. OpenSM's default is 0x12, 1.07 s.
    packet_life_time = "0x0a"

    def __init__(self, *arguments, plugin_socket=True):
        """`plugin_socket`: somebody listens to the plugin; else a real daemon will."""
        super().__init__(*arguments)
        self.daemon = FakeDaemon(self.socket) if plugin_socket else None

    def __exit__(self, *unused):
        super().__exit__(*unused)
        if self.daemon:
            self.daemon.close()

    def new_plan(self, text):
        """Writes it, tells the plugin, and returns the confirmation: of the last routing that it takes."""
        self.write_plan(text)
        return self.new_plan_gone()

    @property
    def plan(self):
        return self.directory / "plan.json"

    def new_plan_gone(self):
        """The plan file has been taken away: what is routed then."""
        since = len(self.daemon.poll())
        self.daemon.command("new_plan")
        return self.daemon.wait(event="routing_done", switches_behind=0, since=since)

    def settings(self, *lines, socket=None):
        conf = self.directory / "opensm.conf"
        conf.write_text("\n".join([
            "event_plugin_name heddle-opensm",
            f"event_plugin_options heddle-opensm:plan={self.plan},socket={socket or self.socket}",
            "routing_engine heddle,no_fallback",
            "force_log_flush TRUE",
            f"packet_life_time {self.packet_life_time}",
            *lines]) + "\n")
        return conf

    def write_plan(self, text):
        """As the daemon does: at once, or not at all."""
        scratch = self.directory / "plan.json.tmp"
        scratch.write_text(text)
        scratch.rename(self.plan)

    def cables(self):
        """All cables between switches, as pairs of "0xGUID/PORT", with the names of their ends."""
        code, text, _ = self.run("ibnetdiscover")
        assert code == 0
        result, here = [], None
        for line in text.splitlines():
            if head := re.match(r'Switch\s+\d+ "S-([0-9a-f]+)"\s+# "(.*?)"', line):
                here = head.groups()
            elif re.match(r"\w+\s", line):
                here = None
            elif here and (cable := re.match(r'\[(\d+)\]\s+"S-([0-9a-f]+)"\[(\d+)\]\s+# "(.*?)"', line)):
                port, peer, peer_port, peer_name = cable.groups()
                ends = (f"0x{here[0]}/{port}", f"0x{peer}/{peer_port}")
                if ends[0] < ends[1]:
                    result.append((ends, ((here[1], int(port)), (peer_name, int(peer_port)))))
        return result

    @property
    def socket(self):
        return self.directory / "plugin.sock"

    def bring_up(self, *options, lines=(), timeout=400, flags="0x43"):
        """One sweep with engine heddle. The lines of its log that say ERR."""
        code, _, _ = self.run("opensm", "-F", self.settings(*lines), "-o", "-e", "-f", self.log, "-D", flags, "-n", "64",
                              *options, timeout=timeout, LD_LIBRARY_PATH=str(PLUGIN))
        assert code == 0, f"opensm ended with {code}: {self.log_text()[-2000:]}"
        assert "SUBNET UP" in self.log_text(), self.log_text()[-2000:]
        return self.errors()

    def errors(self):
        return [line.split("->", 1)[-1].strip() for line in self.log_text().splitlines() if " ERR " in line]

    def start(self, *command, node="", libraries=PLUGIN, **more):
        process = subprocess.Popen([str(word) for word in command],
                                   env=self.environment(node, LD_LIBRARY_PATH=str(libraries), **more),
                                   cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def start_opensm(self, *options, lines=(), log=None):
        process = self.start("opensm", "-F", self.settings(*lines), "-e", "-f", log or self.log, "-D", "0x03", *options)
        self.opensm = process
        wait_until(lambda: self.sweeps() > 0, 60, "SUBNET UP")
        return process

    def read_routes(self):
        """Fabric and forwarding tables as they are in the fabric, read with infiniband-diags. The two files."""
        fabric, lfts = self.directory / "read.ibnetdiscover", self.directory / "read.lfts"
        with open(fabric, "wb") as out:
            subprocess.run(["ibnetdiscover"], env=self.environment(), cwd=self.directory, stdout=out,
                           stderr=subprocess.DEVNULL, check=True, timeout=120)
        # To the form of opensm-lfts.dump.
        script = (r"s/^Unicast lids .* (guid 0x[0-9a-f]+) .*/Unicast lids [0-0] of switch Lid 0 \1 ('')/; "
                  r"s/^(0x[0-9a-f]+ [0-9]+) :.*/\1/; s/ valid lids dumped.*/ lids dumped/; /^ |^$/d")
        top = max(int(lid) for lid in re.findall(rb" lid (\d+)", fabric.read_bytes()))
        if top % 64 == 0:
            # dump_fts leaves out a last block that holds one LID.
            return fabric, self.directory / "opensm-lfts.dump"
        with open(lfts, "wb") as out:
            reader = subprocess.Popen(["dump_fts", "-n"], env=self.environment(), cwd=self.directory,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            subprocess.run(["sed", "-E", script], stdin=reader.stdout, stdout=out, check=True, timeout=300)
            reader.stdout.close()
            assert reader.wait(20) == 0
        return fabric, lfts

    def tables(self):
        """Forwarding tables in the fabric: by GUID of the switch, port by LID."""
        _, lfts = self.read_routes()
        result, table = {}, None
        for line in lfts.read_text().splitlines():
            if head := re.search(r"guid 0x([0-9a-f]+)", line):
                if line.startswith("Unicast"):
                    table = result.setdefault(int(head.group(1), 16), {})
                    continue
            if entry := re.match(r"0x([0-9a-f]+) (\d+)", line):
                table[int(entry.group(1), 16)] = int(entry.group(2))
        return result

    @staticmethod
    def uses(tables, *ends):
        """Whether a table points at one of the ports "0xGUID/PORT"."""
        for end in ends:
            guid, port = end.split("/")
            if int(port) in tables[int(guid, 16)].values():
                return True
        return False

    def lid_of(self, name):
        _, listing, _ = self.run("ibnetdiscover")
        found = re.search(rf'"{re.escape(name)}".* lid (\d+)', listing)
        return int(found.group(1))

    def join(self, host):
        """Makes a host a member of the broadcast group, as IPoIB does. The MLID."""
        guid = re.search(rf'H-([0-9a-f]+)"\[1\]\(([0-9a-f]+)\).*"{host} ', self.run("ibnetdiscover")[1])
        # For a build with sanitizers: the shim comes before their library, and copies more than it has received.
        code, text, complaints = self.run(BUILD / "tests/system/join_group", self.lid_of("host-0 mlx5_0"), BROADCAST,
                                          "fe80000000000000" + guid.group(2).zfill(16), node=f"{host} mlx5_0",
                                          ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0:replace_intrin=0")
        assert (code, complaints) == (0, []), (code, complaints, text)
        return text.strip()

    def multicast_arrives(self, hosts, forbidden=()):
        """Whether ibtracert, which follows the multicast tables, gets from each member to each other one, and enters no
        switch by a port "0xGUID/PORT" that is forbidden."""
        lids = {host: self.lid_of(f"{host} mlx5_0") for host in hosts}
        for source in hosts:
            for target in hosts:
                if source == target:
                    continue
                code, text, complaints = self.run("ibtracert", "-m", "0xc000", lids[source], lids[target])
                entered = {f"0x{guid.zfill(16)}/{port}" for guid, port in re.findall(r"switch 0x([0-9a-f]+)\[(\d+)\]", text)}
                if code != 0 or complaints or not entered or entered & set(forbidden):
                    return False
        return True

    def set_port(self, name, port, word):
        """disable or enable, as the daemon does with PortInfo."""
        code, text, _ = self.run("ibportstate", self.lid_of(name), port, word)
        assert code == 0, text

    def check_routes(self, *arguments):
        """Proves the tables read back from the fabric; status and words of `heddle route check`."""
        fabric, lfts = self.read_routes()
        done = subprocess.run([str(HEDDLE), "route", "check", "--fabric", str(fabric), "--lfts", str(lfts), *arguments],
                              capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr


class PluginFabric(WithPlugin, ServedFabric):
    """On our own simulated fabric."""


class PluginIbsim(WithPlugin, Ibsim):
    """On Debian's ibsim."""
