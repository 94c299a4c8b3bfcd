"""A served fabric whose hosts are adapters of the kernel of the virtual machine. For the tests that tools/vm runs."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["HEDDLE_SOURCE"]) / "tests/system"))

from daemon_under_test import Daemon  # noqa: E402
from served_fabric import HEDDLE, ServedFabric, wait_until  # noqa: E402

MODULE = os.environ["HEDDLE_VHCA"]
CLASS = pathlib.Path("/sys/class/infiniband")


def load():
    """ib_core and its users, and then our module."""
    subprocess.run(["modprobe", "-a", "ib_umad", "ib_uverbs", "ib_cm"], check=True)
    if not pathlib.Path("/sys/module/heddle_vhca").exists():
        subprocess.run(["insmod", MODULE], check=True)
    pathlib.Path("/proc/sys/net/unix/max_dgram_qlen").write_text("512")


def unload():
    subprocess.run(["rmmod", "heddle_vhca"], check=True)


def reload(count):
    """The count-th time; each hundredth stands in the log, so that a run that is cut short says how far it came."""
    unload()
    load()
    if count % 100 == 0:
        print(f"{count} loads", flush=True)


class KernelFabric(ServedFabric):
    """`nodes` are adapters of the kernel, in this order: heddle0, heddle1, ..."""

    watched = False  # nothing is preloaded that could record

    def __init__(self, fabric, nodes, *options):
        load()
        super().__init__(fabric, "--kernel", ",".join(nodes), *options)
        self.nodes = nodes
        self.adapters = set()

    def __enter__(self):
        others = self.devices()
        super().__enter__()
        wait_until(lambda: len(self.devices()) == len(others) + len(self.nodes), 30, "the kernel's taking the adapters")
        wait_until(lambda: all(self.umad(device) for device in self.devices() if device not in others), 10, "umad devices")
        self.adapters = set(self.devices()) - set(others)
        return self

    def __exit__(self, *reason):
        """Not before the adapters have gone: the next one of a name would be taken for the one that goes."""
        super().__exit__(*reason)
        wait_until(lambda: not self.adapters & set(self.devices()), 20, "the adapters' leaving")

    def environment(self, node="", **more):
        """Programs find the kernel's own devices."""
        return {**os.environ, "OSM_CACHE_DIR": str(self.directory), "OSM_TMP_DIR": str(self.directory), **more}

    @staticmethod
    def devices():
        return sorted(path.name for path in CLASS.iterdir()) if CLASS.exists() else []

    @staticmethod
    def umad(device):
        """The umad device of port 1, as "umad0": they are numbered as they come."""
        for path in pathlib.Path("/sys/class/infiniband_mad").glob("umad*"):
            try:
                if (path / "ibdev").read_text().strip() == device and (path / "port").read_text().strip() == "1":
                    return path.name
            except OSError:
                pass  # one that comes or goes just now
        return ""

    @staticmethod
    def port(what, device="heddle0", port=1):
        """A file of the port in sysfs, as "state" or "counters/port_xmit_data"."""
        return (CLASS / device / "ports" / str(port) / what).read_text().strip()


def heddled(**settings):
    return Daemon({"fabric.backend": "umad", "fabric.device": "heddle0:1", "sweep.light_interval": "500ms",
                   "sampling.interval": "500ms", **settings})


__all__ = ["CLASS", "HEDDLE", "KernelFabric", "heddled", "load", "unload", "wait_until"]
