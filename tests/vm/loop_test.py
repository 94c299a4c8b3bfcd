"""The closed loop beside OpenSM with the plugin, both on one port of this kernel: links go off and come back."""

import unittest

from kernel_fabric import KernelFabric  # says where the following are

from daemon_under_test import Daemon
from plugin_fabric import WithPlugin
from plugin_loop import FAST, LoopTest

RING = "torus:2x2,hosts=1,links=2"  # 8 cables between switches, two of them side by side
HOST = "host-0 mlx5_0"


class KernelPluginFabric(WithPlugin, KernelFabric):
    """OpenSM's plugin, on adapters of this kernel."""


class ClosedLoop(LoopTest):
    def heddled(self, served, **settings):
        return Daemon({"fabric.backend": "umad", "fabric.device": "heddle0:1", "metrics.listen": "", "opensm.plugin": "true",
                       "opensm.socket": served.socket, "state.directory": served.directory, **FAST, **settings})

    def test_links_follow_the_load_with_lmc_1(self):
        with KernelPluginFabric(RING, [HOST], "--training-delay", "0.2", plugin_socket=False) as served:
            served.start_opensm("-s", "1", "-l", "1")
            before = self.dead_ends(served)
            with self.heddled(served, **{"opensm.lmc": "1"}) as daemon:
                daemon.wait_for_sweeps(3)
                self.wait_for_links_off(served, daemon, 4, 120)
                self.expect_sound(served)
                daemon.heddle("restore")
                self.wait_for_all_links(served, daemon, 120)
                self.expect_sound(served)
            self.assertEqual(self.dead_ends(served), before)


if __name__ == "__main__":
    unittest.main()
