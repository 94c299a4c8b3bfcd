"""heddle-agent on the kernel's own MAD stack: heddled speaks with it by ib_umad, at every host of a fabric, also on heddled's own port."""

import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from kernel_fabric import KernelFabric, heddled, wait_until

AGENT = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "tools/agent/heddle-agent"
TREE = "tree:k=2,n=2"  # 4 hosts, 4 switches
HOSTS = [f"host-{i} mlx5_0" for i in range(4)]
PATIENCE = 120
QUICK = {"sm.mode": "auto", "sm.lmc": 1, "regulation.mode": "enforce", "agents.interval": "1s"}


class Agents(unittest.TestCase):
    def setUp(self):
        self.at = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.key = self.write("key", "5a" * 32 + "\n")
        (self.at / "state").mkdir()
        self.fabric = self.enterContext(KernelFabric(TREE, HOSTS))

    def write(self, name, text):
        path = self.at / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def agent(self, **keys):
        settings = {"key_file": str(self.key), "socket": str(self.at / "agent.sock"), "state": str(self.at / "state"), **keys}
        file = self.write("agent.toml", "".join(f'{name} = "{value}"\n' for name, value in settings.items()))
        process = subprocess.Popen([AGENT, "--config", file], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stderr.readline(), "heddle-agent: 4 ports\n")
        return process

    def manage(self, **settings):
        daemon = self.enterContext(heddled(**{**QUICK, "agents.key_file": self.key, **settings}))
        wait_until(lambda: all(self.fabric.port("state", d) == "4: ACTIVE" for d in self.fabric.devices()), PATIENCE, "Active ports")
        return daemon

    @staticmethod
    def agents(daemon):
        return daemon.json("regulate").get("agents", {})

    def until(self, daemon, what, **wanted):
        try:
            wait_until(lambda: all(self.agents(daemon).get(name) == value for name, value in wanted.items()), PATIENCE, what)
        except AssertionError as late:
            raise AssertionError(f"{late}: {self.agents(daemon)}\n{daemon.log_text()}") from late

    def test_planes_are_used_while_every_host_answers(self):
        process = self.agent()
        daemon = self.manage()
        self.until(daemon, "planes", agents=4, able=4, by_planes=True)
        self.assertEqual(len(list((self.at / "state").glob("*.sequence"))), 4, "orders are written down")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 0)
        self.until(daemon, "stages", agents=0, by_planes=False)
        self.agent()
        self.until(daemon, "planes again", agents=4, by_planes=True)
        self.assertEqual(self.agents(daemon)["others"], 0, "the kernel's own queue pairs for MADs do not count")

    def test_one_with_another_key_is_none(self):
        self.agent(key_file=self.write("other", "a5" * 32))
        daemon = self.manage()
        wait_until(lambda: self.agents(daemon).get("hosts") == 4, PATIENCE, "four hosts")
        daemon.wait_for_sweeps(10)
        self.assertEqual(self.agents(daemon)["agents"], 0)


if __name__ == "__main__":
    unittest.main()
