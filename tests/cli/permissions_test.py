"""Whatever copies a frame makes one that is open to nobody to whom the frame is not."""

import os
import shutil
import subprocess
import sys
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
