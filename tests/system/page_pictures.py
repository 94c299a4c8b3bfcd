"""Makes the pictures of the page in docs/images anew: python3 page_pictures.py (HEDDLE_BUILD, HEDDLE_SOURCE as for the tests).
Look at them before they are committed."""

import os
import subprocess
import tempfile
import time

from daemon_under_test import HEDDLE, SOURCE
from page_test import CHROMIUM, PACKAGES, serving

QUIET = '[[phase]]\npattern = "neighbour"\nload = 0.05\n'
# Links go off after seconds, not minutes.
QUICK = {"regulation.mode": "enforce", "regulation.quiet": "5s", "regulation.least_on": "5s", "regulation.drain": "1s",
         "regulation.break_even": "1", "sm.lmc": "1"}


def take(settings, pictures, seconds):
    with serving(settings) as daemon:
        daemon.wait_for_sweeps(3)
        time.sleep(seconds)  # for curves with something in them
        environment = {"HEDDLE_PAGE_PACKAGES": str(PACKAGES), "HEDDLE_CHROMIUM": CHROMIUM, "HEDDLE_PROGRAM": str(HEDDLE),
                       "HEDDLE_SOCKET": str(daemon.socket), "HEDDLE_PICTURES": str(SOURCE / "docs/images")}
        subprocess.run(["node", SOURCE / "tests/system/page_pictures.mjs", daemon.url, *pictures],
                       env={**os.environ, **environment}, check=True)


if __name__ == "__main__":
    take({"fabric.generate": "tree:k=6,n=3"}, ["map", "light", "links", "link", "node"], 60)
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as scenario:
        scenario.write(QUIET)
        scenario.flush()
        take({"fabric.generate": "torus:4x4,hosts=2,links=4", "fabric.scenario": scenario.name, **QUICK}, ["power", "plan"], 40)
    take({"fabric.generate": "torus:8x8,hosts=2"}, ["torus"], 10)
    take({"fabric.generate": "tree:k=13,n=3"}, ["afar"], 10)
