"""Runs the real heddled on a simulated fabric, and the real heddle against it. For the system tests."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

BUILD = pathlib.Path(os.environ["HEDDLE_BUILD"])
SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"])
HEDDLED = BUILD / "daemon/app/heddled"
HEDDLE = BUILD / "tools/heddle/heddle"
FABRICS = SOURCE.parent / "shared/data/fabrics"


class Daemon:
    """A context: heddled runs inside it, in a directory of its own, and is ended with SIGTERM."""

    ends_within = 20  # seconds

    def __init__(self, settings, env=None, config="", arguments=()):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heddle-test-"))
        self.socket = self.directory / "control.sock"
        self.log = self.directory / "log"
        self.settings = {
            "fabric.backend": "sim",
            "control.socket": self.socket,
            "state.directory": self.directory,
            "metrics.listen": "127.0.0.1:0",
            **settings,
        }
        self.env = {**os.environ, **(env or {})}
        self.arguments = list(map(str, arguments))
        self.config = config  # TOML, for what --set cannot say
        self.process = None

    def __enter__(self):
        file = self.directory / "heddle.toml"
        file.write_text(self.config)
        arguments = [str(HEDDLED.resolve()), "--config", str(file), *self.arguments]
        for key, value in self.settings.items():
            arguments += ["--set", f"{key}={value}"]
        with open(self.log, "wb") as log:
            # There: what the shim leaves behind of a daemon that was killed goes with it.
            self.process = subprocess.Popen(arguments, stderr=log, env=self.env, cwd=self.directory)
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(self.ends_within)
        shutil.rmtree(self.directory, ignore_errors=True)

    def log_text(self):
        return self.log.read_text(errors="replace")

    def heddle(self, *arguments):
        """Standard output of a command that must succeed."""
        done = self.heddle_raw(*arguments)
        assert done.returncode == 0, f"heddle {' '.join(arguments)}: {done.stderr}\n{self.log_text()}"
        return done.stdout

    def heddle_raw(self, *arguments):
        command = [str(HEDDLE), "--socket", str(self.socket), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def json(self, *arguments):
        return json.loads(self.heddle("--json", *arguments))

    def metrics(self):
        """What a scrape shows."""
        done = subprocess.run(["curl", "-sf", "--unix-socket", str(self.socket), "http://heddled/metrics"],
                              capture_output=True, text=True, timeout=20, check=True)
        return done.stdout

    def wait_for(self, condition, what, seconds=60):
        """Polls the status until condition(status) holds, and returns it."""
        end = time.monotonic() + seconds
        status = None
        while time.monotonic() < end:
            assert self.process.poll() is None, f"heddled ended: {self.log_text()}"
            asked = self.heddle_raw("--json", "status")
            if asked.returncode == 0:
                status = json.loads(asked.stdout)
                if condition(status):
                    return status
            time.sleep(0.05)
        raise AssertionError(f"not {what} within {seconds} s: {status}\n{self.log_text()}")

    def wait_for_sweeps(self, number=3):
        return self.wait_for(lambda status: status["sampling"]["sweeps"] >= number, f"{number} sweeps")
