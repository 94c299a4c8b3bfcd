"""Records what programs send to a served fabric and are answered, and has it judged (docs/testing.md). Whoever runs
them puts `environment()` in theirs, tells through `command()` what it breaks itself, and asks for the `verdict()`."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time

BUILD = pathlib.Path(os.environ["HEDDLE_BUILD"])
HEDDLE = BUILD / "tools/heddle/heddle"
CHECKER = BUILD / "tests/wire/wire_check"
RECORDER = BUILD / "tests/wire/libwire_recorder.so"
SHIM = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"



class Verdict:
    def __init__(self, code, out, complaints):
        if code not in (0, 1):
            raise AssertionError(f"nothing could be judged: {complaints}")
        self.is_sound = code == 0
        self.text = out
        self.counts = json.loads(out.splitlines()[-1])


class Watch:
    """Of one served fabric, with a directory for the recordings in `directory`."""

    def __init__(self, fabric, directory=None):
        for program in (CHECKER, RECORDER):
            assert program.exists(), f"{program} is not built (targets wire_check, wire_recorder)"
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="heddle-wire-"))
        self.fabric = self.directory / "fabric.net"
        self.commands = self.directory / "commands"
        self.commands.touch()
        subprocess.run([str(HEDDLE), "fabric", "export", str(fabric), "-o", str(self.fabric)], check=True,
                       capture_output=True, timeout=60)

    def environment(self):
        return {"LD_PRELOAD": f"{SHIM}:{RECORDER}", "HEDDLE_WIRE_DIR": str(self.directory)}

    @contextlib.contextmanager
    def command(self, what, node, port=0):
        """What is done inside is a fault: cut, mend (of a cable), kill, revive (of a node), lose (a node whose agent is
        mute), forced, unforced (a link that an operator takes away with hosts behind it)."""
        begin = time.monotonic_ns()
        if what in ("cut", "kill", "lose", "forced"):
            self.write(begin, begin, what, node, port)  # at once: what it breaks may be seen before it returns
        yield
        if what in ("mend", "revive", "unforced"):
            self.write(begin, time.monotonic_ns(), what, node, port)

    def flaps(self, node, port, seconds):
        """A link that goes and comes by itself from now on: one that is cut all the time."""
        begin = time.monotonic_ns()
        end = begin + int(seconds * 1e9)
        self.write(begin, begin, "cut", node, port)
        self.write(end, end, "mend", node, port)

    def write(self, begin, end, what, node, port):
        with open(self.commands, "a", encoding="utf-8") as out:
            out.write(f"{begin} {end} {what} {port} {node}\n")

    def has_recordings(self):
        return any(self.directory.glob("*.wire"))

    def verdict(self, lag_us=0, ignored=(), back_within=0, late_us=0, flight_us=0):
        """`flight_us`: how late a MAD can be of which nobody heard again; 0: as the checker has it."""
        command = [str(CHECKER), "--fabric", str(self.fabric), "--recordings", str(self.directory), "--commands",
                   str(self.commands), "--lag", str(lag_us), "--late", str(late_us), "--back-within", str(back_within)]
        if flight_us:
            command += ["--flight", str(flight_us)]
        if ignored:
            command += ["--ignore", ",".join(ignored)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        return Verdict(done.returncode, done.stdout, done.stderr)
