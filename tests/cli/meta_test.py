"""Metadata, one layer at a time."""

import json
import os
import re
import struct
import sys

import tap
from cli import CliTest, noise, sample


class Meta(CliTest):
    def setUp(self):
        super().setUp()
        self.frame = self.pack(sample(5000), "--meta", "unit=K", "--meta", "both=head", "--vlmeta",
                               "note=some text", "--vlmeta", "both=tail")  # fmt: skip

    def get(self, name, *args):
        return self.ok("meta", "get", self.frame, name, *args)

    def set(self, name, content, *args):
        self.assertEqual(self.ok("meta", "set", self.frame, name, *args, stdin=content), b"")

    def shown(self, content, *args):
        self.set("x", content)
        text = self.get("x", *args).decode()
        self.assertEqual(text[-1], "\n")
        return text[:-1]


class List(Meta):
    def test_for_people(self):
        lines = self.ok("meta", "ls", self.frame).decode().splitlines()
        self.assertEqual([line.split() for line in lines],
                         [["metalayer", "unit", "1", "B"], ["metalayer", "both", "4", "B"],
                          ["vlmetalayer", "note", "9", "B"], ["vlmetalayer", "both", "4", "B"]])  # fmt: skip

    def test_for_programs(self):
        layers = json.loads(self.ok("meta", "ls", self.frame, "--json"))
        self.assertEqual(layers, {
            "metalayers": [{"name": "unit", "size": 1}, {"name": "both", "size": 4}],
            "vlmetalayers": [{"name": "note", "size": 9}, {"name": "both", "size": 4}]})  # fmt: skip

    def test_names_stay_different_in_json(self):
        names = {b"\xff": "\\377", b"\xfe": "\\376", b"\\377": "\\\\377", "grün".encode(): "grün"}
        frame = self.pack(b"x", name="bare")
        for name in names:
            self.ok("meta", "set", frame, os.fsdecode(name), stdin=name)
        layers = json.loads(self.ok("meta", "ls", frame, "--json"))["vlmetalayers"]
        self.assertEqual({layer["name"] for layer in layers}, set(names.values()))
        self.assertEqual(self.info(frame)["vlmetalayers"], {shown: name.hex() for name, shown in names.items()})

    def test_names_are_shown_as_utf8(self):
        names = {"grün": "grün", "名前": "名前", "back\\slash": "back\\slash", "up\x1bdown\n": "up\\033down\\n",
                 "\x9b2J": "\\302\\2332J", b"caf\xe9": "caf\\351", b"\xc0\x80": "\\300\\200",
                 b"\xed\xa0\x80": "\\355\\240\\200", b"\xf4\x90\x80\x80": "\\364\\220\\200\\200", "\U0010ffff": "\U0010ffff"}  # fmt: skip
        frame = self.pack(b"x", name="bare")
        for name in names:
            self.ok("meta", "set", frame, os.fsdecode(name), stdin=b"12345")
        lines = self.ok("meta", "ls", frame).decode().splitlines()
        self.assertEqual([line.split()[1] for line in lines], list(names.values()))
        self.assertEqual({len(line) for line in lines}, {len(lines[0])})
        text = self.ok("info", frame).decode()
        for name, shown in names.items():
            with self.subTest(name=name):
                self.assertIn(f" {shown}: ", text)
                self.ok("meta", "rm", frame, os.fsdecode(name))
                self.assertIn(f"no vlmetalayer '{shown}'", self.fails(1, "meta", "rm", frame, os.fsdecode(name)))

    def test_none(self):
        frame = self.pack(b"x", name="bare")
        self.assertEqual(self.ok("meta", "ls", frame), b"")
        self.assertEqual(json.loads(self.ok("meta", "ls", frame, "--json")),
                         {"metalayers": [], "vlmetalayers": []})  # fmt: skip

    def test_a_frame_inside_a_file(self):
        self.write("box", b"b" * 100 + self.read(self.frame))
        self.assertIn(b"note", self.ok("meta", "ls", "box", "--offset", 100))
        self.assertEqual(self.ok("meta", "get", "box", "note", "--offset", 100), b"some text\n")


class Get(Meta):
    def test_each_kind_by_its_name(self):
        self.assertEqual(self.get("note"), b"some text\n")
        self.assertEqual(self.get("both"), b"tail\n")
        self.assertEqual(self.get("both", "--fixed"), b"head\n")
        self.assertEqual(self.get("unit", "--fixed"), b"K\n")

    def test_the_bytes_as_they_are(self):
        for content in [b"", b"text", noise(3000), bytes(range(256))]:
            self.set("x", content)
            self.assertEqual(self.get("x", "--raw"), content)

    def test_names_that_are_missing(self):
        self.assertIn("no vlmetalayer 'nope'", self.fails(1, "meta", "get", self.frame, "nope"))
        self.assertIn("no metalayer 'nope'", self.fails(1, "meta", "get", self.frame, "nope", "--fixed"))
        self.assertIn("give --fixed", self.fails(1, "meta", "get", self.frame, "unit"))
        self.assertIn("leave out --fixed", self.fails(1, "meta", "get", self.frame, "note", "--fixed"))

    def test_text(self):
        self.assertEqual(self.shown(b"a\tb\nc"), "a\tb\nc")
        self.assertEqual(self.get("x"), b"a\tb\nc\n")
        self.set("x", b"line\n")
        self.assertEqual(self.get("x"), b"line\n")
        self.assertEqual(self.shown("grün, 20 °C".encode()), "grün, 20 °C")
        self.assertEqual(self.shown(b"some text", "--json"), '"some text"')
        self.assertEqual(self.shown(b"", "--json"), '""')

    def test_a_letter_is_text_and_a_number_for_programs(self):
        self.assertEqual(self.shown(b"K"), "K")
        self.assertEqual(self.shown(b"K", "--json"), "75")

    def test_bytes(self):
        for content in [b"\x00\x01\xff", b"\x1b[31m", b"a\x00", b"\xc2\x9b1m", b"\xff\xfe"]:
            with self.subTest(content=content):
                self.assertEqual(self.shown(content), content.hex())
                self.assertEqual(json.loads(self.shown(content, "--json")), {"bin": content.hex()})


class Msgpack(Meta):
    VALUES = {
        b"\xc0": None, b"\xc2": False, b"\xc3": True, b"\x01": 1, b"\xff": -1,
        b"\xcd\x01\x00": 256, b"\xd3" + b"\x80" + bytes(7): -(2**63),
        b"\xcf" + b"\xff" * 8: 2**64 - 1, b"\xcb" + struct.pack(">d", 0.1): 0.1,
        b"\xcb" + struct.pack(">d", float("nan")): None, b"\xa2hi": "hi",
        b"\xd9\x03a\"b": 'a"b', b"\xa3\xe2\x82\xac": "€", b"\x90": [], b"\x80": {},
        b"\x93\x01\xa1a\xc0": [1, "a", None], b"\xc4\x02\x00\xff": {"bin": "00ff"},
        b"\xd5\x05\x00\xff": {"ext": 5, "bin": "00ff"}, b"\xd4\xff\x01": {"ext": -1, "bin": "01"},
        b"\x82\xa1a\x01\xa1b\x92\x81\xa1c\x02\x80": {"a": 1, "b": [{"c": 2}, {}]},
        b"\x91" * 64 + b"\x07": None,
    }  # fmt: skip

    def test_whole_values_are_json(self):
        for content, value in self.VALUES.items():
            with self.subTest(content=content[:20]):
                text = self.shown(content, "--json")
                if content.startswith(b"\x91"):
                    self.assertEqual(text, "[" * 64 + "7" + "]" * 64)
                else:
                    self.assertEqual(json.loads(text), value)
                self.assertEqual(self.shown(content), text)

    def test_json_has_no_control_characters(self):
        text = "a\0\n\x7f\x80\x9b2J\x9f\u00a0grün"
        content = text.encode()
        escaped = '"a\\u0000\\n\\u007f\\u0080\\u009b2J\\u009f\u00a0grün"'
        self.assertEqual(self.shown(bytes([0xA0 | len(content)]) + content), escaped)
        name = "name\x7f\u009b"
        self.set(name, b"x")
        for command in [["info"], ["meta", "ls"]]:
            shown = self.ok(*command, self.frame, "--json").decode()
            self.assertIn('"name\\u007f\\u009b"', shown)
            self.assertNotRegex(shown, "[\x7f-\x9f]")
        self.assertIn(name, json.loads(self.ok("info", self.frame, "--json"))["vlmetalayers"])

    def test_what_is_no_whole_value_is_bytes(self):
        for content in [
            b"\xc0\xc0", b"\xa5hi", b"\xc1", b"\x81\x01\x02", b"\x91" * 65 + b"\x07",
            b"\x91" * 1_000_000, b"\x81\xa1a" * 300_000, b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff",
            b"\xdb\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff\x00", b"\xdd\x7f\xff\xff\xff" * 1000,
        ]:  # fmt: skip
            with self.subTest(content=content[:20], size=len(content)):
                self.assertEqual(self.shown(content), content.hex())
                self.assertEqual(json.loads(self.shown(content, "--json")), {"bin": content.hex()})

    def test_equal_keys_and_many_of_them(self):
        self.assertEqual(self.shown(b"\x82\xa1a\x01\xa1a\x02"), '{"a":1,"a":2}')
        many = 100_000
        content = b"\xdf" + struct.pack(">I", many) + b"\xa1k\x01" * many
        self.assertEqual(self.shown(content), "{" + ",".join(['"k":1'] * many) + "}")

    def test_what_python_stored(self):
        frame = self.copy_vector("cframes/nd2-i4.b2nd")
        value = json.loads(self.ok("meta", "get", frame, "b2nd", "--fixed"))
        self.assertEqual(value[1], len(value[2]))


class Set(Meta):
    def test_adds_and_replaces(self):
        before = self.info(self.frame)
        self.set("new", b"1")
        self.set("note", noise(10_000))
        self.assertEqual(self.get("note", "--raw"), noise(10_000))
        names = [layer["name"] for layer in json.loads(self.ok("meta", "ls", self.frame, "--json"))["vlmetalayers"]]
        self.assertEqual(names, ["note", "both", "new"])
        after = self.info(self.frame)
        self.assertEqual((after["sealed"], after["nbytes"]), (True, before["nbytes"]))
        self.assertEqual(self.ok("cat", self.frame), sample(5000))
        self.ok("verify", self.frame)

    def test_from_a_file(self):
        self.ok("meta", "set", self.frame, "note", self.write("in", b"from a file"))
        self.assertEqual(self.get("note"), b"from a file\n")

    def test_metalayers_keep_their_size(self):
        self.set("unit", b"C", "--fixed")
        self.assertEqual(self.get("unit", "--fixed"), b"C\n")
        self.assertEqual(self.get("both"), b"tail\n")
        for content in [b"", b"CC"]:
            self.assertIn("size", self.fails(2, "meta", "set", self.frame, "unit", "--fixed", stdin=content))
        self.assertEqual(self.get("unit", "--fixed"), b"C\n")
        self.ok("verify", self.frame)

    def test_metalayers_are_not_added(self):
        self.assertIn("no metalayer 'new'",
                      self.fails(1, "meta", "set", self.frame, "new", "--fixed", stdin=b"x"))  # fmt: skip
        self.assertIn("leave out --fixed",
                      self.fails(1, "meta", "set", self.frame, "note", "--fixed", stdin=b"x"))  # fmt: skip

    def test_names_that_cannot_be(self):
        for name in ["n" * 32, "cairn", "cairn.fp"]:
            with self.subTest(name=name):
                self.fails(2, "meta", "set", self.frame, name, stdin=b"x")

    def test_too_much(self):
        self.fails(1, "meta", "set", self.frame, "big", stdin=bytes((64 << 20) + 1))
        self.fails(1, "meta", "get", self.frame, "big")

    def test_input_that_is_not_there(self):
        self.assertIn("nofile", self.fails(1, "meta", "set", self.frame, "x", "nofile"))


class Remove(Meta):
    def test_a_vlmetalayer(self):
        self.assertEqual(self.ok("meta", "rm", self.frame, "both"), b"")
        self.fails(1, "meta", "get", self.frame, "both")
        self.assertEqual(self.get("both", "--fixed"), b"head\n")
        self.assertEqual(self.get("note"), b"some text\n")
        self.ok("verify", self.frame)

    def test_names_that_are_missing(self):
        before = self.read(self.frame)
        self.assertIn("no vlmetalayer 'nope'", self.fails(1, "meta", "rm", self.frame, "nope"))
        self.assertEqual(self.read(self.frame), before)

    def test_of_a_metalayer_gives_advice_that_works(self):
        before = self.read(self.frame)
        for status, args in [(1, []), (2, ["--fixed"])]:
            with self.subTest(args=args):
                message = self.fails(status, "meta", "rm", self.frame, "unit", *args)
                self.assertIn("'unit' is a metalayer, which cannot be removed", message)
                self.assertEqual(self.read(self.frame), before)
                command, *advice = re.search(r"'(cairn meta set [^']+)'", message).group(1).split()
                self.ok(*advice, stdin=b"C")
                self.assertEqual(self.get("unit", "--fixed"), b"C\n")
                self.write(self.frame, before)


class Usage(CliTest):
    def test_command_lines_that_are_wrong(self):
        frame = self.pack(b"x", "--vlmeta", "a=b")
        for args in [["meta"], ["meta", "nope"], ["meta", "ls"], ["meta", "get", frame],
                     ["meta", "get", frame, "a", "--raw", "--json"], ["meta", "rm", frame],
                     ["meta", "set", frame]]:  # fmt: skip
            with self.subTest(args=args):
                self.fails(2, *args)

    def test_frames_that_are_not_there(self):
        for args in [["ls", "no"], ["get", "no", "a"], ["set", "no", "a"], ["rm", "no", "a"]]:
            self.assertIn("no", self.fails(1, "meta", *args))
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
