"""libheddle-vef.so, preloaded into a program of ours under Open MPI and MPICH: what it records against a counter of its own
(mpi/counter.c), replayed by the packet simulator; and that the program ends well whatever happens to the recording."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HEDDLE = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "tools/heddle/heddle"
PLUGINS = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "plugins/vef"
PLUGINS_SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"]) / "plugins/vef"
SOURCES = pathlib.Path(os.environ["HEDDLE_SOURCE"]) / "tests/system/mpi"
ENDED = "the program has ended well"
REPLAY = """
title = "A recorded program"
fabric = "tree:k=2,n=3"
warm_up = 0
measure = 50000000
loads = [0.0]
[plane]
vls = 1
mtu = 256
[[variant]]
name = "as it is"
[[trace]]
file = "{trace}"
mapping = "round-robin"
"""


def read_trace(path):
    """What each pair of ranks sent, and what each rank entered; by hand, without Heddle's reader."""
    pairs = collections.defaultdict(lambda: [0, 0])
    entered = collections.defaultdict(lambda: [0, 0])
    for line in path.read_text().splitlines()[1:]:
        fields = line.split()
        if line[0] == "L":
            one = entered[int(fields[5]), fields[2]]
            one[1] += int(fields[4])
        elif line[0] != "C":
            one = pairs[int(fields[1]), int(fields[2])]
            one[1] += int(fields[3])
        else:
            continue
        one[0] += 1
    return dict(pairs), dict(entered)


def without_times(path):
    """The records of a trace, less their dTime."""
    records = [line.split() for line in path.read_text().splitlines()[1:]]
    return [each if each[0][0] == "C" else each[:-2] + each[-1:] for each in records]


def read_counts(prefix, ranks):
    pairs, entered = {}, {}
    for rank in range(ranks):
        for line in pathlib.Path(f"{prefix}.{rank}").read_text().splitlines():
            kind, name, count, size = line.split()
            if kind == "p2p":
                pairs[rank, int(name)] = [int(count), int(size)]
            else:
                entered[rank, name] = [int(count), int(size)]
    return pairs, entered


class Recording:
    """With each MPI, by a subclass."""

    mpi = None

    def setUp(self):
        if not shutil.which(f"mpicc.{self.mpi}"):
            self.skipTest(f"no mpicc.{self.mpi} here (tools/dev/packages-night.txt)")
        self.at = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.trace = self.at / "traces/exchange.vef"
        self.trace.parent.mkdir()
        self.program = self.compile("exchange.c", "exchange")
        self.counter = self.compile("counter.c", "counter.so", "-shared", "-fPIC")
        self.library = PLUGINS / self.mpi / "libheddle-vef.so"

    def compile(self, source, name, *options):
        made = self.at / name
        subprocess.run([f"mpicc.{self.mpi}", "-w", "-O1", *options, "-o", made, SOURCES / source], check=True, timeout=60)
        return made

    def run_program(self, *arguments, ranks=4, preload=None, trace=None, before=()):
        """Whatever is recorded, it must end as it does by itself."""
        env = {**os.environ, "HEDDLE_VEF": str(trace or self.trace), "COUNTS": str(self.at / "counts")}
        preload = ":".join(str(each) for each in preload or [self.counter, self.library])
        command = [f"mpirun.{self.mpi}", "-n", str(ranks)]
        if self.mpi == "openmpi":
            command += ["--allow-run-as-root", "--oversubscribe"]
        command += ["sh", "-c", f'export LD_PRELOAD={preload}; exec "$@"', "sh", self.program, *arguments]
        done = subprocess.run([str(word) for word in [*before, *command]], env=env, cwd=self.at, capture_output=True, text=True, timeout=1200,
                              check=False)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, ENDED), done.stderr)
        return [line for line in done.stderr.splitlines() if line.startswith("heddle-vef:") or ".vef" in line]

    def heddle(self, *arguments):
        done = subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def assert_left_nothing(self):
        self.assertEqual(sorted(self.trace.parent.iterdir()), [])

    def test_all_that_was_sent_is_in_the_trace_and_is_replayed(self):
        for ranks in (4, 7):
            with self.subTest(ranks=ranks):
                self.assertEqual(self.run_program("3", ranks=ranks), [])
                self.assertEqual([each.name for each in self.trace.parent.iterdir()], ["exchange.vef"])
                recorded, counted = read_trace(self.trace), read_counts(self.at / "counts", ranks)
                self.assertEqual(recorded, counted)
                self.heddle("trace", "check", self.trace)
                info = json.loads(self.heddle("--json", "trace", "info", self.trace))
                self.assertEqual((info["messages"], info["bytes"]),
                                 tuple(sum(pair[i] for pair in counted[0].values()) for i in (0, 1)))
                self.assertEqual((info["idle_triggers"], info["tasks"]), (0, ranks))
                self.assertGreater(info["after_receive"], ranks)
                (self.at / "replay.toml").write_text(REPLAY.format(trace=self.trace))
                self.heddle("sim", "run", self.at / "replay.toml", "--out", self.at / "out", "--quiet")
                for point in json.loads((self.at / "out/results.json").read_text())["points"]:
                    (trace,) = point["traces"]
                    self.assertEqual((trace["finished"], trace["stuck"], trace["messages"], trace["bytes"]),
                                     (True, False, info["messages"] + info["messages_of_collectives"],
                                      info["bytes"] + info["bytes_of_collectives"]))

    def test_a_program_that_does_not_depend_on_time_gives_the_same_twice(self):
        made = []
        for _ in range(2):
            self.assertEqual(self.run_program("20", "alike", ranks=5), [])
            self.assertEqual(read_trace(self.trace), read_counts(self.at / "counts", 5))
            made.append(without_times(self.trace))
        self.assertEqual(*made)
        self.assertGreater(len(made[0]), 5 * 20 * 8)

    def test_what_does_not_fit_into_memory_is_on_disk(self):
        self.assertEqual(self.run_program("600"), [])
        pairs, entered = read_trace(self.trace)
        # A message is a record at its sender and two at its receiver.
        self.assertGreater(3 * sum(pair[0] for pair in pairs.values()) + sum(each[0] for each in entered.values()), 4 * 32768)
        self.assertEqual((pairs, entered), read_counts(self.at / "counts", 4))
        self.heddle("trace", "check", self.trace)

    def test_entries_have_as_many_parameters_as_in_the_header(self):
        (self.at / "only.c").write_text("#include <mpi.h>\n")
        header = subprocess.run([f"mpicc.{self.mpi}", "-E", self.at / "only.c"], capture_output=True, text=True, check=True, timeout=60).stdout
        listed = re.findall(r"X\((\w+), (\d+)\)", (PLUGINS_SOURCE / "functions.h").read_text())
        self.assertGreater(len(listed), 100)
        for name, parameters in listed:
            for declared in re.findall(rf"\bP?MPI_{name}\s*\(([^()]*(?:\[\])?[^()]*)\)", header):
                counted = 0 if declared.strip() == "void" else declared.count(",") + 1
                self.assertEqual(counted, int(parameters), name)

    def test_fortran_messages_are_recorded_once(self):
        source = (SOURCES / "ring.f90").read_text()
        newer = source.replace("use mpi\n", "use mpi_f08\n").replace(
            "integer :: r, n, ierr, req(2), st(MPI_STATUS_SIZE,2), comm",
            "integer :: r, n, ierr\n  type(MPI_Request) :: req(2)\n  type(MPI_Status) :: st(2)\n  type(MPI_Comm) :: comm")
        for name, text in (("mpi", source), ("mpi_f08", newer)):
            with self.subTest(module=name):
                (self.at / "ring.f90").write_text(text)
                subprocess.run([f"mpifort.{self.mpi}", "-w", "-o", self.program, self.at / "ring.f90"], check=True, cwd=self.at, timeout=60)
                self.assertEqual(self.run_program(preload=[self.library]), [])
                self.assertEqual(read_trace(self.trace), ({(rank, (rank + 1) % 4): [2, 60] for rank in range(4)},
                                                          {(rank, "allreduce"): [1, 40] for rank in range(4)}))
                self.heddle("trace", "check", self.trace)

    def test_a_directory_that_is_not_the_users(self):
        for place, says in ((self.at / "nowhere/a.vef", "No such file or directory"), (pathlib.Path("/tmp/a.vef"), "written by everybody"),
                            (pathlib.Path("/proc/a.vef"), "/proc/"), (self.at / ("a" * 250), "too long")):
            with self.subTest(place=place):
                (line,) = self.run_program("1", trace=place)
                self.assertIn("nothing is recorded", line)
                self.assertIn(says, line)
                self.assertFalse(place.exists() if len(place.name) < 200 else False)

    def test_a_disk_that_fills(self):
        # What one rank keeps of 600 rounds is more than the disk has; of 100 only the trace is.
        for rounds, size in (("600", "1m"), ("100", "256k")):
            with self.subTest(rounds=rounds):
                mount = f'mount -t tmpfs -o size={size},mode=700 none "$0" && "$@"; code=$?; ls "$0" >&2; exit $code'
                (line,) = self.run_program(rounds, before=["unshare", "-m", "sh", "-c", mount, self.trace.parent])
                self.assertRegex(line, "^heddle-vef: no trace is written: rank [0-3]: writing to .*traces/: No space left on device$")
                self.assert_left_nothing()

    def test_what_cannot_be_recorded(self):
        for mode, says in (("multiple", "MPI_THREAD_MULTIPLE"), ("put", "MPI_Win_create")):
            with self.subTest(mode=mode):
                (line,) = self.run_program("2", mode)
                self.assertIn(says, line)
                self.assert_left_nothing()

    def test_the_library_of_the_other_mpi_is_harmless(self):
        (other,) = {"openmpi", "mpich"} - {self.mpi}
        (line,) = self.run_program("2", preload=[self.counter, PLUGINS / other / "libheddle-vef.so"])
        self.assertIn("nothing is recorded: this library is for programs of", line)
        self.assert_left_nothing()


class OpenMpi(Recording, unittest.TestCase):
    mpi = "openmpi"


class Hpcc(unittest.TestCase):
    """A program that we did not make: Debian's, with Open MPI."""

    def test_16_ranks(self):
        example = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
        if not shutil.which("hpcc") or not example.exists():
            self.skipTest("no hpcc here (tools/dev/packages-night.txt)")
        at = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        lines = example.read_text()
        for name, value in (("Ns", 256), ("NBs", 32), ("Ps", 4), ("Qs", 4)):
            lines = re.sub(rf"(?m)^\d+(\s+{name})$", rf"{value}\1", lines)
        (at / "hpccinf.txt").write_text(lines)
        subprocess.run(["mpicc.openmpi", "-w", "-O1", "-shared", "-fPIC", "-o", at / "counter.so", SOURCES / "counter.c"], check=True, timeout=60)
        env = {**os.environ, "HEDDLE_VEF": str(at / "hpcc.vef"), "COUNTS": str(at / "counts"),
               "LD_PRELOAD": f"{at}/counter.so:{PLUGINS}/openmpi/libheddle-vef.so"}
        preload = "export LD_PRELOAD=$0; exec hpcc"
        done = subprocess.run(["mpirun.openmpi", "-n", "16", "--allow-run-as-root", "--oversubscribe", "sh", "-c", preload, env.pop("LD_PRELOAD")],
                              cwd=at, env=env, capture_output=True, text=True, timeout=1200, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Success=1", (at / "hpccoutf.txt").read_text())
        recorded = read_trace(at / "hpcc.vef")
        self.assertEqual(len(recorded[0]), 16 * 15)
        self.assertEqual(recorded, read_counts(at / "counts", 16))
        checked = subprocess.run([HEDDLE, "trace", "check", at / "hpcc.vef"], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((checked.returncode, checked.stdout), (0, f"{at}/hpcc.vef: can be replayed\n"))
        self.replay_on_the_torus_of_the_paper(at)

    def replay_on_the_torus_of_the_paper(self, at):
        """All of it, with all links on and with every second one off."""
        experiments = pathlib.Path(os.environ["HEDDLE_SOURCE"]) / "tests/experiments"
        shutil.copytree(experiments / "planes", at / "planes")
        shutil.copy(experiments / "regulation-trace-4x4-2links-dor.toml", at)
        (at / "app-16.vef").symlink_to(at / "hpcc.vef")
        subprocess.run([HEDDLE, "sim", "run", at / "regulation-trace-4x4-2links-dor.toml", "--out", at / "out", "--quiet"],
                       stdout=subprocess.DEVNULL, check=True, timeout=1200)
        info = json.loads(subprocess.run([HEDDLE, "--json", "trace", "info", at / "hpcc.vef"], capture_output=True, text=True, timeout=600,
                                         check=True).stdout)
        points = json.loads((at / "out/results.json").read_text())["points"]
        self.assertEqual(len(points), 2)
        for point in points:
            (trace,) = point["traces"]
            self.assertEqual((trace["finished"], trace["messages"], trace["bytes"]),
                             (True, info["messages"] + info["messages_of_collectives"], info["bytes"] + info["bytes_of_collectives"]))


class Mpich(Recording, unittest.TestCase):
    mpi = "mpich"


if __name__ == "__main__":
    unittest.main()
