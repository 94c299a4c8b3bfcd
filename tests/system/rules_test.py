"""Prometheus rules and Grafana dashboards, as promtool sees them."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"])
RULES = SOURCE / "tools/prometheus"
DASHBOARDS = SOURCE / "tools/grafana"


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@unittest.skipIf(shutil.which("promtool") is None, "promtool is not installed")
class Rules(unittest.TestCase):
    def test_rules_are_good(self):
        status, said = promtool("check", "rules", *sorted(RULES.glob("*.yml")))
        self.assertEqual(status, 0, said)

    def test_each_alert_fires_on_its_fault_only(self):
        text = (SOURCE / "tests/system/alerts.test.yml").read_text()
        alerts = [line.split(": ")[1] for line in (RULES / "heddle.alerts.yml").read_text().splitlines()
                  if "- alert:" in line]
        self.assertGreater(len(alerts), 20)
        for alert in alerts:
            self.assertIn(f"name: {alert}\n", text)
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as tests:
            tests.write(text.replace("RULES", str(RULES)))
            tests.flush()
            status, said = promtool("test", "rules", tests.name)
        self.assertEqual(status, 0, said)

    def test_every_query_of_every_dashboard_can_be_read(self):
        queries = []
        for path in sorted(DASHBOARDS.glob("*.json")):
            for panel in json.loads(path.read_text())["panels"]:
                queries += [target["expr"] for target in panel["targets"]]
        self.assertGreater(len(queries), 50)
        rules = [{"record": f"query:{i}", "expr": query} for i, query in enumerate(queries)]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "queries", "rules": rules}]}, file)  # JSON is YAML
            file.flush()
            status, said = promtool("check", "rules", file.name)
        self.assertEqual(status, 0, said)


if __name__ == "__main__":
    unittest.main()
