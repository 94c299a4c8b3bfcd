"""tools/demo: its options, what it prints, and its tour, on what is built already."""

import os
import pathlib
import re
import socket
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["HEDDLE_BUILD"])
SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


SMALL = ("--set", "fabric.generate=xgft:3;4,4,4;1,4,4")


def demo(*arguments, more=SMALL):
    command = [SOURCE / "tools/demo", "--build", BUILD, "--listen", f"127.0.0.1:{free_port()}", "--for", "1s", *arguments,
               "--", *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


class Demo(unittest.TestCase):
    def test_it_shows_traffic_and_what_to_try(self):
        done = demo()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotRegex(done.stdout, r"load +0 bit/s")
        for told in ("page  ", "heddle regulate enforce", "heddle link off", "--tour"):
            self.assertIn(told, done.stdout)

    def test_the_tour_shows_links_going_off_and_coming_back(self):
        # Three times as fast, for the test; so is the traffic.
        done = demo("--tour", more=(*SMALL, "--set", "fabric.time_scale=3"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        shown = done.stdout.split("$ heddle ")
        self.assertEqual([part.split()[0] for part in shown[1:]], ["regulate", "regulate", "regulate", "events", "restore"])
        off = int(re.search(r"(\d+) off", shown[2]).group(1))
        self.assertGreater(off, 20, shown[2])
        watts = float(re.search(r"([\d.]+) W less", shown[2]).group(1))
        self.assertGreater(watts, 50, shown[2])
        self.assertGreater(int(re.search(r"(\d+) on", shown[3]).group(1)), 0, shown[3])

    def test_a_fabric_in_a_file(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "two switches.net")
            made = subprocess.run([BUILD / "tools/heddle/heddle", "fabric", "generate", "torus:2x2,hosts=2"],
                                  capture_output=True, text=True, timeout=20, check=True)
            file.write_text(made.stdout)
            done = demo("--fabric", str(file), more=())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("4 switches, 8 channel adapters", done.stdout)

    def test_without_traffic_it_fails(self):
        with tempfile.TemporaryDirectory() as directory:
            silent = pathlib.Path(directory, "silent.toml")
            silent.write_text("seed = 1\n")
            done = subprocess.run([SOURCE / "tools/demo", "--build", BUILD, "--listen", "", "--within", "5", "--for", "1s", "--",
                                   "--set", f"fabric.scenario={silent}", "--set", "fabric.generate=torus:2x2"],
                                  capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no traffic", done.stderr)

    def test_wrong_usage(self):
        for wrong in (["--fabric", "/nowhere"], ["--for", "ever"], ["--build", "/nowhere"], ["--what"], ["--listen"]):
            done = subprocess.run([SOURCE / "tools/demo", *wrong], capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("tools/demo", done.stderr)


if __name__ == "__main__":
    unittest.main()
