"""Line protocol that InfluxDB's own Python client writes becomes the records that it was given.

    CAIRN=BUILD/tools/cairn python3 tests/cli/tap.py tests/interop/lines_peer_test.py

Skipped, with a message, where there is no influxdb-client or no CAIRN. A failure names the seed
that CAIRN_SEARCH_SEED runs alone.
"""

import datetime
import decimal
import json
import math
import os
import struct
import subprocess
import tempfile
import unittest
import warnings

import search

try:
    import influxdb_client

    MISSING = None
except ImportError as error:
    MISSING = f"no influxdb-client: {error}"
TOOL = os.environ.get("CAIRN")
if MISSING is None and not TOOL:
    MISSING = "CAIRN does not name the cairn tool"

CASES = 150
POINTS = 40
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
# The kinds of values, the type of their fields, and how struct reads that.
KINDS = {
    "tag": ("bytes[80]", "80s"),
    "text": ("bytes[160]", "160s"),
    "int": ("i8", "q"),
    "uint": ("u8", "Q"),
    "float": ("f8", "d"),
    "decimal": ("f8", "d"),
    "bool": ("bool", "?"),
}
# What line protocol escapes, what it does not, and letters of one to four bytes.
LETTERS = list("abXY019 ,=\"\\'#/:!;{}%né\u00a0日🎈") + list(' ,="\\')
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def letters(dice, most, more=()):
    return "".join(dice.choice(LETTERS + list(more)) for _ in range(dice.randint(0, most)))


def name(dice):
    """A name that the client can write: it leaves a backslash at the end to swallow what follows."""
    while True:
        text = letters(dice, 6)
        if text and not text.endswith("\\") and text.strip(" ") == text and not text.startswith("#"):
            return text


def tag(dice):
    """A tag's value, and what stands for it in the line.

    The client writes control characters as letters, and a blank after a backslash at the end, which
    that backslash then escapes.
    """
    value = letters(dice, 10, "\n\t\r")
    stored = value.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    return value, (stored[:-1] + " " if stored.endswith("\\") else stored).encode()


def whole(dice, least, most):
    return dice.choice([0, 1, least, most, dice.randint(least, most), dice.randint(max(least, -1000), 1000)])


def real(dice):
    return dice.choice([0.0, -0.0, 1e300, -1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, 1 / 3, 1e16,
                        1e-7, -1e22, 2.0**53, 123456789.125, dice.gauss(0, 1), dice.uniform(-1e18, 1e18),
                        math.ldexp(dice.random(), dice.randint(-1070, 1020))])  # fmt: skip


def value(dice, kind):
    """What the client is given, and what the log must hold."""
    if kind in ("int", "uint"):
        number = whole(dice, *((-(2**63), 2**63 - 1) if kind == "int" else (0, 2**64 - 1)))
        return number, number
    if kind == "bool":
        truth = dice.random() < 0.5
        return truth, truth
    if dice.random() < 0.15:  # which the client leaves out
        return None, math.nan if kind in ("float", "decimal") else b""
    if kind == "tag":
        return tag(dice)
    if kind == "text":
        text = letters(dice, 20, "\n\r\t\x01\x7f")
        return text, text.encode()
    if kind == "decimal":
        number = decimal.Decimal(dice.randint(-(10**20), 10**20)).scaleb(dice.randint(-30, 30))
        return number, float(number)
    number = real(dice) if dice.random() < 0.9 else dice.choice([math.nan, math.inf, -math.inf])
    return number, number if math.isfinite(number) else math.nan


def moment(dice, unit):
    """A time as a count, or as a datetime of any zone or none, which means UTC."""
    if dice.random() < 0.5:
        per_second = PER_SECOND[unit]
        most = 2**63 - 1 if unit == "ns" else 4 * 10**9 * per_second
        return dice.choice([0, 1, -1, 1764024302 * per_second, dice.randint(-most, most)])
    time = EPOCH + datetime.timedelta(microseconds=dice.randint(-(2 * 10**15), 4 * 10**15))
    if dice.random() < 0.3:
        time = time.replace(microsecond=0)
    zone = datetime.timezone(datetime.timedelta(minutes=dice.randint(-14 * 60, 14 * 60)))
    return dice.choice([time, time.replace(tzinfo=None), time.astimezone(zone), time.isoformat()])


def same(got, expected):
    if isinstance(expected, float):
        return struct.pack("<d", got) == struct.pack("<d", expected) or (math.isnan(got) and math.isnan(expected))
    return got == expected


@unittest.skipIf(MISSING is not None, MISSING)
class LinesPeer(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name
        warnings.simplefilter("ignore")  # the client's, of names that begin with '#'

    def cairn(self, *arguments, stdin=b""):
        done = subprocess.run([TOOL, *map(str, arguments)], input=stdin, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
        return done.stdout

    def point(self, dice, measurement, fields, unit):
        """A line of the client, and the values of its record, the time first."""
        point = influxdb_client.Point(measurement)
        record = []
        for field, kind in fields:
            given, stored = value(dice, kind)
            point = point.tag(field, given) if kind == "tag" else point.field(field, given)
            record.append(stored)
        point._field_types = {field: "u" for field, kind in fields if kind == "uint" and dice.random() < 0.5}
        line = point.time(moment(dice, unit), unit).to_line_protocol()
        # The client rounds datetimes as it likes: the line says how.
        return line, [int(line.rsplit(" ", 1)[1]), *record]

    def check(self, log, fields, expected):
        expected = sorted(expected, key=lambda record: record[0])
        layout = struct.Struct("<q" + "".join(KINDS[kind][1] for _, kind in fields))
        content = self.cairn("log", "query", log, "--format", "raw")
        self.assertEqual(len(content), len(expected) * layout.size)
        for record, wanted in zip(layout.iter_unpack(content), expected, strict=True):
            record = [item.rstrip(b"\0") if isinstance(item, bytes) else item for item in record]
            self.assertTrue(all(map(same, record, wanted)), f"\n{record}\n{wanted}")
        # And as text, which people see.
        lines = self.cairn("log", "query", log, "--format", "jsonl").decode().splitlines()
        for line, wanted in zip(lines, expected, strict=True):
            row = json.loads(line)
            for (field, _), stored in zip(fields, wanted[1:], strict=True):
                if isinstance(stored, bytes):
                    self.assertEqual(row[field], stored.decode(), field)
                elif isinstance(stored, float):
                    self.assertTrue(same(math.nan if row[field] is None else float(row[field]), stored), (row, wanted))
                else:
                    self.assertEqual(row[field], stored, field)

    def test_random_points_are_the_records_that_they_were_made_from(self):
        for seed, dice in search.dices(CASES):
            with self.subTest(seed=seed):
                kinds = [*KINDS, *dice.choices(list(KINDS), k=dice.randint(0, 3))]
                names = set()
                while len(names) < len(kinds):
                    names.add(name(dice))
                fields = list(zip(sorted(names - {"time"}), kinds))
                unit = dice.choice(list(PER_SECOND))
                log = os.path.join(self.folder, str(seed))
                words = [f"the time:timestamp[{unit}]", *(f"{field}:{KINDS[kind][0]}" for field, kind in fields)]
                self.cairn("log", "create", log, "--quiet", *(word for field in words for word in ("--field", field)))
                wanted, other = name(dice), name(dice)
                lines, expected = [], []
                for _ in range(POINTS):
                    measurement = wanted if wanted == other or dice.random() < 0.8 else other
                    line, record = self.point(dice, measurement, fields, unit)
                    lines.append(line)
                    if measurement == wanted:
                        expected.append(record)
                options = ["--format", "line", "--time-unit", unit, "--measurement", wanted, "--quiet"]
                content = "\n".join(lines).encode()
                if dice.random() < 0.5:
                    self.cairn("log", "append", log, "-", *options, stdin=content)
                else:
                    path = os.path.join(self.folder, f"{seed}.lp")
                    with open(path, "wb") as file:
                        file.write(content)
                    self.cairn("log", "import", log, path, *options)
                self.check(log, fields, expected)
