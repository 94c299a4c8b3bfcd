"""Runs `heddle sim serve` and Debian's libibumad programs on it. For the system tests; needs in_netns."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ["HEDDLE_BUILD"])
SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"])
HEDDLE = BUILD / "tools/heddle/heddle"
FABRICS = SOURCE.parent / "shared/data/fabrics"
sys.path.insert(0, str(SOURCE / "tests/wire"))
from watch import SHIM, Watch  # noqa: E402
SHIM_GREETING = "attached as client"


def flood(packets, number):
    """Sends NodeInfo requests without reading what comes back. How many were taken."""
    packets.setblocking(False)
    mad = bytes([1, 0x81, 1, 1]) + bytes(13) + bytes([0x11]) + bytes(14) + bytes([255] * 4) + bytes(220)
    wire = struct.pack("=IIIIIIQ", 0xFFFF, 0xFFFF, 0, 0, 0, 0, 0) + mad
    sent = 0
    for _ in range(number):
        try:
            packets.send(wire)
            sent += 1
        except BlockingIOError:
            pass
    return sent


def wait_until(condition, seconds=20, what="it"):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen in {seconds} s")
        time.sleep(0.02)


def states_of_group(group):
    """What each process of a group waits for, as text."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, rest = (entry / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            if int(rest.split()[2]) == group:
                found.append(f"{name} {entry.name} {rest.split()[0]} in {(entry / 'wchan').read_text() or 'no call'}")
    return ", ".join(found)


class Programs:
    """Debian's libibumad programs on the simulated fabric of a name. A context: what was started is ended with it."""

    def __init__(self, name, directory):
        self.name = name
        self.directory = pathlib.Path(directory)
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()

    def is_served(self):
        return f"@{self.name}:ctl" in pathlib.Path("/proc/net/unix").read_text()

    def environment(self, node="", **more):
        return {**os.environ, **self.shim(node), "OSM_CACHE_DIR": str(self.directory),
                "OSM_TMP_DIR": str(self.directory), **more}

    def shim(self, node=""):
        """What leads a program here."""
        return {"LD_PRELOAD": SHIM, "IBSIM_SOCKNAME": self.name, **({"SIM_HOST": node} if node else {})}

    def run(self, *command, node="", timeout=60, **more):
        """Status, output, and what it complains about (the shim's greeting left out)."""
        words = [str(word) for word in command]
        process = subprocess.Popen(words, env=self.environment(node, **more), cwd=self.directory, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException as error:
            # With what a script has begun: it would hold the pipes, and be waited for without end.
            left = states_of_group(process.pid)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise AssertionError(f"`{' '.join(words)}` did not end within {timeout} s: {left}; it had said:\n"
                                 f"{out[-2000:]}{err[-2000:]}") from error
        complaints = [line for line in err.splitlines() if line and SHIM_GREETING not in line]
        return process.returncode, out, complaints

    def start(self, *command, node="", **more):
        process = subprocess.Popen([str(word) for word in command], env=self.environment(node, **more),
                                   cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def ask_to_attach(self, own):
        """A client of our own making, under this number in place of a process id, that has not read its answer yet: its
        control and packet sockets."""
        control = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        control.bind(f"\0{self.name}:ctl{own}\0")
        control.connect(f"\0{self.name}:ctl\0")
        packets = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        packets.bind(f"\0{self.name}:in{own}\0")
        control.settimeout(5)
        control.send(struct.pack("=IIII", 0xDEADBEEF, 0, 1, 44) + struct.pack("=III", own, 0, 0) + bytes(52))
        return control, packets

    def attached(self, control, packets):
        """The number that the client was given."""
        answer = control.recv(80)
        assert struct.unpack_from("=I", answer, 8)[0] == 1, "refused"
        number = struct.unpack_from("=I", answer, 16)[0]
        packets.connect(f"\0{self.name}:out{number}\0")
        return number

    def attach(self, own):
        """A client of our own making: its sockets, and the number that it was given."""
        control, packets = self.ask_to_attach(own)
        return control, packets, self.attached(control, packets)

    # OpenSM

    @property
    def log(self):
        return self.directory / "osm.log"

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def opensm_once(self, *options, timeout=120):
        """One sweep. The lines of its log that say ERR."""
        code, _, _ = self.run("opensm", "-o", "-e", "-f", self.log, "-D", "0x03", "-n", "64", *options,
                              timeout=timeout)
        assert code == 0, f"opensm ended with {code}: {self.log_text()[-2000:]}"
        assert "SUBNET UP" in self.log_text(), self.log_text()[-2000:]
        return [line.split("->", 1)[-1].strip() for line in self.log_text().splitlines() if " ERR " in line]

    def start_opensm(self, *options):
        settings = self.directory / "opensm.conf"
        settings.write_text("force_log_flush TRUE\n")  # or it is seen much later
        process = self.start("opensm", "-F", settings, "-e", "-f", self.log, "-D", "0x03", *options)
        wait_until(lambda: self.sweeps() > 0, 60, "SUBNET UP")
        return process

    def sweeps(self):
        return self.log_text().count("-> SUBNET UP")


class ServedFabric(Programs):
    """A context: a simulated fabric is served inside it, in a directory of its own. Every MAD of every program is
    recorded, and at the end it must have been sound at every instant (docs/testing.md)."""

    count = 0
    watched = True
    ignored = ()  # kinds that do not count

    def __init__(self, fabric, *options):
        ServedFabric.count += 1
        super().__init__(f"t{os.getpid()}-{ServedFabric.count}", tempfile.mkdtemp(prefix="heddle-sim-"))
        self.fabric = str(fabric)
        self.options = options
        self.watch = Watch(self.fabric) if self.watched else None

    def shim(self, node=""):
        return {**super().shim(node), **(self.watch.environment() if self.watch else {})}

    def __enter__(self):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        self.server = subprocess.Popen(
            [str(HEDDLE), "sim", "serve", self.fabric, "--name", self.name, *self.options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_until(self.is_served, 60, "the server's start")
        return self

    def is_served(self):
        if self.server.poll() is not None:
            raise AssertionError(f"heddle sim serve ended: {self.server.stderr.read()}")
        return super().is_served()

    def __exit__(self, wrong=None, *unused):
        super().__exit__()
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(20)
        self.server.stderr.close()
        if self.watch:
            for log in self.directory.glob("*.log"):
                shutil.copy(log, self.watch.directory)  # beside the recordings, where they are kept
        shutil.rmtree(self.directory, ignore_errors=True)
        self.judge(wrong)

    def judge(self, wrong):
        """What has failed already is not to be hidden behind what the wire says."""
        if self.watch is None:
            return
        if wrong is None and self.watch.has_recordings():
            verdict = self.watch.verdict(ignored=self.ignored)
            known = set(self.ignored) & set(verdict.counts["violations"])
            if known:
                print(f"wire: known failures, not counted: {', '.join(sorted(known))}", file=sys.stderr)
            if not verdict.is_sound:
                raise AssertionError(f"seen on the wire (recordings in {self.watch.directory}):\n{verdict.text}")
        shutil.rmtree(self.watch.directory, ignore_errors=True)

    def leave_unjudged(self):
        """Engines of OpenSM's own write tables in no order that anybody promised."""
        if self.watch:
            shutil.rmtree(self.watch.directory, ignore_errors=True)
        self.watch = None

    def opensm_once(self, *options, timeout=120):
        self.leave_unjudged()
        return super().opensm_once(*options, timeout=timeout)

    def start_opensm(self, *options):
        self.leave_unjudged()
        return super().start_opensm(*options)

    def heddle(self, *arguments):
        """The result of a `heddle sim` command. The watcher is told of what it breaks."""
        with self.told_to_watch(*arguments) if self.watch else contextlib.nullcontext():
            return self.run_sim(*arguments)

    def told_to_watch(self, command, *words):
        what = {("link", "down"): "cut", ("link", "up"): "mend", ("node", "kill"): "kill", ("node", "revive"): "revive"}
        for (known, word), fault in what.items():
            if known == command and word in words:
                return self.watch.command(fault, words[0], words[1] if command == "link" else 0)
        if command == "fault" and words[0] == "agent" and "--mute-sma" in words:
            return self.watch.command("lose", words[1])
        if command == "link" and "flap" in words:
            option = {name: float(value) for name, value in zip(words[3::2], words[4::2])}
            period = option.get("--down", 1) + option.get("--up", 1)
            self.watch.flaps(*words[:2], period * option.get("--times", 1))
        return contextlib.nullcontext()

    def run_sim(self, *arguments):
        done = subprocess.run([str(HEDDLE), "--json", "sim", *(str(word) for word in arguments), "--name", self.name],
                              capture_output=True, text=True, timeout=20)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
