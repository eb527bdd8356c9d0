"""Copies of a frame in use, and increments that bring them up to date."""

import json
import os
import shutil
import sys

import tap
from cli import CliTest, noise, sample

ITEM = 4
CHUNK = 4096


class Backup(CliTest):
    def setUp(self):
        super().setUp()
        self.frame = self.pack(sample(20_000), "--typesize", ITEM, "--chunk-size", CHUNK)

    def append(self, data):
        self.ok("append", self.frame, "--quiet", stdin=data)

    def same(self, name):
        self.ok("verify", name)
        self.assertEqual(self.ok("cat", name), self.ok("cat", self.frame))


class Full(Backup):
    def test_a_copy_beside_a_writer(self):
        writer = self.start("append", self.frame, "--commit-every", 5, "--ack")
        writer.stdin.write(noise(20))
        writer.stdin.flush()
        self.assertEqual(writer.stdout.readline(), b"committed 5005\n")
        report = self.ok("backup", self.frame, "copy").decode()
        self.assertRegex(report, r"^copy: generation \d+, [\d.]+ KiB in 5 chunks\n$")
        self.same("copy")
        writer.stdin.close()
        self.assertEqual(writer.wait(60), 0)

    def test_it_keeps_the_layout(self):
        self.ok("copy", self.frame, "sparse", "--sparse", "--quiet")
        self.ok("backup", "sparse", "copy", "--quiet")
        self.assertEqual(self.info("copy")["kind"], "sparse")
        self.same("copy")

    def test_it_replaces_frames_only_when_told_and_nothing_else(self):
        self.ok("backup", self.frame, "copy", "--quiet")
        self.assertIn("--force", self.fails(1, "backup", self.frame, "copy"))
        self.ok("backup", self.frame, "copy", "--force", "--quiet")
        self.write("letter", b"dear")
        self.fails(1, "backup", self.frame, "letter", "--force")
        self.assertEqual(self.read("letter"), b"dear")

    def test_json(self):
        report = json.loads(self.ok("backup", self.frame, "copy", "--json"))
        self.assertEqual(report["generation"], self.info(self.frame)["generation"])
        self.assertEqual(report["nchunks"], 5)
        self.assertEqual(report["size"], len(self.read("copy")))


class Increments(Backup):
    def setUp(self):
        super().setUp()
        self.ok("backup", self.frame, "copy", "--quiet")

    def ship(self, name, *args):
        self.ok("backup", self.frame, name, "--quiet", "--force", *(args or ["--since-copy", "copy"]))

    def test_a_copy_follows(self):
        for number, edit in enumerate(
            [
                ["append", self.frame, "--quiet"],
                ["chunk", "insert", self.frame, 1, "--quiet"],
                ["chunk", "update", self.frame, 3, "--quiet"],
                ["chunk", "delete", self.frame, 0, "--quiet"],
                ["meta", "set", self.frame, "note"],
                ["compact", self.frame, "--quiet"],
            ]
        ):
            with self.subTest(edit=edit):
                self.ok(*edit, stdin=noise(CHUNK, number))
                self.ship("news")
                self.ok("verify", "news")
                self.ok("restore", "copy", "news", "--quiet")
                self.same("copy")
                self.assertEqual(self.info("copy")["vlmetalayers"], self.info(self.frame)["vlmetalayers"])

    def test_an_increment_holds_what_changed_only(self):
        self.ok("chunk", "update", self.frame, 2, "--quiet", stdin=noise(CHUNK))
        self.ship("news")
        self.assertEqual(self.info("news")["nchunks"], 1)

    def test_since_a_generation(self):
        writer = self.start("append", self.frame, "--commit-every", 5, "--ack")

        def commit(items):
            writer.stdin.write(items)
            writer.stdin.flush()
            self.assertTrue(writer.stdout.readline().startswith(b"committed"))

        commit(noise(20, 1))
        first = json.loads(self.ok("backup", self.frame, "copy", "--force", "--json"))["generation"]
        commit(noise(20, 2))
        commit(noise(20, 3))
        report = json.loads(self.ok("backup", self.frame, "news", "--since", first, "--json"))
        self.assertEqual((report["since"], report["generation"]), (first, first + 2))
        self.ok("restore", "copy", "news", "--quiet")
        writer.stdin.close()
        self.assertEqual(writer.wait(60), 0)
        self.same("copy")

    def test_a_generation_that_is_gone(self):
        self.ok("compact", self.frame, "--quiet")
        self.assertIn("--since-copy", self.fails(1, "backup", self.frame, "news", "--since", 1))
        self.assertNotIn("news", self.files())

    def test_several_and_again(self):
        shutil.copy(self.path("copy"), self.path("other"))
        for name in ["one", "two", "three"]:
            self.append(noise(4000, len(name)))
            self.ship(name)
            self.ok("restore", "copy", name, "--quiet")
        self.ok("restore", "other", "one", "--quiet")
        report = json.loads(self.ok("restore", "other", "one", "two", "three", "--json"))
        self.assertEqual(report, {"applied": 2, "skipped": 1})
        self.same("other")
        self.assertIn("already", self.ok("restore", "other", "one", "two", "three").decode())

    def test_another_order_is_refused(self):
        shutil.copy(self.path("copy"), self.path("other"))
        for name in ["one", "two", "three"]:
            self.append(noise(4000, len(name)))
            self.ship(name)
            self.ok("restore", "copy", name, "--quiet")
        self.ok("restore", "other", "one", "--quiet")
        before = self.read("other")
        for order in [["three", "two", "one"], ["two", "one"]]:
            message = self.fails(1, "restore", "other", *order)
            self.assertIn(f"{order[0]}: made after {order[-1]}", message)
            self.assertIn("the oldest first", message)
            self.assertEqual(self.read("other"), before)

    def test_another_content_is_refused(self):
        self.append(noise(400))
        self.ship("news")
        self.ok("append", "copy", "--quiet", stdin=noise(40))
        before = self.read("copy")
        self.assertIn("applies to content", self.fails(1, "restore", "copy", "news"))
        self.assertEqual(self.read("copy"), before)
        self.assertIn("not an increment", self.fails(1, "restore", "copy", self.frame))


class Durable(Backup):
    def test_follow_shows_what_is_durable(self):
        writer = self.start("append", self.frame, "--commit-every", 5, "--ack", "--durability", "process")
        writer.stdin.write(noise(20))
        writer.stdin.flush()
        self.assertEqual(writer.stdout.readline(), b"committed 5005\n")
        self.assertEqual(len(self.ok("cat", self.frame)), 20_020)
        self.assertEqual(len(self.ok("cat", self.frame, "--durable")), 20_000)
        report = json.loads(self.ok("backup", self.frame, "copy", "--durable", "--json"))
        self.assertEqual(report["generation"], 1)
        reader = self.start("cat", self.frame, "--durable", "--follow", "--first-item", 5000)
        writer.stdin.close()
        self.assertEqual(self.receive(reader.stdout, 20), noise(20))
        self.assertEqual(writer.wait(60), 0)


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
