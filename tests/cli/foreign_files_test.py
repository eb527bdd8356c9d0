"""What others put in the way: FIFOs, sockets, devices and directories where a file is expected."""

import os
import socket
import stat
import subprocess
import sys

import tap
from cli import CliTest


class ForeignFiles(CliTest):
    def put(self, kind, name):
        """Puts something at a name in the folder, and gives the word that messages have for it."""
        path = self.path(name)
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "socket":
            os.mknod(path, stat.S_IFSOCK | 0o600)
        elif kind == "device":
            os.symlink("/dev/zero", path)
        elif kind == "loop":
            os.symlink(name, path)
        return {"fifo": "a FIFO", "socket": "a socket", "device": "a device", "loop": "a symbolic link"}[kind]

    def fails_at_once(self, *args, stdin=b""):
        """The tool says what failed, and waits for nobody: nothing ever opens the other end."""
        done = subprocess.run([self.tool, *args], cwd=self.dir, input=stdin, capture_output=True, timeout=60,
                              check=False)  # fmt: skip
        self.assertEqual(done.returncode, 1, (args, done))
        return (done.stdout + done.stderr).decode()

    def test_lock_file_that_is_none_is_named_with_its_owner(self):
        self.pack(b"data", name="f")
        for kind in ["fifo", "socket", "loop"]:
            what = self.put(kind, "f.b2lock")
            for command in [["append", "f", "-"], ["compact", "f"], ["reclaim", "f"],
                            ["meta", "set", "f", "a=b"], ["chunk", "delete", "f", "0"]]:  # fmt: skip
                with self.subTest(kind=kind, command=command):
                    message = self.fails_at_once(*command)
                    self.assertRegex(message, rf"f\.b2lock.*{what} of user .*uid {os.geteuid()}\), mode 0\d+")
                    self.assertIn("remove it", message)
            self.assertEqual(self.ok("cat", "f"), b"data")
            os.remove(self.path("f.b2lock"))
        self.ok("append", "f", "-", stdin=b"more")

    def test_path_of_a_frame_that_is_no_file_never_waits(self):
        self.pack(b"data", name="good")
        for kind in ["fifo", "socket", "device", "loop"]:
            what = self.put(kind, "f")
            for command in [["info", "f"], ["cat", "f"], ["verify", "f"], ["history", "f"], ["copy", "f", "new"],
                            ["meta", "ls", "f"], ["append", "f", "-"], ["compact", "f"], ["reclaim", "f"],
                            ["recover", "f"], ["recover", "--salvage", "f", "new"], ["backup", "f", "new"],
                            ["backup", "good", "new", "--since-copy", "f"], ["restore", "f", "good"],
                            ["restore", "good", "f"], ["log", "stat", "f"], ["log", "tail", "f"],
                            ["log", "append", "f", "-"]]:  # fmt: skip
                with self.subTest(kind=kind, command=command):
                    self.assertIn(f"{what} of user ", self.fails_at_once(*command))
            os.remove(self.path("f"))
        self.assertEqual(self.files(), ["good"])

    def test_target_that_is_no_file_is_left_alone(self):
        self.pack(b"data", name="good")
        for kind in ["fifo", "socket", "device"]:
            self.put(kind, "f")
            for command in [["copy", "good", "f"], ["backup", "good", "f"], ["pack", "-", "f"]]:
                for force in [[], ["--force"]]:
                    with self.subTest(kind=kind, command=command, force=force):
                        self.assertIn("not a frame", self.fails_at_once(*command, *force))
            self.assertFalse(stat.S_ISREG(os.lstat(self.path("f")).st_mode))
            os.remove(self.path("f"))

    def test_entries_of_a_sparse_frame_that_are_no_files(self):
        for name, commands in {"chunks.b2frame": [["cat", "s"], ["append", "s", "-"], ["recover", "s"]],
                               "00000000.chunk": [["cat", "s"], ["verify", "s"], ["backup", "s", "new"]],
                               ".b2lock": [["append", "s", "-"]]}.items():  # fmt: skip
            self.pack(b"data" * 1000, "--sparse", name="s")
            for kind in ["fifo", "socket"]:
                entry = os.path.join("s", name)
                if os.path.lexists(self.path(entry)):
                    os.remove(self.path(entry))
                what = self.put(kind, entry)
                for command in commands:
                    with self.subTest(kind=kind, command=command):
                        self.assertIn(f"{what} of user ", self.fails_at_once(*command))
                os.remove(self.path(entry))
            subprocess.run(["rm", "-r", self.path("s")], check=True)

    def test_numbers_of_chunk_files_that_are_taken_are_passed_over(self):
        self.pack(b"data" * 1000, "--sparse", "--chunk-size", 1000, name="s")
        os.mkfifo(self.path("s/00000004.chunk"))
        os.mkdir(self.path("s/00000005.chunk"))
        self.ok("append", "s", "-", stdin=b"more" * 1000)
        self.assertEqual(self.ok("cat", "s"), b"data" * 1000 + b"more" * 1000)

    def test_names_of_unfinished_frames_that_are_taken(self):
        self.pack(b"data", name="f")
        os.mkfifo(self.path("f.0123456789abcdef.tmp"))
        with socket.socket(socket.AF_UNIX) as listener:
            os.chdir(self.dir)
            listener.bind("f.0123456789abcdee.tmp")
        os.mkdir(self.path("f.0123456789abcded.tmp"))
        self.write("f.0123456789abcded.tmp/precious", b"!")
        self.ok("append", "f", "-", stdin=b"more")
        self.ok("compact", "f")
        self.assertEqual(self.read("f.0123456789abcded.tmp/precious"), b"!")

    def test_database_of_sqlite_whose_newest_rows_lie_beside_it_is_not_packed(self):
        self.write("app.db", b"SQLite format 3\0" + b"page" * 1000)
        os.mkdir(self.path("folder"))
        os.symlink("../app.db", self.path("folder/link.db"))
        self.pack(b"data", name="f")
        for suffix in ["-wal", "-journal"]:
            self.write("app.db" + suffix, b"frames of a log, or pages of a journal")
            for name in ["app.db", "folder/link.db"]:
                for command in [["pack", name, "new"], ["append", "f", name]]:
                    with self.subTest(suffix=suffix, command=command):
                        message = self.fails(1, *command)
                        self.assertRegex(message, f"{name}: expected a whole database, but .*/app.db{suffix} holds")
                        self.assertNotIn("new", self.files())
            self.assertEqual(self.ok("cat", "f"), b"data")
            # Its bytes alone, as they are, come by standard input.
            self.ok("pack", "-", "bytes" + suffix, stdin=self.read("app.db"))
            os.remove(self.path("app.db" + suffix))

    def test_files_beside_a_database_that_hold_none_of_it_do_not_matter(self):
        database = b"SQLite format 3\0" + b"page" * 1000
        for i, (content, beside) in enumerate([
                (database, {"in-wal": b"", "in-journal": b""}),
                (database, {"in-journal": bytes(512) + b"left by journal_mode=PERSIST"}),
                (b"another file", {"in-wal": b"log", "in-journal": b"journal"}),
        ]):  # fmt: skip
            for name, bytes_beside in {"in": content, **beside}.items():
                self.write(name, bytes_beside)
            with self.subTest(beside=beside):
                self.ok("pack", "in", f"f{i}")
                self.assertEqual(self.ok("cat", f"f{i}"), content)
            for name in beside:
                os.remove(self.path(name))


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
