"""The plugin built with AddressSanitizer and UndefinedBehaviorSanitizer inside the real OpenSM, which is built without:
everything that it does once. What is OpenSM's own is not watched; leaks are valgrind's part (plugin_plan_test)."""

import glob
import pathlib
import re
import signal
import subprocess
import unittest

from plugin_fabric import PLUGIN, PluginFabric, plan_text
from served_fabric import wait_until

# g++'s, or clang++'s
RUNTIME = re.compile(r"libasan|libclang_rt\.asan")


def runtime():
    """The sanitizer's library that the plugin was linked with, None for a plain build."""
    text = subprocess.run(["ldd", PLUGIN / "libheddle-opensm.so"], capture_output=True, text=True, check=True).stdout
    return next((line.split()[2] for line in text.splitlines() if RUNTIME.search(line)), None)


@unittest.skipUnless(runtime(), "the plugin is built without AddressSanitizer")
class Sanitized(unittest.TestCase):
    maxDiff = None

    def test_nothing_is_found_from_start_to_end(self):
        tables = {"vlarb_high": [[i % 8, i + 1] for i in range(64)], "vlarb_low": [[1, 9]], "high_limit": 3,
                  "sl2vl": [i % 8 for i in range(16)]}
        with PluginFabric("torus:3x3,hosts=1,links=2", "--data-vls", "8", "--training-delay", "0.2") as served:
            found = served.directory / "found"
            # The shim copies more than it has received; OpenSM's sender reads from what its receiver may have freed.
            known = served.directory / "known"
            known.write_text("".join(f"interceptor_via_lib:{name}\n" for name in ("libumad2sim", "libibumad", "libosmvendor")))
            options = f"detect_leaks=0:log_path={found}:abort_on_error=1:suppressions={known}"
            opensm = served.start("opensm", "-F", served.settings("qos TRUE"), "-e", "-f", served.log, "-D", "0x03", "-l", "1",
                                  LD_PRELOAD=f"{runtime()}:{served.shim()['LD_PRELOAD']}", ASAN_OPTIONS=options,
                                  UBSAN_OPTIONS=f"print_stacktrace=1:log_path={found}")
            try:
                wait_until(lambda: served.sweeps() > 0 or opensm.poll() is not None, 60, "SUBNET UP")
                self.assertRegex(pathlib.Path(f"/proc/{opensm.pid}/maps").read_text(), RUNTIME)
                self.do_everything(served, tables)
                opensm.send_signal(signal.SIGTERM)
                self.assertEqual(opensm.wait(60), 0)
            finally:
                said = "".join(pathlib.Path(file).read_text(errors="replace") for file in glob.glob(f"{found}*"))
                self.assertEqual(said, "")

    def do_everything(self, served, tables):
        hosts = ["host-0", "host-4", "host-8"]
        for host in hosts:
            served.join(host)
        cables = served.cables()
        ends, ((name, port), _) = cables[0]
        nothing = {"avoid": []}
        served.new_plan(plan_text(1, qos=tables))
        served.new_plan(plan_text(2, planes=[nothing, {"avoid": [list(cables[5][0])]}], qos=tables))
        for stage in range(3):
            served.new_plan(plan_text(3 + stage, planes=[{"avoid": [list(cables[9][0])], "from": [], "stage": stage}, nothing]))
        good = plan_text(10, off=[each for each, _ in cables[::3]])
        served.new_plan(good)
        for cut in range(0, len(good), 97):
            served.new_plan(good[:cut])
        sweeps = served.sweeps()
        served.heddle("link", name, port, "down")
        wait_until(lambda: served.sweeps() > sweeps, 30, "the heavy sweep")
        sweeps = served.sweeps()
        served.heddle("link", name, port, "up")
        wait_until(lambda: served.sweeps() > sweeps, 30, "the heavy sweep")
        # Everything off: hosts would be cut off.
        served.write_plan(plan_text(11, off=[each for each, _ in cables]))
        served.daemon.command("new_plan")
        self.assertTrue(served.daemon.wait(event="routing_done", epoch=11)["relaxed"])
        sweeps = served.sweeps()
        served.daemon.command("heavy_sweep")
        wait_until(lambda: served.sweeps() > sweeps, 30, "the heavy sweep")
        served.daemon.connection.close()
        served.daemon.connection = None
        served.daemon.command("status")


if __name__ == "__main__":
    unittest.main()
