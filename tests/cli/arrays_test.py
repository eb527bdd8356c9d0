"""N-dimensional arrays: pack --shape, cat --box, info, verify, resize and append --axis."""

import json
import os
import struct
import sys

import tap
from cli import CliTest

# Shape 5 x 7 of 1 to 35, chunks of 3 x 5, blocks of 2 x 3: block after block, padded with zeros.
SHAPE, CHUNKS, BLOCKS = (5, 7), (3, 5), (2, 3)


def value(row, column):
    inside = row < SHAPE[0] and column < SHAPE[1]
    return 1 + row * SHAPE[1] + column if inside else 0


def stored():
    """The chunks as they lie in the frame."""
    out = bytearray()
    for chunk in [(0, 0), (0, 5), (3, 0), (3, 5)]:
        for block in [(0, 0), (0, 3), (2, 0), (2, 3)]:
            for row in range(block[0], block[0] + 2):
                for column in range(block[1], block[1] + 3):
                    inside = row < CHUNKS[0] and column < CHUNKS[1]
                    out.append(value(chunk[0] + row, chunk[1] + column) if inside else 0)
    return bytes(out)


def metalayer(shape=SHAPE, dtype=b"|u1"):
    def extents(form, numbers):
        return bytes([0x90 + len(numbers)]) + b"".join(struct.pack(form, mark[form], n) for n in numbers)

    mark = {">Bq": 0xD3, ">Bi": 0xD2}
    return (
        bytes([0x97, 0, len(shape)])
        + extents(">Bq", shape)
        + extents(">Bi", CHUNKS)
        + extents(">Bi", BLOCKS)
        + b"\x00\xdb"
        + struct.pack(">I", len(dtype))
        + dtype
    )


class Arrays(CliTest):
    def array(self, layer=None):
        self.write("layer", layer or metalayer())
        return self.pack(stored(), "--chunk-size", 24, "--block-size", 6, "--meta", "b2nd=@layer")

    def test_cat_writes_boxes(self):
        frame = self.array()
        for text, rows, columns in [
            (":,:", range(5), range(7)),
            ("1:3,2:6", range(1, 3), range(2, 6)),
            ("4,:", range(4, 5), range(7)),
            (":2,6", range(2), range(6, 7)),
            ("3:,5:", range(3, 5), range(5, 7)),
            ("2:2,:", range(0), range(7)),
            ("0:5,0:7", range(5), range(7)),
        ]:
            with self.subTest(box=text):
                expected = bytes(value(row, column) for row in rows for column in columns)
                self.assertEqual(self.ok("cat", frame, "--box", text), expected)

    def test_cat_writes_the_array_and_by_name_what_is_stored(self):
        frame = self.array()
        items = bytes(value(row, column) for row in range(5) for column in range(7))
        self.assertEqual(self.ok("cat", frame), items)
        self.assertEqual(self.ok("cat", frame, "--stored"), stored())
        self.assertEqual(self.ok("cat", frame, "--stored", "--first-item", 24, "--items", 24), stored()[24:48])
        self.assertEqual(self.ok("cat", frame, "--chunk", 1), stored()[24:48])
        self.assertEqual(len(self.ok("cat", frame, "--max-bytes", 35)), 35)
        self.fails(1, "cat", frame, "--max-bytes", 34)

    def test_items_of_an_array_are_numbered_in_c_order(self):
        frame = self.array()
        items = bytes(value(row, column) for row in range(5) for column in range(7))
        for first in range(36):
            for count in [0, 1, 2, 7, 13, 35 - first]:
                if first + count > 35:
                    continue
                with self.subTest(first=first, count=count):
                    part = ["--first-item", first, "--items", count]
                    self.assertEqual(self.ok("cat", frame, *part), items[first : first + count])
                    rows = self.ok("cat", frame, "--csv", *part).decode().splitlines()
                    expected = [f"{i // 7},{i % 7},{items[i]}" for i in range(first, first + count)]
                    self.assertEqual(rows, ["i0,i1,value", *expected])
        for part in [["--first-item", 36], ["--first-item", 30, "--items", 6]]:
            self.assertIn("the frame has 35", self.fails(1, "cat", frame, *part))
            self.assertIn("the frame has 35", self.fails(1, "cat", frame, "--csv", *part))

    def test_padding_is_no_item(self):
        line = self.pack(bytes(range(10)), "--shape", 10, "--chunk-shape", 7, "--block-shape", 3, name="line")
        cube = self.pack(bytes(range(27)), "--shape", "3,3,3", "--chunk-shape", "2,2,2", name="cube")
        for frame, size in [(line, 10), (cube, 27), (self.array(), 35)]:
            with self.subTest(frame=frame):
                self.assertEqual(self.info(frame)["nitems"], size)
                self.assertIn(f"  items         {size} of 1 byte\n", self.ok("info", frame).decode())
        self.assertEqual(self.ok("cat", line), bytes(range(10)))
        self.assertEqual(self.ok("cat", line, "--first-item", 8, "--items", 2), bytes([8, 9]))
        self.assertEqual(self.ok("cat", cube), bytes(range(27)))
        self.fails(1, "cat", line, "--first-item", 11)

    def test_a_log_has_the_records_that_came(self):
        self.ok("log", "create", "log", "--quiet", "--field", "n:i4")
        self.ok("log", "append", "log", "--quiet", stdin=b"n\n5\n")
        self.assertEqual(self.ok("cat", "log"), struct.pack("<i", 5))
        self.assertIn("the frame has 1", self.fails(1, "cat", "log", "--first-item", 5, "--items", 2))

    def test_an_array_without_its_chunks_is_not_written_as_one(self):
        frame = self.array(metalayer(shape=(50, 7)))
        self.assertIn("needs 34 chunks", self.fails(1, "cat", frame))
        self.assertEqual(self.ok("cat", frame, "--stored"), stored())

    def test_values_of_any_type_are_written_as_text(self):
        for dtype, size, content, head, rows in [
            ("<U2", 8, "ab\0\0bé".encode("utf-32-le")[:8] + "bé".encode("utf-32-le"), "value", ["ab", "bé"]),
            (">U1", 4, "é,".encode("utf-32-be"), "value", ["é", '","']),
            ("<c8", 8, struct.pack("<4f", 0, 1, 2.5, -1), "value_re,value_im", ["0,1", "2.5,-1"]),
            (">i4", 4, struct.pack(">2i", 1, -2), "value", ["1", "-2"]),
            (">f8", 8, struct.pack(">2d", 1.5, -2), "value", ["1.5", "-2"]),
            (">M8[s]", 8, struct.pack(">2q", 0, 1), "value", ["1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z"]),
            ("<M8[D]", 8, struct.pack("<3q", 0, -1, 20_000), "value", ["1970-01-01", "1969-12-31", "2024-10-04"]),
            ("<M8[M]", 8, struct.pack("<2q", -1, 13), "value", ["1969-12", "1971-02"]),
            ("<M8[Y]", 8, struct.pack("<2q", -1, 54), "value", ["1969", "2024"]),
            ("<M8[W]", 8, struct.pack("<2q", 0, 1), "value", ["1970-01-01", "1970-01-08"]),
            ("<M8[h]", 8, struct.pack("<2q", -1, 25), "value", ["1969-12-31T23", "1970-01-02T01"]),
            ("<M8[25us]", 8, struct.pack("<q", 1), "value", ["1970-01-01T00:00:00.000025"]),
            ("<m8[s]", 8, struct.pack("<2q", 0, -1), "value", ["0", "-1"]),
            ("[('p', '<f4', (3,)), ('q', [('r', '>i2')])]", 14, struct.pack("<3f", 1, 2, 3) + struct.pack(">h", 4),
             "p_0,p_1,p_2,q_r", ["1,2,3,4"]),
            ("|V3", 3, b"\x01\xab\x00", "value", ["01ab00"]),
        ]:  # fmt: skip
            with self.subTest(dtype=dtype):
                frame = self.pack(content, "--shape", len(content) // size, "--typesize", size, "--dtype", dtype,
                                  "--force")  # fmt: skip
                self.assertEqual(self.ok("cat", frame, "--csv").decode().splitlines(), [head, *rows])
                lines = [json.loads(line) for line in self.ok("cat", frame, "--json").splitlines()]
                self.assertEqual([list(line) for line in lines], [head.split(",")] * len(rows))

    def test_arrays_without_items_have_no_rows(self):
        frames = [(self.pack(bytes(6), "--shape", "2,3", "--dtype", "|u1", name="shrunk"), 2)]
        self.ok("resize", "shrunk", "0,3")
        for shape in ["0", "0,3", "3,0", "2,0,3", "0,0,0", ",".join(["2"] * 15 + ["0"])]:
            frame = self.pack(b"", "--shape", shape, "--dtype", "|u1", name=f"of {shape}")
            frames.append((frame, shape.count(",") + 1))
        for frame, ndim in frames:
            indices = [f"i{axis}," for axis in range(ndim)] if ndim > 1 else []
            head = "".join(indices) + "value\n"
            for part in [[], ["--items", 0], ["--first-item", 0], ["--box", ",".join([":"] * ndim)], ["--fields", "value"]]:
                with self.subTest(frame=frame, part=part):
                    self.assertEqual(self.ok("cat", frame, "--csv", *part).decode(), head)
                    self.assertEqual(self.ok("cat", frame, "--json", *part), b"")
                    if "--fields" not in part:
                        self.assertEqual(self.ok("cat", frame, *part), b"")

    def test_arrays_have_up_to_16_dimensions(self):
        for ndim in [9, 16]:
            shape = ",".join(["2"] * ndim)
            frame = self.pack(bytes(i % 251 for i in range(2**ndim)), "--shape", shape,
                              "--chunk-shape", ",".join(["1", *["2"] * (ndim - 1)]), "--force")  # fmt: skip
            items = bytes(i % 251 for i in range(2**ndim))
            self.assertEqual(self.ok("cat", frame), items)
            self.assertEqual(self.ok("cat", frame, "--box", ",".join(["1"] * ndim)), items[-1:])
            self.assertEqual(len(self.ok("cat", frame, "--csv", "--items", 3).splitlines()), 4)
            self.ok("verify", frame)
        self.fails(2, "pack", "-", "g", "--shape", ",".join(["1"] * 17), stdin=b"1")

    def test_a_block_is_no_larger_than_its_chunk(self):
        message = self.fails(2, "pack", "-", "g", "--shape", "9,9", "--chunk-shape", "3,3", "--block-shape", "3,4",
                             stdin=bytes(81))  # fmt: skip
        self.assertIn("dimension 1 has chunks of 3 and blocks of 4", message)

    def test_recipes_are_not_data(self):
        kinds = {
            "LazyArray": {b"\x00": "LazyExpr", b"\x01": "LazyUDF"},
            "proxy-source": {b"\x80": "Proxy"},
            "b2o": {b"\x82\xa4kind\xa8lazyexpr\xa7version\x01": "LazyExpr",
                    b"\x82\xa4kind\xa7lazyudf\xa7version\x01": "LazyUDF",
                    b"\x82\xa4kind\xa7c2array\xa7version\x01": "C2Array",
                    b"\x82\xa4kind\xa6newest\xa7version\x01": "newest"},
        }  # fmt: skip
        for layer, contents in kinds.items():
            for content, name in contents.items():
                with self.subTest(layer=layer, name=name):
                    self.write("layer", content)
                    frame = self.pack(bytes(35), "--shape", "5,7", "--meta", f"{layer}=@layer", "--force")
                    self.assertEqual(self.info(frame)["recipe"], name)
                    self.assertIn(f"  recipe        {name}, ", self.ok("info", frame).decode())
                    for words in [["cat"], ["cat", "--csv"], ["cat", "--box", "0,0"], ["cat", "--chunk", 0],
                                  ["cat", "--stored"], ["cat", "--items", 1]]:  # fmt: skip
                        message = self.fails(1, words[0], frame, *words[1:])
                        self.assertIn(f"holds a {name} of python-blosc2 and not data", message)
                    done = self.run_tool("verify", frame)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(b"not checked: the frame holds a " + name.encode(), done.stdout)
                    self.ok("copy", frame, "copied", "--quiet", "--force")
                    self.assertEqual(self.info("copied")["recipe"], name)
        frame = self.pack(bytes(35), "--shape", "5,7", "--meta", "b2o=mine", "--force")
        self.assertEqual(self.ok("cat", frame), bytes(35))

    def test_cat_refuses_other_boxes(self):
        frame = self.array()
        for text, part in [
            ("1:2", "1 dimensions, the array has 2"),
            (":,:,:", "3 dimensions"),
            (":,0:8", "dimension 1 has 7 items"),
            ("5,:", "dimension 0 has 5 items"),
            ("3:2,:", "dimension 0"),
            ("a,:", "expected a range such as"),
            ("1:2:3,:", "expected a range"),
            ("-1,:", "expected a range"),
            (",:", "expected a range"),
            ("99999999999999999999,:", "expected a range"),
        ]:
            with self.subTest(box=text):
                status = 1 if part.startswith("dimension ") else 2
                self.assertIn(part, self.fails(status, "cat", frame, "--box=" + text))
        self.fails(2, "cat", frame, "--box", ":,:", "--chunk", 0)
        self.fails(2, "cat", frame, "--box", ":,:", "--items", 1)
        self.assertIn("no n-dimensional array", self.fails(1, "cat", self.pack(b"1", name="g"), "--box", ":"))

    def test_cat_refuses_arrays_that_do_not_fit_the_frame(self):
        frame = self.array(metalayer(shape=(50, 7)))
        self.assertIn("the frame has 4", self.fails(1, "cat", frame, "--box", "0:1,0:1"))

    def test_info_tells_the_shapes(self):
        frame = self.array()
        self.assertEqual(
            self.info(frame)["array"],
            {"shape": [5, 7], "chunkshape": [3, 5], "blockshape": [2, 3], "dtype": "|u1"},
        )
        self.assertRegex(
            self.ok("info", frame).decode(), r"array +5 x 7 of \|u1, in chunks of 3 x 5, in blocks of 2 x 3\n"
        )
        self.assertIsNone(self.info(self.pack(b"1", name="g"))["array"])

    def grid(self, rows, columns, *options):
        """Item (i, j) is i * 16 + j, which fits a byte."""
        self.items = [bytes(row * 16 + column for column in range(columns)) for row in range(rows)]
        return self.pack(b"".join(self.items), "--shape", f"{rows},{columns}", *options)

    def holds(self, frame, rows):
        self.assertEqual(self.info(frame)["array"]["shape"], [len(rows), len(rows[0])])
        self.assertEqual(self.ok("cat", frame, "--box", ":,:"), b"".join(rows))
        self.ok("verify", frame)

    def test_pack_makes_an_array_and_chooses_its_chunks(self):
        frame = self.grid(9, 12)
        self.holds(frame, self.items)
        array = self.info(frame)["array"]
        self.assertEqual((array["chunkshape"], array["blockshape"]), ([9, 12], [9, 12]))
        frame = self.grid(9, 12, "--chunk-size", 16, "--dtype", "|i1", "--force")
        self.holds(frame, self.items)
        array = self.info(frame)["array"]
        self.assertEqual((array["chunkshape"], array["dtype"]), ([3, 4], "|i1"))
        frame = self.grid(9, 12, "--chunk-shape", "4,5", "--block-shape", "2,5", "--force")
        self.holds(frame, self.items)
        array = self.info(frame)["array"]
        self.assertEqual((array["chunkshape"], array["blockshape"]), ([4, 5], [2, 5]))

    def test_pack_takes_arrays_without_items_or_dimensions(self):
        frame = self.pack(b"", "--shape", "0,5")
        self.assertEqual(self.info(frame)["array"]["shape"], [0, 5])
        frame = self.pack(b"1234", "--shape", "", "--typesize", 4, "--force")
        self.assertEqual(self.ok("cat", frame, "--box", ""), b"1234")

    def test_pack_refuses_what_is_no_array(self):
        for content, words, part in [
            (bytes(19), ["--shape", "4,5"], "has 19 bytes, but an array of 4 x 5 items needs 20"),
            (bytes(21), ["--shape", "4,5"], "has more bytes, but an array of 4 x 5 items needs 20"),
            (bytes(20), ["--shape", "4,-5"], "--shape"),
            (bytes(20), ["--shape", "4,5", "--chunk-shape", "0,5"], "--chunk-shape"),
            (bytes(20), ["--shape", "4,5", "--chunk-shape", "2"], "dimensions"),
            (bytes(20), ["--shape", "4,5", "--dtype", "<f4"], "has 20 bytes, but an array of 4 x 5 items needs 80"),
            (bytes(20), ["--shape", "4,5", "--dtype", "<f4", "--typesize", "1"], "items of 4 bytes"),
            (bytes(22), ["--dtype", "<f4"], "22 bytes are not a whole number of items of 4 bytes"),
            (bytes(20), ["--dtype", "f4x"], "f4x"),
            (bytes(20), ["--chunk-shape", "4,5"], "--shape"),
        ]:
            with self.subTest(words=words):
                self.write("in", content)
                self.assertIn(part, self.fails(2, "pack", "in", "out", *words))
                self.assertNotIn("out", self.files())

    def test_pack_makes_a_line_of_items_of_a_dtype(self):
        items = bytes(range(40))
        self.write("items", items)
        for name, stdin, words in [("items", None, []), ("-", items, []), ("items", None, ["--shape", 10])]:
            with self.subTest(name=name, words=words):
                self.ok("pack", name, "line", "--dtype", "<f4", "--force", *words, stdin=stdin)
                info = self.info("line")
                self.assertEqual((info["typesize"], info["nitems"]), (4, 10))
                self.assertEqual((info["array"]["shape"], info["array"]["dtype"]), ([10], "<f4"))
                self.assertEqual(self.ok("cat", "line"), items)

    def test_resize_grows_by_zeros_and_shrinks(self):
        frame = self.grid(9, 12, "--chunk-shape", "4,5")
        message = self.ok("resize", frame, "10,13").decode()
        self.assertRegex(message, r": now 10 x 13 items, 9 chunks, ")
        self.holds(frame, [row + b"\0" for row in self.items] + [bytes(13)])
        self.ok("resize", frame, "3,2", "--quiet")
        self.ok("resize", frame, "4,4")
        self.holds(frame, [row[:2] + bytes(2) for row in self.items[:3]] + [bytes(4)])

    def test_resize_refuses_other_shapes(self):
        frame = self.grid(4, 5)
        self.assertIn("the array has 2", self.fails(2, "resize", frame, "4"))
        self.fails(2, "resize", frame, "4,x")
        self.fails(2, "resize", frame, "4,-1")
        plain = self.pack(b"1", name="g")
        self.assertIn("no n-dimensional array", self.fails(1, "resize", plain, "4"))

    def test_append_adds_slices_along_an_axis(self):
        frame = self.grid(9, 12, "--chunk-shape", "4,5")
        self.write("in", bytes(range(200, 224)))
        self.ok("append", frame, "in", "--axis", 0)
        rows = [*self.items, bytes(range(200, 212)), bytes(range(212, 224))]
        self.holds(frame, rows)
        self.ok("append", frame, "-", "--axis", 1, stdin=bytes(range(22)))
        self.holds(frame, [row + bytes([2 * i, 2 * i + 1]) for i, row in enumerate(rows)])

    def test_follow_shows_an_array_in_c_order(self):
        frame = self.grid(3, 5, "--chunk-shape", "2,2")
        tool = self.start("cat", frame, "--follow", "--first-item", 2)
        self.assertEqual(self.receive(tool.stdout, 13), b"".join(self.items)[2:])
        # The new row takes the place of padding in chunks that were shown.
        for row in [bytes(range(200, 205)), bytes(range(210, 215))]:
            self.ok("append", frame, "-", "--axis", 0, "--quiet", stdin=row)
            self.assertEqual(self.receive(tool.stdout, 5), row)
        self.ok("append", frame, "-", "--axis", 1, "--quiet", stdin=bytes(5))
        line = b""
        while not line.endswith(b"\n"):
            line += self.receive(tool.stderr, 1)
        self.assertIn(b"its shape is 5 x 6 now, and was 5 x 5", line)
        self.ok("append", frame, "-", "--axis", 0, "--quiet", stdin=bytes(range(6)))
        self.assertEqual(self.receive(tool.stdout, 6), bytes(range(6)))

    def test_append_reads_many_rows_in_pieces(self):
        frame = self.pack(b"", "--shape", "0,1000")
        rows = [bytes([i % 251]) * 1000 for i in range(7000)]
        self.ok("append", frame, "-", "--axis", 0, stdin=b"".join(rows[:1]))
        self.ok("append", frame, "-", "--axis", 0, stdin=b"".join(rows[1:]))
        self.holds(frame, rows)

    def test_append_refuses_parts_of_slices_and_takes_nothing(self):
        frame = self.grid(4, 5)
        part = "7 bytes are not a multiple of 5, the bytes of a slice along axis 0"
        self.assertIn(part, self.fails(2, "append", frame, "-", "--axis", 0, stdin=bytes(7)))
        self.assertIn("has 2 dimensions", self.fails(1, "append", frame, "-", "--axis", 2, stdin=bytes(5)))
        self.fails(2, "append", frame, "-", "--axis", 0, "--commit-every", 5)
        self.holds(frame, self.items)

    def test_edits_of_chunks_say_what_to_do_instead(self):
        frame = self.grid(4, 5)
        self.write("chunk", bytes(20))
        for words in [
            ["append", frame, "chunk"],
            ["append", frame, "chunk", "--commit-every", 20],
            ["chunk", "insert", frame, 0, "chunk"],
            ["chunk", "delete", frame, 0],
            ["chunk", "reorder", frame, 0],
        ]:
            with self.subTest(words=words):
                self.assertIn("resize it, append along an axis or write a box instead", self.fails(1, *words))
        self.ok("chunk", "update", frame, 0, "chunk")
        self.holds(frame, [bytes(5)] * 4)

    def test_verify_names_chunks_that_do_not_fit(self):
        frame = self.array(metalayer(shape=(50, 7)))
        run = self.run_tool("verify", frame)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"metalayer b2nd: array: needs 34 chunks, the frame has 4", run.stdout)

    def test_meta_set_takes_no_layer_that_does_not_fit(self):
        frame = self.array()
        self.write("layer", metalayer(shape=(50, 7)))
        part = "does not fit the chunks: array: needs 34 chunks"
        self.assertIn(part, self.fails(1, "meta", "set", frame, "b2nd", "layer", "--fixed"))
        self.write("layer", metalayer(shape=(6, 6)))
        self.ok("meta", "set", frame, "b2nd", "layer", "--fixed")
        self.ok("verify", frame)


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
