"""cairn.ZarrStore in an object store, where several writers commit at the same time."""

import asyncio
import importlib.util
import os
import random
import subprocess
import sys
import textwrap
import threading
import unittest
from unittest import mock

from support import PackageTest, cairn, np

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
sys.path.append(os.path.join(SOURCE, "tests", "support"))
from fake_store import FakeStore  # noqa: E402

HAS_STORES = cairn is not None and importlib.util.find_spec("cairn._s3") is not None
HAS_ZARR = importlib.util.find_spec("zarr") is not None
PAGE = 256  # chunks of a page of keys, with its own
WAIT = 120  # seconds: who waits that long fails the test

# What each program of several processes begins with.
BEGIN = """
import asyncio, sys, cairn, zarr, numpy as np
from zarr.core.buffer import cpu
def value(content):
    return cpu.Buffer.from_bytes(content)
path, who = sys.argv[1], int(sys.argv[2])
"""


def setUpModule():
    global STORE
    STORE = FakeStore.serving(unittest.addModuleCleanup)


def value(content):
    from zarr.core.buffer import cpu

    return cpu.Buffer.from_bytes(content)


@unittest.skipUnless(HAS_STORES and HAS_ZARR, "no module cairn._s3, or no zarr")
class StoresTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.where = f"s3://bucket/{self.id().rpartition('.')[2]}.b2d"

    def store(self, **how):
        return cairn.ZarrStore(self.where, **how)

    def contents(self):
        """All keys and values, as a new store reads them."""
        store = self.store(read_only=True)

        async def listed():
            return [key async for key in store.list()]

        keys = asyncio.run(listed())
        self.assertEqual(len(set(keys)), len(keys))
        return {key: store.get_sync(key).to_bytes() for key in keys}

    def filled(self, count):
        """Makes an array of so many chunks, and returns them as a dict."""
        known = {f"a/c/{number}": b"%d" % number for number in range(count)}
        store = self.store()
        with store.transaction():
            for key, content in known.items():
                store.set_sync(key, value(content))
        return known

    def run_all(self, count, script):
        """Runs a program in several processes, and returns what each has said."""
        command = [sys.executable, "-W", "ignore", "-c", BEGIN + textwrap.dedent(script), self.where]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        running = [subprocess.Popen([*command, str(number)], **streams) for number in range(count)]
        said = [one.communicate(timeout=WAIT) for one in running]
        self.assertEqual([(one.returncode, errors) for one, (_, errors) in zip(running, said)], [(0, "")] * count)
        return [output for output, _ in said]


class ChangesTest(StoresTest):
    """Changes outside transactions, which are made again after the commit of another writer."""

    def test_chunks_of_one_array_are_written_by_several_processes(self):
        import zarr

        array = zarr.create_array(self.store(), name="a", shape=(320, 4), chunks=(1, 4), dtype="i8", fill_value=-1)
        array[:200] = 7  # the others fill this page of keys, and begin the next
        self.run_all(3, """
            array = zarr.open_array(cairn.ZarrStore(path), path="a", mode="r+")
            for number in range(200 + who, 320, 3):
                array[number] = 1000 * who + number
        """)
        expected = np.full((320, 4), 7)
        for number in range(200, 320):
            expected[number] = 1000 * ((number - 200) % 3) + number
        self.assert_same(zarr.open_array(self.store(), path="a", mode="r")[:], expected)
        self.assertTrue(cairn.open_collection(self.where).verify().ok)

    def test_keys_of_several_processes_are_what_their_last_changes_say(self):
        known = self.filled(PAGE - 10)
        said = self.run_all(3, """
            store = cairn.ZarrStore(path)
            for number in range(40):
                store.set_sync(f"a/c/9/{who}/{number}", value(b"%d" % number))    # new
                store.set_sync(f"a/c/{3 * number + who}", value(b"new"))          # known
                if number % 4 == 0:
                    store.delete_sync(f"a/c/9/{who}/{number}")
                store.set_sync("a/c/0/0", value(b"%d %d" % (who, number)))        # of all
                if number % 8 == 0:
                    asyncio.run(store.set_if_not_exists(f"b/c/{number}", value(b"%d" % who)))
                    print(number, store.get_sync(f"b/c/{number}").to_bytes().decode())
        """)
        for who in range(3):
            known.update({f"a/c/9/{who}/{number}": b"%d" % number for number in range(40) if number % 4})
        known.update({f"a/c/{number}": b"new" for number in range(120)})
        found = self.contents()
        self.assertIn(found.pop("a/c/0/0"), [b"%d 39" % who for who in range(3)])
        self.assertEqual(len(set(said)), 1, "all see who was first to set a key")
        for line in said[0].splitlines():
            number, first = line.split()
            known[f"b/c/{number}"] = first.encode()
        self.assertEqual(found, known)

    def test_changes_of_threads_of_two_stores_all_stand(self):
        known, stores, failures = self.filled(PAGE - 20), [self.store(), self.store()], []

        def change(number):
            dice = random.Random(number)
            try:
                for one in range(15):
                    key, content = f"{dice.choice('abc')}/c/{number}/{one}", b"%d" % one
                    known[key] = content
                    stores[number % 2].set_sync(key, value(content))
                    # Reads go on to the commits of the other store while changes are staged.
                    if stores[number % 2].get_sync(key).to_bytes() != content:
                        failures.append(key)
            except Exception as error:  # noqa: BLE001
                failures.append(error)

        threads = [threading.Thread(target=change, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        self.assertEqual(failures, [])
        self.assertEqual(self.contents(), known)

    def test_folder_is_deleted_beside_the_changes_of_others(self):
        self.filled(20)
        ours, theirs = self.store(), self.store()
        finish, keys = cairn.zarr.session.Session._commit, iter(["a/c/77", "d/zarr.json"])

        def commit(session, staged):
            key = next(keys, None) if session is ours._session else None
            if key is not None:
                theirs.set_sync(key, value(b"1"))
            finish(session, staged)

        with mock.patch.object(cairn.zarr.session.Session, "_commit", commit):
            asyncio.run(ours.delete_dir("a"))
        self.assertEqual(self.contents(), {"d/zarr.json": b"1"})

    def test_change_that_others_are_before_for_too_long_is_unavailable(self):
        self.filled(1)
        for wait, least, most in ((0.3, 2, 1000), (0, 1, 1)):
            with mock.patch.object(cairn.zarr.session.Session, "_commit", side_effect=cairn.Aborted("others")) as commit:
                with self.assertRaisesRegex(cairn.Unavailable, "^others; tried"):
                    self.store(wait=wait).set_sync("a/c/5", value(b"5"))
            self.assertTrue(least <= commit.call_count <= most, commit.call_count)
        self.store().set_sync("a/c/5", value(b"5"))
        self.assertEqual(self.contents(), {"a/c/0": b"0", "a/c/5": b"5"})


class MakingTest(StoresTest):
    """Collections that several processes make at the same time."""

    def test_store_that_another_process_makes_is_waited_for(self):
        probe = self.where.replace("s3://bucket/", "") + "/embed.b2e/probe.0123456789abcdef"
        for wait in (0.3, 100):
            STORE.objects[probe] = b"of another process"
            gone = threading.Timer(wait, STORE.objects.pop, (probe,))
            gone.start()
            self.addCleanup(gone.cancel)
            if wait < 1:
                self.store().set_sync("a/c/0", value(b"0"))
                self.assertEqual(self.contents(), {"a/c/0": b"0"})
                STORE.objects.clear()
            else:
                with mock.patch("cairn.collection._MAKING", 0.2), self.assertRaises(cairn.InvalidArgument):
                    self.store().set_sync("a/c/0", value(b"0"))

    def test_processes_that_begin_at_once_make_one_store(self):
        for turn in range(3):
            self.where = f"s3://bucket/once{turn}.b2d"
            self.run_all(4, """
                store = cairn.ZarrStore(path)
                store.set_sync(f"a/c/{who}", value(b"%d" % who))
                store.close()
            """)
            self.assertEqual(self.contents(), {f"a/c/{who}": b"%d" % who for who in range(4)})


class PagesTest(StoresTest):
    """Pages of keys, which two writers change or begin."""

    def test_page_is_not_begun_twice(self):
        for count in (0, 1, PAGE - 2, PAGE - 1, PAGE, 2 * PAGE - 2):
            with self.subTest(count):
                self.where = f"s3://bucket/begun{count}.b2d"
                known, ours, theirs = self.filled(count), self.store(), self.store()
                known["a/c/8/8"], known["a/c/9/9"] = b"ours", b"theirs"
                with self.assertRaises(cairn.Aborted), ours.transaction():
                    ours.set_sync("a/c/8/8", value(b"lost"))
                    theirs.set_sync("a/c/9/9", value(b"theirs"))
                ours.set_sync("a/c/8/8", value(b"ours"))
                self.assertEqual(self.contents(), known)

    def test_writer_that_is_kept_goes_on_to_the_commits_of_others(self):
        known, ours, theirs = self.filled(PAGE - 3), self.store(), self.store()
        self.addCleanup(ours.close)
        kept = mock.patch.multiple("cairn.zarr.session", _RUN_OF_TRANSACTIONS=WAIT, _KEPT=WAIT)
        kept.start()
        self.addCleanup(kept.stop)
        for number in range(12):  # with a new page in between
            with ours.transaction():
                ours.set_sync(f"a/c/9/{number}", value(b"ours"))
            theirs.set_sync(f"a/c/8/{number}", value(b"theirs"))
            theirs.delete_sync(f"a/c/{number}")
            del known[f"a/c/{number}"]
            known[f"a/c/9/{number}"], known[f"a/c/8/{number}"] = b"ours", b"theirs"
            self.assertEqual(self.contents(), known)

    def test_reads_of_other_threads_leave_the_state_that_changes_are_staged_on(self):
        for count in (PAGE - 3, PAGE - 1):
            self.where = f"s3://bucket/staged{count}.b2d"
            known, ours, theirs = self.filled(count), self.store(), self.store()
            session = ours._session
            with self.assertRaises(cairn.Aborted), session._changing(False) as staged:
                for number in range(3):
                    known[f"a/c/9/{number}"] = b"theirs"
                    theirs.set_sync(f"a/c/9/{number}", value(b"theirs"))
                    self.assertEqual(ours.get_sync(f"a/c/9/{number}").to_bytes(), b"theirs", "reads show the newest state")
                staged.set(cairn.zarr.keys.place_of("a/c/7/7"), np.frombuffer(b"ours", np.uint8))
                session._commit(staged)
            ours.set_sync("a/c/7/7", value(b"ours"))
            known["a/c/7/7"] = b"ours"
            self.assertEqual(self.contents(), known)
            self.assertEqual(ours.get_sync("a/c/9/2").to_bytes(), b"theirs")


class TransactionTest(StoresTest):
    def test_counters_of_several_processes_lose_nothing(self):
        import zarr

        zarr.create_array(self.store(), name="n", shape=(4,), chunks=(4,), dtype="i8")
        self.run_all(3, """
            store = cairn.ZarrStore(path)
            array = zarr.open_array(store, path="n", mode="r+")
            made = 0
            while made < 8:
                try:
                    with store.transaction():
                        array[:] = array[:] + 1
                    made += 1
                except cairn.Aborted:
                    pass
        """)
        self.assertEqual(zarr.open_array(self.store(), path="n", mode="r")[:].tolist(), [24] * 4)

    def test_transaction_and_changes_of_one_store_go_on_after_a_collision(self):
        known, ours, theirs = self.filled(3), self.store(), self.store()
        with self.assertRaisesRegex(cairn.Aborted, "/a/c: another writer's commit came before"), ours.transaction():
            ours.set_sync("a/c/1", value(b"lost"))
            theirs.set_sync("a/c/1", value(b"theirs"))
        with ours.transaction():
            self.assertEqual(ours.get_sync("a/c/1").to_bytes(), b"theirs")
            ours.set_sync("a/c/2", value(b"ours"))
        ours.set_sync("a/c/4", value(b"ours"))
        known.update({"a/c/1": b"theirs", "a/c/2": b"ours", "a/c/4": b"ours"})
        self.assertEqual(self.contents(), known)


if __name__ == "__main__":
    unittest.main()
