"""Whatever copies a frame makes one that is open to nobody to whom the frame is not."""

import os
import shutil
import subprocess
import sys
import time
import unittest

import tap
from cli import CliTest, sample


class Permissions(CliTest):
    COPIES = {
        "backup": ["backup", "f", "new"],
        "increment": ["backup", "f", "new", "--since-copy", "f"],
        "copy": ["copy", "f", "new"],
        "recoded copy": ["copy", "f", "new", "--codec", "zstd"],
        "sparse copy": ["copy", "f", "new", "--sparse"],
        "salvage": ["recover", "--salvage", "f", "new"],
        "pack": ["pack", "f", "new"],
    }

    def setUp(self):
        super().setUp()
        old = os.umask(0o022)
        self.addCleanup(os.umask, old)

    def mode(self, name):
        return os.stat(self.path(name)).st_mode & 0o7777

    def modes(self, name):
        """Of a file, or of the files in a directory."""
        if not os.path.isdir(self.path(name)):
            return {self.mode(name)}
        return {self.mode(os.path.join(name, entry)) for entry in os.listdir(self.path(name))}

    def remove(self, name):
        path = self.path(name)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def test_new_copy_is_no_wider_than_its_source(self):
        self.pack(sample(5000), "--chunk-size", "1KiB", name="f")
        for mode in [0o600, 0o640, 0o644, 0o440]:
            os.chmod(self.path("f"), mode)
            for what, command in self.COPIES.items():
                with self.subTest(what=what, mode=oct(mode)):
                    self.ok(*command)
                    if os.path.isdir(self.path("new")):
                        self.assertEqual(self.mode("new"), 0o700 | mode | (mode & 0o444) >> 2)
                        self.assertEqual({m & 0o077 for m in self.modes("new")}, {mode & 0o077})
                    else:
                        self.assertEqual(self.mode("new"), mode)
                    self.remove("new")

    @unittest.skipIf(os.geteuid() != 0, "only root may take another user")
    def test_edit_of_a_stranger_is_whole_or_none(self):
        """Who may write a file but not give it away: what fails has changed nothing."""
        os.chmod(self.dir, 0o777)
        stranger = {"user": 4321, "group": 4321, "extra_groups": []}
        try:
            self.run_tool("--version", **stranger)
        except PermissionError:
            self.skipTest("another user may not run the tool")
        self.write("row", b"1.5\n")
        self.write("text", b"hi")
        log = ["log", "create", "f", "--field", "time:timestamp[ms]", "--field", "temp:f4", "--quiet"]
        rows = ["log", "append", "f", "row", "--columns", "temp", "--stamp", "--quiet"]
        makers = {
            "empty log": [log], "log": [log, rows], "log without records": [log, rows, ["log", "retain", "f", "--retain-age", "1ms", "--quiet"]],
            "empty frame": [["pack", "text", "f", "--typesize", 4]], "frame": [["pack", "row", "f"]],
        }  # fmt: skip
        self.write("text", b"")
        done = set()
        for what, made in makers.items():
            edits = [["log", "retain", "f", "--retain-records", 5], rows, ["log", "import", *rows[2:]]] if "log" in what else [["append", "f", "row"]]
            for edit in [*edits, ["meta", "set", "f", "note", "row"], ["reclaim", "f"], ["compact", "f"], ["recover", "f"]]:
                with self.subTest(what=what, edit=edit):
                    if "f" in self.files():
                        self.remove("f")
                    for command in made:
                        self.ok(*command)
                        time.sleep(0.002)
                    os.chmod(self.path("f"), 0o666)
                    before = self.read("f")
                    result = self.run_tool(*edit, **stranger)
                    if result.returncode == 0:
                        done.add((what, edit[0], edit[1]))
                    else:
                        self.assertEqual(self.read("f"), before, result.stderr)
                        self.assertIn(edit[0], ("compact", "reclaim"), result.stderr)  # which write a new file
                    self.assertEqual(self.files(), ["f", "row", "text"])
        self.assertIn(("empty log", "log", "retain"), done)
        self.assertIn(("log without records", "log", "retain"), done)
        self.assertIn(("empty frame", "meta", "set"), done)

    def test_umask_narrows_a_copy(self):
        self.pack(sample(5000), name="f")
        os.chmod(self.path("f"), 0o666)
        os.umask(0o077)
        for what, command in self.COPIES.items():
            with self.subTest(what=what):
                self.ok(*command)
                self.assertEqual(self.modes("new"), {0o600})
                self.remove("new")

    def test_copy_that_replaces_another_is_no_wider_than_either(self):
        self.pack(sample(5000), name="f")
        for source, old, expected in [(0o600, 0o644, 0o600), (0o644, 0o600, 0o600), (0o640, 0o664, 0o640)]:
            for what in ["backup", "copy", "recoded copy", "pack"]:
                with self.subTest(what=what, source=oct(source), old=oct(old)):
                    self.pack(b"old", name="new")
                    os.chmod(self.path("f"), source)
                    os.chmod(self.path("new"), old)
                    self.ok(*self.COPIES[what], "--force")
                    self.assertEqual(self.mode("new"), expected)
                    self.remove("new")

    def test_sparse_frame_is_copied_with_the_permissions_of_its_directory(self):
        self.pack(sample(5000), "--sparse", "--chunk-size", "1KiB", name="s")
        os.chmod(self.path("s"), 0o700)
        for command in [["backup", "s", "new"], ["copy", "s", "new"], ["copy", "s", "new", "--sparse"]]:
            with self.subTest(command=command):
                self.ok(*command)
                self.assertEqual({mode & 0o077 for mode in self.modes("new")}, {0})
                self.assertEqual(self.mode("new") & 0o077, 0)
                self.remove("new")

    @unittest.skipUnless(shutil.which("setfacl"), "no setfacl")
    def test_default_list_of_the_directory_opens_no_copy(self):
        self.pack(sample(5000), name="f")
        os.chmod(self.path("f"), 0o600)
        if subprocess.run(["setfacl", "-d", "-m", "u:1:rwx", self.dir], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("no access control lists here")
        for what, command in self.COPIES.items():
            with self.subTest(what=what):
                self.ok(*command)
                self.assertEqual({mode & 0o077 for mode in self.modes("new")}, {0})
                self.remove("new")


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
