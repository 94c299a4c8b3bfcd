"""What README.md and the operators' pages tell to type: each command in a block of its own is typed here, or stands in a list with the test that
types it; each one within a sentence has words and options that there are."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from daemon_under_test import BUILD, HEDDLE, HEDDLED, SOURCE, Daemon
from prometheus_test import free_port

NAMES = ("first-hour api fabrics kernel metrics opensm packet-simulator page problems production-host qos regulation routing scenarios "
         "security simulator traces").split()
PAGES = [SOURCE / "README.md", *(SOURCE / f"docs/{name}.md" for name in NAMES)]
TRANSCRIPTS = [SOURCE / f"docs/{name}.md" for name in "accept cabling drain health jobs what-if".split()]  # tests of their own type them
PROGRAMS = r"(?:(?:build|tools)/\S+|heddled?|curl|cmake|systemctl|systemd-\S+|apt-get|cp|export|ibsim-run|make|mpirun\S*|modprobe|opensm|ibnetdiscover)\b|[A-Z_]+="

# What takes more than a daemon and a simulated fabric, and who types it.
ELSEWHERE = {
    "tools/demo": "demo_test, first_hour, .ci/run",
    "tools/test": "first_hour, .ci/run",
    "tools/dev/install-packages tools/dev/packages-build.txt": "first_hour",
    "cmake --preset release -DHEDDLE_TESTS=OFF -DHEDDLE_BENCH=OFF": "tools/demo, but for the options",
    "cmake --build --preset release && cmake --install build/release": "install_test.sh",
    "systemd-sysusers && systemd-tmpfiles --create && udevadm control --reload && udevadm trigger": "install_test.sh; udev by tests/vm",
    "systemctl daemon-reload && systemctl enable --now heddled": "install_test.sh, tests/vm --systemd",
    "apt-get install ./build/packages/heddled_*.deb ./build/packages/heddle_*.deb": "packages_test",
    "cp /etc/heddle/heddle.toml /etc/heddle/rail1.toml": "systemd_test.sh, as far as it goes without booting",
    "systemctl enable --now heddled@rail1": "systemd_test.sh, as far as it goes without booting",
    "heddle --socket /run/heddle-rail1/control.sock status": "systemd_test.sh, as far as it goes without booting",
    "mpirun.openmpi -n 16 -x HEDDLE_VEF=$HOME/traces/hpl.vef -x LD_PRELOAD=/usr/lib/heddle/openmpi/libheddle-vef.so ./program": "vef_test",
    "mpirun.mpich -n 16 -genv HEDDLE_VEF $HOME/traces/hpl.vef -genv LD_PRELOAD /usr/lib/heddle/mpich/libheddle-vef.so ./program": "vef_test",
    "heddle sim run EXPERIMENT.toml --out DIR": "experiment_test",
    "heddle sim plot DIR": "experiment_test",
    "heddle sim run EXPERIMENT.toml --part 2/5 --out DIR2": "experiment_test",
    "heddle sim merge DIR1 DIR2 DIR3 DIR4 DIR5 --out DIR": "experiment_test",
    "heddle sim run tests/experiments/NAME.toml --out DIR && heddle sim plot DIR": "experiment_test, tests/experiments",
    "heddle sim run tests/experiments/thesis-4-tree-8-3.toml --out DIR": "by hand, a minute of a core; experiment_test types a shorter one",
    "mpirun.openmpi -n 16 --oversubscribe -x HEDDLE_VEF=$HOME/traces/melt.vef -x LD_PRELOAD=/usr/lib/heddle/openmpi/libheddle-vef.so "
    "lmp -in tests/experiments/melt.lmp -var cells 10 -var steps 100": "by hand, with Debian's lammps",
    "mpirun.openmpi -n 64 --oversubscribe -x HEDDLE_VEF=$HOME/traces/melt.vef -x LD_PRELOAD=/usr/lib/heddle/openmpi/libheddle-vef.so "
    "lmp -in tests/experiments/melt.lmp -var cells 16 -var steps 6": "by hand, with Debian's lammps",
    "cp $HOME/traces/melt.vef tests/experiments/app-16.vef": "by hand; vef_test does it with hpcc",
    "heddle trace scale --time 0.02 $HOME/traces/melt.vef -o tests/experiments/app-64.vef": "by hand",
    "heddle sim run tests/experiments/regulation-trace-4x4-4links-dor.toml --out DIR": "by hand; vef_test has that of two links",
    "heddle sim run tests/experiments/thesis-4-traces-torus-4x4.toml --out DIR": "by hand, half a minute of a core",
    "build/release/tests/bench/regulation_curves DIR && cd DIR && gnuplot plot.gp": "tests/unit/regulation_curves",
    "tools/package && tools/package.d/root-filesystem build/container && buildah build -t heddle build/container": "container_test",
}
KERNEL = "docs/kernel.md"  # tests/vm types what is there
UNENDING = re.compile(r"--watch|sim serve|heddled |heddle top")


def blocks(page):
    """Commands that stand in blocks of their own, as they are typed."""
    for line in page.read_text().splitlines():
        typed = re.match(rf" {{4,6}}(?:\$ )?((?:{PROGRAMS}).*)", line)
        if typed and not re.match(r"    (heddle|curl)\S* *=", line):
            yield re.split(r"\s{2,}#", typed.group(1))[0].strip()


def named(page):
    """Commands within sentences. OpenSM's log has one, too."""
    text = page.read_text()
    for command in re.findall(r"`(heddle [^`]+)`", text) + re.findall(r"'(heddle [a-z][^']+)'", text):
        if not command.startswith(("heddle tables configured", "heddle sim COMMAND")):
            yield " ".join(command.split())


@functools.cache
def help_of(*words):
    done = subprocess.run([HEDDLE, *words, "--help"], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done.stderr
    text, _, rest = done.stdout.partition("\nSubcommands:\n")
    return set(re.findall(r"^  (\S+)", rest, re.MULTILINE)), set(re.findall(r"--[a-z][\w-]*", text))


def wrong_word(command):
    """The first word of a command that there is not, or nothing."""
    path = []
    for word in command.split()[1:]:
        subcommands, options = help_of(*path)
        if word.startswith("--"):
            if word.split("=")[0] not in options | help_of()[1]:
                return word
        elif subcommands and re.fullmatch(r"[a-z][a-z-]*", word):
            if word not in subcommands:
                return word
            path.append(word)
    return None


class Documents(unittest.TestCase):
    def test_commands_in_sentences_have_words_and_options_that_there_are(self):
        seen = 0
        for page in [*PAGES, *TRANSCRIPTS]:
            for command in named(page):
                with self.subTest(f"{page.name}: {command}"):
                    self.assertIsNone(wrong_word(command))
                    seen += 1
        self.assertGreater(seen, 80)
        self.assertEqual(wrong_word("heddle links --pover"), "--pover")
        self.assertEqual(wrong_word("heddle qos verfy"), "verfy")

    def test_commands_in_blocks_are_typed(self):
        room = pathlib.Path(tempfile.mkdtemp(prefix="heddle-documents-"))
        self.addCleanup(shutil.rmtree, room, ignore_errors=True)
        (room / "fabric.ibnetdiscover").write_text(subprocess.run([HEDDLE, "fabric", "generate", "tree:k=3,n=2"], capture_output=True, text=True,
                                                                  timeout=20, check=True).stdout)
        listen = f"127.0.0.1:{free_port()}"
        here = f"documents-{os.getpid()}"
        with Daemon({"fabric.generate": "tree:k=3,n=3", "fabric.scenario": "demo", "metrics.listen": listen}) as daemon:
            daemon.wait_for_sweeps()
            self.room, self.env = room, {**os.environ, "HEDDLE_SOCKET": str(daemon.socket), "TERM": "xterm",
                                         "PATH": f"{HEDDLE.parent}:{HEDDLED.parent}:{os.environ['PATH']}"}
            places = {"127.0.0.1:9683": listen, "/run/heddle/control.sock": str(daemon.socket), "build/release": str(BUILD.resolve()),
                      "=lab": f"={here}", "--name lab": f"--name {here}"}
            typed = set()
            for page in PAGES:
                for command in blocks(page):
                    if command in ELSEWHERE or str(page).endswith(KERNEL) or command in typed:
                        continue
                    typed.add(command)
                    with self.subTest(f"{page.name}: {command}"):
                        self.type(functools.reduce(lambda text, place: text.replace(*place), places.items(), command))
        self.assertGreater(len(typed), 12)

    def type(self, command):
        if re.match(r"export |tools/swarm|ibsim-run|SIM_HOST=", command):
            return self.skip_with_reason(command)
        if command.startswith("heddled "):  # beside the daemon of this host
            command = command.replace("...", "--set fabric.generate=tree:k=4,n=2") + f" --set control.socket={self.room}/c --set state.directory={self.room} --set metrics.listen="
        if "sim serve" in command and "--name" not in command:
            command += f" --name documents-{os.getpid()}"
        if "heddle top" in command:
            command = f"script -qec '{command}' /dev/null"
        done = subprocess.run(["timeout", "-s", "INT", "1.5" if UNENDING.search(command) else "30", "bash", "-c", command], cwd=self.room,
                              env=self.env, capture_output=True, text=True, timeout=40, check=False)
        ended_well = done.returncode == 0 or (UNENDING.search(command) and done.returncode in (124, 130))
        self.assertTrue(ended_well, f"{done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
        self.assertTrue(done.stdout.strip() or done.stderr.strip() or "serve" in command, "it says nothing")

    def skip_with_reason(self, command):
        """Typed by others: names of a shell alone, what tools_test types of ibsim-run, what tools/swarm's own tests do."""
        self.assertRegex(command, r"^(export (HEDDLE_SOCKET|IBSIM_SOCKNAME)=|tools/swarm |ibsim-run (ibnetdiscover|perfquery)|SIM_HOST=\"host-0 mlx5_0\" ibsim-run opensm)")

    def test_the_list_of_what_others_type_has_nothing_that_nobody_tells(self):
        told = {command for page in PAGES for command in blocks(page)}
        self.assertEqual({command for command in ELSEWHERE if command not in told}, set())


if __name__ == "__main__":
    unittest.main()
