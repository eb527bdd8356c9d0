"""Wrong command lines, and what the tool says of them."""

import os
import sys

import tap
from cli import CliTest, sample


class Usage(CliTest):
    def test_wrong_command_lines(self):
        self.write("in", b"data")
        for args in [
            [], ["nope"], ["pack"], ["cat"], ["info"], ["verify"], ["decode"], ["append"],
            ["pack", "in", "f", "more"], ["pack", "in", "f", "--nope"],
            ["pack", "in", "f", "--codec", "gzip"], ["pack", "in", "f", "--level", "10"],
            ["pack", "in", "f", "--level", "-1"], ["pack", "in", "f", "--typesize", "0"],
            ["pack", "in", "f", "--split-mode", "maybe"], ["pack", "in", "f", "--chunk-size", "0"],
            ["pack", "in", "f", "--chunk-size", "2GiB"], ["pack", "in", "f", "--threads", "-1"],
            ["pack", "in", "f", "--fingerprint", "md5"], ["pack", "in", "f", "--meta", "noequals"],
            ["pack", "in", "f", "--meta", "=x"], ["pack", "in", "f", "--meta", "a=1", "--meta", "a=2"],
            ["pack", "in", "f", "--meta", "n" * 32 + "=x"], ["encode", "--chunk-size", "1"],
        ]:  # fmt: skip
            with self.subTest(args=args):
                self.fails(2, *args)
                self.assertEqual(self.files(), ["in"])

    def test_what_is_wrong_is_told_with_the_help_to_read(self):
        self.write("in", b"data")
        for complaint, *args in [
            ("no command given; see 'cairn --help'",),
            ("no command given; see 'cairn --help'", "--"),
            ("no command given; see 'cairn --help'", ""),
            ("unknown command 'nope'; see 'cairn --help'", "nope"),
            ("unknown command 'verfiy' (did you mean 'verify'?); see 'cairn --help'", "verfiy", "in"),
            ("unknown command 'comp' (did you mean 'compact'?); see 'cairn --help'", "comp"),
            ("unknown command 'unpack'; see 'cairn --help'", "unpack", "in"),
            ("unknown command 'remove'; see 'cairn chunk --help'", "chunk", "remove", "in"),
            ("unknown command 'delet' (did you mean 'delete'?); see 'cairn chunk --help'", "chunk", "delet", "in", 0),
            ("no command given; expected one of ls, get, set, rm; see 'cairn meta --help'", "meta"),
            ("unknown option '--nope'; see 'cairn --help'", "--nope"),
            ("unknown option '--chunksize' (did you mean '--chunk-size'?); see 'cairn pack --help'",
             "pack", "in", "f", "--chunksize", 5),
            ("unknown option '--quite' (did you mean '--quiet'?); see 'cairn chunk delete --help'",
             "chunk", "delete", "f", 0, "--quite"),
            ("unexpected argument 'more'; see 'cairn pack --help'", "pack", "in", "f", "more"),
            ("OUT is required; see 'cairn pack --help'", "pack", "in"),
            ("--ack requires --commit-every; see 'cairn append --help'", "append", "f", "--ack"),
            ("--wait: 'x' is not a duration such as 5s, or a number of seconds from 0 to 1000000000; see 'cairn append --help'",
             "append", "f", "--wait", "x"),
        ]:  # fmt: skip
            with self.subTest(args=args):
                self.assertEqual(self.fails(2, *args), f"cairn: {complaint}")

    def test_help_is_a_command_too(self):
        self.assertEqual(self.ok("help"), self.ok("--help"))
        self.assertEqual(self.ok("help", "log", "query"), self.ok("log", "query", "--help"))

    def test_the_version_has_a_short_name(self):
        self.assertEqual(self.ok("-V"), self.ok("--version"))

    def test_sizes_have_short_units(self):
        for unit, size in [("K", 1 << 10), ("1k", 1 << 10), ("1M", 1 << 20), ("1MB", 1_000_000)]:
            text = unit if unit[0].isdigit() else f"1{unit}"
            frame = self.pack(sample(10), "--chunk-size", text, "--force")
            self.assertEqual(self.info(frame)["chunksize"], size)

    def test_verbose_tells_what_the_command_took(self):
        frame = self.pack(sample(3000))
        for words in [["--verbose", "cat", frame], ["cat", frame, "--verbose"]]:
            done = self.run_tool(*words)
            self.assertEqual(done.stdout, sample(3000))
            self.assertRegex(done.stderr.decode(), r"\Acairn: \d+\.\d\d s, .* of memory(, .*)?\n\Z")

    def test_every_failure_of_usage_ends_with_the_help_to_read(self):
        frame = self.pack(sample(50))
        for args in [["pack", "-", "f", "--filters", "x"], ["pack", "-", "f", "--meta", "x"], ["encode", "--level", "10"],
                     ["chunk", "update", frame, 0], ["meta", "rm", frame, "x", "--fixed"], ["append", frame, frame]]:  # fmt: skip
            with self.subTest(args=args):
                command = " ".join(args[:2] if args[0] in ["chunk", "meta"] else args[:1])
                self.assertTrue(self.fails(2, *args).endswith(f"; see 'cairn {command} --help'"))

    def test_sizes_with_units(self):
        for text, size in {"5000": 5000, "4KiB": 4096, "4kib": 4096, "5kB": 5000, "1MiB": 1 << 20,
                           "2MB": 2_000_000, "900B": 900}.items():  # fmt: skip
            with self.subTest(text=text):
                frame = self.pack(b"x" * 10, "--chunk-size", text, "--force")
                self.assertEqual(self.info(frame)["chunksize"], size)

    def test_sizes_that_are_none(self):
        for text in ["", "KiB", "1.5MiB", "-4", "4 x", "4KiBs", "0x10", "99999999999999999999",
                     "99999999999TiB", "4KK"]:  # fmt: skip
            with self.subTest(text=text):
                self.fails(2, "pack", "-", "f", "--chunk-size", text)

    def test_sizes_and_numbers_that_are_too_large_say_so(self):
        most = 2**31 - 33
        for text in ["99999999999999999999", "99999999999TiB", "3GiB", most + 1]:
            self.assertIn(f"--chunk-size: {text} is larger than the largest possible, {most} bytes;",
                          self.fails(2, "pack", "-", "f", "--chunk-size", text))  # fmt: skip
        for text in ["99999999999999999999", str(2**63), "9EiB"]:
            message = self.fails(2, "cat", "f", "--max-bytes", text)
            self.assertEqual(f"is larger than the largest possible, {2**63 - 1} bytes;" in message, text != "9EiB")
        for option, number, most in [("--items", 2**63, 2**63 - 1), ("--items", "9" * 30, 2**63 - 1),
                                     ("--threads", 1025, 1024), ("--generation", 2**64, 2**64 - 1)]:  # fmt: skip
            self.assertIn(f"{option}: {number} is larger than the largest possible, {most};",
                          self.fails(2, "cat", "f", option, number))  # fmt: skip
        self.assertIn("0 is smaller than the smallest possible, 1 byte;", self.fails(2, "pack", "-", "f", "--chunk-size", 0))

    def test_numbers_are_decimal(self):
        frame = self.pack(sample(5000), "--chunk-size", "100B", "--typesize", "010", "--level", "09")
        info = self.info(frame)
        self.assertEqual((info["typesize"], info["level"]), (10, 9))
        self.assertEqual(self.ok("cat", frame, "--first-item", "0100", "--items", "010"), sample(5000)[1000:1100])
        self.assertEqual(self.ok("cat", frame, "--chunk", "010"), sample(5000)[1000:1100])
        self.ok("chunk", "reorder", frame, ",".join(f"0{i}" for i in range(50)), "--quiet")
        self.assertEqual(self.ok("cat", frame), sample(5000))
        self.ok("chunk", "delete", frame, "010", "010", "--quiet")
        self.assertEqual(self.ok("cat", frame), sample(5000)[:1000] + sample(5000)[2000:])

    def test_numbers_that_are_none(self):
        frame = self.pack(sample(50))
        for number in ["-1", "0x1", "1.5", "1 ", " 1", "1KiB", "", str(2**64), "9" * 400]:
            with self.subTest(number=number):
                self.assertIn("--first-item", self.fails(2, "cat", frame, f"--first-item={number}"))
        for args in [["cat", frame, "--items"], ["cat", frame, "--chunk"], ["cat", frame, "--generation"],
                     ["cat", frame, "--threads"], ["append", frame, "--commit-every"], ["reclaim", frame, "--keep"],
                     ["encode", "--level"], ["encode", "--typesize"]]:  # fmt: skip
            for number in ["-1", "0x1", 2**64]:
                with self.subTest(option=args[-1], number=number):
                    self.assertIn(args[-1], self.fails(2, *args[:-1], f"{args[-1]}={number}"))
        for number in ["0x0", 2**64]:
            for args in [["insert", frame, number], ["delete", frame, number], ["delete", frame, 0, number],
                         ["reorder", frame, number]]:  # fmt: skip
                with self.subTest(args=args):
                    self.fails(2, "chunk", *args)
        self.assertEqual(self.ok("cat", frame), sample(50))

    def test_help_names_every_option(self):
        compress = ["--codec", "--level", "--typesize", "--block-size", "--filters", "--split-mode",
                    "--dict", "--threads"]  # fmt: skip
        for command, options in {
            "pack": compress + ["--chunk-size", "--fingerprint", "--meta", "--vlmeta", "--force", "--sparse"],
            "copy": compress + ["--chunk-size", "--fingerprint", "--meta", "--vlmeta", "--force", "--sparse"],
            "chunk insert": ["--compressed", "--threads"],
            "chunk update": ["--compressed", "--threads"],
            "chunk delete": ["--quiet"],
            "chunk reorder": ["--quiet"],
            "meta ls": ["--json", "--offset"],
            "meta get": ["--fixed", "--json", "--raw", "--offset"],
            "meta set": ["--fixed"],
            "meta rm": ["--fixed"],
            "compact": ["--json"],
            "encode": compress,
            "append": ["--commit-every", "--durability", "--ack", "--wait", "--threads"],
            "cat": ["--first-item", "--items", "--chunk", "--generation", "--follow", "--max-bytes", "--offset"],
            "history": ["--json", "--offset"],
            "reclaim": ["--keep", "--wait", "--json"],
            "recover": ["--dry-run", "--salvage"],
            "decode": ["--offset", "--max-bytes"],
            "info": ["--json", "--chunks", "--offset"],
            "verify": ["--offset"],
            "log create": ["--field", "--retain-age", "--rotate-every"],
            "log append": ["--format", "--commit-every", "--bad", "--late-window"],
            "log import": ["--format", "--bad"],
            "log query": ["--from", "--where", "--format"],
            "log agg": ["--bucket", "--what"],
            "log tail": ["--fields"],
            "log follow": ["--from"],
            "log stat": ["--json"],
            "log retain": ["--retain-age"],
            "log delete": ["--from", "--where"],
            "log add-field": ["--wait"],
            "log latest": ["--by", "--from", "--fields"],
        }.items():
            with self.subTest(command=command):
                text = self.ok(*command.split(), "--help").decode()
                for option in options:
                    self.assertRegex(text, rf"(?m)^  {option}\b")
                self.assertIn("Example", text)
                self.assertLess(max(map(len, text.splitlines())), 100)

    def test_help_names_every_command(self):
        text = self.ok("--help").decode()
        for command in ["pack", "append", "cat", "encode", "decode", "info", "history", "verify", "reclaim", "recover"]:
            self.assertRegex(text, rf"(?m)^  {command}\b")

    def test_help_and_version_that_cannot_be_written(self):
        for args in [["--help"], ["--version"], ["cat", "--help"]]:
            with self.subTest(args=args), open("/dev/full", "wb") as full:
                self.assertIn("standard output", self.fails(1, *args, stdout=full))
                self.assertIn("standard output", self.fails(1, *args, preexec_fn=lambda: os.close(1)))

    def test_version(self):
        self.assertRegex(self.ok("--version").decode(), r"\Acairn \d+\.\d+\.\d+\n\Z")


class Items(CliTest):
    """Where items have several bytes, an input that ends within one is most likely the wrong one."""

    def setUp(self):
        super().setUp()
        self.data = sample(20_001)
        self.write("in", self.data)

    def test_pack_refuses_a_part_of_an_item(self):
        for source, stdin in [("in", b""), ("-", self.data)]:
            for args in [[], ["--sparse"]]:
                with self.subTest(source=source, args=args):
                    message = self.fails(2, "pack", source, "f", "--typesize", 4, *args, stdin=stdin)
                    self.assertIn("20001 bytes are not a whole number of items of 4 bytes; --allow-partial", message)
                    self.assertEqual(self.files(), ["in"])
        self.ok("pack", "in", "f", "--typesize", 3)
        self.ok("pack", "in", "f", "--typesize", 4, "--allow-partial", "--force")
        self.assertEqual(self.ok("cat", "f"), self.data)

    def test_append_refuses_a_part_of_an_item(self):
        for args in [[], ["--sparse"]]:
            frame = self.pack(self.data[:40], "--typesize", 4, "--force", *args, name="".join(["f", *args]))
            for source, stdin in [("in", b""), ("-", self.data)]:
                with self.subTest(args=args, source=source):
                    message = self.fails(2, "append", frame, source, stdin=stdin)
                    self.assertIn("20001 bytes are not a whole number of items of 4 bytes; --allow-partial", message)
                    self.assertEqual(self.ok("cat", frame), self.data[:40])

    def test_append_takes_what_completes_an_item(self):
        frame = self.pack(self.data[:41], "--typesize", 4, "--allow-partial")
        message = self.fails(2, "append", frame, stdin=bytes(4))
        self.assertIn("4 bytes, after 1 of the frame's last item, are not a whole number", message)
        self.ok("append", frame, "--quiet", stdin=self.data[41:48])
        self.ok("append", frame, "--quiet", "--allow-partial", stdin=self.data[48:50])
        self.assertEqual(self.ok("cat", frame), self.data[:50])

    def test_the_rest_of_a_file_that_was_read_in_part(self):
        with open(self.path("in"), "rb", buffering=0) as file:
            file.seek(1)
            done = self.run_tool("pack", "-", "f", "--typesize", 4, "--quiet", stdin=file)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(self.ok("cat", "f"), self.data[1:])

    def test_commits_of_items_leave_a_part_out(self):
        frame = self.pack(b"", "--typesize", 4)
        self.fails(2, "append", frame, "in", "--commit-every", 9, "--allow-partial")
        self.fails(1, "append", frame, "in", "--commit-every", 9)
        self.assertEqual(self.ok("cat", frame), self.data[:20_000])


class Chunks(CliTest):
    def test_that_are_not_there(self):
        frame = self.pack(sample(4 * 4096), "--chunk-size", 4096)
        before = self.read(frame)
        large = sample(5000)
        for complaint, *args in [
            ("the frame has 4 chunks, chunk 100 does not exist", "cat", frame, "--chunk", 100),
            ("the frame has 4 chunks, chunk 4 does not exist", "chunk", "update", frame, 4),
            ("the frame has 4 chunks, chunk 100 does not exist", "chunk", "delete", frame, 100),
            ("the frame has 4 chunks, chunk 9 does not exist", "chunk", "reorder", frame, "0,1,2,9"),
            ("the frame has 4 chunks, not 3 from chunk 2", "chunk", "delete", frame, 2, 3),
            (f"the frame has 4 chunks, not {2**63 - 1} from chunk 2", "chunk", "delete", frame, 2, 2**63 - 1),
            ("the frame has 4 chunks, so a new one can be inserted at 0 to 4, not at 5", "chunk", "insert", frame, 5),
        ]:  # fmt: skip
            with self.subTest(args=args):
                self.assertEqual(self.fails(1, *args, stdin=large), f"cairn: {frame}: {complaint}")
        self.assertEqual(self.read(frame), before)


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
