"""The fabric of tools/demo, without its traffic, for pages of docs/ that are transcripts of it."""

import contextlib
import re
import subprocess
import time

from daemon_under_test import HEDDLE, SOURCE, Daemon
from transcript import transcript

CONFIG = (SOURCE / "tools/demo.d/heddle.toml").read_text()
DEMO = re.search(r'^generate = "(.*)"', CONFIG, re.MULTILINE).group(1)
CHANGES = {("fabric", "baseline"), ("drain",)}  # what is typed once


@contextlib.contextmanager
def demo_fabric(name, **settings):
    """A daemon on it, served under that name, that has looked at everything once."""
    with Daemon({"fabric.serve": name, **settings}, config=CONFIG) as daemon:
        daemon.wait_for_sweeps(3)
        daemon.wait_for(lambda status: status.get("tables", {}).get("unread_switches") == 0, "tables that were read back")
        yield daemon


def cable_list(daemon, more=""):
    """All cables, as lines of a list; leaf-0-0's tenth and eleventh ports exchanged."""
    ends = [(link["a"], link["b"]) for link in daemon.json("links")["links"]]
    ends.sort(key=lambda cable: (cable[0]["node"], cable[0]["port"]))
    one, other = (next(n for n, (a, _) in enumerate(ends) if (a["node"], a["port"]) == ("leaf-0-0", port)) for port in (10, 11))
    ends[one], ends[other] = (ends[one][0], ends[other][1]), (ends[other][0], ends[one][1])
    lines = (f"{a['node']},{a['port']},{b['node']},{b['port']}" for a, b in ends)
    return "StartDevice,StartPort,EndDevice,EndPort\n" + "\n".join(lines) + "\n" + more


def sim(name, *words):
    """Does something to the fabric that is served under that name."""
    subprocess.run([HEDDLE, "sim", "--name", name, *words], check=True, capture_output=True, timeout=20)


def play(test, page, daemon, name, timeless, files=None, before=lambda command: None):
    """Types all of a page of docs/, with texts for the files that it speaks of. How many commands those were."""
    steps = transcript(page)
    for file, text in (files or {}).items():
        (daemon.directory / file).write_text(text)
    for command, printed in steps:
        before(command)
        for file in files or ():
            command = command.replace(file, str(daemon.directory / file))
        step_until(test, daemon, name, command, "\n".join(printed), timeless)
    return len(steps)


def step_until(test, daemon, name, command, expected, timeless):
    """Types a command of a page until it says what the page says; once, where it changes something."""
    typed, _, status = command.partition("; echo ")
    typed, _, pattern = typed.partition(" | grep -E ")
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', typed)]
    if words[0] == "sim":
        sim(name, *words[1:])
        return
    changes = len(words) > 1 and (tuple(words[:1]) in CHANGES or tuple(words[:2]) in CHANGES)
    end = time.monotonic() + 60
    while True:
        done = daemon.heddle_raw(*words)
        lines = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
        if pattern:
            lines = [line for line in lines if re.search(pattern.strip('"'), line)]
        said = "\n".join([*lines, *([str(done.returncode)] if status else [])])
        if timeless(said) == timeless(expected) or time.monotonic() > end or changes:
            break
        time.sleep(0.2)
    test.assertMultiLineEqual(timeless(said), timeless(expected), f"heddle {command}")
