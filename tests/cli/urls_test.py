"""Frames at URLs, whose query may be a signature and must not get into a log."""

import os
import sys

import tap
from cli import CliTest, noise

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "support"))
from range_server import RangeServer  # noqa: E402

COMMANDS = [["info"], ["info", "--json"], ["verify"], ["verify", "--json"], ["history"], ["recover"],
            ["recover", "--json"], ["meta", "ls"], ["copy"], ["backup"], ["append"], ["log", "stat"],
            ["log", "stat", "--json"]]  # fmt: skip
MORE = {"copy": ["out"], "backup": ["out"], "append": ["text"]}


class Queries(CliTest):
    def test_nothing_that_is_printed_has_the_query(self):
        server = RangeServer(self.dir)
        self.addCleanup(server.close)
        self.pack(noise(5000), name="frame")
        self.write("text", b"this is no frame")
        for name in ["frame", "text", "missing"]:
            url = f"{server.url}/{name}?X-Amz-Signature=SECRET"
            for command in COMMANDS:
                done = self.run_tool(*command, url, *MORE.get(command[0], []))
                printed = done.stdout + done.stderr
                if not server.requests:
                    self.skipTest("the tool reads no URLs")
                with self.subTest(command=command, name=name):
                    self.assertNotIn(b"SECRET", printed)
        for request in server.requests:
            self.assertIn("?X-Amz-Signature=SECRET", request)
            self.assertTrue(request.startswith("GET "), request)


class OtherStores(CliTest):
    def test_store_that_needs_another_name_is_told(self):
        self.pack(b"data", name="frame")
        self.write("rows", b"x")
        commands = [["info"], ["cat"], ["log", "query"], ["history"], ["append", "PATH", "rows"], ["copy", "frame"], ["pack", "rows"], ["copy", "PATH", "out"]]
        for path, advice in [("gs://bucket/frame", "storage.googleapis.com and its HMAC key, or give --anonymous, and name s3://bucket/frame"),
                             ("azure://c/frame", "stores are named by s3://, https:// or http://")]:  # fmt: skip
            for command in commands:
                words = [path if word == "PATH" else word for word in command] if "PATH" in command else [*command, path]
                with self.subTest(words=words):
                    message = self.fails(1, *words)
                    self.assertTrue(message.startswith(f"cairn: {path}: cannot "), message)
                    self.assertTrue(message.endswith(advice), message)
        done = self.run_tool("verify", "gs://bucket/frame")
        self.assertIn(b"and name s3://bucket/frame\n", done.stdout)
        self.assertNotIn("stores are named", self.fails(1, "info", "missing"))


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
