"""Metadata as Python values: what python-blosc2 reads and writes, and bytes that lie."""

import collections
import datetime
import decimal
import enum
import math
import os
import random
import struct
import tracemalloc
import unittest

from support import PackageTest, blosc2, cairn, needs_blosc2, np

if cairn is not None:
    from cairn import packing

ROUNDS = 300


class Level(enum.IntEnum):
    HIGH = 3


def same(one, other):
    """Equality of values of every type, with the types."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
            return False
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.dtype == object:
            return all(map(same, one.ravel().tolist(), other.ravel().tolist()))
        return one.tobytes() == other.tobytes()
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", other)
    return one == other


def values():
    """Names, values, and what they are read as."""
    record = np.zeros(3, [("when", "<M8[s]"), ("pair", "<f4", (2,)), ("in", [("a", "u1"), ("b", "S3")])])
    record["pair"] = np.arange(6).reshape(3, 2)
    lists = [[*range(n)] for n in (0, 15, 16, 0xFFFF, 0x10000)]
    plain = [
        None, True, False, "", "kelvin", "\u00b0\U0001f321", "x" * 31, "x" * 32, "x" * 255, "x" * 256, "x" * 65536,
        b"", b"kelvin", b"x" * 255, b"x" * 256, b"x" * 65536, 0.0, -0.0, 1.5, math.inf, -math.inf, math.nan,
        *(sign * 2**bits + more for bits in range(64) for sign in (1, -1) for more in (-1, 0, 1) if sign * 2**bits + more >= -2**63),
        2**64 - 1, 1 + 2j, complex(math.inf, -0.0), *lists,
        (), (1,), (1, (2, [3, (4,)])), tuple(range(15)), [(1, 2), {"a": (3,)}],
        {}, {"a": 1, b"b": [None]}, {str(n): n for n in range(15)}, {str(n): n for n in range(70_000)},
        set(), {1, "a", b"b", None, 2.5, (1, 2), 1 + 1j}, [{1}, {2: 0}.keys() and {3}],
        np.arange(3), np.array(5), np.zeros(0), np.zeros((0, 3), "<i2"), np.arange(24, dtype=">u2").reshape(2, 3, 4),
        np.array([True, False]), np.array(["ab", "c"]), np.array([b"ab", b"c"]), np.array(["2026-01-02"], "M8[D]"),
        np.array([1, 2], "m8[ms]"), np.array([1 + 2j], "c8"), record, record[0:0], np.array([1, "a", None, (1, 2), {3}], object),
        np.array([[None, 1]], object), {"array": np.arange(2.0), "list": [np.zeros(1, "i1")]},
    ]  # fmt: skip
    for value in plain:
        yield value, value
    yield np.arange(20).reshape(4, 5)[::2, ::-1], np.arange(20).reshape(4, 5)[::2, ::-1].copy()
    yield bytearray(b"x"), b"x"
    yield memoryview(b"abc")[1:], b"bc"
    yield frozenset([1, 2]), {1, 2}
    yield collections.namedtuple("Pair", "a b")(1, 2), (1, 2)
    yield np.matrix([[1, 2]]), np.array([[1, 2]])
    yield np.rec.array([(1, 2.0)], dtype="<i4,<f8"), np.array([(1, 2.0)], "<i4,<f8")
    for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        for limit in (np.iinfo(name).min, np.iinfo(name).max):
            yield np.dtype(name).type(limit), int(limit)
    for kind in (np.float16, np.float32, np.float64, np.longdouble):
        yield kind(1.5), 1.5
    for kind in (np.complex64, np.complex128, np.clongdouble):
        yield kind(1.5 - 2j), 1.5 - 2j
    yield np.bool_(True), True
    yield np.str_("a"), "a"
    yield np.bytes_(b"a"), b"a"
    yield [np.int64(1), {"a": np.float32(2)}, {np.int8(3)}], [1, {"a": 2.0}, {3}]
    yield {np.str_("a"): (np.int8(1),)}, {"a": (1,)}


def ours_only():
    """What python-blosc2 refuses, or reads as something else."""
    aligned = np.zeros(2, np.dtype([("a", "u1"), ("b", "<i8")], align=True))
    yield aligned, np.zeros(2, [("a", "u1"), ("b", "<i8")])
    yield collections.OrderedDict(a=1), {"a": 1}
    yield Level.HIGH, 3
    yield memoryview(b"abc")[::2], b"ac"


class PackingTest(PackageTest):
    def test_values_of_every_type_come_back(self):
        for value, expected in [*values(), *ours_only()]:
            got = packing.unpack(packing.pack(value))
            self.assertTrue(same(got, expected), f"{value!r:.80} came back as {got!r:.80}")

    def test_arrays_that_are_read_may_be_changed(self):
        got = packing.unpack(packing.pack(np.arange(3)))
        got[0] = 7
        self.assertEqual(got.tolist(), [7, 1, 2])

    def test_what_cannot_be_stored_names_its_type(self):
        cyclic = []
        cyclic.append(cyclic)
        refused = {
            "object": object(), "datetime.datetime": datetime.datetime(2026, 1, 2), "datetime.date": datetime.date(2026, 1, 2),
            "decimal.Decimal": decimal.Decimal(1), "range": range(3), "ellipsis": ..., "function": same, "type": int,
            "numpy.datetime64": np.datetime64("2026"), "numpy.timedelta64": np.timedelta64(1, "s"),
            "numpy.void": np.zeros(1, "i4,i4")[0], "numpy.ma.*MaskedArray": np.ma.array([1], mask=[1]), "generator": (n for n in []),
            "int": {1: 2}, "NoneType": {None: 1}, "tuple": {(1,): 1}, "that holds sets": {frozenset([1])}, "bits": 2**64, "64": -2**63 - 1,
            "UTF-8": "\udcff", "tuple'*": ["__tuple__", 1], "__tuple__": {"__tuple__"}, "deep": cyclic, "no fixed bytes": np.zeros(2, "V0"),
        }  # fmt: skip
        for name, value in refused.items():
            for nested in (value, [value], (1, value), {"key": value}, np.array([value, None], object)[:1]):
                with self.subTest(name=name), self.assertRaisesRegex(cairn.InvalidArgument, name):
                    packing.pack(nested)
        for value in (object(), {1: 2}, np.datetime64("2026")):
            with self.assertRaises(TypeError):
                packing.pack(value)

    def test_containers_may_be_511_deep(self):
        for wrap in (lambda one: [one], lambda one: (one,), lambda one: {"a": one}):
            value = 1
            for _ in range(511):
                value = wrap(value)
            self.assertEqual(packing.pack(packing.unpack(packing.pack(value))), packing.pack(value))
            with self.assertRaisesRegex(cairn.InvalidArgument, "too deep"):
                packing.pack(wrap(value))
        nested = None
        for _ in range(400):
            nested, inner = np.empty(1, object), nested
            nested[0] = inner
        with self.assertRaisesRegex(cairn.InvalidArgument, "too deep"):
            packing.pack(nested)

    def test_lying_bytes_are_refused_and_cost_no_memory(self):
        def ext(code, body):
            return b"\xc9" + struct.pack(">IB", len(body), code) + body

        def array(**said):
            return ext(46, packing.pack(said))

        nested = b"\xc0"
        for _ in range(600):
            nested = ext(46, b"\x82\xa6values\x91" + nested + b"\xa5shape\x91\x01")
        number = {"str": "<f8"}
        hostile = [
            b"", b"\xc1", b"\xa5kelv", b"kelvin", b"\xa1\xff", b"\x91" * 100_000, b"\x81\xa1a" * 100_000, b"\xc4", b"\xce\0\0",
            *(code + b"\xff" * 4 + b"x" * 9 for code in (b"\xdd", b"\xdf", b"\xdb", b"\xc6", b"\xc9")),
            b"\xdc\xff\xff\xc0", b"\xde\xff\xff\xc0", b"\x81\x91\xc0\xc0", b"\x81\xc0\xc0", b"\x80\x80", nested,
            ext(44, b"x" * 15), ext(45, b"\x05"), ext(45, b"\x91\x90"), ext(45, b"\x91\x80"), ext(45, b"\x90\x90"), ext(46, b"\x90"),
            ext(46, b"\x80"), ext(46, b"\x05"), ext(255, b"abc"), ext(255, b"\x7f" * 12), ext(46, b"\xa1x"),
            array(dtype=number, shape=[2**62], data=b""), array(dtype=number, shape=[2**62, 0], data=b"12345678"),
            array(dtype=number, shape=[-1], data=b""), array(dtype=number, shape=[True], data=b"12345678"), array(dtype=number, shape=8, data=b""),
            array(dtype=number, shape=[1] * 65, data=b"12345678"), array(dtype=number, shape=[1], data="12345678"), array(dtype=number, shape=[1], data=b"1234567"),
            array(dtype={"str": "O"}, shape=[1], data=b"12345678"), array(dtype={"descr": [["a", "O"]]}, shape=[1], data=b"12345678"),
            array(dtype={"str": "V0"}, shape=[2**40], data=b""), array(dtype={"str": "(2,)f4"}, shape=[1], data=b"12345678"),
            array(dtype={"str": "no such type"}, shape=[1], data=b"12345678"), array(dtype={"descr": 5}, shape=[1], data=b"12345678"),
            array(dtype={"descr": [["a", "f8", [2**40]]]}, shape=[1], data=b"12345678"), array(dtype=None, shape=[1], data=b"12345678"),
            array(dtype={"descr": [[["a"], "f8"]]}, shape=[1], data=b"12345678"), array(dtype={}, shape=[], data=b""),
            array(values=[1], shape=[2**50]), array(values=5, shape=[5]), array(values=[], shape=[2**40, 2**40, 0, -1]),
        ]  # fmt: skip
        descr = "<i2"
        for _ in range(150):
            descr = [("a", descr)]
        hostile.append(array(dtype={"descr": descr}, shape=[3], data=b"12"))
        for packed in hostile:
            with self.subTest(packed=packed[:40]):
                tracemalloc.start()
                self.addCleanup(tracemalloc.stop)
                with self.assertRaises(cairn.InvalidArgument):
                    packing.unpack(packed)
                _, peak = tracemalloc.get_traced_memory()
                tracemalloc.stop()
                self.assertLess(peak, 1 << 20)

    def test_no_bytes_end_in_an_exception_of_python(self):
        dice = random.Random(38)
        samples = [packing.pack(value) for value, _ in values()]
        samples = [one for one in samples if len(one) < 500]
        for _ in range(20 * ROUNDS):
            packed = bytearray(dice.choice(samples))
            for _ in range(dice.randint(1, 3)):
                packed[dice.randrange(len(packed))] = dice.choice([dice.randrange(256), 0xC9, 0xDD, 0x2C, 0x2D, 0x2E])
            packed = bytes(packed[: dice.randint(1, len(packed))] if dice.random() < 0.5 else packed)
            try:
                packing.unpack(packed)
            except cairn.Error:
                pass

    def test_types_that_need_other_programs_say_so(self):
        for code, name in ((42, "a Blosc2 frame"), (43, "a reference of python-blosc2"), (5, "unknown")):
            with self.assertRaisesRegex(cairn.Unimplemented, f"extension type {code}, {name}"):
                packing.unpack(b"\xd4" + bytes([code]) + b"x")

    def test_timestamps_are_read(self):
        for packed, expected in (
            (b"\xd6\xff" + struct.pack(">I", 1_700_000_000), "2023-11-14T22:13:20"),
            (b"\xd7\xff" + struct.pack(">Q", 5 << 34 | 1_700_000_000), "2023-11-14T22:13:20.000000005"),
            (b"\xc7\x0c\xff" + struct.pack(">Iq", 5, -1), "1969-12-31T23:59:59.000000005"),
        ):
            self.assertEqual(packing.unpack(packed), np.datetime64(expected, "ns"))


class MetadataTest(PackageTest):
    def test_values_are_kept_by_every_way_to_store_them(self):
        path = self.path()
        frame = cairn.create(path, meta={"fixed": (1, "a")}, raw_meta={"raw": b"\x01\x02"})
        frame.vlmeta["one"] = "kelvin"
        frame.attrs["two"] = {"a": (1,)}
        with frame.writer() as writer:
            writer.vlmeta["three"] = {1, 2}
            writer.meta["fixed"] = (2, "b")
            self.assertEqual(writer.vlmeta["three"], {1, 2})
        read = cairn.open(path)
        self.assertEqual(dict(read.vlmeta), {"one": "kelvin", "two": {"a": (1,)}, "three": {1, 2}})
        self.assertEqual(dict(read.attrs), dict(read.snapshot().vlmeta))
        self.assertEqual(read.meta["fixed"], (2, "b"))
        self.assertEqual(read.meta.raw["raw"], b"\x01\x02")
        made = cairn.asarray(np.arange(3), meta={"unit": "kelvin"})
        self.assertEqual((made.meta["unit"], made.meta.raw["unit"]), ("kelvin", b"\xa6kelvin"))

    def test_raw_bytes_are_stored_only_when_asked_for(self):
        frame = cairn.create(self.path())
        frame.vlmeta["packed"] = b"kelvin"
        frame.vlmeta.raw["raw"] = b"kelvin"
        frame.vlmeta.raw["buffer"] = np.arange(3, dtype="u1")
        self.assertEqual(frame.vlmeta["packed"], b"kelvin")
        self.assertEqual(dict(frame.vlmeta.raw), {"packed": b"\xc4\x06kelvin", "raw": b"kelvin", "buffer": b"\0\1\2"})
        with self.assertRaisesRegex(TypeError, "'raw': expected bytes, got 'kelvin'"):
            frame.vlmeta.raw["raw"] = "kelvin"
        with self.assertRaisesRegex(ValueError, rf"{self.path()}: vlmetalayer 'raw' is not msgpack: .*; vlmeta.raw\['raw'\] has its bytes"):
            frame.vlmeta["raw"]
        del frame.vlmeta["packed"], frame.vlmeta.raw["raw"]
        self.assertEqual(list(frame.vlmeta), ["buffer"])

    def test_refused_values_change_nothing(self):
        frame = cairn.create(self.path(), meta={"fixed": 1})
        frame.vlmeta["a"] = 1
        for layers in (frame.vlmeta, frame.attrs):
            with self.assertRaisesRegex(cairn.InvalidType, f"{self.path()}: vlmetalayer 'a': object cannot be stored"):
                layers["a"] = object()
        with self.assertRaisesRegex(cairn.InvalidArgument, "metalayer 'fixed'"):
            frame.meta["fixed"] = 2**64
        with self.assertRaisesRegex(cairn.InvalidType, "metalayer 'm': object cannot be stored"):
            cairn.create(self.path("b"), meta={"m": object()})
        self.assertFalse(os.path.exists(self.path("b")))
        self.assertEqual((frame.vlmeta["a"], frame.meta["fixed"]), (1, 1))

    def test_layers_of_cairn_are_seen_as_bytes_only(self):
        log = cairn.Log.create(self.path("log"), {"time": "M8[s]", "v": "f4"})
        log.append({"time": ["2026-01-02"], "v": [1.0]})
        frame = cairn.open(log.path, "r+")
        self.assertEqual(dict(frame.vlmeta), {})
        self.assertIn("cairn.log", frame.vlmeta.raw)
        with self.assertRaisesRegex(cairn.InvalidArgument, "Cairn's own"):
            frame.vlmeta["cairn.log"] = 1
        for change in (lambda: frame.vlmeta["cairn.log"], lambda: frame.vlmeta.pop("cairn.log")):
            with self.assertRaises(KeyError):
                change()

    def test_missing_and_read_only_layers_are_exceptions_of_ours(self):
        cairn.create(self.path(), meta={"m": 1}).vlmeta["v"] = 1
        read, change = cairn.open(self.path()), cairn.open(self.path(), "r+")
        for layers, has in ((read.vlmeta, "v"), (read.meta, "m"), (read.vlmeta.raw, "v"), (read.meta.raw, "m")):
            with self.assertRaisesRegex(cairn.errors.NoSuchLayer, f"{self.path()}: .*layer 'none' does not exist: there is .*{has}"):
                layers["none"]
            with self.assertRaisesRegex(cairn.errors.ReadOnly, f"{self.path()}: .*open it with mode 'r\\+'"):
                layers[has] = b"\x01"
        for layers in (change.vlmeta, change.vlmeta.raw):
            with self.assertRaisesRegex(cairn.InvalidType, "expected a name of type str"):
                layers[5] = b"\x01"
            with self.assertRaises(KeyError):
                del layers["none"]
        with self.assertRaisesRegex(cairn.InvalidType, "cannot be deleted"):
            del change.meta["m"]


@needs_blosc2
class PeerMetadataTest(PackageTest):
    def test_bytes_are_those_of_python_blosc2(self):
        from blosc2.msgpack_utils import msgpack_packb

        for value, _ in values():
            if not isinstance(value, (set, frozenset)):
                self.assertEqual(packing.pack(value), msgpack_packb(value), f"{value!r:.80}")

    def test_values_are_read_there(self):
        path = self.path()
        for some in self.parts():
            frame = cairn.create(path, overwrite=True, meta={"m": some[0][0]})
            with frame.writer() as writer:
                for number, (value, _) in enumerate(some):
                    writer.vlmeta[str(number)] = value
            frame.close()
            there = blosc2.open(path, mode="r")
            self.assertTrue(same(there.schunk.meta["m"], some[0][1]), f"{some[0][0]!r:.80}")
            for number, (_, expected) in enumerate(some):
                got = there.schunk.vlmeta[str(number)]
                self.assertTrue(same(got, expected), f"{expected!r:.80} is read as {got!r:.80}")

    def test_values_of_python_blosc2_are_read_here(self):
        path = self.path()
        for some in self.parts():
            there = blosc2.zeros(3, urlpath=path, mode="w", meta={"m": [1, (2, "a")]})
            for number, (value, _) in enumerate(some):
                there.schunk.vlmeta[str(number)] = value
            del there
            frame = cairn.open(path)
            self.assertEqual(frame.meta["m"], [1, (2, "a")])
            for number, (_, expected) in enumerate(some):
                got = frame.vlmeta[str(number)]
                self.assertTrue(same(got, expected), f"{expected!r:.80} is read as {got!r:.80}")

    def parts(self):
        """The values in parts, since python-blosc2 writes few vlmetalayers."""
        every = [(value, expected) for value, expected in values() if len(repr(value)) < 5000]
        return [every[begin : begin + 12] for begin in range(0, len(every), 12)]

    def test_random_values_go_both_ways(self):
        from blosc2.msgpack_utils import msgpack_packb, msgpack_unpackb

        dice = random.Random(7)
        plain = [value for value, expected in values() if len(repr(value)) < 200]
        hashable = [1, 2.5, "a", b"b", None, (1, (2,))]

        def some(depth):
            kind = dice.randrange(8) if depth < 5 else 7
            if kind == 0:
                return [some(depth + 1) for _ in range(dice.randrange(4))]
            if kind == 1:
                return tuple(some(depth + 1) for _ in range(dice.randrange(4)))
            if kind == 2:
                return {f"k{n}": some(depth + 1) for n in range(dice.randrange(4))}
            if kind == 3:
                return set(dice.sample(hashable, dice.randrange(4)))
            return dice.choice(plain)

        for _ in range(ROUNDS):
            value = some(0)
            expected = msgpack_unpackb(msgpack_packb(value))
            self.assertTrue(same(packing.unpack(packing.pack(value)), expected), value)
            self.assertTrue(same(packing.unpack(msgpack_packb(value)), expected), value)
            self.assertTrue(same(msgpack_unpackb(packing.pack(value), deserialize="safe"), expected), value)

    def test_types_that_are_refused_there_are_refused_here(self):
        from blosc2.msgpack_utils import msgpack_packb

        for value in (object(), datetime.datetime(2026, 1, 2), np.datetime64("2026"), np.timedelta64(1, "s"), 2**64, "\udcff", range(3)):
            with self.assertRaises((TypeError, OverflowError, ValueError)):
                msgpack_packb(value)
            with self.assertRaises(cairn.Error):
                packing.pack(value)

    def test_frames_inside_metadata_say_what_reads_them(self):
        path = self.path()
        there = blosc2.zeros(3, urlpath=path, mode="w")
        there.schunk.vlmeta["frame"] = blosc2.zeros(2)
        del there
        with self.assertRaisesRegex(cairn.Unimplemented, r"vlmetalayer 'frame' .*a Blosc2 frame.*vlmeta.raw\['frame'\]"):
            cairn.open(path).vlmeta["frame"]


if __name__ == "__main__":
    unittest.main()
