"""Writers of several processes wait for their turn, and nothing is lost. What a dropped writer loses is told."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import unittest
import warnings

from support import PackageTest, cairn, np

PROCESSES = 4
EDITS = 12
WAIT = 120  # seconds: who waits that long fails the test


class ProcessesTest(PackageTest):
    def run_processes(self, edit, path):
        """Runs the edit in each process, for `number` of the process and `step` from 0 on."""
        script = f"""
import sys
import cairn, numpy as np
number = int(sys.argv[1])
opened = {"cairn.Log.open" if path.endswith("log") else "cairn.open"}({path!r}, {"" if path.endswith("log") else "'r+', "}wait={WAIT})
for step in range({EDITS}):
    {edit}
"""
        commands = [[sys.executable, "-c", script, str(number)] for number in range(PROCESSES)]
        processes = [subprocess.Popen(one, stderr=subprocess.PIPE, text=True) for one in commands]
        for process in processes:
            _, said = process.communicate()
            self.assertEqual((process.returncode, said), (0, ""))

    def test_assign(self):
        for path, shape in ((self.path("array"), (PROCESSES, EDITS)), (self.path("sparse"), (PROCESSES, EDITS))):
            with self.subTest(path=path):
                cairn.create(path, shape, "<i4", chunks=(2, 5), sparse=path.endswith("sparse")).close()
                self.run_processes("opened[number, step] = number * 1000 + step + 1", path)
                expected = np.arange(PROCESSES)[:, None] * 1000 + np.arange(EDITS) + 1
                self.assertEqual(cairn.open(path)[:].tolist(), expected.tolist())

    def test_append(self):
        for path, shape in ((self.path("array"), (0,)), (self.path("plain"), None)):
            with self.subTest(path=path):
                cairn.create(path, shape, "<i4").close()
                self.run_processes("opened.append(np.array([number * 1000 + step], '<i4'))", path)
                found = cairn.open(path, dtype="<i4")[:].tolist()
                for number in range(PROCESSES):
                    own = [one % 1000 for one in found if one // 1000 == number]
                    self.assertEqual(own, list(range(EDITS)))
                self.assertEqual(len(found), PROCESSES * EDITS)

    def test_resize(self):
        path = self.path()
        cairn.create(path, (1,), "<i4").close()
        self.run_processes("opened.resize(100 * number + step + 1)", path)
        frame = cairn.open(path)
        self.assertIn(frame.shape, [(100 * number + EDITS,) for number in range(PROCESSES)])
        self.assertGreaterEqual(frame.generation, PROCESSES * EDITS)

    def test_metadata(self):
        path = self.path()
        cairn.create(path, (1,), "<i4").close()
        self.run_processes("(opened.vlmeta if step % 2 else opened.attrs)[f'{number} {step}'] = step", path)
        expected = {f"{number} {step}": step for number in range(PROCESSES) for step in range(EDITS)}
        self.assertEqual(dict(cairn.open(path).vlmeta), expected)

    def test_log(self):
        path = self.path("log")
        cairn.Log.create(path, {"time": "M8[ms]", "n": "i4"}).close()
        self.run_processes("opened.append([(step, number)])", path)
        found = cairn.Log.open(path)
        self.assertEqual(len(found), PROCESSES * EDITS)
        for number in range(PROCESSES):
            own = found["time"][found["n"] == number].view("i8")
            self.assertEqual(own.tolist(), list(range(EDITS)))


class DroppedWriterTest(PackageTest):
    def setUp(self):
        super().setUp()
        gc.disable()
        self.addCleanup(gc.enable)
        self.frame = cairn.asarray(np.zeros((2, 2)), self.path())
        self.log = cairn.Log.create(self.path("log"), {"t": "M8[s]", "v": "f4"})

    def test_failed_edit_lets_others_write_as_soon_as_its_exception_is_gone(self):
        edits = {
            "index": lambda: self.frame.writer().__setitem__(5, 3), "items": lambda: self.frame.writer().append("x"),
            "type": lambda: self.frame.writer().insert_chunk("q", [1]), "array": lambda: self.frame.writer().delete_chunks(0),
            "record": lambda: self.log.writer().append({"t": "x"}), "retention": lambda: self.log.writer().set_retention("1d"),
        }  # fmt: skip
        for name, edit in edits.items():
            with self.subTest(edit=name):
                with self.assertRaises(cairn.Error), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    edit()
                self.frame[0] = 9
                self.log.append({"t": "2026-01-01", "v": 1})

    def test_writer_that_is_dropped_warns(self):
        def drop(writer):
            writer.append(np.zeros((1, 2)) if isinstance(writer, cairn.Writer) else {"t": "2026-01-01", "v": 1})

        for writing in (self.frame, self.log):
            with self.subTest(kind=type(writing).__name__):
                with self.assertWarnsRegex(ResourceWarning, "is lost; use it in a `with` block"):
                    drop(writing.writer())
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    with writing.writer() as writer:
                        drop(writer)
                    del writer
                    writing.append(np.zeros((1, 2)) if writing is self.frame else {"t": "2026-01-01", "v": 1})


class BatchTest(PackageTest):
    def test_edits_of_a_writer_are_one_commit(self):
        frame = cairn.create(self.path(), (100,), "<i4")
        reader = cairn.open(self.path())
        before = frame.generation
        with frame.writer() as writer:
            for place in range(100):
                writer[place] = place
            writer.append([100])
            writer.vlmeta["unit"] = "K"
            self.assertFalse(reader.refresh())
        self.assertTrue(reader.refresh())
        self.assertEqual((reader[:].tolist(), reader.vlmeta["unit"]), (list(range(101)), "K"))
        self.assertEqual([one.generation for one in frame.history if before < one.generation < frame.generation], [])


class ReplacedTest(PackageTest):
    """A file takes the place of a frame while handles of the old one are open."""

    def replaced(self, items, by, mode="r+", **options):
        """Returns a frame of `items`, whose file has just been replaced."""
        cairn.asarray(np.array(items, "f4"), self.path(), overwrite=True)
        frame = cairn.open(self.path(), mode, **options)
        frame[:]
        if mode == "r+":
            frame[0] = items[0]  # its writer is kept
        cairn.asarray(by, self.path("new"), overwrite=True)
        os.replace(self.path("new"), self.path())
        return frame

    def test_edits_of_another_type_or_shape_change_nothing(self):
        for by in (np.arange(3, dtype="i4"), np.arange(3, dtype="i8"), np.zeros((3, 2), "f4"), np.zeros(3, "i2,u2"), np.zeros(3, ">f4")):
            for edit in (lambda frame: frame.__setitem__(1, 1.5), lambda frame: frame.append(np.array([1.5], "f4")), self.write_together):
                frame = self.replaced([1, 2, 3], by)
                with self.subTest(by=by, edit=edit), self.assertRaisesRegex(cairn.FailedPrecondition, "was replaced: its items are .* nothing was changed"):
                    edit(frame)
                self.assert_same(cairn.open(self.path())[:], by)

    def write_together(self, frame):
        with frame.writer() as writer:
            writer[1] = 1.5

    def test_edits_of_the_same_type_go_to_the_new_file(self):
        frame = self.replaced([1, 2, 3], np.array([4, 5], "f4"))
        frame[1] = 1.5
        self.assert_same(frame[:], np.array([4, 1.5], "f4"))

    def test_readers_follow_the_type(self):
        frame = self.replaced([1, 2, 3], np.arange(4, dtype="i8"), "r")
        self.assert_same(frame[:], np.array([1, 2, 3], "f4"))
        self.assertTrue(frame.refresh())
        self.assert_same(frame[:], np.arange(4, dtype="i8"))

    def test_type_that_was_given_is_not_given_to_other_items(self):
        for by in (np.arange(3, dtype="i4"), np.arange(3, dtype="i8")):
            for mode in ("r", "r+"):
                frame = self.replaced([1, 2, 3], by, mode, dtype="f4")
                with self.subTest(by=by, mode=mode):
                    with self.assertRaisesRegex(cairn.InvalidArgument, "are not float32: give no dtype"):
                        frame.refresh()
                    self.assert_same(frame[:], np.array([1, 2, 3], "f4"))
                    if mode == "r+":
                        with self.assertRaisesRegex(cairn.InvalidArgument, "are not float32: give no dtype"):
                            frame[1] = 1.5
                    self.assert_same(cairn.open(self.path())[:], by)


class WaitTest(PackageTest):
    def edits(self, frame):
        """By names for messages: what a frame that others write cannot do at once."""
        return {
            "assign": lambda: frame.__setitem__(0, 5), "append": lambda: frame.append([5]), "resize": lambda: frame.resize(9), "compact": frame.compact,
            "vlmeta": lambda: frame.vlmeta.__setitem__("a", 1), "attrs": lambda: frame.attrs.__setitem__("b", 1), "raw": lambda: frame.vlmeta.raw.__setitem__("c", b""),
            "writer": lambda: frame.writer().close(),
        }  # fmt: skip

    def test_nobody_waits_by_default(self):
        path = self.path()
        with cairn.create(path, (3,), "<i4").writer():
            begin = time.monotonic()
            for frame in (cairn.open(path, "r+"), cairn.open(path, "a"), cairn.open(path, "r+", wait=0)):
                for name, edit in self.edits(frame).items():
                    with self.subTest(edit=name), self.assertRaises(cairn.Unavailable):
                        edit()
            self.assertLess(time.monotonic() - begin, 30)

    def test_waits_no_longer_than_it_is_told(self):
        path = self.path()
        frame = cairn.create(path, (3,), "<i4", wait=WAIT)
        with frame.writer():
            for name, edit in self.edits(cairn.open(path, "r+", wait=0.2)).items():
                begin = time.monotonic()
                with self.subTest(edit=name):
                    with self.assertRaises(cairn.Unavailable):
                        edit()
                    self.assertGreaterEqual(time.monotonic() - begin, 0.2)
            with self.assertRaises(cairn.Unavailable):
                frame.writer(wait=0)

    def test_waits_for_another_writer(self):
        makers = (
            lambda path: cairn.open(path, "r+", wait=WAIT), lambda path: cairn.open(path, "a", wait=WAIT),
            lambda path: cairn.create(path, (3,), "<i4", overwrite=True, wait=WAIT), lambda path: cairn.asarray([1, 2], path, overwrite=True, wait=WAIT),
            lambda path: cairn.open(path, "w", dtype="<i4", shape=(3,), wait=WAIT), lambda path: pickle.loads(pickle.dumps(cairn.open(path, "r+", wait=WAIT))),
        )  # fmt: skip
        path = self.path()
        cairn.create(path, (3,), "<i4").close()
        for number, make in enumerate(makers):
            frame = make(path)
            for is_first in (True, False):  # the second edit finds the writer of the first one kept
                for name, edit in self.edits(frame).items():
                    with self.subTest(made=number, edit=name, first=is_first):
                        writer = cairn.open(path, "r+").writer()
                        closing = threading.Timer(0.01, writer.close)
                        closing.start()
                        edit()
                        closing.join()
                    frame[1] = 1

    def test_log_waits_for_another_writer(self):
        path = self.path()
        made = cairn.Log.create(path, {"time": "M8[ms]", "n": "i4"}, wait=WAIT)
        for log in (made, cairn.Log.open(path, wait=WAIT), pickle.loads(pickle.dumps(made))):
            for write in (lambda: log.append([(1, 2)]), lambda: log.writer().close()):  # noqa: B023
                writer = cairn.Log.open(path).writer()
                closing = threading.Timer(0.01, writer.close)
                closing.start()
                write()
                closing.join()
        with cairn.Log.open(path).writer():
            for log in (cairn.Log.open(path), cairn.Log.open(path, wait=0.01)):
                with self.assertRaises(cairn.Unavailable):
                    log.append([(1, 2)])
            with self.assertRaises(cairn.Unavailable):
                made.writer(wait=0)

    def test_wrong_waits_make_nothing(self):
        for wait in (float("nan"), "x", None):
            for make in (lambda: cairn.create(self.path(), wait=wait), lambda: cairn.asarray([1], self.path(), wait=wait),  # noqa: B023
                         lambda: cairn.Log.create(self.path(), {"n": "i4"}, wait=wait)):  # fmt: skip # noqa: B023
                with self.assertRaisesRegex(cairn.InvalidType, "wait: expected"):
                    make()
        with self.assertRaises(FileNotFoundError):
            cairn.open(self.path())


class MemoryTest(PackageTest):
    """The engine cannot go on in the middle of a call."""

    STEPS = {
        "log": "log.append(rows)",
        "upserted log": "log.upsert(rows)",
        "frame": "frame.append(rows.view('u1'))",
        "collection": "collection['/x'].append(rows.view('u1'))",
    }

    def end_of(self, what, mib):
        """Gives what a writer says that ran out of `mib` MiB, once there is memory again."""
        path = self.path(f"{what} {mib}")
        script = f"""
import resource, sys
import cairn, numpy as np
rows = np.zeros(300_000, [("time", "M8[ms]"), ("v", "<i8")])
rows["time"] = np.arange(len(rows)).astype("M8[ms]")
rows["v"] = np.random.default_rng(1).integers(0, 2**62, len(rows))
log = frame = collection = None
if "log" in {what!r}:
    opened = cairn.Log.create({path!r}, rows.dtype)
    log = writer = opened.writer(commit_interval=0.5)
elif {what!r} == "frame":
    opened = cairn.create({path!r}, None, "u1", codec="lz4")
    frame = writer = opened.writer()
else:
    opened = cairn.open_collection({path!r}, "a")
    collection = writer = opened.writer()
    collection.add("/x", shape=(0,), dtype="u1", chunks=(1 << 20,))
    collection.commit()
mapped = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + ({mib} << 20), -1))
try:
    for _ in range(20):
        {self.STEPS[what]}
except MemoryError:
    pass
except cairn.Error as error:
    sys.exit("other " + str(error))
else:
    sys.exit("enough")
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
try:
    writer.close()
except cairn.FailedPrecondition as error:
    sys.exit("stopped " + str(error))
sys.exit("closed")
"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        return done.stderr

    def test_writer_without_memory_stops(self):
        for what in self.STEPS:
            said = [self.end_of(what, mib) for mib in (1, 2, 4, 8)]
            with self.subTest(what=what, said=said):
                if not any(each.startswith("stopped") for each in said):
                    self.assertTrue(all(each.startswith(("other", "enough", "closed")) for each in said))
                    self.skipTest("no call of the engine lacks memory here")
                self.assertTrue(all("lack of memory" in each for each in said if each.startswith("stopped")))


if __name__ == "__main__":
    unittest.main()
