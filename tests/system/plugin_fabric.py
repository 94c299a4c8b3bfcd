"""A served fabric whose OpenSM has our plugin. For the system tests; needs in_netns."""

import os
import re
import subprocess

from served_fabric import BUILD, HEDDLE, ServedFabric, wait_until

PLUGIN = BUILD / "plugins/opensm"


class PluginFabric(ServedFabric):
    """OpenSM keeps its log and dumps in the directory; the plan is there too."""

    @property
    def plan(self):
        return self.directory / "plan.json"

    def settings(self, *lines):
        conf = self.directory / "opensm.conf"
        conf.write_text("\n".join([
            "event_plugin_name heddle-opensm",
            f"event_plugin_options heddle-opensm:plan={self.plan},socket={self.socket}",
            "routing_engine heddle,no_fallback",
            "force_log_flush TRUE",
            *lines]) + "\n")
        return conf

    @property
    def socket(self):
        return self.directory / "plugin.sock"

    def bring_up(self, *options, lines=(), timeout=120, flags="0x43"):
        """One sweep with engine heddle. The lines of its log that say ERR."""
        code, _, _ = self.run("opensm", "-F", self.settings(*lines), "-o", "-e", "-f", self.log, "-D", flags, "-n", "64",
                              *options, timeout=timeout, LD_LIBRARY_PATH=str(PLUGIN))
        assert code == 0, f"opensm ended with {code}: {self.log_text()[-2000:]}"
        assert "SUBNET UP" in self.log_text(), self.log_text()[-2000:]
        return self.errors()

    def errors(self):
        return [line.split("->", 1)[-1].strip() for line in self.log_text().splitlines() if " ERR " in line]

    def start(self, *command, node="", **more):
        process = subprocess.Popen([str(word) for word in command],
                                   env=self.environment(node, LD_LIBRARY_PATH=str(PLUGIN), **more),
                                   cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def start_opensm(self, *options, lines=(), log=None):
        process = self.start("opensm", "-F", self.settings(*lines), "-e", "-f", log or self.log, "-D", "0x03", *options)
        wait_until(lambda: self.sweeps() > 0, 60, "SUBNET UP")
        return process

    def read_routes(self):
        """Fabric and forwarding tables as they are in the fabric, read with infiniband-diags. The two files."""
        fabric, lfts = self.directory / "read.ibnetdiscover", self.directory / "read.lfts"
        with open(fabric, "wb") as out:
            subprocess.run(["ibnetdiscover"], env=self.environment(), cwd=self.directory, stdout=out,
                           stderr=subprocess.DEVNULL, check=True, timeout=120)
        # To the form of opensm-lfts.dump.
        script = (r"s/^Unicast lids .* (guid 0x[0-9a-f]+) .*/Unicast lids [0-0] of switch Lid 0 \1 ('')/; "
                  r"s/^(0x[0-9a-f]+ [0-9]+) :.*/\1/; s/ valid lids dumped.*/ lids dumped/; /^ |^$/d")
        top = max(int(lid) for lid in re.findall(rb" lid (\d+)", fabric.read_bytes()))
        if top % 64 == 0:
            # dump_fts leaves out a last block that holds one LID.
            return fabric, self.directory / "opensm-lfts.dump"
        with open(lfts, "wb") as out:
            reader = subprocess.Popen(["dump_fts", "-n"], env=self.environment(), cwd=self.directory,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            subprocess.run(["sed", "-E", script], stdin=reader.stdout, stdout=out, check=True, timeout=300)
            reader.stdout.close()
            assert reader.wait(20) == 0
        return fabric, lfts

    def check_routes(self, *arguments):
        """Proves the tables read back from the fabric; status and words of `heddle route check`."""
        fabric, lfts = self.read_routes()
        done = subprocess.run([str(HEDDLE), "route", "check", "--fabric", str(fabric), "--lfts", str(lfts), *arguments],
                              capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr
