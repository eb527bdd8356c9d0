"""N-dimensional arrays: cat --box and info."""

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


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
