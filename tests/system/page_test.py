"""The page in headless Chromium, on fabrics of several kinds. The checks are in page_browser.mjs."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

import hostile_names
from daemon_under_test import BUILD, FABRICS, HEDDLE, SOURCE, Daemon

PACKAGES = BUILD / "daemon/web/page"
CHROMIUM = shutil.which("chromium")
EVERYTHING = "drag,map,numbers,link,table,search,keyboard,deep_links,time"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serving(settings):
    """A daemon whose page is at .url."""
    port = free_port()
    daemon = Daemon({"metrics.listen": f"127.0.0.1:{port}", "fabric.scenario": "demo", **settings})
    daemon.url = f"http://127.0.0.1:{port}"
    return daemon


@unittest.skipUnless((PACKAGES / "node_modules").exists(), "built without the page (HEDDLE_PAGE=OFF)")
@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class PageTest(unittest.TestCase):
    def look(self, settings, checks=EVERYTHING):
        with serving(settings) as daemon:
            daemon.wait_for_sweeps(3)
            done = subprocess.run(
                ["node", SOURCE / "tests/system/page_browser.mjs", checks, daemon.url],
                env={
                    **os.environ,
                    "HEDDLE_PAGE_PACKAGES": str(PACKAGES),
                    "HEDDLE_CHROMIUM": CHROMIUM,
                    "HEDDLE_PROGRAM": str(HEDDLE),
                    "HEDDLE_SOCKET": str(daemon.socket),
                },
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr + daemon.log_text())

    def test_a_fat_tree(self):
        self.look({"fabric.generate": "tree:k=6,n=3"})

    def test_a_torus(self):
        self.look({"fabric.generate": "torus:8x8,hosts=2"}, "map,numbers,search,time")

    @unittest.skipUnless(FABRICS.exists(), "shared data is missing")
    def test_superpod(self):
        self.look({"fabric.file": FABRICS / "superpod-krskp-hdr-2022.ibnetdiscover"}, "map,numbers,table,search,deep_links")

    def test_a_link_that_is_turned_off(self):
        self.look({"fabric.generate": "tree:k=4,n=3"}, "forced_off")

    def test_hostile_names(self):
        with tempfile.TemporaryDirectory() as directory:
            file = hostile_names.write(pathlib.Path(directory) / "fabric")
            self.look({"fabric.file": file}, "hostile,numbers")


if __name__ == "__main__":
    unittest.main()
