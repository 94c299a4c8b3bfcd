"""tools/package.d/heddle.spec builds, and its packages have the files that they are to have. On Debian, so with --nodeps: what RHEL calls what it
needs is not tried here. Takes some minutes of a core. HEDDLE_OPTFLAGS: flags for the compiler, if not those that build fastest."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["HEDDLE_BUILD"]).resolve()
SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"]).resolve()
SPEC = SOURCE / "tools/package.d/heddle.spec"
UNITS = "/usr/lib/systemd/system"

COMMAND_LINE = {
    "/usr/bin/heddle", "/usr/share/bash-completion/completions/heddle", "/usr/share/zsh/site-functions/_heddle",
    "/usr/share/fish/vendor_completions.d/heddle.fish", "/usr/share/licenses/heddle/LICENSE", "/usr/share/heddle/slurm/heddle-sim",
    "/usr/share/man/man1/heddle.1", "/usr/share/man/man1/heddle-top.1", "/usr/share/man/man1/heddle-report.1"}
DAEMON = {
    "/usr/sbin/heddled", "/etc/heddle/heddle.toml", "/usr/share/man/man8/heddled.8", "/usr/share/licenses/heddled/LICENSE",
    "/usr/lib/sysusers.d/heddle.conf", "/usr/lib/tmpfiles.d/heddle.conf", "/usr/lib/udev/rules.d/60-heddle.rules",
    f"{UNITS}/heddled.service", f"{UNITS}/heddled@.service", f"{UNITS}/heddle-opensm-lfts.path", f"{UNITS}/heddle-opensm-lfts.service"}
PLUGIN = {"/usr/lib64/libheddle-opensm.so", f"{UNITS}/opensm.service.d/heddle.conf", "/usr/share/licenses/heddle-opensm/LICENSE"}
AGENT = {
    "/usr/sbin/heddle-agent", "/usr/lib/heddle/libheddle-apm.so", "/etc/heddle-agent/agent.toml", "/usr/share/man/man8/heddle-agent.8",
    f"{UNITS}/heddle-agent.service", "/usr/lib/sysusers.d/heddle-agent.conf", "/usr/lib/udev/rules.d/60-heddle-agent.rules",
    "/usr/share/licenses/heddle-agent/LICENSE", "/usr/share/doc/heddle-agent/path-migration.md"}
GRAFANA = ({"/etc/grafana/provisioning/dashboards/heddle.yaml", "/usr/share/licenses/heddle-grafana/LICENSE"} |
           {f"/usr/share/heddle/grafana/{path.name}" for path in (SOURCE / "tools/grafana").glob("*.json")} |
           {f"/usr/share/heddle/prometheus/{path.name}" for path in (SOURCE / "tools/prometheus").glob("*.yml")})


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n", file=sys.stderr)
        done.check_returncode()
    return done.stdout


@unittest.skipIf(shutil.which("rpmbuild") is None, "rpmbuild is not installed")
class Rpm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        top = pathlib.Path(tempfile.mkdtemp(prefix="heddle-rpm-", dir=BUILD))
        cls.addClassCleanup(shutil.rmtree, top, ignore_errors=True)
        version = run("rpmspec", "-q", "--srpm", "--queryformat", "%{version}", SPEC)
        (top / "SOURCES").mkdir()
        files = run("git", "ls-files", "-z", cwd=SOURCE)
        run("tar", "-czf", top / f"SOURCES/heddle-{version}.tar.gz", "--null", "-T", "-", "--transform", f"s,^,heddle-{version}/,",
            cwd=SOURCE, input=files)
        # Quickly, not well: nothing of it runs but `heddle completion`.
        defines = {"_topdir": top, "debug_package": "%{nil}", "_build_id_links": "none", "commit": "0123456789ab",
                   "optflags": os.environ.get("HEDDLE_OPTFLAGS", "-O0 -g0"), "_smp_mflags": f"-j{os.cpu_count()}"}
        run("rpmbuild", "-bb", "--nodeps", *(word for name, value in defines.items() for word in ("--define", f"{name} {value}")), SPEC)
        cls.packages = {path.name.rsplit("-", 2)[0]: path for path in (top / "RPMS").glob("*/*.rpm")}

    def about(self, name, asked):
        return run("rpm", "-qp", "--nosignature", "--queryformat", asked, self.packages[name]).splitlines()

    def files(self, name):
        """Without directories, and as a manual page is called before it is compressed, and what is read where its directory has no version."""
        lines = self.about(name, "[%{FILEMODES:perms} %{FILENAMES}\n]")
        return {re.sub(r"(/(?:doc|licenses)/[^/]*)-0\.2\.0/", r"\1/", line.split(" ", 1)[1].removesuffix(".gz")) for line in lines if not line.startswith("d")}

    def test_the_files_of_each_package(self):
        self.assertEqual(set(self.packages), {"heddle", "heddled", "heddle-agent", "heddle-opensm", "heddle-grafana"})
        self.assertEqual(self.files("heddle"), COMMAND_LINE)
        documents = {path for path in self.files("heddled") if path.startswith("/usr/share/doc/heddled/")}
        self.assertLess({f"/usr/share/doc/heddled/{name}" for name in ("CHANGELOG.md", "opensm.md", "metrics.md", "systemd/etcd.conf")}, documents)
        self.assertEqual(self.files("heddled") - documents, DAEMON)
        self.assertEqual(self.files("heddle-opensm"), PLUGIN)
        self.assertEqual(self.files("heddle-agent"), AGENT)
        self.assertEqual(self.files("heddle-grafana"), GRAFANA)

    def test_configuration_is_kept_and_the_plugin_belongs_to_its_daemon(self):
        flags = dict(line.split(" ", 1) for line in self.about("heddled", "[%{FILENAMES} %{FILEFLAGS:fflags}\n]"))
        self.assertEqual(set(flags["/etc/heddle/heddle.toml"]), set("cn"))
        needs = self.about("heddle-opensm", "[%{REQUIRENAME} %{REQUIREFLAGS:depflags} %{REQUIREVERSION}\n]")
        self.assertIn("heddled = 0.2.0-1", [" ".join(line.split()) for line in needs])
        self.assertTrue(any(line.startswith("opensm =") for line in [" ".join(each.split()) for each in needs]), needs)

    def test_all_that_the_build_needs_on_debian_has_its_name_here(self):
        """One of the lists that grows alone is noticed."""
        called = {"g++": "gcc-c++", "pkg-config": "pkgconf-pkg-config", "libboost1.81-dev": "boost-devel", "libboost-json1.81-dev": "boost-devel",
                  "libibumad-dev": "rdma-core-devel", "libibmad-dev": "rdma-core-devel", "libibverbs-dev": "rdma-core-devel",
                  "libtomlplusplus-dev": "tomlplusplus-devel", "libsqlite3-dev": "sqlite-devel", "libssl-dev": "openssl-devel",
                  "zlib1g-dev": "zlib-devel", "prometheus-cpp-dev": "prometheus-cpp-devel"}
        lines = (line.split("|")[0].strip() for line in (SOURCE / "tools/dev/packages-build.txt").read_text().splitlines())
        wanted = {line for line in lines if line and not line.startswith("#")} - {"ccache", "mold"}  # which only make it faster
        of_debian = {called.get(name, name.removeprefix("lib").replace("-dev", "-devel") if name.endswith("-dev") else name) for name in wanted}
        here = {line.split()[0] for line in run("rpmspec", "-q", "--buildrequires", SPEC).splitlines()}
        self.assertEqual(here - {"systemd-rpm-macros"}, of_debian)


if __name__ == "__main__":
    unittest.main()
