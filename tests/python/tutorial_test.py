"""The tutorial shows what happens: its Python and its shell run in turns, in one folder."""

import doctest
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import unittest

from support import PackageTest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
END = "--end of command--"


def document(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


class Shell:
    """One bash for all commands, as a reader has one: it keeps variables and functions."""

    def __init__(self, folder, path):
        self.bash = subprocess.Popen(["bash"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                     env={**os.environ, "PATH": path})  # fmt: skip

    def run(self, command):
        """Returns what the command prints, and its status."""
        self.bash.stdin.write(f"{command}\nprintf '%s %s\\n' '{END}' $?\n")
        self.bash.stdin.flush()
        printed = ""
        for line in self.bash.stdout:
            if line.startswith(END):
                return printed, int(line.split()[-1])
            printed += line
        return printed, "the shell ended"

    def close(self):
        self.bash.stdin.close()
        self.bash.stdout.close()
        self.bash.wait()


class TutorialTest(PackageTest):
    def setUp(self):
        super().setUp()
        tools = self.path("bin")
        os.mkdir(tools)
        os.symlink(os.environ["CAIRN_TOOL"], os.path.join(tools, "cairn"))
        python = os.path.join(tools, "python")
        with open(python, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        os.chmod(python, 0o755)
        self.shell = Shell(self.folder, os.pathsep.join([tools, os.environ["PATH"]]))
        self.addCleanup(self.shell.close)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.names = {}

    def run_python(self, block, where):
        examples = doctest.DocTestParser().get_doctest(block, self.names, where, where, 0)
        told = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        failed, tried = runner.run(examples, out=told.append, clear_globs=False)
        self.names = examples.globs
        self.assertEqual(failed, 0, "".join(told))
        self.assertGreater(tried, 0, where)

    def run_console(self, block):
        for command, expected in re.findall(r"(?m)^\$ (.*(?:\n> .*)*)\n((?:(?!\$ ).*\n)*)", block):
            with self.subTest(command=command):
                printed, status = self.shell.run(command.replace("\n> ", "\n"))
                self.assertEqual(status, 0)
                pattern = re.sub(r"([\[\]?*])", r"[\1]", expected).replace("...", "*")
                self.assertTrue(fnmatch.fnmatchcase(printed, pattern), f"expected:\n{expected}\ngot:\n{printed}")

    def run_section(self, section):
        title = section.partition("\n")[0]
        for language, block in re.findall(r"(?ms)^```(python|console)\n(.*?)^```$", section):
            if language == "console":
                self.run_console(block)
            elif ">>>" in block:
                self.run_python(block, title)
            else:
                with open(re.search(r"Save it as `(.*)`", section).group(1), "w", encoding="utf-8") as file:
                    file.write(block)

    def test_each_section_shows_what_happens(self):
        sections = document("docs/tutorial.md").split("\n## ")[1:]
        self.assertGreater(len(sections), 7)
        for section in sections:
            if "SQLite" in section.partition("\n")[0] and not (shutil.which("sqlite3") and self.extension()):
                continue
            self.run_section(section)

    def extension(self):
        return os.path.exists(os.environ.get("CAIRN_SQLITE", ""))

    def test_it_installs_as_the_readme_does(self):
        section = re.search(r"(?ms)^## Install\n.*?^## ", document("docs/tutorial.md")).group(0)
        wheel, install = re.findall(r"(?ms)^```sh\n(.*?)^```$", section)
        self.assertIn("cairn_frames-", wheel)
        readme = document("README.md")
        lines = [line for line in install.splitlines() if line not in ("sudo ldconfig", ". venv/bin/activate")]
        self.assertGreater(len(lines), 4)
        for line in lines:
            self.assertIn(line, readme)


if __name__ == "__main__":
    unittest.main()
