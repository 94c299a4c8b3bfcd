"""docs/accept.md as it stands there, on the fabric of tools/demo; and what is said of tables that OpenSM made."""

import os
import re
import subprocess
import unittest

from daemon_under_test import HEDDLE, Daemon
from demo_fabric import DEMO, demo_fabric, step_until
from served_fabric import ServedFabric
from transcript import transcript

NAME = f"accept-{os.getpid()}"


def timeless(text):
    return re.sub(r"\(for [^)]*\)", "(for ...)", re.sub(r"read back [\d.]+ \w+ ago", "read back ... ago", text))


def swapped_list(daemon):
    """All cables, as lines of a list; leaf-0-0's tenth and eleventh ports exchanged."""
    ends = [(link["a"], link["b"]) for link in daemon.json("links")["links"]]
    ends.sort(key=lambda cable: (cable[0]["node"], cable[0]["port"]))
    one, other = (next(n for n, (a, _) in enumerate(ends) if (a["node"], a["port"]) == ("leaf-0-0", port)) for port in (10, 11))
    ends[one], ends[other] = (ends[one][0], ends[other][1]), (ends[other][0], ends[one][1])
    lines = (f"{a['node']},{a['port']},{b['node']},{b['port']}" for a, b in ends)
    return "StartDevice,StartPort,EndDevice,EndPort\n" + "\n".join(lines) + "\n"


class Page(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_a_transcript(self):
        steps = transcript("accept.md")
        self.assertEqual(len(steps), 6)
        with demo_fabric(NAME) as daemon:
            files = {name: str(daemon.directory / name) for name in ("cables.csv", "demo.net")}
            (daemon.directory / "cables.csv").write_text(swapped_list(daemon))
            subprocess.run([HEDDLE, "fabric", "generate", DEMO, "-o", files["demo.net"]], check=True, timeout=60)
            for command, printed in steps:
                for name, path in files.items():
                    command = command.replace(name, path)
                step_until(self, daemon, NAME, command, "\n".join(printed), timeless)


class BesideOpenSm(unittest.TestCase):
    """Tables that are not ours: good ones, and a ring's, by which buffers may wait in a circle."""

    def accept(self, fabric, engine):
        with ServedFabric(fabric) as served:
            served.start_opensm("-R", engine)
            with Daemon({"fabric.backend": "umad", "sm.mode": "off", "metrics.listen": "", "sampling.interval": "200ms"},
                        served.shim("host-0 mlx5_0")) as daemon:
                said = None

                def is_judged(_):
                    nonlocal said
                    said = daemon.heddle_raw("accept", fabric)
                    return said.returncode != 2
                daemon.wait_for(is_judged, "tables that were read back", seconds=120)
                return said

    def test_a_tree(self):
        said = self.accept("tree:k=3,n=2", "updn")
        self.assertEqual(said.returncode, 0, said.stdout)
        self.assertIn("accepted", said.stdout.splitlines())

    def test_a_ring(self):
        said = self.accept("torus:5,hosts=1", "minhop")
        self.assertEqual(said.returncode, 1, said.stdout)
        self.assertRegex(said.stdout, r"\nroutes     failed     25 paths, 0 broken; a cycle of buffers on one VL")


if __name__ == "__main__":
    unittest.main()
