"""What ib_mad and ib_umad answer to what goes wrong, and what heddled makes of it."""

import errno
import signal
import struct
import time
import unittest

from kernel_fabric import KernelFabric, heddled, wait_until
from mad_port import GET, MadPort, NODE_INFO, SET, SMP_DIRECTED, SMP_LID, smp

TREE = "tree:k=2,n=2"  # 4 hosts, 4 switches
HOST, OTHER = "host-0 mlx5_0", "host-1 mlx5_0"
LEAF = (1,)


def switch_of(fabric, path):
    """The name by which `heddle sim` knows what a directed route leads to."""
    with MadPort("heddle0") as port:
        agent = port.register(SMP_DIRECTED)
        assert port.send(agent, smp(NODE_INFO, path)) == 0
        status, mad = port.receive()
        assert status == 0
        return "0x" + mad[64 + 12:64 + 20].hex()


class Errors(unittest.TestCase):
    """The kernel's side, one error after the other."""

    def setUp(self):
        self.fabric = self.enterContext(KernelFabric(TREE, [HOST], "--configured"))
        self.port = self.enterContext(MadPort("heddle0"))
        self.agent = self.port.register(SMP_DIRECTED)
        self.assertGreaterEqual(self.agent, 0)

    def sent(self):
        return self.fabric.heddle("status")["sent"]

    def test_110_comes_after_the_retries_that_were_asked_for_and_no_others(self):
        self.fabric.heddle("node", switch_of(self.fabric, LEAF), "kill")
        for timeout, retries in ((100, 3), (150, 0)):
            before, begun = self.sent(), time.monotonic()
            self.assertEqual(self.port.send(self.agent, smp(NODE_INFO, LEAF), timeout=timeout, retries=retries), 0)
            status, _ = self.port.receive()
            self.assertEqual(status, errno.ETIMEDOUT)
            self.assertGreaterEqual(time.monotonic() - begun, timeout * (retries + 1) / 1000)
            self.assertEqual(self.sent() - before, retries + 1)

    def test_einval_where_the_first_hop_is_not_the_own_port(self):
        before = self.sent()
        self.assertEqual(self.port.send(self.agent, smp(NODE_INFO, (2,))), errno.EINVAL)
        self.assertEqual(self.sent(), before)

    def test_eio_for_an_agent_that_there_is_not(self):
        self.assertEqual(self.port.send(self.agent + 5, smp(NODE_INFO, LEAF)), errno.EIO)

    def test_eagain_where_nothing_has_come(self):
        self.assertEqual(self.port.receive(timeout=0)[0], errno.EAGAIN)

    def test_einval_where_the_room_does_not_do(self):
        self.assertEqual(self.port.send(self.agent, smp(NODE_INFO, LEAF)), 0)
        self.assertEqual(self.port.receive(room=64)[0], errno.EINVAL)
        self.assertEqual(self.port.receive()[0], 0, "it is kept for who has room")

    def test_a_class_has_one_owner_of_each_method(self):
        methods = [GET, SET]
        first = self.port.register(SMP_LID, methods=methods)
        self.assertGreaterEqual(first, 0)
        with MadPort("heddle0") as other:
            self.assertEqual(other.register(SMP_LID, methods=methods), -errno.EINVAL)
            self.assertGreaterEqual(other.register(SMP_LID), 0, "answers of its own are everybody's")
            self.port.unregister(first)
            self.assertGreaterEqual(other.register(SMP_LID, methods=methods), 0)

    def test_the_tid_comes_back(self):
        tid = 0x1234_5678_9ABC_DEF0
        self.assertEqual(self.port.send(self.agent, smp(NODE_INFO, LEAF, tid=tid)), 0)
        status, mad = self.port.receive()
        self.assertEqual(status, 0)
        self.assertEqual(struct.unpack_from(">Q", mad, 8)[0] & 0xFFFFFFFF, tid & 0xFFFFFFFF)
        self.assertEqual(len(mad), 256)

    def test_more_than_the_send_queue_holds(self):
        """ib_mad has 128 work requests under way, and keeps the rest."""
        number = 2000
        for tid in range(number):
            self.assertEqual(self.port.send(self.agent, smp(NODE_INFO, LEAF, tid=tid), timeout=20000), 0)
        seen = set()
        for _ in range(number):
            status, mad = self.port.receive(timeout=20000)
            self.assertEqual(status, 0)
            seen.add(struct.unpack_from(">I", mad, 12)[0])
        self.assertEqual(len(seen), number, "each once")
        self.assertEqual(self.port.receive(timeout=200)[0], errno.ETIMEDOUT)

    def test_what_waits_is_flushed_with_its_agent(self):
        self.fabric.heddle("node", switch_of(self.fabric, LEAF), "kill")
        for tid in range(200):
            self.assertEqual(self.port.send(self.agent, smp(NODE_INFO, LEAF, tid=tid), timeout=60000), 0)
        self.assertEqual(self.port.unregister(self.agent), 0)
        self.assertEqual(self.port.receive(timeout=300)[0], errno.ETIMEDOUT, "nothing of it comes back")
        again = self.port.register(SMP_DIRECTED)
        self.assertEqual(self.port.send(again, smp(NODE_INFO)), 0)
        self.assertEqual(self.port.receive()[0], 0)

    def test_eio_and_enodev_when_the_adapter_goes(self):
        self.assertEqual(self.port.send(self.agent, smp(NODE_INFO, LEAF, tid=9), timeout=60000), 0)
        self.assertEqual(self.port.receive()[0], 0)
        self.fabric.server.send_signal(signal.SIGKILL)
        self.fabric.server.wait(10)
        wait_until(lambda: self.port.receive(timeout=100)[0] == errno.EIO, 15, "EIO of the open port")
        self.assertIn(self.port.send(self.agent, smp(NODE_INFO, LEAF)), (errno.EIO, errno.EINVAL, errno.ENODEV))
        wait_until(lambda: KernelFabric.devices() == [], 15, "the adapter's leaving under an open port")
        with self.assertRaises(OSError):
            MadPort("heddle0")


class Heddled(unittest.TestCase):
    def test_it_alone_asks_again(self):
        """Many MADs are lost: what heddled counts as sent, repetitions included, is what the wire saw."""
        with KernelFabric(TREE, [HOST]) as fabric:
            with heddled(**{"sm.mode": "auto", "sampling.interval": "15s", "sweep.light_interval": "1h"}) as daemon:
                daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "being master")
                daemon.wait_for_sweeps(1)

                def counted(name):
                    """As it is now: what /metrics says is as old as the last sample."""
                    return daemon.json("status")["transactions"][name]

                def both():
                    """Ours and the wire's, at a time when nothing is under way."""
                    for _ in range(50):
                        wire, ours = fabric.heddle("status")["sent"], counted("sent")
                        time.sleep(1)
                        if (fabric.heddle("status")["sent"], counted("sent")) == (wire, ours):
                            return ours, wire
                    raise AssertionError("it is never quiet")

                ours, wire = both()
                fabric.heddle("fault", "mads", "--lost", "0.3")
                wait_until(lambda: counted("retries") > 3, 120, "retries")
                fabric.heddle("fault", "mads")
                after = both()
                self.assertEqual(after[0] - ours, after[1] - wire)

    def test_what_does_not_answer_costs_nobody_else(self):
        """110 of the kernel comes 2 s after the request, when nobody waits for it: heddled goes by its own time."""
        with KernelFabric(TREE, [HOST], "--configured") as fabric:
            with heddled(**{"sm.mode": "auto", "sampling.timeout": "50ms"}) as daemon:
                daemon.wait_for(lambda status: status["subnet_manager"]["role"] == "master", "being master")
                fabric.heddle("fault", "agent", "host-2 mlx5_0", "--mute-pma")
                daemon.wait_for(lambda status: status["sampling"].get("failed_ports"), "missing a port")
                sweeps = daemon.json("status")["sampling"]["sweeps"]
                daemon.wait_for(lambda status: status["sampling"]["sweeps"] >= sweeps + 6, "going on")
                fabric.heddle("fault", "agent", "host-2 mlx5_0")
                daemon.wait_for(lambda status: status["sampling"].get("failed_ports") == 0, "having it again")


if __name__ == "__main__":
    unittest.main()
