"""The man page and the completions have every command and option that the help of the tool has."""

import os
import re
import shutil
import subprocess
import sys

import tap
from cli import CliTest

# Stands in for the functions that a shell offers while it completes, and prints what they are given.
ZSH = """
_describe() { print -l -- ${(P)2%%%%:*} }
_arguments() { print -l -- ${@%%%%\\[*} }
words=(%s) CURRENT=%d
source %s
"""


class HelpFiles(CliTest):
    man = bash = zsh = fish = None  # paths

    def setUp(self):
        super().setUp()
        if not hasattr(HelpFiles, "helps"):
            HelpFiles.helps = dict(self.all_helps(()))

    def all_helps(self, path):
        """Yields each command, as a tuple of words, with its commands and its options."""
        text = self.ok(*path, "--help").decode()
        commands = re.findall(r"(?m)^  (\S+)", re.search(r"(?s)\nSubcommands:\n(.*?)(\n\n|$)", text + "\n\n").group(1)) \
            if "\nSubcommands:\n" in text else []  # fmt: skip
        options = re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", re.search(r"(?s)\nOptions:\n(.*?)(\n\n|$)", text + "\n\n").group(1))
        yield path, (commands, options)
        for command in commands:
            yield from self.all_helps((*path, command))

    def shell(self, name, *args):
        if shutil.which(name) is None:
            self.skipTest(f"no {name}")
        done = subprocess.run([name, *args], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def in_bash(self, *words):
        typed = " ".join(f"'{word}'" for word in words)
        return self.shell("bash", "--norc", "-c", f"source '{self.bash}'; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}\n"
                          '_cairn; printf "%s\\n" "${COMPREPLY[@]}"').split()  # fmt: skip

    def in_fish(self, line):
        lines = self.shell("fish", "--no-config", "-c", f"source '{self.fish}'; complete -C '{line}'").splitlines()
        return [line.split("\t")[0] for line in lines]

    def in_zsh(self, *words):
        typed = " ".join(f"'{word}'" for word in words)
        return self.shell("zsh", "-f", "-c", ZSH % (typed, len(words), f"'{self.zsh}'")).split()

    def test_man_page_is_formatted_without_warnings(self):
        self.shell("groff", "-man", "-ww", "-z", self.man)

    def test_man_page_has_every_option_of_every_command(self):
        with open(self.man, encoding="ascii") as file:
            sections = dict(re.findall(r"(?ms)^\.SS (.*?)\n(.*?)(?=^\.SS |\Z)", file.read().replace("\\-", "-")))
        expected = {" ".join(path): options for path, (commands, options) in self.helps.items() if not commands}
        self.assertEqual(sections.keys(), expected.keys())
        for command, options in expected.items():
            with self.subTest(command=command):
                self.assertEqual(["--help", *re.findall(r"(?m)^\\fB(?:-\w\\fR, \\fB)?(--[\w-]+)", sections[command])], options)
                self.assertIn(f"\n.B cairn {command} [OPTIONS]", sections[command])

    def test_bash_completes_every_command_and_option(self):
        for path, (commands, options) in self.helps.items():
            with self.subTest(path=path):
                self.assertEqual(self.in_bash("cairn", *path, ""), commands)
                self.assertEqual(self.in_bash("cairn", *path, "-"), options)
        self.assertEqual(self.in_bash("cairn", "log", "cr"), ["create"])

    def test_zsh_completes_every_command_and_option(self):
        self.shell("zsh", "-n", self.zsh)
        for path, (commands, options) in self.helps.items():
            with self.subTest(path=path):
                if commands:
                    self.assertEqual(self.in_zsh("cairn", *path, ""), commands)
                found = self.in_zsh("cairn", *path, "-")
                self.assertEqual([word.strip("*=") for word in found if word.strip("*=").startswith("--")], options)

    def test_fish_completes_every_command_and_option(self):
        for path, (commands, options) in self.helps.items():
            with self.subTest(path=path):
                line = " ".join(("cairn", *path))
                if commands:
                    self.assertCountEqual(self.in_fish(line + " "), commands)
                self.assertCountEqual(self.in_fish(line + " --"), options)

    def test_words_that_an_option_takes_are_completed(self):
        for path, option, words in [
            (("pack",), "--fingerprint", ["none", "xxh32", "xxh3-64", "xxh3-128"]),
            (("append",), "--durability", ["process", "machine"]),
            (("log", "query"), "--format", ["csv", "jsonl", "raw"]),
        ]:
            with self.subTest(option=option):
                self.assertEqual(self.in_bash("cairn", *path, option, ""), words)
                self.assertEqual(self.in_bash("cairn", *path, option, "=", ""), words)
                self.assertCountEqual(self.in_fish(" ".join(("cairn", *path, option, ""))), words)
                with open(self.zsh, encoding="utf-8") as file:
                    self.assertRegex(file.read(), rf"'{option}=\[[^]]*\]:\w+:\({' '.join(words)}\)'")

    def test_command_is_completed_after_flags_of_the_program(self):
        self.assertEqual(self.in_bash("cairn", "--verbose", "log", "--anonymous", "cr"), ["create"])
        self.assertIn("append", self.in_zsh("cairn", "--verbose", "log", ""))
        self.assertEqual(self.in_fish("cairn --verbose log --anonymous cr"), ["create"])

    def test_man_page_has_flags_of_the_program_exit_statuses_and_variables(self):
        with open(self.man, encoding="ascii") as file:
            text = file.read().replace("\\-", "-")
        options = re.search(r"(?ms)^\.SH OPTIONS\n(.*?)^\.SH ", text)[1]
        self.assertEqual(["--help", *re.findall(r"(?m)^\\fB(?:-\w\\fR, \\fB)?(--[\w-]+)", options)], self.helps[()][1])
        for title, word in [("EXIT STATUS", "fB2"), ("ENVIRONMENT", "CAIRN_CALL_TIMEOUT"), ("SEE ALSO", "cli.md")]:
            self.assertRegex(text, rf"(?s)\n\.SH {title}\n.*{word}")

    def test_word_of_a_command_that_follows_an_option_is_no_command(self):
        self.assertEqual(self.in_bash("cairn", "log", "import", "--columns", "query", "--by"), [])
        self.assertEqual(self.in_fish("cairn log import --columns query --by"), [])


if __name__ == "__main__":
    CliTest.tool, HelpFiles.man, HelpFiles.bash, HelpFiles.zsh, HelpFiles.fish = map(os.path.abspath, sys.argv[1:6])
    tap.main(__name__)
