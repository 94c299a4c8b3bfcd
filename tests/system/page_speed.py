"""Measures the page: python3 page_speed.py [GENERATOR], by default a fabric of 11,664 hosts (HEDDLE_BUILD, HEDDLE_SOURCE as for the
tests)."""

import os
import pathlib
import subprocess
import sys
import time

from daemon_under_test import HEDDLE, SOURCE
from page_test import CHROMIUM, PACKAGES, serving

SECONDS = 8


def cpu_seconds(daemon):
    fields = pathlib.Path(f"/proc/{daemon.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cores_used(daemon):
    before, since = cpu_seconds(daemon), time.monotonic()
    time.sleep(SECONDS)
    return (cpu_seconds(daemon) - before) / (time.monotonic() - since)


def main():
    with serving({"fabric.generate": sys.argv[1] if len(sys.argv) > 1 else "tree:k=18,n=3,full", "log.level": "warning"}) as daemon:
        daemon.wait_for(lambda status: status["sampling"]["sweeps"] >= 3, "3 sweeps", 120)
        alone = cores_used(daemon)
        viewers = [subprocess.Popen(["curl", "-sN", "-o", "/dev/null", daemon.url + "/v1/page/events"]) for _ in range(20)]
        twenty = cores_used(daemon)
        for viewer in viewers:
            viewer.terminate()
            viewer.wait()
        sampling = daemon.json("status")["sampling"]
        print(f"daemon: {alone:.3f} cores alone, {twenty:.3f} with 20 viewers: {(twenty - alone) / 20:.2%} of a core each; {sampling}")
        environment = {"HEDDLE_PAGE_PACKAGES": str(PACKAGES), "HEDDLE_CHROMIUM": CHROMIUM, "HEDDLE_PROGRAM": str(HEDDLE), "HEDDLE_SOCKET": str(daemon.socket)}
        subprocess.run(["node", SOURCE / "tests/system/page_browser.mjs", "speed", daemon.url], env={**os.environ, **environment}, check=False)


if __name__ == "__main__":
    main()
