#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets, one folder each, out of the golden vectors, and of frames that
Cairn seals.

    fuzz/make-corpora.py CAIRN tests/vectors OUT
"""

import argparse
import io
import json
import pathlib
import random
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import zipfile

LARGEST = 16_000  # of a seed, bytes: large ones only make the fuzzer slow


def blosclz_streams(chunk):
    """The streams of a BloscLZ chunk, with what each decodes to."""
    flags, typesize = chunk[2], chunk[3]
    nbytes, blocksize = struct.unpack_from("<ii", chunk, 4)
    extended = flags & 5 == 5
    special = extended and (chunk[31] >> 4 & 7 or chunk[31] & 1 or chunk[30])
    if flags >> 5 != 0 or flags & 2 or special or nbytes <= 0:
        return
    for block in range(-(-nbytes // blocksize)):
        (at,) = struct.unpack_from("<i", chunk, (32 if extended else 16) + 4 * block)
        size = min(blocksize, nbytes - block * blocksize)
        split = not flags & 0x10 and size == blocksize and chunk[0] > 2
        for _ in range(typesize if split else 1):
            (csize,) = struct.unpack_from("<i", chunk, at)
            neblock = size // typesize if split else size
            if 0 < csize < neblock < 65536:
                yield struct.pack("<H", neblock) + chunk[at + 4 : at + 4 + csize]
            at += 4 + max(csize, 0) + (csize < 0)


ARRAY_CODECS = ("ndlz", "zfp_acc", "zfp_prec", "zfp_rate")


def array_streams(frame, entry):
    """The first stream of each chunk, after what the target asks for."""
    shape = entry["b2nd"]["blockshape"]
    ndlz = entry["codec"] == "ndlz"
    (at,) = struct.unpack_from(">i", frame, 11)
    for _ in range(entry["nchunks"]):
        (cbytes,) = struct.unpack_from("<i", frame, at + 12)
        (start,) = struct.unpack_from("<i", frame, at + 32)
        (csize,) = struct.unpack_from("<i", frame, at + start)
        choices = [ARRAY_CODECS.index(entry["codec"]), frame[at + 23]]
        choices += [] if ndlz else [len(shape) - 1, entry["typesize"] // 8]
        if csize > 0:
            yield bytes(choices + [extent - 1 for extent in shape]) + frame[at + start + 4 : at + start + 4 + csize]
        at += cbytes


def number_streams(cairn, vectors):
    """Files of pco, streams of our codecs with the size that they decode to, and numbers."""
    for path in sorted((vectors / "pco").glob("*.pco")):
        yield b"\0" + path.read_bytes()
    for size, values in [(2, range(300)), (4, range(0, 90000, 7)), (8, (i * i for i in range(2500)))]:
        numbers = b"".join(value.to_bytes(size, "little") for value in values if value < 1 << (8 * size))
        for kind, codec in [(1, "pco"), (3, "bitpack"), (5, "auto")]:
            yield bytes([kind + 1, size.bit_length() - 1, 4, 4]) + numbers
            yield bytes([kind + 1, size.bit_length() - 1, 0x5B, 4]) + numbers  # columns of records
            command = [cairn, "encode", "--codec", codec, "--typesize", str(size), "-"]
            chunk = subprocess.run(command, input=numbers, check=True, capture_output=True).stdout
            (start,) = struct.unpack_from("<i", chunk, 32)
            (csize,) = struct.unpack_from("<i", chunk, start)
            yield bytes([kind]) + struct.pack("<H", len(numbers) & 0xFFFF) + chunk[start + 4 : start + 4 + csize]


def frame_lists(frame):
    """The lists of layers in header and trailer."""
    (header_len,) = struct.unpack_from(">i", frame, 11)
    (frame_size,) = struct.unpack_from(">q", frame, 16)
    yield frame[0x57:header_len]
    (trailer_size,) = struct.unpack_from(">I", frame, frame_size - 22)
    yield frame[frame_size - trailer_size : frame_size]


def joined(files):
    """The files of a sparse frame as one input."""
    return b"".join(struct.pack("<II", number, len(content)) + content for number, content in files)


def sparse_files(folder):
    yield 0, (folder / "chunks.b2frame").read_bytes()
    for file in sorted(folder.glob("*.chunk")):
        yield int(file.stem, 16), file.read_bytes()


def indexes():
    """Choices and entries; whole chunks lie at 0, 96 and 192, a half one at 288."""
    special = [code << 56 for code in (0x81, 0x82, 0x84)]
    for choices in range(8):
        for entries in ([], [0], [0, 96, 192], [192, 0, 96, 288], [0, 0, 0], [0, 1000, -1]):
            yield choices, entries
        yield choices, special + [0]
    yield 4, [0] * 200


def b2nd(shape, chunkshape, blockshape, dtype=b"|u1"):
    layer = bytes([0x97, 0, len(shape)])
    layer += bytes([0x90 + len(shape)]) + b"".join(b"\xd3" + struct.pack(">q", n) for n in shape)
    for extents in (chunkshape, blockshape):
        layer += bytes([0x90 + len(shape)])
        layer += b"".join(b"\xd2" + struct.pack(">i", n) for n in extents)
    return layer + b"\x00\xdb" + struct.pack(">I", len(dtype)) + dtype


def arrays():
    for kind in (0, 1, 2, 0x42, 0x83):
        for array in (
            b2nd([7], [4], [2]),
            b2nd([5, 6], [3, 4], [2, 3]),
            b2nd([10, 0], [3, 4], [2, 3]),
            b2nd([4, 5, 6], [4, 3, 2], [2, 2, 2]),
            b2nd([2] * 8, [2] * 8, [1] * 8),
            b2nd([], [], []),
        ):
            yield struct.pack("<BH", kind, 6) + array


class Journal:
    """Chunks and records behind a frame of three chunks of 64 bytes. The target fills in hashes."""

    def __init__(self):
        self.bytes = b"\0"  # nothing is left to the fuzzer
        self.nchunks, self.nbytes = 3, 192

    def chunk(self, size=64):
        """Stored as it is; gives what an edit says of it."""
        begin = len(self.bytes) - 1
        head = struct.pack("<4B3i", 5, 1, 7, 4, size, size, 32 + size)
        self.bytes += head + bytes(16) + bytes(range(size))
        return struct.pack("<qQii", begin, 0, size, 32 + size)

    def batch(self, edits=(), layers=(), tail=None):
        body = struct.pack("<QQQq", 0, 0, 0, 1 << 40)
        body += struct.pack("<qqqiI", self.nchunks, self.nbytes, -1, 64, 0)
        body += struct.pack("<I", len(edits)) + b"".join(edits)
        body += struct.pack("<I", len(layers)) + b"".join(layers)
        body += tail or struct.pack("<IQ", 0, 0)
        size = 24 + len(body) + 8
        self.bytes += b"CAIRNJNL" + struct.pack("<IIQ", 1, 1, size) + body + bytes(8)
        return self

    def insert(self, number, placed, nbytes=64):
        self.nchunks += 1
        self.nbytes += nbytes
        return struct.pack("<IQ", 1, number) + placed

    def layer(self, kind, name, content=b""):
        return struct.pack("<IIQ", kind, len(name), len(content)) + name + content


def journals():
    yield Journal().batch()
    one = Journal()
    placed = one.chunk()
    yield one.batch([one.insert(3, placed)])
    two = Journal()
    placed = two.chunk()
    two.batch([two.insert(0, placed)])
    placed = two.chunk()
    yield two.batch([two.insert(2, placed), struct.pack("<IQ", 2, 1) + placed])
    gone = Journal()
    gone.nchunks, gone.nbytes = 1, 64
    yield gone.batch([struct.pack("<IQQ", 3, 0, 2)])
    turned = Journal()
    yield turned.batch([struct.pack("<IQ3I", 4, 3, 2, 0, 1)])
    special = Journal()
    zeros = struct.pack("<QQii", 0x81 << 56, 0, 64, 0)
    yield special.batch([special.insert(3, zeros)])
    tail = Journal()
    tail.nbytes += 8
    tail.batch(tail=struct.pack("<IQ", 0, 8) + bytes(range(8)))
    tail.nbytes += 4
    yield tail.batch(tail=struct.pack("<IQ", 0, 4) + b"tail")
    layers = Journal()
    value = struct.pack("<4B3i", 5, 1, 7, 8, 4, 4, 36) + bytes(16) + b"data"
    yield layers.batch(
        layers=[
            layers.layer(1, b"meta", b"12345678"),
            layers.layer(2, b"new", value),
            layers.layer(3, b"vl"),
        ]
    )


def increments():
    """What increments say: updates, a new order, special values, other metadata, pending items."""

    def run(kind, value, count):
        return struct.pack("<Iqq", kind, value, count)

    def increment(*runs, kept=8, added=0, layers=()):
        head = struct.pack("<IIQQQQqiqq", 1, 0, 0, 1, 1, 2, 328, 64, kept, added)
        runs = struct.pack("<Q", len(runs)) + b"".join(runs)
        return head + runs + struct.pack("<I", len(layers)) + b"".join(layers)

    yield increment(run(1, 0, 5))
    yield increment(run(1, 0, 2), run(2, 0, 3), kept=0)
    yield increment(run(1, 3, 2), run(1, 0, 3), run(2, 0, 2), added=8)
    yield increment(run(1, 0, 1), run(3, -(127 << 56), 4))
    layer = Journal().layer
    yield increment(run(1, 0, 5), layers=[layer(1, b"meta", bytes(8)), layer(2, b"new", b"x"), layer(3, b"vl")])


DTYPES = (
    "[('t', '<M8[us]'), ('x', '<f8'), ('n', '<i4')]",
    "{'names': ['a', 'b'], 'formats': ['|u1', '<f8'], 'offsets': [0, 8], 'itemsize': 24}",
    "[('a', '<i4'), ('', '|V4'), (\"it's\", '|S12')]",
    "<f8",
)


def binary(payload):
    """A binary value of MessagePack."""
    return b"\xc6" + struct.pack(">I", len(payload)) + payload


def log_parts():
    """What a log is described by, after the number of its kind."""
    for dtype in DTYPES:
        yield b"\0" + dtype.encode()
    number = b"\x63" + struct.pack("<5d", -1, 2, 30, 0, 1) + b"\x01\x00"
    half = b"\x32" + struct.pack("<q", 1_000_000) + b"\x05" + b"\x31" + number[1:] + b"\x00" + b"\x00"
    row = struct.pack("<QBB", 0x1234, 1, 2) + half + half.replace(b"\x40\x42", b"\x45\x42", 1)
    stats = struct.pack("<4sIIqq", b"CLGS", 1, 3, 7, 1) + row
    yield b"\1" + stats  # without a head, as older Cairns wrote layers
    yield b"\1" + binary(stats)
    yield b"\2" + binary(struct.pack("<4sI6q", b"CLOG", 1, 100, 5, 6, 7, 8, 9) + b"\0\4time")
    yield b"\3" + struct.pack("<4sI5q", b"CLRQ", 1, 100, -1, 6, 7, -1)
    yield b"\4" + binary(struct.pack("<4sIq", b"CLGE", 1, 3) + b"\3" + b"\0\5" + b"\x80\x01\7" + b"\1\1")
    yield b"\5" + struct.pack("<4sI4qI", b"CLRD", 1, -5, 1 << 40, 0, 99, 8) + b"temp > 5" + struct.pack("<I", 0)
    yield b"\6" + binary(struct.pack("<4sI", b"CLGF", 1) + b"\2" + b"\5level\0\x80\x01" + b"\4room\1\7")
    yield b"\7" + binary(struct.pack("<4sIqq", b"CLGK", 1, 2, 3) + b"\0\4hall" + "\1\2ä".encode() + b"\2\1x")


def ledger_layers():
    """A table of members, a commit, an increment and copies of objects, after the number of their kind."""

    def layer(payload):
        return binary(struct.pack("<I", 1) + payload)

    def name(text):
        return struct.pack("<H", len(text)) + text.encode()

    position = struct.pack("<QQB", 2, 3, 1)
    entry = struct.pack("<QB", 4, 0) + position
    yield b"\0" + layer(struct.pack("<QI", 0, 0))
    yield b"\0" + layer(struct.pack("<QI", 5, 2) + name("/a") + entry + name("/g/b") + entry)
    edits = name("/d") + b"\1" + entry + name("/a") + b"\0" + name("/g/b") + b"\2" + position
    past = struct.pack("<QII", 9, 2, 0) + struct.pack("<I", 3) + edits
    members = struct.pack("<QI", 5, 2) + name("/a") + entry + name("/g/b") + entry
    yield b"\0" + binary(struct.pack("<I", 2) + members + past)
    listed = struct.pack("<QI", 3, 1) + name("/a") + b"\3" + position
    copied = struct.pack("<QI", 4, 1) + name("/a") + b"\4" + entry
    past = struct.pack("<QI", 9, 2) + struct.pack("<QI", 2, 3) + edits
    yield b"\0" + binary(struct.pack("<I", 3) + members + past + listed)
    yield b"\0" + binary(struct.pack("<I", 3) + members + past + copied)
    patch = struct.pack("<qI", 100, 3) + b"abc"
    part = name("/g/b") + position + struct.pack("<I", 2) + patch + patch
    removed = struct.pack("<I", 1) + name("/a")
    yield b"\1" + layer(struct.pack("<Q", 6) + removed + struct.pack("<I", 1) + name("/c") + entry + struct.pack("<I", 1) + part)
    chunk = name("/g/b") + struct.pack("<QBQI", 4, 1, 0x1A, 3) + b"abc"
    copies = struct.pack("<I", 2) + name("/c") + struct.pack("<QBQI", 4, 0, 1, 0) + chunk
    yield b"\1" + binary(struct.pack("<IQ3I", 2, 6, 0, 0, 0) + copies)
    yield b"\3" + layer(copies)
    instead = struct.pack("<I", 1) + name("/a") + entry[:-1] + b"\5"
    yield b"\1" + binary(struct.pack("<IQ", 3, 6) + removed + instead + struct.pack("<I", 1) + part)
    whole = struct.pack("<I", 1) + name("/c") + b"\2"
    yield b"\2" + layer(struct.pack("<4Q", 1, 2, 3, 4) + removed + whole + struct.pack("<I", 1) + name("/g/b"))


def text_of(text):
    return bytes([0xA0 + len(text)]) + text.encode()


def values_layer(places):
    """The list of a store of values, which lie at these places."""
    values = b"".join(
        text_of(name) + b"\x82" + text_of("offset") + b"\xce" + struct.pack(">I", offset) + text_of("length") + b"\xcd" + struct.pack(">H", size)
        for name, (offset, size) in places.items()
    )
    return b"\x82" + text_of("embed_map") + bytes([0x80 + len(places)]) + values + text_of("current_offset") + b"\x05"


def stores(cairn, folder, frame):
    """A packed store and a store of values with this frame, and lists of values."""
    layer = values_layer({"/a": (0, len(frame)), "/g/b": (3, 5)})
    yield b"\1" + layer
    elsewhere = b"\x81" + text_of("embed_map") + b"\x81" + text_of("/c") + b"\x82" + text_of("urlbase") + b"\xc0" + text_of("path") + b"\xd9\1x"
    yield b"\1" + elsewhere
    (folder / "value").write_bytes(frame)
    (folder / "layer").write_bytes(layer)
    store = folder / "embed.b2e"
    subprocess.run([cairn, "pack", folder / "value", store, "--quiet", "--vlmeta", f"estore_metadata=@{folder / 'layer'}"], check=True)
    yield b"\0" + store.read_bytes()
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", method) as archive:
            archive.writestr("d/c.b2nd", frame)
            archive.writestr("x.txt", "no member")
            archive.write(store, "embed.b2e")
            archive.comment = b"comment"
        yield b"\0" + packed.getvalue()


def record_rows():
    """Texts with records, after the numbers of their format and of the pieces in which they come."""
    header = "time,seen,h,f,d,i,u,ok,text\n"
    rows = [
        '2026-11-24T22:45:02.5Z,,0.1,-0,1e300,-128,18446744073709551615,true,"a""b"\n',
        '5,1969-12-31,nan,inf,-inf,1,2,f,"two\nlines"\n',
        "x,,,,,,,,\n,\n",
        '9999-12-31 23:59:59.999999+14:00,7,6e-8,1e-45,5e-324,0,0,1,"x',
    ]
    yield b"\0\xff" + (header + "".join(rows)).encode()
    for piece, row in enumerate(rows):
        yield bytes([0, piece]) + (header + row).encode()
    yield b"\0\7\xef\xbb\xbf" + b"u,i,ok,time\r\n1,2,1,3\r\n"
    lines = [
        '{"time":1,"i":2,"u":3,"ok":true,"f":0.1,"text":"\\u00e4","d":null}',
        '{"time":"2026-11-24","i":-1,"u":0,"ok":"f","d":"-inf","text":{"base64":"/wD+"}}',
        '{"time":1,"i":[],"x":{}}', "[", "5", "",
    ]
    yield b"\1\3" + "\n".join(lines).encode()
    for line in lines:
        yield b"\1\xff" + line.encode()
    lines = [
        'm,text=a\\ b f=1.5,i=-3i,u=7u,ok=T 1764024302500000000', 'm text="a\\"b",i=1i,u=1u,ok=false 5', "# m", "m x", "m,=", 'm a="',
    ]
    yield b"\2\3" + "\n".join(lines).encode()
    for line in lines:
        yield b"\2\xff" + line.encode()


def log_texts():
    """What people type about logs, after the number of its kind and two units of time."""
    texts = [
        ["2026-11-24", "2026-11-24T22:45:02.125Z", "2016-12-31 23:59:60+05:30", "0000-01-01T24:00", "1677-09-21T00:12:44"],
        ["5", "-1764024302.75", "9223372036854775807", "0.9999999999"],
        ["90s", "1h30m", "15d", "2w", "1500ms", "7us3ns"],
        ["a,b", '"a,""b",c', ",", '"'],
    ]
    for kind, some in enumerate(texts):
        for text in some:
            for unit in range(4):
                yield bytes([kind, unit, 3 - unit]) + text.encode()


LOG_CONDITIONS = [
    "x > 20", "'s' = \"a b\"", "t >= 2026-11-24", "n != 18446744073709551615", "ok=true", "ok",
    "x > 1 and (n in (1, 2) or not ok)", "s not in ('a', 'b')", "1 < x <= 2.5", "not not ok and", "((x > 1",
    "x is null or 's' is not null", "x = nan",
]  # fmt: skip


def object_parts():
    """Names of objects, answers of stores, settings and URIs, after the number of their kind."""
    listing = "<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a&amp;b</Key><Size>7</Size></Contents></ListBucketResult>"
    texts = [
        ["journal/0123456789abcdef", "garbage/0000000067456789.fedcba9876543210", "journal/FFFFFFFFFFFFFFFF", "0000001A.chunk"],
        ["<Error><Code>SlowDown</Code></Error>", "<?xml version='1.0'?><a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a>&lt;&#x41;</a>", listing],
        ["[default]\naws_access_key_id = a\n[profile b]\ns3 =\n  addressing_style = path\n", "# nothing\n", "[x", "a = b"],
        ["s3://bucket/a/b", "s3://bucket", "https://host:8080/a%20b/c.b2frame", "http://h/", "s3://"],
        ["a b/%41", "%zz", "https://user@host/a?b#c", "\u00e9"],
        [listing.replace("</Size>", "</Size><LastModified>2026-01-01T00:00:00Z</LastModified>"), listing,
         "<DeleteResult><Error><Key>a</Key><Code>SlowDown</Code></Error></DeleteResult>"],
        ["bytes 0-7/8", "bytes 5-4/8", "bytes 0-0/9223372036854775807", "bytes */8"],
        ['{"AccessKeyId":"k","SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"}', '{"Code":"Failed"}',
         '{"Version":1,"AccessKeyId":"k","SecretAccessKey":"s"}', '{"accessToken":"t","expiresAt":"2099-01-01T00:00:00UTC"}',
         '{"roleCredentials":{"accessKeyId":"k","secretAccessKey":"s","sessionToken":"t","expiration":4070908800000}}',
         "<R><AssumeRoleResult><Credentials><AccessKeyId>k</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
         "<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></R>"],
        ["/bin/a --b 'c d' \"e\\\"f\" g\\ h", "\"open"],
        ["https://h/a?b", "http://127.0.0.1:80/a", "http://[fd00:ec2::23]/v1", "http://169.254.170.2/a", "http://[::1].h/"],
    ]
    for kind, some in enumerate(texts):
        for text in some:
            yield bytes([kind]) + text.encode()


def sealed_frames(cairn, folder):
    """Paths of frames that Cairn wrote: of every fingerprint, and with a past."""
    counted = folder / "counted"
    counted.write_bytes(b"".join(struct.pack("<I", n * n) for n in range(75)))
    zeros = folder / "zeros"
    zeros.write_bytes(bytes(400))

    def run(*arguments):
        subprocess.run([cairn, *arguments], check=True, stdout=subprocess.DEVNULL)

    count = 0
    for layout in ([], ["--sparse"]):
        for kind in ("none", "xxh32", "xxh3-64", "xxh3-128"):
            for items in (counted, zeros):
                frame = folder / f"frame-{count}"
                count += 1
                run("pack", items, frame, "--quiet", "--typesize", "4", "--chunk-size", "64",
                    "--fingerprint", kind, "--meta", "unit=K", "--vlmeta", "note=fine", *layout)
                yield frame
        with_past = folder / f"frame-{count}"
        count += 1
        run("pack", counted, with_past, "--quiet", "--typesize", "4", "--chunk-size", "64", *layout)
        run("append", with_past, counted, "--quiet")
        run("chunk", "delete", with_past, "1", "2")
        run("meta", "set", with_past, "name", zeros)
        yield with_past


def databases(cairn, folder):
    """Paths of frames with a database of SQLite: a chunk a page, several, others, and with a past."""

    def run(*arguments):
        subprocess.run([cairn, *arguments], check=True, stdout=subprocess.DEVNULL)

    plain = folder / "plain.db"
    connection = sqlite3.connect(plain, isolation_level=None)
    connection.executescript(
        "PRAGMA page_size=512; PRAGMA auto_vacuum=FULL;"
        "CREATE TABLE numbers(a INTEGER PRIMARY KEY); CREATE TABLE texts(b TEXT UNIQUE);"
        "INSERT INTO numbers VALUES (1), (2), (3); INSERT INTO texts VALUES ('one'), ('two');"
        "INSERT INTO texts VALUES (printf('%.600c', 'x'));"
    )
    connection.close()
    for count, options in enumerate((
        ["--chunk-size", "512"],
        ["--chunk-size", "512", "--codec", "zstd", "--filters", "none"],
        ["--chunk-size", "2048"],
        ["--chunk-size", "700"],
        ["--chunk-size", "512", "--typesize", "4"],
        ["--chunk-size", "512", "--fingerprint", "none"],
    )):
        frame = folder / f"database-{count}"
        typesize = [] if "--typesize" in options else ["--typesize", "1"]
        run("pack", plain, frame, "--quiet", *typesize, *options)
        yield frame
    # The last one as a commit after a checkpoint leaves it.
    page = folder / "page"
    page.write_bytes(plain.read_bytes()[512:1024])
    journaled = folder / "database-journaled"
    shutil.copy(folder / "database-0", journaled)
    run("chunk", "update", journaled, "1", page)
    run("append", journaled, page, "--quiet")
    yield journaled


LOCK_LINES = (
    "lock:\t1: OFDLCK ADVISORY  READ -1 fe:00:131 4611686018427387905 4611686018427387906",
    "lock:\t2: OFDLCK  ADVISORY  WRITE -1 08:01:9 0 EOF",
    "lock:\t1: POSIX  ADVISORY  READ 12 fe:00:131 0 1",
    "pos:\t0",
)

COMMANDS = (
    "pack in out --typesize 4 --codec zstd --level 9 --filters shuffle,trunc_prec:10 --meta unit=K",
    "copy in out --sparse --chunk-size 64KiB --block-size 1MB --split-mode auto --force",
    "cat frame --first-item 1000 --items 10 --threads 2",
    "cat frame --box 3:7,0:10",
    "info frame --json --offset 64KiB --chunks",
    "verify frame --quiet",
    "log create log --field time:timestamp[us] --field x:f4 --retain-age 30d --rotate-bytes 1MB",
    "log append log - --format line --commit-every 100,500ms --bad skip --delimiter tab",
    "log query log --from 2026-11-24 --where x>5 --fields a,b --plot x.svg --unit x=K",
    "log agg log --bucket 1h --what mean,max --last 7d",
    "chunk insert frame 3 file --compressed",
    "chunk delete frame 3 2",
    "chunk reorder frame 2,0,1",
    "meta set frame name value --fixed",
    "append frame file --follow --commit-every 5 --wait 1.5 --durability process",
    "recover frame --dry-run",
    "reclaim frame --keep 3",
    "encode in out --codec lz4 --dict",
    "--help",
    "cat --help",
    "--version",
)


class Corpora:
    def __init__(self, cairn, vectors, out):
        self.cairn = cairn
        self.vectors = vectors
        self.out = out
        self.count = 0
        self.entries = json.loads((vectors / "manifest.json").read_text())

    def put(self, target, content):
        if len(content) > LARGEST:
            return
        folder = self.out / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.count:05}").write_bytes(content)
        self.count += 1

    def chunks(self, chunk, is_hostile):
        self.put("chunk_decode", chunk)
        self.put("peer_chunk", chunk)
        if is_hostile:
            return
        for stream in list(blosclz_streams(chunk))[:3]:
            self.put("blosclz_decode", stream)

    def frames(self, frame, entry):
        self.put("frame_read", frame)
        if len(frame) < 6000:
            self.put("recover", frame)
            self.put("peer_frame", frame)
        is_current = frame[:1] == b"\x9e" and not entry.get("offset")
        if entry.get("codec") in ARRAY_CODECS:
            for stream in array_streams(frame, entry):
                self.put("array_streams", stream)
        if is_current and entry["class"] != "hostile":
            for layers in frame_lists(frame):
                self.put("layers", layers)

    def sealed(self):
        with tempfile.TemporaryDirectory() as folder:
            for frame in sealed_frames(self.cairn, pathlib.Path(folder)):
                if frame.is_dir():
                    self.put("sparse_directory", joined(sparse_files(frame)))
                    continue
                self.put("frame_read", frame.read_bytes())
                self.put("recover", frame.read_bytes())

    def stores(self):
        smallest = min((path for path in self.vectors.glob("cframes/*") if path.is_file()), key=lambda path: path.stat().st_size)
        with tempfile.TemporaryDirectory() as folder:
            for store in stores(self.cairn, pathlib.Path(folder), smallest.read_bytes()):
                self.put("stores", store)

    def databases(self):
        with tempfile.TemporaryDirectory() as folder:
            for frame in databases(self.cairn, pathlib.Path(folder)):
                self.put("sqlite_database", frame.read_bytes())

    def make(self):
        for part in log_parts():
            self.put("log_parts", part)
        for layer in ledger_layers():
            self.put("ledger_layers", layer)
        for rows in record_rows():
            self.put("record_rows", rows)
        for text in log_texts():
            self.put("log_texts", text)
        for condition in LOG_CONDITIONS:
            self.put("log_conditions", condition.encode())
        for part in object_parts():
            self.put("object_parts", part)
        for stream in number_streams(self.cairn, self.vectors):
            self.put("number_streams", stream)
        self.sealed()
        self.stores()
        self.databases()
        for entry in self.entries:
            path = self.vectors / entry["path"]
            if path.is_dir():
                if not (path / "chunks.b2frame").exists():
                    continue
                self.put("sparse_directory", joined(sparse_files(path)))
                continue
            content = path.read_bytes()
            if entry["kind"] == "chunk":
                self.chunks(content, entry["class"] == "hostile")
            elif entry["kind"] == "packed":
                self.put("packed_super_chunk", content)
            else:
                self.frames(content, entry)
        for choices, entries in indexes():
            packed = b"".join(struct.pack("<Q", entry & (1 << 64) - 1) for entry in entries)
            self.put("offsets_index", bytes([choices]) + packed)
        for array in arrays():
            self.put("array_box", array)
        for increment in increments():
            self.put("increment", increment)
        for journal in journals():
            self.put("journal_replay", journal.bytes)
            # After the index of a sparse frame.
            self.put("journal_replay", b"\x40" + journal.bytes[1:])
        for line in LOCK_LINES:
            self.put("lock_line", line.encode())
        for command in COMMANDS:
            self.put("command_line", command.replace(" ", "\n").encode())
        # Any bytes are options, payloads and edits.
        noise = random.Random(1)
        coded = ("chunk_round_trip", "blosclz_round_trip", "edit_sequence", "journal_summary")
        for size in (20, 100, 400) * 8:
            content = noise.randbytes(size)
            for target in coded:
                self.put(target, content)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cairn", type=pathlib.Path)
    parser.add_argument("vectors", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    Corpora(options.cairn.resolve(), options.vectors, options.out).make()


if __name__ == "__main__":
    main()
