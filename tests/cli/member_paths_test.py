"""Paths in collections: files that have those of members, too, increments, and collections in an object store. Arguments
TOOL MAKER, a program that makes weather.b2d."""

import json
import os
import shutil
import subprocess
import sys

import tap
from cli import CliTest, noise

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "support"))
from fake_store import FakeStore  # noqa: E402

TEMP = "weather.b2d/day/temp"


class MemberPaths(CliTest):
    maker = None

    def setUp(self):
        super().setUp()
        subprocess.run([self.maker], cwd=self.dir, check=True, stdout=subprocess.DEVNULL)


class StrayFiles(MemberPaths):
    def stray(self, kind):
        """Puts something where the path of the member leads."""
        self.pack(b"hello, I am a stray", name="stray", *(["--sparse"] if kind == "sparse" else []))
        if kind == "text":
            self.write("stray", b"hello, I am a stray")
        os.rename(self.path("stray"), self.path(TEMP))

    def test_commands_that_make_a_frame_refuse_paths_of_members(self):
        self.write("in", noise(5000))
        self.pack(noise(5000), name="f.b2frame")
        before = sorted(os.listdir(self.path("weather.b2d/day")))
        outside = "a path in the collection weather.b2d, where only programs add members"
        for path in [TEMP, "weather.b2d/day/new", "weather.b2d/new", TEMP + ".b2nd"]:
            for command in [["pack", "in"], ["copy", "f.b2frame"], ["backup", "f.b2frame"], ["recover", "--salvage", "f.b2frame"]]:
                for force in [[], ["--force"]] if command[0] != "recover" else [[]]:
                    with self.subTest(path=path, command=command, force=force):
                        self.assertIn(outside, self.fails(1, *command, path, *force))
        self.assertIn(outside, self.fails(1, "log", "create", TEMP, "--field", "value:f4"))
        for out in [TEMP, TEMP + "/"]:
            self.assertIn("a member of the collection", self.fails(1, "backup", "weather.b2d", out))
            self.assertIn("a member of the collection", self.fails(1, "backup", "weather.b2d", out, "--since-copy", "weather.b2d"))
        self.assertEqual(sorted(os.listdir(self.path("weather.b2d/day"))), before)
        # Others may put a frame there, and a collection may lie inside.
        self.ok("pack", "in", "weather.b2d/day/other.b2f", "--quiet")
        self.ok("backup", "weather.b2d", "weather.b2d/inner.b2d")
        self.assertEqual(self.ok("list", "weather.b2d/inner.b2d"), b"/day/rain\n/day/temp\n")

    def test_members_come_before_files_with_their_paths(self):
        expected = {command: self.ok(command, TEMP) for command in ("cat", "info")}
        for kind in ["text", "frame", "sparse"]:
            self.stray(kind)
            with self.subTest(kind):
                for command, text in expected.items():
                    self.assertEqual(self.ok(command, TEMP), text)
                for command in ["copy", "backup"]:
                    self.ok(command, TEMP, "out.b2nd", "--quiet")
                    self.assertEqual(self.ok("cat", "out.b2nd"), expected["cat"])
                    os.remove(self.path("out.b2nd"))
                self.assertIn("a member of the collection", self.fails(1, "append", TEMP, stdin=b"1234"))
                self.check_verify()
            shutil.rmtree(self.path(TEMP)) if kind == "sparse" else os.remove(self.path(TEMP))

    def check_verify(self):
        self.assertIn(TEMP.encode() + b": ok", self.ok("verify", "weather.b2d"))
        file = self.path(TEMP + ".b2nd")
        shutil.copy(file, self.path("intact"))
        with open(file, "r+b") as member:
            member.seek(150)
            member.write(b"\xff" * 40)
        for path in ["weather.b2d", "weather.b2d/day", TEMP]:
            done = self.run_tool("verify", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(TEMP.encode() + b": DAMAGED", done.stdout)
        os.remove(file)
        for command in ["cat", "verify"]:
            self.assertEqual(self.run_tool(command, TEMP).returncode, 1, "the member is gone, whatever else is there")
        self.assertIn(b"DAMAGED", self.run_tool("verify", "weather.b2d").stdout)
        shutil.move(self.path("intact"), file)

    def test_files_that_are_no_members_are_read_as_before(self):
        self.pack(noise(5000), name="f.b2frame")
        os.rename(self.path("f.b2frame"), self.path("weather.b2d/day/other"))
        self.assertEqual(self.ok("cat", "weather.b2d/day/other"), noise(5000))
        self.assertEqual(self.ok("cat", TEMP + ".b2nd"), self.ok("cat", TEMP))


class Increments(MemberPaths):
    def setUp(self):
        super().setUp()
        self.ok("backup", "weather.b2d", "copy.b2d")
        os.remove(self.path("copy.b2d/day/temp.b2nd"))
        self.ok("recover", "copy.b2d")
        for name in ["day.b2z", "day.inc"]:
            self.ok("backup", "weather.b2d", name, "--since-copy", "copy.b2d")

    def test_increment_is_told_as_such(self):
        for name in ["day.b2z", "day.inc"]:
            with self.subTest(name):
                self.assertRegex(self.ok("info", name).decode(), r"\A\S+: increment of a collection, from commit \d+ to \d+\n\Z")
                self.assertEqual(json.loads(self.ok("info", name, "--json"))["kind"], "increment")
                self.assertIn(b"note: an increment of a collection", self.ok("verify", name))
                told = "an increment of a collection, from commit "
                for command in [["list", name], ["cat", name + "/day/temp"], ["info", name + "/day/temp"], ["copy", name + "/day/temp", "out"],
                                ["backup", name, "out.b2d"], ["backup", name, "out.b2z"]]:  # fmt: skip
                    self.assertIn(told, self.fails(1, *command), command)
                self.assertIn(told, self.fails(1, "backup", "weather.b2d", "next.b2z", "--since-copy", name))
        self.assertFalse({"out", "out.b2d", "out.b2z", "next.b2z"} & set(self.files()))
        self.ok("restore", "copy.b2d", "day.inc")
        self.assertEqual(self.ok("cat", "copy.b2d/day/temp"), self.ok("cat", TEMP))

    def test_increment_of_a_frame_is_no_copy(self):
        self.pack(noise(5000), name="f.b2frame")
        self.ok("backup", "f.b2frame", "copy.b2frame", "--quiet")
        self.ok("append", "f.b2frame", "--quiet", stdin=noise(100))
        self.ok("backup", "f.b2frame", "one.inc", "--since-copy", "copy.b2frame", "--quiet")
        self.assertIn("an increment, which is no copy", self.fails(1, "backup", "f.b2frame", "two.inc", "--since-copy", "one.inc"))
        self.assertNotIn("two.inc", self.files())

    def test_zip_file_of_anything_else_is_no_collection(self):
        self.write("other.zip", b"PK\3\4" + noise(500))
        self.assertIn("not a Blosc2 frame", self.fails(1, "info", "other.zip"))


class Stores(MemberPaths):
    def setUp(self):
        super().setUp()
        store = FakeStore.serving(self.addCleanup)
        self.uri = "s3://bucket/o.b2d"
        self.run_tool("backup", "weather.b2d", self.uri)
        if not store.requests:
            self.skipTest("the tool has no object stores")

    def test_groups_are_told_from_members(self):
        group = self.uri + "/day"
        self.assertIn(b"collection of 2 members", self.ok("info", group))
        self.assertEqual(self.ok("list", group), b"/day/rain\n/day/temp\n")
        self.assertEqual(len(json.loads(self.ok("verify", group, "--json"))), 2)
        self.ok("compact", group)
        self.ok("compact", group + "/temp")
        self.assertIn("no member /night", self.fails(1, "info", self.uri + "/night"))
        self.assertIn("no member", self.fails(1, "compact", self.uri + "/night"))
        self.assertIn("name one of its members", self.fails(1, "cat", group))

    def test_recovery_is_not_there(self):
        self.assertIn("a collection in an object store is not recovered", self.fails(1, "recover", self.uri))

    def test_collection_inside_another_one_is_reached(self):
        inner = self.uri + "/sub.b2d"
        self.ok("backup", "weather.b2d", inner)
        self.assertEqual(self.ok("list", inner), b"/day/rain\n/day/temp\n")
        self.assertEqual(self.ok("list", self.uri), b"/day/rain\n/day/temp\n")
        for path in [self.uri, inner]:
            self.assertEqual(self.ok("cat", path + "/day/temp"), self.ok("cat", TEMP))
            self.ok("verify", path)
        self.assertIn("no member /other.b2d/m", self.fails(1, "cat", self.uri + "/other.b2d/m"))

    def test_frames_do_not_get_paths_of_members(self):
        self.write("in", noise(5000))
        for path in ["/day/temp", "/new", "/day/temp.b2nd"]:
            self.assertIn("where only programs add members", self.fails(1, "pack", "in", self.uri + path))


if __name__ == "__main__":
    CliTest.tool, MemberPaths.maker = map(os.path.abspath, sys.argv[1:3])
    tap.main(__name__)
