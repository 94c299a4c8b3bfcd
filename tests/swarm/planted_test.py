"""Whether mends can still be taken back: what nobody applies for weeks no longer fits."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import planted


class Patches(unittest.TestCase):
    def test_all_fit_the_source_one_upon_the_other(self):
        patches = sorted(planted.PATCHES.glob("*.patch"))
        self.assertGreater(len(patches), 10)
        with tempfile.TemporaryDirectory() as directory:
            copy = pathlib.Path(directory)
            (copy / "libanalysis/base").mkdir(parents=True)
            for patch in patches:
                self.assertIn(f'planted("{patch.stem}")', patch.read_text(), f"{patch.name} acts in runs of its name only")
                for name in re.findall(r"^\+\+\+ b/(.*)$", patch.read_text(), re.MULTILINE):
                    (copy / name).parent.mkdir(parents=True, exist_ok=True)
                    if not (copy / name).exists():
                        shutil.copy(planted.SOURCE / name, copy / name)
            planted.apply_all(copy)

    def test_what_nobody_planted_is_refused(self):
        asked = subprocess.run([sys.executable, planted.HERE / "planted.py", "nobody"], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(asked.returncode, 2)
        self.assertIn("nobody has planted nobody; there are: adopt, ", asked.stderr)


if __name__ == "__main__":
    unittest.main()
