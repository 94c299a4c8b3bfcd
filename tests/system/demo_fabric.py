"""The fabric of tools/demo, without its traffic, for pages of docs/ that are transcripts of it."""

import contextlib
import re
import subprocess
import time

from daemon_under_test import HEDDLE, SOURCE, Daemon

CONFIG = (SOURCE / "tools/demo.d/heddle.toml").read_text()
DEMO = re.search(r'^generate = "(.*)"', CONFIG, re.MULTILINE).group(1)


@contextlib.contextmanager
def demo_fabric(name, **settings):
    """A daemon on it, served under that name, that has looked at everything once."""
    with Daemon({"fabric.serve": name, **settings}, config=CONFIG) as daemon:
        daemon.wait_for_sweeps(3)
        daemon.wait_for(lambda status: status.get("tables", {}).get("unread_switches") == 0, "tables that were read back")
        yield daemon


def step_until(test, daemon, name, command, expected, timeless):
    """Types a command of a page until it says what the page says; once, where it changes something."""
    typed, _, status = command.partition("; echo ")
    typed, _, pattern = typed.partition(" | grep -E ")
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', typed)]
    if words[0] == "sim":
        subprocess.run([HEDDLE, "sim", "--name", name, *words[1:]], check=True, capture_output=True, timeout=20)
        return
    changes = words[:2] == ["fabric", "baseline"]
    end = time.monotonic() + 60
    while True:
        done = daemon.heddle_raw(*words)
        lines = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
        if pattern:
            lines = [line for line in lines if re.search(pattern.strip('"'), line)]
        if "..." in expected.splitlines():  # and more lines like these
            lines = [*lines[:expected.splitlines().index("...")], "..."]
        said = "\n".join([*lines, *([str(done.returncode)] if status else [])])
        if timeless(said) == timeless(expected) or time.monotonic() > end or changes:
            break
        time.sleep(0.2)
    test.assertMultiLineEqual(timeless(said), timeless(expected), f"heddle {command}")
