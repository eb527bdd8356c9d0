"""Whatever a public call is given, what it raises is an exception of ours that says what was wrong."""

import inspect
import itertools
import os
import re
import unittest
from collections.abc import Iterator

from support import PackageTest, cairn, np

try:
    import pandas
except ImportError:
    pandas = None
try:
    from cairn import arguments
except ImportError:
    arguments = None

FIELDS = [("time", "<M8[ms]"), ("temp", "<f4"), ("n", "<i4"), ("host", "S4")]

# What Python, NumPy and nanobind say of their own insides, where the caller gave a wrong argument.
INTERNALS = re.compile(
    "has no attribute|not supported between|operand|not iterable|unpack|unhashable|must be real number|interpreted as an|positional argument"
    "|function arguments|wrong type|has no len|subscriptable|ambiguous|object is not|DType|argument must|intp|casting rule|ufunc"
    "|requires an integer|invalid literal"
)  # fmt: skip

# Members that every class has, and those of the language that take arguments.
LANGUAGE = ("__array__", "__contains__", "__delitem__", "__getitem__", "__setitem__")
LONGEST = 400  # characters of a message


def hostile():
    """By a name for messages: what nobody means as the argument of most calls."""
    values = [None, True, 5, -1, 1.5, "x", "a\0", b"x", [], [1], {}, (), object(), 2**70, -(2**70), float("nan"), np.array([True, False])]
    return [(repr(value)[:20], value) for value in [*values, ["temp", "n"], ["temp", 5], [[1], [2, 3]], np.zeros(2, FIELDS), 1j, os, slice("x"), "99999999999w"]]


def rows(count=3):
    found = np.zeros(count, FIELDS)
    found["time"] = np.arange(count) * 1000
    return found


class Subject:
    """An object of the package, anew for each of its members, and what its messages name."""

    def __init__(self, test, name):
        self.folder = test.fresh()
        self.path = self.where = os.path.join(self.folder, "a.b2nd")
        self.kept = []
        self.it = getattr(self, name)()

    def keep(self, one):
        self.kept.append(one)
        return one

    def end(self):
        for one in reversed(self.kept):
            one.close()

    def frame(self):
        return self.keep(cairn.asarray(np.arange(12.0).reshape(4, 3), self.path, meta={"unit": "x"}))

    def frame_of_records(self):
        return self.keep(cairn.asarray(rows(), self.path))

    def frame_for_reading(self):
        self.frame().close()
        return self.keep(cairn.open(self.path))

    def plain_frame(self):
        frame = self.keep(cairn.create(self.path, None, "<f4"))
        frame.append(np.arange(9, dtype="f4"))
        return frame

    def frame_in_memory(self):
        self.where = "frame in memory"
        return self.keep(cairn.create(None, (4, 3), "<i4"))

    def closed_frame(self):
        frame = self.frame()
        frame.close()
        return frame

    def snapshot(self):
        return self.frame().snapshot()

    def writer(self):
        return self.keep(self.frame().writer())

    def writer_of_plain_frame(self):
        return self.keep(self.plain_frame().writer())

    def closed_writer(self):
        writer = self.writer()
        writer.close()
        return writer

    def meta(self):
        return self.frame().meta

    def raw_meta(self):
        return self.frame().meta.raw

    def vlmeta(self):
        frame = self.frame()
        frame.vlmeta["unit"] = "x"
        return frame.vlmeta

    def raw_vlmeta(self):
        return self.vlmeta().raw

    def log(self):
        log = self.keep(cairn.Log.create(self.path, FIELDS))
        log.append(rows())
        return log

    def log_without_time(self):
        cairn.asarray(np.arange(9.0), self.path).close()
        return self.keep(cairn.Log.open(self.path))

    def closed_log(self):
        log = self.log()
        log.close()
        return log

    def log_snapshot(self):
        return self.log().snapshot()

    def log_writer(self):
        return self.keep(self.log().writer())

    def closed_log_writer(self):
        writer = self.log_writer()
        writer.close()
        return writer

    def records(self):
        self.where = ""
        return self.log().query()

    def scan(self):
        return self.log().scan()

    def plot(self):
        self.where = ""
        return self.log().plot()

    def collection(self):
        self.path = self.where = os.path.join(self.folder, "c.b2d")
        made = self.keep(cairn.open_collection(self.path, "a"))
        with made.writer() as writer:
            writer.add("/unit", np.arange(12.0).reshape(4, 3))
        return made

    def closed_collection(self):
        made = self.collection()
        made.close()
        return made

    def collection_snapshot(self):
        return self.collection().snapshot()

    def collection_writer(self):
        return self.keep(self.collection().writer())

    def member_writer(self):
        return self.collection_writer()["/unit"]

    def aggregates(self):
        self.where = ""
        return self.log().aggregate()


SUBJECTS = [name for name, one in vars(Subject).items() if inspect.isfunction(one) and name not in ("__init__", "keep", "end")]


def good(subject, parameter):
    """An argument that most calls with this parameter take."""
    return {
        "path": os.path.join(subject.folder if subject else "", "other"), "key": 0, "value": 1, "items": [[1.0, 1.0, 1.0]], "nchunk": 0, "chunk": b"x",
        "first": 0, "name": "unit", "content": b"x", "records": rows(), "retention": cairn.Retention(), "rotation": cairn.Rotation(),
        "time": "1970-01-01", "field": "temp", "shape": (4, 3), "nitems": 1, "other": None, "dtype": FIELDS, "by": "n", "to": "/other", "group": "/",
        "number": 0, "increment": os.path.join(subject.folder if subject else "", "other"),
    }[parameter]  # fmt: skip


def is_slow(member, parameter, value):
    """Whether it only asks to wait long."""
    waits = (member, parameter) in (("refresh", "wait"), ("follow", "timeout"))
    return waits and (isinstance(value, (int, float)) and value > 0 or member == "follow" and value is None)


class ArgumentsTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)  # in which a path such as "x" makes files
        self.count = itertools.count()

    def fresh(self):
        folder = self.path(str(next(self.count)))
        os.mkdir(folder)
        return folder

    def call(self, call, given, where):
        """Makes a call that may fail, but not as the programs inside fail."""
        try:
            result = call(**given) if isinstance(given, dict) else call(*given)
            if isinstance(result, (Iterator, cairn.Follower, cairn.LogFollower)):
                next(iter(result), None)
            if isinstance(result, (cairn.Frame, cairn.Writer, cairn.Log, cairn.LogWriter, cairn.Collection, cairn.CollectionWriter)):
                result.close()
        except Exception as error:  # noqa: BLE001: that is what is tested
            text = str(error)
            self.assertIsInstance(error, cairn.Error, text)
            self.assertIn(where, text)
            self.assertIsNone(INTERNALS.search(text), text)
            self.assertLess(len(text), LONGEST)
            self.assertNotIn("\n", text)

    def walk(self, member, call, subject, where):
        """Calls it with each of its parameters wrong in turn."""
        parameters = list(inspect.signature(call).parameters.values())
        needed = {one.name: good(subject, one.name) for one in parameters if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.POSITIONAL_ONLY)}
        for parameter in parameters:
            for name, value in hostile():
                if is_slow(member, parameter.name, value):
                    continue
                with self.subTest(member=member, parameter=parameter.name, value=name):
                    self.call(call, {**needed, **({"timeout": 0} if member == "follow" else {}), parameter.name: value}, where)

    def test_members_raise_only_exceptions_of_ours(self):
        for what in SUBJECTS:
            kind = type(Subject(self, what).it)
            for member in dir(kind):
                is_static = isinstance(inspect.getattr_static(kind, member), staticmethod)
                if is_static or member.startswith("_") and member not in LANGUAGE:
                    continue
                with self.subTest(what=what):
                    subject = Subject(self, what)
                    if inspect.isroutine(getattr(kind, member)):
                        self.walk(member, getattr(subject.it, member), subject, subject.where)
                    else:
                        self.call(lambda: getattr(subject.it, member), (), subject.where)
                    subject.end()

    def test_functions_raise_only_exceptions_of_ours(self):
        made = {*inspect.signature(cairn.create).parameters} - {"path", "dtype", "threads"}
        for name, value in hostile():
            for call in (cairn.open, cairn.create, cairn.asarray, cairn.Log.open, cairn.Log.create, cairn.open_collection):
                where = os.path.join(self.fresh(), "a.b2nd")
                cairn.asarray(rows(), where).close()
                needed = {"items": rows(2), "dtype": FIELDS}
                parameters = inspect.signature(call).parameters
                for parameter in parameters:
                    given = {one: needed[one] for one in needed if one in parameters and call is not cairn.open}
                    given = {"path": where, **({"overwrite": True} if "overwrite" in parameters else {}), **given, parameter: value}
                    if call is cairn.open and parameter in made:
                        given["mode"] = "w"
                    with self.subTest(call=call.__qualname__, parameter=parameter, value=name):
                        self.call(call, given, "" if parameter == "path" else where)

    def test_messages_say_what_was_wrong_and_what_to_give(self):
        log, frame = Subject(self, "log").it, Subject(self, "frame_of_records").it
        columns = {"time": [1, 2], "temp": ["1e400", 1], "n": [1, 2], "host": ["a", "b"]}
        for call, kind, words in (
            (lambda: log[1.5], IndexError, "index: expected ints, slices, lists of ints or masks, got 1.5"),
            (lambda: log.append(None), TypeError, "records: expected an array, a DataFrame, a table, a dict or a list of tuples, got None"),
            (lambda: log.append([{"time": 1}]), TypeError, "record 0: expected a tuple of 4 values, got dict"),
            (lambda: log.append(columns), TypeError, "field 'temp': expected numbers for float32, got '1e400'"),
            (lambda: log.query(where=5), TypeError, "where: expected text such as \"temp > 20\", or tuples"),
            (lambda: log.query(where=[("temp", ">")]), TypeError, "where: expected text"),
            (lambda: log.query(5.5), TypeError, "begin: expected a time such as '2026-01-02T03:04:05', a datetime, or a count"),
            (lambda: log.query(limit=2**70), OverflowError, "limit: expected an int of 64 bits, got one of 71"),
            (lambda: log.scan(limit="x"), TypeError, "limit: expected an int or None, got 'x'"),
            (lambda: log.follow(timeout=float("nan")), ValueError, "timeout: expected a number of seconds, got nan"),
            (lambda: log.request_retention("1d"), TypeError, "retention: expected a cairn.Retention, got '1d'"),
            (lambda: log.refresh(wait="x"), TypeError, "wait: expected a number of seconds, got 'x'"),
            (lambda: frame["temp":], TypeError, "slice indices must be integers"),
            (lambda: frame.append([object()]), ValueError, "items: expected what becomes items of"),
            (lambda: frame.__setitem__(0, object()), ValueError, "value: expected what becomes items of"),
            (lambda: cairn.create(self.path("new"), meta=[1]), TypeError, "meta: expected a dict of names and values or None, got list"),
            (lambda: cairn.asarray([1], self.path("new"), filters=5), TypeError, "filters: expected names of filters, or pairs of a name and an int, got 5"),
            (lambda: cairn.asarray([None]), ValueError, "items of type object have no fixed bytes: give a dtype of numbers, bytes or times"),
        ):  # fmt: skip
            with self.subTest(words=words), self.assertRaises(kind) as caught:
                call()
            self.assertIsInstance(caught.exception, cairn.Error)
            self.assertIn(words, str(caught.exception))
        self.assertEqual(os.listdir(self.folder), ["0", "1"])

    @unittest.skipIf(pandas is None, "no pandas")
    def test_columns_of_pandas_are_stored_as_numpy_has_them(self):
        zoned = pandas.Series(pandas.date_range("2026-01-01", periods=2, tz="Asia/Tokyo", unit="s"))
        utc = np.array(["2025-12-31T15", "2026-01-01T15"], "M8[s]")
        for column, dtype, expected in (
            (pandas.Series([1, 2], dtype="Int64"), None, np.array([1, 2])), (pandas.Series([5, 7], dtype="category"), None, np.array([5, 7])),
            (pandas.Series([1, None], dtype="Int64"), "f4", np.array([1, np.nan], "f4")), (zoned, None, utc), (pandas.DatetimeIndex(zoned), None, utc),
            (pandas.Series(["a", "bc"]), "S2", np.array([b"a", b"bc"])),
        ):  # fmt: skip
            for path in (None, self.path("a.b2nd")):
                with self.subTest(column=column, path=path):
                    how = {} if dtype is None else {"dtype": dtype}
                    self.assert_same(cairn.asarray(column, path, **how, overwrite=True)[:], expected)
        for column in (["a", "b"], pandas.Series(["a", None]), pandas.Series(["a", "b"], dtype="category"), pandas.DataFrame({"a": [1], "b": ["x"]})):
            with self.subTest(column=column), self.assertRaises(cairn.InvalidArgument):
                cairn.asarray(pandas.Series(column) if isinstance(column, list) else column)

    def test_every_kind_of_parameter_is_known(self):
        """A parameter whose kind is not known is not named when it was wrong."""
        calls = [getattr(type(Subject(self, what).it), member) for what in SUBJECTS for member in dir(type(Subject(self, what).it)) if not member.startswith("_")]
        for call in [*filter(inspect.isroutine, calls), cairn.open, cairn.create, cairn.asarray, cairn.Log.open, cairn.Log.create, cairn.open_collection]:
            if not hasattr(call, "__wrapped__"):
                continue
            for parameter in list(inspect.signature(call).parameters.values()):
                if parameter.annotation is not parameter.empty:
                    with self.subTest(call=call.__qualname__, parameter=parameter.name):
                        self.assertIn(arguments.kind_of(parameter.annotation)[0], [*arguments.KINDS, *arguments.CHECKED])


if __name__ == "__main__":
    unittest.main()
