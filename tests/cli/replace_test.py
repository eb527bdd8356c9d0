"""What a new frame takes the place of, and what it never does."""

import os
import sys

import tap
from cli import CliTest, noise, sample


class Order(CliTest):
    def test_pack_reads_its_first_file_and_makes_the_second(self):
        data = sample(5000)
        self.write("raw", data)
        self.ok("pack", "raw", "frame", "--quiet")
        self.assertEqual((self.read("raw"), self.ok("cat", "frame")), (data, data))

    def test_both_files_are_named(self):
        for args in [[], ["-"], ["--force"]]:
            self.assertIn("required", self.fails(2, "pack", *args, stdin=b"data"))
        self.assertEqual(self.files(), [])

    def test_the_order_of_older_tools_loses_no_data(self):
        data = sample(5000)
        self.write("raw", data)
        self.fails(1, "pack", "frame", "raw", "--force")
        self.pack(b"old", name="frame")
        self.fails(1, "pack", "frame", "raw", "--force")
        self.assertEqual((self.read("raw"), self.ok("cat", "frame")), (data, b"old"))


class NoFrames(CliTest):
    """A file may be a user's data."""

    def setUp(self):
        super().setUp()
        self.frame = self.pack(b"new", name="new")

    def stays(self, name):
        """Nothing that makes a frame replaces it."""
        before = self.files()
        for args in [[], ["--force"], ["--force", "--sparse"]]:
            for command in ["pack", "copy"]:
                with self.subTest(name=name, command=command, args=args):
                    message = self.fails(1, command, self.frame, name, *args)
                    self.assertRegex(message, f"\\Acairn: {name}: exists and is not a frame")
        self.fails(1, "recover", "--salvage", self.frame, name)
        self.assertEqual(self.files(), before)

    def test_files_stay(self):
        for name, content in {"raw": sample(5000), "noise": noise(300), "empty": b"", "short": b"\x9e\xa8",
                              "text": b"b2frame\0", "zeros": bytes(5000)}.items():  # fmt: skip
            self.write(name, content)
            self.stays(name)
            self.assertEqual(self.read(name), content)

    def test_targets_of_links_stay(self):
        self.write("raw", b"data")
        os.symlink("raw", self.path("link"))
        self.stays("link")
        self.assertEqual((self.read("raw"), os.readlink(self.path("link"))), (b"data", "raw"))

    def test_directories_stay(self):
        os.mkdir(self.path("empty"))
        self.stays("empty")
        os.mkdir(self.path("work"))
        self.write("work/notes", b"text")
        self.stays("work")
        self.assertEqual(self.read("work/notes"), b"text")

    def test_what_is_no_file_stays(self):
        os.mkfifo(self.path("pipe"))
        self.stays("pipe")

    def test_a_file_that_comes_while_the_frame_is_made_stays(self):
        for args in [[], ["--force"]]:
            with self.subTest(args=args):
                tool = self.start("pack", "-", "late", *args)
                self.wait_for_temporary()
                self.write("late", b"data")
                tool.stdin.write(b"items")
                tool.stdin.close()
                self.assertEqual(tool.wait(60), 1)
                self.assertIn(b"late: exists and is not a frame", tool.stderr.read())
                self.assertEqual((self.read("late"), self.files()), (b"data", ["late", "new"]))
                os.remove(self.path("late"))


class Frames(CliTest):
    def is_replaced(self, name):
        self.ok("pack", "-", name, "--force", "--quiet", stdin=b"new")
        self.assertEqual(self.ok("cat", name), b"new")

    def test_of_both_layouts(self):
        self.is_replaced(self.pack(b"old", name="file"))
        self.is_replaced(self.pack(b"old", "--sparse", name="directory"))

    def test_of_all_ages(self):
        for name in ["packed/lz4-delta.packed", "old/b2019/frames/delta.b2frame", "old/beta2/frames/delta.b2frame",
                     "old/v200/cframes/delta.b2frame", "cframes/one-lz4.b2frame"]:  # fmt: skip
            with self.subTest(name=name):
                self.is_replaced(self.copy_vector(name))

    def test_that_are_damaged(self):
        whole = self.read(self.pack(noise(5000)))
        for content in [whole[:100], whole[:2000] + bytes(1000) + whole[3000:], whole[:20] + bytes(len(whole) - 20)]:
            self.is_replaced(self.write("damaged", content))
        self.pack(noise(5000), "--sparse", name="directory")
        self.write("directory/chunks.b2frame", noise(500))
        self.is_replaced("directory")

    def test_through_links(self):
        os.symlink(self.pack(b"old"), self.path("link"))
        self.is_replaced("link")
        self.assertEqual(self.ok("cat", "f.b2frame"), b"new")

    def test_of_a_link_to_nothing(self):
        os.symlink("nothing", self.path("link"))
        log = ["log", "create", "link", "--field", "time:timestamp[ms]"]
        for command in [log, [*log, "--rotate-every", "1d"], ["pack", "-", "link"], ["pack", "-", "link", "--sparse"]]:
            with self.subTest(command=command):
                done = self.run_tool(*command, stdin=b"data")
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"File exists; it is a link to nothing", done.stderr)

    def test_only_with_force(self):
        frame = self.pack(b"old")
        self.assertIn("--force replaces it", self.fails(1, "pack", "-", frame, stdin=b"new"))
        self.assertEqual(self.ok("cat", frame), b"old")


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
