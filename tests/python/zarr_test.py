"""cairn.ZarrStore, through zarr-python and xarray, in one process and in several."""

import asyncio
import gc
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import unittest.mock
import warnings
import weakref

from support import PackageTest, blosc2, cairn, needs_blosc2, np

try:
    import zarr
    from zarr.core.buffer import cpu

    NO_ZARR = None if int(zarr.__version__.split(".")[0]) >= 3 else f"zarr-python {zarr.__version__}, and not 3"
except ImportError as missing:
    NO_ZARR = f"no zarr-python: {missing}"
try:
    import pandas as pd
    import xarray as xr
except ImportError:
    xr = None

HERE = os.path.dirname(os.path.abspath(__file__))
WAIT = 120  # seconds: who waits that long fails the test


def cube(days, start=0):
    """Two variables over some days."""
    items = np.arange(days * 12, dtype="f4").reshape(days, 3, 4) + 1000 * start
    return xr.Dataset(
        {"temp": (("time", "lat", "lon"), items), "rain": (("time", "lat", "lon"), -items)},
        {"time": pd.date_range("2026-01-01", periods=days) + pd.Timedelta(start, "D"), "lat": [1.0, 2.0, 3.0]},
        {"title": "weather"},
    )


def value(content):
    return cpu.Buffer.from_bytes(content)


@unittest.skipIf(NO_ZARR is not None, NO_ZARR)
class StoreTest(PackageTest):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore")  # zarr tells of what its specification lacks
        self.addCleanup(warnings.resetwarnings)
        self.where = self.path("weather.b2d")

    def store(self, **how):
        return cairn.ZarrStore(self.where, **how)

    def contents(self, store):
        """All keys and values."""
        async def listed():
            return [key async for key in store.list()]

        return {key: store.get_sync(key).to_bytes() for key in asyncio.run(listed())}

    def files(self):
        return sum(len(names) for _, _, names in os.walk(self.where))

    def run_alone(self, script, *arguments, killed=False):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(script), self.where, *arguments],
                              capture_output=True, text=True, timeout=WAIT, check=False)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGKILL if killed else 0, ""))
        return done.stdout


class KeysTest(StoreTest):
    def test_chunks_of_an_array_are_one_member_and_documents_are_attributes(self):
        store = self.store()
        group = zarr.create_group(store)
        items = np.arange(1.0, 601.0).reshape(300, 2)
        group.create_array("day/temp", shape=items.shape, chunks=(1, 1), dtype="f8")[:] = items
        self.assertEqual(self.files(), 5)
        found = cairn.open_collection(self.where)
        self.assertEqual(found.members(), ["/day/temp/c"])
        self.assertEqual(json.loads(found.attributes("/day/temp")["zarr.json"])["shape"], [300, 2])
        self.assertEqual(json.loads(found.attributes("/")["zarr.json"])["node_type"], "group")
        self.assertEqual(found["/day/temp/c"].info.nchunks, 600 + 3)
        self.assert_same(zarr.open_array(self.store(), path="day/temp", mode="r")[:], items)

    def test_chunks_are_stored_as_zarr_has_coded_them(self):
        store = self.store()
        coded = np.random.default_rng(1).bytes(5000)
        store.set_sync("x/c/0", value(coded))
        member = cairn.open_collection(self.where)["/x/c"]
        self.assertEqual(member.read_chunk(1), coded)
        self.assertEqual(member.chunk(1)[32:], coded)

    def test_arrays_of_version_2_are_read_back(self):
        for separator in ("/", "."):
            with self.subTest(separator=separator):
                where = self.path(f"v2{ord(separator)}.b2d")
                items = np.arange(24).reshape(4, 6)
                made = zarr.create_array(cairn.ZarrStore(where), name="a/b", shape=(4, 6), chunks=(2, 2), dtype="i8", zarr_format=2,
                                         chunk_key_encoding={"name": "v2", "separator": separator})  # fmt: skip
                made[:] = items
                self.assert_same(zarr.open_array(cairn.ZarrStore(where), path="a/b", mode="r")[:], items)

    def test_shards_are_read_in_parts(self):
        items = np.random.default_rng(1).random((64, 64))
        made = zarr.create_array(self.store(), name="a", shape=(64, 64), chunks=(8, 8), shards=(32, 32), dtype="f8")
        made[:] = items
        found = zarr.open_array(self.store(), path="a", mode="r")
        self.assert_same(found[10:20, 30:40], items[10:20, 30:40])

    def test_key_that_names_no_member_is_kept_too(self):
        store = self.store()
        keys = [".zattrs", ".hidden/zarr.json", "a/../b", "a/__vlmeta__/zarr.json", "a.b2nd/c/0", "x" * 300, "ü/é", "a\nb", "c", "c/c"]
        for key in keys:
            store.set_sync(key, value(key.encode()))
        store.set_sync("a/zarr.json", value(b"\xff\x00 no text"))
        expected = {key: key.encode() for key in keys} | {"a/zarr.json": b"\xff\x00 no text"}
        self.assertEqual(self.contents(self.store()), expected)
        self.assertEqual(os.listdir(self.folder), ["weather.b2d"])

    def test_deleted_nodes_leave_no_files(self):
        store = self.store()
        group = zarr.create_group(store)
        group.create_array("day/temp", shape=(50,), chunks=(1,), dtype="f8")[:] = 1
        before = self.files()
        del group["day"]
        self.assertEqual(self.contents(store).keys(), {"zarr.json"})
        store.close()  # until then the store may read the state before
        self.assertEqual((before, self.files()), (5, 2))

    def test_members_of_others_stay_and_take_no_chunks(self):
        with cairn.open_collection(self.where, "a") as made, made.writer() as writer:
            writer.add("/day/c", np.arange(5))
            writer.attributes("/day")["hours"] = 24
        store = self.store()
        self.assertEqual(self.contents(store), {})
        with self.assertRaisesRegex(cairn.FailedPrecondition, "/day/c: is a member that no Zarr store has made"):
            store.set_sync("day/c/0", value(b"1"))
        store.set_sync("day/zarr.json", value(b"{}"))
        asyncio.run(store.clear())
        found = cairn.open_collection(self.where)
        self.assert_same(found["/day/c"][:], np.arange(5))
        self.assertEqual(dict(found.attributes("/day")), {"hours": 24})

    def test_random_changes_through_two_stores_read_like_a_dict(self):
        random = np.random.default_rng(7)
        stores, known = (self.store(), self.store()), {}
        folders = ["", "a/", "a/b/", "c/", ".x/"]
        for _ in range(150):
            store = stores[int(random.integers(2))]
            folder = folders[int(random.integers(len(folders)))]
            key = folder + ["zarr.json", "c/0", "c/1", "0.0", "note"][int(random.integers(5))]
            choice = int(random.integers(8))
            if choice == 0:
                asyncio.run(store.delete_dir(folder))
                known = {one: known[one] for one in known if not one.startswith(folder)}
            elif choice < 3:
                store.delete_sync(key)
                known.pop(key, None)
            else:
                known[key] = random.bytes(int(random.integers(3)))
                store.set_sync(key, value(known[key]))
            self.assertEqual(self.contents(stores[0]), known)

    def test_missing_store_is_told(self):
        with self.assertRaises(cairn.NotFound):
            zarr.open_group(self.store(read_only=True), mode="r")
        self.assertFalse(os.path.exists(self.where))


class TransactionTest(StoreTest):
    def test_transaction_is_one_commit_that_others_see_whole(self):
        store = self.store()
        store.set_sync("a", value(b"0"))
        reader = self.store()
        before = cairn.open_collection(self.where).number
        with store.transaction() as same:
            self.assertIs(same, store)
            store.set_sync("a", value(b"1"))
            store.delete_sync("b")
            store.set_sync("x/zarr.json", value(b"{}"))
            self.assertEqual(self.contents(store), {"a": b"1", "x/zarr.json": b"{}"})
            self.assertEqual(self.contents(reader), {"a": b"0"})
        self.assertEqual(self.contents(reader), {"a": b"1", "x/zarr.json": b"{}"})
        self.assertEqual(cairn.open_collection(self.where).number, before + 1)

    def test_exception_leaves_nothing_of_a_transaction(self):
        store = self.store()
        store.set_sync("x/c/0", value(b"0"))
        with self.assertRaisesRegex(RuntimeError, "stop"), store.transaction():
            store.set_sync("x/c/0", value(b"1"))
            store.set_sync("x/c/1", value(b"1"))
            store.set_sync("y/zarr.json", value(b"{}"))
            raise RuntimeError("stop")
        self.assertEqual(self.contents(store), {"x/c/0": b"0"})
        store.set_sync("x/c/2", value(b"2"))
        self.assertEqual(self.contents(self.store()), {"x/c/0": b"0", "x/c/2": b"2"})

    def test_changes_that_come_after_a_rollback_are_refused(self):
        store = self.store()
        store.set_sync("a", value(b"0"))
        goes_on = threading.Event()
        late = []

        async def set_late(key):
            await asyncio.get_running_loop().run_in_executor(None, goes_on.wait, WAIT)
            try:
                await store.set(key, value(b"1"))
            except cairn.FailedPrecondition as error:
                late.append(str(error))

        def set_in_thread():
            goes_on.wait(WAIT)
            try:
                store.set_sync("d", value(b"1"))
            except cairn.FailedPrecondition as error:
                late.append(str(error))

        loop = asyncio.new_event_loop()
        runner = threading.Thread(target=loop.run_forever)
        runner.start()
        thread = threading.Thread(target=set_in_thread)
        tasks = []
        with self.assertRaisesRegex(RuntimeError, "stop"), store.transaction():
            tasks += [asyncio.run_coroutine_threadsafe(set_late(key), loop) for key in ("b", "c")]
            thread.start()
            raise RuntimeError("stop")
        goes_on.set()
        for task in tasks:
            task.result(WAIT)
        thread.join(WAIT)
        self.assertEqual(len(late), 3)
        self.assertRegex(late[0], "rolled back")
        self.assertEqual(self.contents(store), {"a": b"0"})
        store.set_sync("a", value(b"2"))  # by the thread that knows of the rollback
        other = threading.Thread(target=store.set_sync, args=("e", value(b"3")))
        other.start()
        other.join(WAIT)
        self.assertEqual(self.contents(store), {"a": b"2", "e": b"3"})
        loop.call_soon_threadsafe(loop.stop)
        runner.join(WAIT)
        loop.close()

    def test_task_of_a_transaction_that_is_over_takes_no_part_in_the_next(self):
        store = self.store()
        begun = []

        async def begin(change):
            begun.append(asyncio.ensure_future(change()))

        async def run():
            goes_on = asyncio.Event()

            async def change():
                await goes_on.wait()
                await store.set("a", value(b"1"))

            with self.assertRaises(RuntimeError):
                with store.transaction():
                    await begin(change)
                    raise RuntimeError("stop")
            with store.transaction():
                await store.set("b", value(b"2"))
                goes_on.set()
                with self.assertRaises(cairn.FailedPrecondition):
                    await begun[0]

        asyncio.run(run())
        self.assertEqual(self.contents(store), {"b": b"2"})

    def test_sessions_end_though_threads_remember_their_transactions(self):
        store = self.store()
        with store.transaction():
            store.set_sync("a", value(b"1"))
        with self.assertRaises(RuntimeError), store.transaction():
            raise RuntimeError("stop")
        session = weakref.ref(store._session)
        del store
        gc.collect()
        self.assertIsNone(session())

    def test_what_was_opened_for_reading_keeps_its_state_in_a_transaction(self):
        store = self.store()
        zarr.create_array(store, name="a", shape=(4,), chunks=(4,), dtype="i4")[:] = 1
        before = zarr.open_array(store, path="a", mode="r")
        self.assertEqual(before[:].tolist(), [1] * 4)
        with store.transaction():
            zarr.create_array(store, name="a", shape=(4,), chunks=(4,), dtype="i4", overwrite=True)
            self.assertEqual(before[:].tolist(), [1] * 4)
            zarr.open_array(store, path="a", mode="r+")[:] = before[:] + 1
        self.assertEqual(zarr.open_array(store, path="a", mode="r")[:].tolist(), [2] * 4)

    def test_damaged_document_is_told_each_time(self):
        store = self.store()
        store.set_sync("a/zarr.json", value(b'{"node_type": "group", "zarr_format": 3}'))
        store.close()
        path = os.path.join(self.where, "a", "__vlmeta__.b2f")
        with open(path, "r+b") as file:
            content = bytearray(file.read())
            content[len(content) // 2] ^= 1
            file.seek(0)
            file.write(content)
        store = self.store(read_only=True)
        for _ in range(3):
            with self.assertRaises(cairn.DataLoss):
                store.get_sync("a/zarr.json")
            with self.assertRaises(cairn.DataLoss):
                asyncio.run(store.exists("a/zarr.json"))

    def test_array_is_replaced_in_a_transaction(self):
        store = self.store()
        zarr.create_array(store, name="a", shape=(10,), chunks=(1,), dtype="i4")[:] = 1
        with store.transaction():
            zarr.create_array(store, name="a", shape=(5,), chunks=(5,), dtype="i4", overwrite=True)[:] = 2
        self.assertEqual(zarr.open_array(self.store(), path="a", mode="r")[:].tolist(), [2] * 5)
        self.assertEqual(self.contents(store).keys(), {"zarr.json", "a/zarr.json", "a/c/0"})

    def test_second_transaction_and_pickling_are_refused_meanwhile(self):
        store = self.store()
        with store.transaction():
            with self.assertRaisesRegex(cairn.FailedPrecondition, "in a transaction already"), store.transaction():
                pass
            with self.assertRaisesRegex(cairn.FailedPrecondition, "which other processes cannot take part in"):
                pickle.dumps(store)
        self.assertEqual(pickle.loads(pickle.dumps(store)), store)

    def test_read_only_store_refuses_a_transaction(self):
        self.store().set_sync("a", value(b"1"))
        with self.assertRaisesRegex(ValueError, "read-only"), self.store(read_only=True).transaction():
            pass

    def test_changes_of_threads_that_come_together_share_commits(self):
        store = self.store()
        store.set_sync("first", value(b"1"))
        before = cairn.open_collection(self.where).number

        async def many():
            await asyncio.gather(*[store.set(f"x/c/{number}", value(b"1")) for number in range(100)])

        asyncio.run(many())
        self.assertEqual(len(self.contents(store)), 101)
        self.assertLess(cairn.open_collection(self.where).number - before, 100)


class RunTest(StoreTest):
    """Changes in a row, which share a writer."""

    def changed(self, store, first, count):
        for number in range(first, first + count):
            store.set_sync(f"x/c/{number}", value(b"%d" % number))

    def test_writer_is_opened_for_a_run_and_not_for_each_change(self):
        store, opened = self.store(), []
        collection = store._session.open()
        store._session._collection = unittest.mock.Mock(wraps=collection, writer=lambda **how: opened.append(1) or collection.writer(**how))
        self.changed(store, 0, 50)
        self.assertLess(len(opened), 25)
        self.assertEqual(len(self.contents(self.store())), 50)

    def test_each_change_of_a_run_is_a_commit(self):
        store = self.store()
        before = cairn.open_collection(self.where).number if os.path.exists(self.where) else 0
        self.changed(store, 0, 10)
        self.assertGreaterEqual(cairn.open_collection(self.where).number - before, 10)

    def transact(self, store, first, count):
        for number in range(first, first + count):
            with store.transaction():
                store.set_sync(f"x/c/{number}", value(b"%d" % number))

    def test_transactions_in_a_row_share_a_writer(self):
        store, opened = self.store(), []
        collection = store._session.open()
        store._session._collection = unittest.mock.Mock(wraps=collection, writer=lambda **how: opened.append(1) or collection.writer(**how))
        with unittest.mock.patch.multiple("cairn.zarr.session", _RUN_OF_TRANSACTIONS=WAIT, _KEPT=WAIT):
            self.transact(store, 0, 20)
            self.assertEqual(len(opened), 2, "one for the first, which is alone yet, and one for the others")
            self.changed(store, 20, 3)
            self.transact(store, 23, 3)
            with self.assertRaises(ZeroDivisionError), store.transaction():
                store.set_sync("x/c/0", value(b"wrong"))
                raise ZeroDivisionError
        cairn.open_collection(self.where, "r+").writer(wait=0).close()
        self.assertEqual(len(self.contents(self.store())), 26)
        self.transact(store, 26, 3)
        store.close()
        cairn.open_collection(self.where, "r+").writer(wait=0).close()

    def test_other_writers_get_their_turn_between_transactions(self):
        endless = unittest.mock.patch.multiple("cairn.zarr.session", _RUN_OF_TRANSACTIONS=WAIT, _KEPT=WAIT)
        self.check_turns_of_others(endless, self.transact)

    def test_other_writers_get_their_turn_within_a_run(self):
        self.check_turns_of_others(unittest.mock.patch("cairn.zarr.session._RUN", WAIT), self.changed)

    def check_turns_of_others(self, endless, write):
        store = self.store()
        store.set_sync("a", value(b"1"))
        endless.start()
        self.addCleanup(endless.stop)
        self.addCleanup(store.close)
        script = """
            import sys, cairn
            collection = cairn.open_collection(sys.argv[1], "r+", wait=100)
            for number in range(5):
                with collection.writer() as writer:
                    writer.attributes("/others")["n"] = number
        """
        command = [sys.executable, "-c", textwrap.dedent(script), self.where]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as other:
            number, ends = 0, time.monotonic() + WAIT
            while other.poll() is None and time.monotonic() < ends:
                write(store, number, 10)
                number += 10
            self.assertEqual((other.poll(), other.stderr.read()), (0, ""))
        self.assertEqual(dict(cairn.open_collection(self.where).attributes("/others")), {"n": 4})
        self.assertEqual(len(self.contents(self.store())), number + 1)

    def test_transactions_and_changes_of_threads_take_turns(self):
        store = self.store()
        changing = threading.Thread(target=self.changed, args=(store, 0, 60))
        changing.start()
        for number in range(10):
            with self.store().transaction() as other:
                other.set_sync(f"y/c/{number}", value(b"y"))
        changing.join()
        self.assertEqual(len(self.contents(store)), 70)

    def test_change_that_fails_ends_a_run_and_the_next_goes_on(self):
        store = self.store()
        with cairn.open_collection(self.where, "a").writer() as writer:
            writer.add("/day/c", np.arange(5))
        self.changed(store, 0, 3)
        with self.assertRaises(cairn.FailedPrecondition):
            store.set_sync("day/c/0", value(b"1"))
        self.changed(store, 3, 3)
        self.assertEqual(len(self.contents(self.store())), 6)

    def test_writer_is_free_after_a_run(self):
        store = self.store()
        self.changed(store, 0, 20)
        cairn.open_collection(self.where, "r+").writer(wait=10).close()
        store.close()
        cairn.open_collection(self.where, "r+").writer(wait=0).close()


class StateTest(StoreTest):
    def test_read_only_store_keeps_its_state_until_refresh(self):
        writer = self.store()
        writer.set_sync("x/c/0", value(b"0"))
        reader, opened = self.store(read_only=True), writer.with_read_only(True)
        self.assertEqual(self.contents(reader), {"x/c/0": b"0"})
        self.assertEqual(self.contents(opened), {"x/c/0": b"0"})
        writer.set_sync("x/c/0", value(b"1"))
        writer.set_sync("x/c/1", value(b"1"))
        writer.delete_sync("x/c/0")
        self.assertEqual(self.contents(reader), {"x/c/0": b"0"})
        self.assertEqual(self.contents(opened), {"x/c/0": b"0"})
        reader.refresh()
        self.assertEqual(self.contents(reader), {"x/c/1": b"1"})

    @unittest.skipIf(xr is None, "no xarray")
    def test_lazy_dataset_keeps_its_state(self):
        store = self.store()
        with store.transaction():
            cube(2).to_zarr(store, consolidated=False)
        lazy = xr.open_zarr(store, consolidated=False)
        with store.transaction():
            cube(2, 50).to_zarr(store, mode="w", consolidated=False)
        xr.testing.assert_identical(lazy.load(), cube(2))
        xr.testing.assert_identical(xr.open_zarr(store, consolidated=False).load(), cube(2, 50))

    @needs_blosc2
    def test_tree_store_reads_what_close_leaves(self):
        with self.store() as store:
            store.set_sync("day/temp/zarr.json", value(b'{"a": 1}'))
            store.set_sync("day/temp/c/0", value(b"coded"))
            store.set_sync("day/temp/c/0", value(b"again"))
        with blosc2.TreeStore(self.where, mode="r") as tree:
            self.assertEqual(json.loads(tree["/day/temp"].vlmeta["zarr.json"]), {"a": 1})
            self.assertEqual(tree["/day/temp/c"].decompress_chunk(1), b"again")


@unittest.skipIf(xr is None, "no xarray")
class XarrayTest(StoreTest):
    def both(self):
        """Does the same to a store in a collection and to a directory, and compares what is left."""
        plain = self.path("plain.zarr")
        store = self.store()
        yield store, store.transaction
        yield plain, tempfile.TemporaryDirectory
        ours, theirs = (xr.open_zarr(one, consolidated=False).load() for one in (self.store(), plain))
        xr.testing.assert_identical(ours, theirs)
        keys = [os.path.relpath(os.path.join(root, one), plain) for root, _, names in os.walk(plain) for one in names]
        expected = {}
        for key in keys:
            with open(os.path.join(plain, key), "rb") as file:
                expected[key] = file.read()
        self.assertEqual(self.contents(self.store()), expected)

    def test_appended_days_are_what_a_directory_has(self):
        for to, transaction in self.both():
            with transaction():
                cube(5).to_zarr(to, consolidated=False, encoding={"temp": {"chunks": (3, 2, 2)}})
            for day in range(5, 12, 2):
                with transaction():
                    cube(2, day).to_zarr(to, append_dim="time", consolidated=False)

    def test_regions_are_what_a_directory_has(self):
        for to, transaction in self.both():
            cube(9).to_zarr(to, consolidated=False, encoding={"temp": {"chunks": (3, 3, 4)}})
            with transaction():
                part = cube(4, 70).drop_vars("lat")
                part.to_zarr(to, region={"time": slice(2, 6)}, consolidated=False, safe_chunks=False)

    def test_consolidated_dataset_is_what_a_directory_has(self):
        for to, transaction in self.both():
            with transaction():
                cube(3).to_zarr(to, consolidated=True)
        xr.testing.assert_identical(xr.open_zarr(self.store(), consolidated=True).load(), cube(3))


class ProcessesTest(StoreTest):
    def test_killed_writer_leaves_the_transactions_that_it_made(self):
        said = self.run_alone("""
            import os, signal, sys, cairn, zarr, numpy as np
            store = cairn.ZarrStore(sys.argv[1])
            with store.transaction():
                group = zarr.create_group(store)
                a, b = (group.create_array(one, shape=(40, 8), chunks=(1, 8), dtype="i8") for one in "ab")
                a[:] = b[:] = 0
            for number in range(1, 100):
                with store.transaction():
                    a[:] = number
                    if number == 5:
                        group.create_array("new", shape=(4,), dtype="i8")
                        b[:20] = number
                        os.kill(os.getpid(), signal.SIGKILL)
                    b[:] = number
                print(number, flush=True)
        """, killed=True)
        self.assertEqual(said.split(), ["1", "2", "3", "4"])
        for _ in range(2):
            found = zarr.open_group(self.store(), mode="r")
            self.assertEqual(sorted(found.array_keys()), ["a", "b"])
            self.assertEqual([np.unique(found[one][:]).tolist() for one in "ab"], [[4], [4]])
            with self.store().transaction():  # completes what the killed one had committed
                pass

    def test_writers_that_are_killed_anywhere_leave_equal_arrays(self):
        script = textwrap.dedent("""
            import sys, cairn, zarr
            store = cairn.ZarrStore(sys.argv[1])
            with store.transaction():
                group = zarr.open_group(store, mode="a")
                for one in "ab":
                    if one not in group:
                        group.create_array(one, shape=(30, 500), chunks=(1, 500), dtype="i8", fill_value=0)
            print("ready", flush=True)
            number = int(group["a"][0, 0])
            while True:
                number += 1
                with store.transaction():
                    group["a"][:] = number
                    group["b"][:] = number
        """)
        last = 0
        for turn in range(8):
            with subprocess.Popen([sys.executable, "-W", "ignore", "-c", script, self.where], stdout=subprocess.PIPE) as writer:
                self.assertEqual(writer.stdout.readline(), b"ready\n")
                with self.assertRaises(subprocess.TimeoutExpired):
                    writer.wait(0.1 + 0.037 * turn)
                writer.kill()
            found = zarr.open_group(self.store(), mode="r")
            seen = [np.unique(found[one][:]).tolist() for one in "ab"]
            self.assertEqual(seen[0], seen[1])
            self.assertEqual(len(seen[0]), 1)
            self.assertGreaterEqual(seen[0][0], last)
            last = seen[0][0]
        self.assertGreater(last, 0)

    def test_writers_of_several_processes_get_equal_shares(self):
        script = """
            import sys, time, cairn
            from zarr.core.buffer import cpu
            store = cairn.ZarrStore(sys.argv[1], wait=100)
            content = cpu.Buffer.from_bytes(b"1" * 100)
            def transact(key):
                with store.transaction():
                    store.set_sync(key, content)
            change = transact if sys.argv[2] == "transactions" else lambda key: store.set_sync(key, content)
            print("ready", flush=True)
            sys.stdin.readline()
            end, count = time.monotonic() + 3, 0
            while time.monotonic() < end:
                change(f"x/c/{sys.argv[3]}/{count}")
                count += 1
            print(count, flush=True)
        """
        for kind in ("transactions", "changes"):
            where = self.path(kind + ".b2d")
            command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script), where, kind]
            streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            writers = [subprocess.Popen([*command, str(number)], **streams) for number in range(3)]
            for writer in writers:
                writer.stdout.readline()
            for writer in writers:
                writer.stdin.write("go\n")
                writer.stdin.flush()
            said = [writer.communicate(timeout=WAIT) for writer in writers]
            self.assertEqual([errors for _, errors in said], ["", "", ""])
            counts = [int(count) for count, _ in said]
            self.assertGreater(min(counts), sum(counts) / len(counts) / 5, (kind, counts))
            expected = {f"x/c/{number}/{one}" for number, count in enumerate(counts) for one in range(count)}
            self.assertEqual(set(self.contents(cairn.ZarrStore(where))), expected)

    @unittest.skipIf(xr is None, "no xarray")
    def test_writers_of_several_processes_append_in_turns(self):
        with self.store().transaction() as store:
            cube(1).to_zarr(store, consolidated=False)
        script = """
            import sys
            sys.path.insert(0, sys.argv[2])
            import cairn, xarray as xr, zarr_test
            store = cairn.ZarrStore(sys.argv[1], wait=120)
            for day in range(6):
                with store.transaction():
                    zarr_test.cube(1, day).to_zarr(store, append_dim="time", consolidated=False)
        """
        command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script), self.where, HERE]
        writers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        seen = set()
        while any(one.poll() is None for one in writers):
            state = xr.open_zarr(self.store(read_only=True), consolidated=False).load()
            np.testing.assert_array_equal(state["temp"], -state["rain"])
            seen.add(state.sizes["time"])
        for one in writers:
            _, said = one.communicate()
            self.assertEqual((one.returncode, said), (0, ""))
        found = xr.open_zarr(self.store(), consolidated=False).load()
        self.assertEqual(found.sizes["time"], 13)
        self.assertEqual(sorted(found["temp"].values[1:, 0, 0].tolist()), sorted([1000.0 * day for day in range(6)] * 2))
        self.assertGreaterEqual(len(seen), 1)

    def test_regions_of_one_array_are_written_by_several_processes(self):
        store = self.store()
        zarr.create_array(store, name="a", shape=(40, 10), chunks=(1, 10), dtype="i8")
        context = multiprocessing.get_context("spawn")
        with context.Pool(2) as pool:
            pool.map(_fill, [(store, number) for number in range(4)])
        found = zarr.open_array(self.store(), path="a", mode="r")[:]
        self.assert_same(found, np.repeat(np.arange(4), 100).reshape(40, 10))

    @unittest.skipUnless("fork" in multiprocessing.get_all_start_methods(), "no fork")
    def test_forked_child_writes_with_the_store_that_it_inherits(self):
        global inherited
        inherited = self.store()
        inherited.set_sync("a/c/0", value(b"0"))  # starts the thread that commits, which a child has not
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(_set_inherited, [1, 2, 3]), [b"0"] * 3)
        self.assertEqual(self.contents(inherited), {f"a/c/{number}": b"%d" % number for number in range(4)})

    def test_a_change_that_fails_takes_no_other_with_it(self):
        with cairn.open_collection(self.where, "a") as made, made.writer() as writer:
            writer.add("/x/c", np.arange(3))
        store = self.store()

        async def many():
            keys = [f"{node}/c/{number}" for number in range(20) for node in "yx"]
            return keys, await asyncio.gather(*[store.set(key, value(b"1")) for key in keys], return_exceptions=True)

        for key, got in zip(*asyncio.run(many())):
            self.assertEqual(type(got), cairn.FailedPrecondition if key[0] == "x" else type(None), key)
        self.assertEqual(len(self.contents(self.store())), 20)

    def test_changes_are_made_that_wait_beside_a_cancelled_one(self):
        store = self.store()

        async def many():
            with self.store().transaction():  # the first change waits for it, and the others for the first
                first = asyncio.ensure_future(store.set("x/c/0", value(b"0")))
                await asyncio.sleep(0.3)
                others = [asyncio.ensure_future(store.set(f"x/c/{number}", value(b"1"))) for number in range(1, 6)]
                await asyncio.sleep(0.1)
                others[1].cancel()
                await asyncio.sleep(0.1)
            await asyncio.wait_for(asyncio.gather(first, *others, return_exceptions=True), WAIT)

        asyncio.run(many())
        self.assertEqual(sorted(self.contents(self.store())), ["x/c/0", "x/c/1", "x/c/3", "x/c/4", "x/c/5"])

    def test_change_waits_for_the_transaction_of_another_store(self):
        first, second = self.store(), self.store()
        with first.transaction():
            first.set_sync("a", value(b"1"))
            waits = threading.Thread(target=second.set_sync, args=("b", value(b"2")))
            waits.start()
            waits.join(0.1)
            self.assertTrue(waits.is_alive())
            self.assertIsNone(second.get_sync("a"))
        waits.join(WAIT)
        self.assertEqual(self.contents(first), {"a": b"1", "b": b"2"})

    def test_change_that_waited_too_long_is_unavailable(self):
        with self.store().transaction(), self.assertRaises(cairn.Unavailable):
            self.store(wait=0.01).set_sync("a", value(b"1"))


class SuiteTest(StoreTest):
    def test_own_tests_of_zarr_pass(self):
        suite = os.path.join(HERE, "zarr_suite.py")
        try:
            import pytest  # noqa: F401
            import pytest_asyncio  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "pytest", "-q", "--disable-warnings", "-p", "no:cacheprovider", "--rootdir", cache]
            command += ["-o", "asyncio_mode=auto", suite]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
            ran = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cache, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout[-4000:] + ran.stderr[-1000:])
        self.assertRegex(ran.stdout, r"\b7\d passed")
        self.assertNotIn("skipped", ran.stdout)


class WithoutZarrTest(PackageTest):
    @unittest.skipIf(NO_ZARR is None, "zarr-python is there")
    def test_missing_package_is_told(self):
        with self.assertRaisesRegex(cairn.Unimplemented, "ZarrStore: needs the package zarr"):
            cairn.ZarrStore  # noqa: B018


inherited = None  # what children use


def _set_inherited(number):
    inherited.set_sync(f"a/c/{number}", value(b"%d" % number))
    return inherited.get_sync("a/c/0").to_bytes()


def _fill(given):
    store, number = given
    zarr.open_array(store, path="a", mode="r+")[number * 10 : number * 10 + 10] = number


if __name__ == "__main__":
    unittest.main()
