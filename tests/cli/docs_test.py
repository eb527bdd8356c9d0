"""The documents show what the code does: arguments TOOL EXAMPLE SOURCE_ROOT."""

import os
import re
import subprocess
import sys

import tap
from cli import CliTest

COMMANDS = ["pack", "append", "cat", "info", "verify", "encode", "decode"]


class Docs(CliTest):
    example = None
    root = None

    def source(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def test_the_example_of_the_readme_is_the_one_that_is_compiled(self):
        self.assertIn("```cpp\n" + self.source("docs/example.cc") + "```\n", self.source("README.md"))

    def test_the_example_runs(self):
        done = subprocess.run([self.example], cwd=self.dir, capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("prints `" + done.stdout.decode().strip() + "`", self.source("README.md"))
        self.ok("verify", *self.files())

    def test_the_readme_names_the_two_scripts_on_its_first_screen(self):
        first_screen = "".join(self.source("README.md").splitlines(True)[:40])
        for script in ["tools/demo.sh", "tools/test.sh"]:
            self.assertIn(script, first_screen)
            self.assertTrue(os.access(os.path.join(self.root, script), os.X_OK))

    def test_the_manual_has_every_option_of_every_command_and_no_other(self):
        manual = self.source("docs/cli.md")
        for command in COMMANDS:
            with self.subTest(command=command):
                section = re.search(rf"(?ms)^## cairn {command}\n(.*?)(?=^## |\Z)", manual).group(1)
                if "compression options" in section:
                    section += re.search(r"(?ms)^## Compression options\n(.*?)(?=^## |\Z)", manual).group(1)
                documented = set(re.findall(r"(?m)^\| `(--[a-z-]+)", section))
                shown = set(re.findall(r"(?m)^  (--[a-z-]+)", self.ok(command, "--help").decode()))
                self.assertEqual(documented, shown - {"--help"})

    def test_the_manual_lists_the_json_keys(self):
        manual = self.source("docs/cli.md")
        info = self.info(self.pack(b"data"), "--chunks")
        for key in [*info, *info["chunks"][0]]:
            self.assertRegex(manual, rf"(?m)^\| `{key}`")


if __name__ == "__main__":
    CliTest.tool, Docs.example, Docs.root = map(os.path.abspath, sys.argv[1:4])
    tap.main(__name__)
