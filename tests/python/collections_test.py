"""Collections: members that change together, seen by other handles, by other processes and by python-blosc2."""

import gc
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import warnings

from support import PackageTest, blosc2, cairn, needs_blosc2, np

DAY = None if np is None else np.arange(180, dtype="<f4")
WAIT = 120  # seconds: who waits that long fails the test


class CollectionTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.where = self.path("weather.b2d")

    def made(self):
        """A collection with the members /day/rain and /day/temp, of one day each."""
        made = cairn.open_collection(self.where, "a")
        with made.writer() as writer:
            for name in ("/day/temp", "/day/rain"):
                writer.add(name, shape=(0, 180), dtype="<f4", codec="zstd").append(DAY)
        return made

    def run_alone(self, script, *arguments, killed=False):
        """Runs a script in another process, and returns what it prints."""
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), self.where, *arguments],
                              capture_output=True, text=True, timeout=WAIT, check=False)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGKILL if killed else 0, ""))
        return done.stdout

    def files(self):
        """The names of the files in the directory, of groups too."""
        return sorted(os.path.join(root, name)[len(self.where) :] for root, _, names in os.walk(self.where) for name in names)


class ReadingTest(CollectionTest):
    def test_names_map_to_members(self):
        made = self.made()
        self.assertEqual(list(made), ["/day/rain", "/day/temp"])
        self.assertEqual(len(made), 2)
        self.assertEqual(made.members("/day/t"), ["/day/temp"])
        self.assertIn("/day/temp", made)
        self.assertNotIn("/day/wind", made)
        self.assertNotIn(5, made)
        self.assert_same(made["/day/temp"][0], DAY)
        self.assertEqual([(name, member.shape) for name, member in made.items()], [("/day/rain", (1, 180)), ("/day/temp", (1, 180))])
        self.assertIsNone(made.get("/day/wind"))

    def test_member_that_is_not_there_is_told_with_the_nearest(self):
        made = self.made()
        with self.assertRaisesRegex(cairn.NoSuchMember, "weather.b2d: no member 'day/temp'; did you mean '/day/temp'") as caught:
            made["day/temp"]
        self.assertIsInstance(caught.exception, KeyError)
        self.assertIsInstance(caught.exception, FileNotFoundError)
        with self.assertRaisesRegex(cairn.NoSuchMember, "no member '/x'; it has 2 others"):
            made["/x"]

    def test_refresh_shows_what_others_commit_and_snapshots_stay(self):
        made = self.made()
        reader = cairn.open_collection(self.where)
        before = reader.snapshot()
        self.assertFalse(reader.refresh())
        with made.writer() as writer:
            writer["/day/temp"].append(DAY + 1)
            writer.remove("/day/rain")
        self.assertEqual(reader.members(), ["/day/rain", "/day/temp"])
        self.assertTrue(reader.refresh())
        self.assertEqual(reader.members(), ["/day/temp"])
        self.assertEqual(reader["/day/temp"].shape, (2, 180))
        self.assertEqual(before["/day/temp"].shape, (1, 180))
        self.assert_same(before["/day/rain"][0], DAY)
        self.assertEqual(before, before)
        self.assertNotEqual(before, reader.snapshot())
        self.assertLess(before.number, reader.number)

    def test_items_are_of_one_state(self):
        made = self.made()
        items = iter(made.items())
        self.assertEqual(next(items)[1].shape, (1, 180))
        with made.writer() as writer:
            writer["/day/temp"].append(DAY)
        self.assertEqual(next(items)[1].shape, (1, 180))

    def test_closed_collection_fails_and_its_snapshots_read_on(self):
        made = self.made()
        snapshot = made.snapshot()
        with made:
            pass
        with self.assertRaisesRegex(cairn.FailedPrecondition, "the collection is closed"):
            made["/day/temp"]
        self.assert_same(snapshot["/day/temp"][0], DAY)

    def test_pickled_collection_is_opened_again(self):
        made = self.made()
        again = pickle.loads(pickle.dumps(made))
        self.assert_same(again["/day/temp"][0], DAY)
        self.assertEqual((again.path, again.mode), (self.where, "r+"))

    @unittest.skipUnless("fork" in multiprocessing.get_all_start_methods(), "no fork")
    def test_forked_child_reads_the_state_of_the_fork(self):
        made = self.made()
        global inherited
        inherited = made
        with multiprocessing.get_context("fork").Pool(2) as pool:
            with made.writer() as writer:
                writer["/day/temp"].append(DAY)
            self.assertEqual(pool.map(_shape_of, ["/day/temp"] * 8), [(1, 180)] * 8)
        inherited = None

    def test_damaged_member_is_told_and_others_read(self):
        made = self.made()
        os.remove(os.path.join(self.where, "day", "rain.b2nd"))
        with self.assertRaisesRegex(cairn.DataLoss, "rain.b2nd: member: the file is missing"):
            made["/day/rain"]
        self.assertTrue(made["/day/temp"].verify().ok)

    def test_verify_reports_on_the_ledger_and_all_members(self):
        made = self.made()
        with made.writer() as writer:
            writer.attributes("/day")["hours"] = 24
        seen = []
        report = made.verify(progress=seen.append)
        self.assertEqual((report.ok, report.sealed, report.findings), (True, True, ()))
        frames = [cairn.open(os.path.join(self.where, name[1:])).verify() for name in self.files()]
        self.assertEqual(len(frames), 4)
        self.assertEqual(report.nchunks, sum(one.nchunks for one in frames))
        self.assertEqual(report.bytes_read, sum(one.bytes_read for one in frames))
        self.assertEqual((seen[-1], sorted(seen)), (report.nchunks, seen))
        before = made.snapshot()
        with made.writer() as writer:
            writer.remove("/day/rain")
        self.assertEqual(before.verify().nchunks, made.verify().nchunks + 1)

    def test_verify_names_the_member_that_is_damaged_and_goes_on(self):
        made = self.made()
        with made.writer() as writer:
            writer.attributes("/day")["hours"] = 24
        os.remove(os.path.join(self.where, "day", "rain.b2nd"))
        with open(os.path.join(self.where, "day", "temp.b2nd"), "r+b") as file:
            file.seek(file.read().index(made["/day/temp"].chunk(0)) + 40)
            file.write(b"damage")
        report = cairn.open_collection(self.where).verify()
        self.assertFalse(report)
        sections = [one.section for one in report.findings]
        self.assertIn("/day/rain", sections)
        self.assertTrue(any(one.startswith("/day/temp: ") for one in sections), sections)
        self.assertEqual({one.split(": ")[0] for one in sections}, {"/day/rain", "/day/temp"})
        with self.assertRaises(cairn.InvalidArgument):
            made.verify("deep")


class ModesTest(CollectionTest):
    def test_modes(self):
        for mode in ("r", "r+"):
            with self.subTest(mode), self.assertRaises(cairn.NotFound):
                cairn.open_collection(self.where, mode)
        self.assertEqual(list(cairn.open_collection(self.where, "x")), [])
        with self.assertRaises(cairn.AlreadyExists):
            cairn.open_collection(self.where, "x")
        self.made().close()
        self.assertEqual(len(cairn.open_collection(self.where, "a")), 2)
        emptied = cairn.open_collection(self.where, "w")
        self.assertEqual((list(emptied), self.files()), ([], ["/embed.b2e"]))
        with self.assertRaisesRegex(cairn.ReadOnly, "open it with mode 'r\\+'"):
            cairn.open_collection(self.where).writer()
        with self.assertRaises(cairn.InvalidArgument):
            cairn.open_collection(self.where, "rw")

    def test_other_directories_and_uris_are_refused(self):
        os.mkdir(self.path("other"))
        cairn.create(os.path.join(self.path("other"), "embed.b2e"), None).close()
        for mode in ("r+", "a", "w"):
            with self.assertRaisesRegex(cairn.FailedPrecondition, "a store of python-blosc2"):
                cairn.open_collection(self.path("other"), mode)
        with self.assertRaisesRegex(cairn.InvalidArgument, "neither a collection nor a store"):
            cairn.open_collection(os.path.join(self.path("other"), "embed.b2e"))


class WritingTest(CollectionTest):
    def test_commit_shows_all_members_at_once(self):
        made = self.made()
        with made.writer() as writer:
            writer["/day/temp"].append(DAY)
            writer["/day/rain"].append(DAY)
            self.assertEqual({one.shape for one in made.values()}, {(1, 180)})
            committed = writer.commit()
            self.assertEqual({one.shape for one in committed.values()}, {(2, 180)})
            self.assertEqual(committed, made.snapshot())
            number = committed.number
            writer["/day/temp"][0, 0] = 7
            writer.rollback()
            self.assertEqual(made.number, number)
        self.assertEqual(made["/day/temp"][0, 0], 0)

    def test_block_that_fails_stages_nothing(self):
        made = self.made()
        with self.assertRaises(ZeroDivisionError), made.writer() as writer:
            writer["/day/temp"].append(DAY)
            writer.add("/new", DAY)
            writer.remove("/day/rain")
            raise ZeroDivisionError
        self.assertEqual(made.members(), ["/day/rain", "/day/temp"])
        self.assertEqual(made["/day/temp"].shape, (1, 180))
        self.assertEqual(self.files(), ["/day/rain.b2nd", "/day/temp.b2nd", "/embed.b2e"])
        made.writer().close()  # nobody holds it

    def test_members_take_the_edits_of_frames(self):
        expected = np.arange(40, dtype="<i4").reshape(8, 5)
        with cairn.open_collection(self.where, "a").writer() as writer:
            member = writer.add("/a", expected, chunks=(3, 5))
            member[1:3, ::2] = 9
            expected[1:3, ::2] = 9
            self.assert_same(member[...], expected)
            writer.commit()
            member.append(expected[:2])  # goes on after the commit
            member.resize((9, 5))
            member.vlmeta["unit"] = "kelvin"
            expected = np.concatenate((expected, expected[:1]))
            self.assert_same(writer["/a"][...], expected)
            plain = writer.add("/plain", shape=None, dtype="<f4", chunksize=40)
            plain.append(np.arange(10, dtype="<f4"))
            plain.insert_chunk(0, np.ones(10, "<f4"))
            plain.update_chunk(1, np.zeros(10, "<f4"))
            plain.append_special("zeros", 10)
            plain.delete_chunks(2)
        read = cairn.open_collection(self.where)
        self.assert_same(read["/a"][...], expected)
        self.assertEqual(dict(read["/a"].vlmeta), {"unit": "kelvin"})
        self.assertEqual(read["/plain"][...].view("<f4").tolist(), [1.0] * 10 + [0.0] * 10)

    def test_new_members_are_made_as_told(self):
        with cairn.open_collection(self.where, "a").writer() as writer:
            writer.add("/a", [1, 2, 3], dtype="<i2", codec="zstd", clevel=1)
            writer.add("/b", shape=(4, 2), dtype="<f8", meta={"unit": "x"})
            writer.add("/c")
            writer.add("/g/d", np.ma.masked_array([1, 2], [False, False]))
            with self.assertRaisesRegex(cairn.InvalidArgument, "shape: the items have one"):
                writer.add("/e", [1], shape=(1,))
            with self.assertRaises(cairn.InvalidArgument):
                writer.add("/e", np.ma.masked_array([1, 2], [False, True]))
            with self.assertRaisesRegex(cairn.InvalidArgument, "begins with a dot"):
                writer.add("/../e", [1])
            with self.assertRaises(cairn.AlreadyExists):
                writer.add("/a", [1])
        read = cairn.open_collection(self.where)
        self.assertEqual([(name, one.dtype.str, one.shape) for name, one in read.items()],
                         [("/a", "<i2", (3,)), ("/b", "<f8", (4, 2)), ("/c", "|u1", (0,)), ("/g/d", "<i8", (2,))])  # fmt: skip
        self.assertEqual((read["/a"].info.codec, dict(read["/b"].meta)["unit"]), ("zstd", "x"))

    def test_member_whose_content_fails_is_not_added(self):
        class Failing:
            shape, dtype = (4,), np.dtype("<f4")

            def __getitem__(self, key):
                raise ZeroDivisionError

        made = self.made()
        with made.writer() as writer:
            with self.assertRaises(ZeroDivisionError):
                writer.add("/new", Failing())
            writer.add("/other", DAY)
        self.assertEqual(made.members(), ["/day/rain", "/day/temp", "/other"])

    def test_members_that_are_not_there_are_told(self):
        with self.made().writer() as writer:
            for call in (lambda: writer["/x"], lambda: writer.remove("/x")):
                with self.assertRaisesRegex(cairn.NoSuchMember, "/x: no member of the collection"):
                    call()
            member = writer["/day/temp"]
            writer.remove("/day/temp")
            with self.assertRaises(cairn.NotFound):
                member.append(DAY)

    def test_member_is_replaced_in_one_commit(self):
        made = self.made()
        before = made.snapshot()
        with made.writer() as writer:
            writer.remove("/day/temp")
            writer.add("/day/temp", [1.5])
        self.assertEqual(made["/day/temp"][:].tolist(), [1.5])
        self.assertEqual(before["/day/temp"].shape, (1, 180))

    def test_members_are_copied_and_moved(self):
        made = self.made()
        before = made.snapshot()
        with made.writer() as writer:
            writer.copy("/day/temp", "/copy")
            writer.move("/day/rain", "/rain")
            writer["/copy"].append(DAY)
            with self.assertRaises(cairn.AlreadyExists):
                writer.move("/day/temp", "/copy")
            with self.assertRaises(cairn.NoSuchMember):
                writer.copy("/x", "/y")
        self.assertEqual({name: one.shape[0] for name, one in made.items()}, {"/copy": 2, "/day/temp": 1, "/rain": 1})
        self.assert_same(before["/day/rain"][0], DAY)

    def test_compacted_member_is_shorter(self):
        made = cairn.open_collection(self.where, "a")
        random = np.random.default_rng(1)
        with made.writer() as writer:
            writer.add("/x", random.integers(0, 2**31, 50_000))
            for _ in range(4):
                writer.commit()
                writer["/x"][:] = last = random.integers(0, 2**31, 50_000)
        size = os.path.getsize(self.where + "/x.b2nd")
        with made.writer() as writer:
            writer.compact("/x")
            with self.assertRaises(cairn.NoSuchMember):
                writer.compact("/y")
        self.assertLess(os.path.getsize(self.where + "/x.b2nd"), size / 2)
        self.assert_same(made["/x"][:], last)

    def test_groups_have_attributes(self):
        made = self.made()
        self.assertEqual(dict(made.attributes("/day")), {})
        with made.writer() as writer:
            self.assertEqual(dict(writer.attributes()), {})
            writer.attributes()["title"] = "weather"
            writer.attributes("/day")["hours"] = [1, 2]
            self.assertEqual(dict(writer.attributes("/day")), {"hours": [1, 2]})
        before = made.snapshot()
        self.assertEqual((made.groups(), made.members()), (["/", "/day"], ["/day/rain", "/day/temp"]))
        with made.writer() as writer:
            del writer.attributes("/day")["hours"]
            with self.assertRaises(cairn.NoSuchLayer):
                del writer.attributes("/night")["hours"]
        self.assertEqual((dict(made.attributes()), dict(made.attributes("/day"))), ({"title": "weather"}, {}))
        self.assertEqual(dict(before.attributes("/day")), {"hours": [1, 2]})
        with self.assertRaises(cairn.ReadOnly):
            made.attributes()["title"] = "x"
        self.assertNotIn("/night", made.groups())

    def test_array_without_items_keeps_its_states(self):
        made = cairn.open_collection(self.where, "a")
        with made.writer() as writer:
            writer.add("/x", shape=(0, 180), dtype="f4")
        seen = []
        for number in range(3):
            with made.writer() as writer:
                writer["/x"].vlmeta["n"] = number
            seen.append(made.snapshot())
        self.assertEqual([one["/x"].vlmeta["n"] for one in seen], [0, 1, 2])

    def test_backup_is_a_collection_of_one_state(self):
        made = self.made()
        with made.writer() as writer:
            writer.attributes()["title"] = "weather"
            writer.commit()
            writer["/day/temp"].append(DAY)
            made.backup(self.path("copy.b2d"))
        copy = cairn.open_collection(self.path("copy.b2d"), "r+")
        self.assertEqual((copy["/day/temp"].shape, copy.attributes()["title"]), ((1, 180), "weather"))
        with self.assertRaises(cairn.AlreadyExists):
            made.backup(self.path("copy.b2d"))

    def test_increments_bring_a_copy_up_to_date(self):
        made = self.made()
        made.backup(self.path("copy.b2d"))
        copy = cairn.open_collection(self.path("copy.b2d"), "r+")
        with made.writer() as writer:
            writer["/day/temp"].append(DAY)
            writer.remove("/day/rain")
            writer.attributes()["title"] = "weather"
        made.backup(self.path("new"), since=copy)
        self.assertTrue(copy.restore(self.path("new")))
        self.assertEqual((copy.members(), copy["/day/temp"].shape), (["/day/temp"], (2, 180)))
        self.assertEqual(copy.attributes()["title"], "weather")
        self.assertFalse(copy.restore(self.path("new")), "repeated")
        with copy.writer() as writer:
            writer["/day/temp"].append(DAY)
        with self.assertRaises(cairn.FailedPrecondition):
            copy.restore(self.path("new"))
        with self.assertRaises(cairn.InvalidType):
            made.backup(self.path("other"), since=self.path("copy.b2d"))
        with self.assertRaises(cairn.ReadOnly):
            cairn.open_collection(self.path("copy.b2d")).restore(self.path("new"))

    def test_older_commits_are_listed_and_opened(self):
        made = self.made()
        self.assertEqual(made.history(), [cairn.Commit(made.number, [], [], [], [])])
        first = made.number
        with made.writer(keep_commits=3) as writer:
            writer["/day/temp"].append(DAY)
            writer.add("/day/wind", DAY)
            writer.commit()
            writer.remove("/day/rain")
            writer.attributes("/day")["unit"] = "K"
            writer.commit()
            self.assertEqual(made.history()[1:], [
                cairn.Commit(first + 1, ["/day/wind"], [], ["/day/temp"], []),
                cairn.Commit(first + 2, [], ["/day/rain"], [], ["/day"]),
            ])  # fmt: skip
        old = made.at(first)
        self.assertEqual((old.number, old.members(), old["/day/temp"].shape), (first, ["/day/rain", "/day/temp"], (1, 180)))
        made.at(first + 1).backup(self.path("copy.b2d"))
        self.assertEqual(len(cairn.open_collection(self.path("copy.b2d"))), 3)
        with self.assertRaisesRegex(cairn.NotFound, "not kept"):
            made.at(first + 90)
        with made.writer(keep_commits=0):
            pass
        self.assertEqual(len(made.history()), 1)
        self.assertEqual(old["/day/rain"].shape, (1, 180))

    def test_writers_that_share_a_collection_hold_their_members(self):
        made = self.made()
        with made.writer(shared=True) as first, made.writer(shared=True, wait=0) as second:
            first["/day/temp"].append(DAY)
            with self.assertRaises(cairn.Unavailable):
                second["/day/temp"].append(DAY)
            second["/day/rain"].append(DAY)
            self.assertEqual(second.number, 0)
            self.assertEqual(second.commit().number, second.number)
            self.assertEqual(made["/day/rain"].shape, (2, 180))
            first.commit()
            second["/day/temp"].append(DAY)
            second.commit()
            self.assertEqual(made["/day/temp"].shape, (3, 180))
            first.add("/n", DAY)
            second.add("/n", DAY)
            first.commit()
            with self.assertRaises(cairn.Aborted):
                second.commit()
            second.rollback()
            with self.assertRaises(cairn.Unavailable):
                made.writer(wait=0)
        made.writer(wait=0).close()

    def test_released_writer_leaves_its_commits_and_lets_others_write(self):
        made = self.made()
        writer = made.writer()
        writer["/day/temp"].append(DAY)
        writer.commit()
        writer["/day/temp"].append(DAY)
        writer.release()
        writer.release()
        with self.assertRaisesRegex(cairn.FailedPrecondition, "closed"):
            writer.commit()
        self.assertEqual(cairn.open_collection(self.where)["/day/temp"].shape, (2, 180))
        with made.writer() as other:
            other["/day/temp"].append(DAY)
        self.assertEqual(made["/day/temp"].shape, (3, 180))

    def test_writer_knows_that_another_one_waits(self):
        made = self.made()
        writer = made.writer()
        self.assertFalse(writer.has_waiters())
        waiting = threading.Thread(target=lambda: made.writer(wait=WAIT).close())
        waiting.start()
        ends = time.monotonic() + WAIT
        while not writer.has_waiters() and time.monotonic() < ends:
            time.sleep(0.001)
        self.assertTrue(writer.has_waiters())
        writer.release()
        waiting.join()

    def test_closed_writer_fails(self):
        writer = self.made().writer()
        member = writer["/day/temp"]
        writer.close()
        writer.close()
        for call in (writer.commit, lambda: member.append(DAY), lambda: writer["/day/temp"], lambda: member[0]):
            with self.assertRaisesRegex(cairn.FailedPrecondition, "closed"):
                call()

    def test_dropped_writer_is_told(self):
        made = self.made()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            writer = made.writer()
            writer["/day/temp"].append(DAY)
            del writer
            gc.collect()
        self.assertIn("weather.b2d: a writer was not closed", str(told[0].message))
        del told  # which keeps the writer
        self.assertEqual(made["/day/temp"].shape, (1, 180))
        made.writer().close()

    def test_threads_share_a_writer(self):
        made = self.made()
        with made.writer() as writer:
            def work(number):
                member = writer.add(f"/m{number}", shape=(0,), dtype="<i4")
                for step in range(20):
                    member.append([step])

            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
        self.assertEqual([made[f"/m{number}"][:].tolist() for number in range(4)], [list(range(20))] * 4)


class ProcessesTest(CollectionTest):
    def test_writers_of_several_processes_take_turns(self):
        self.made().close()
        script = """
            import sys, cairn, numpy as np
            c = cairn.open_collection(sys.argv[1], "r+", wait=120)
            for step in range(8):
                with c.writer() as w:
                    for name in ("/day/temp", "/day/rain"):
                        w[name].append(np.full(180, int(sys.argv[2]) * 100 + step, "<f4"))
        """
        commands = [[sys.executable, "-c", textwrap.dedent(script), self.where, str(number)] for number in range(3)]
        writers = [subprocess.Popen(one, stderr=subprocess.PIPE, text=True) for one in commands]
        reader = cairn.open_collection(self.where)
        seen = 0
        while any(one.poll() is None for one in writers):
            reader.refresh()
            shapes = {one.shape for one in reader.values()}
            self.assertEqual(len(shapes), 1, "a reader never sees half of a commit")
            seen = max(seen, shapes.pop()[0])
        for one in writers:
            _, said = one.communicate()
            self.assertEqual((one.returncode, said), (0, ""))
        reader.refresh()
        days = reader["/day/temp"][1:, 0]
        self.assert_same(reader["/day/rain"][1:, 0], days)
        for number in range(3):
            self.assertEqual([int(one) % 100 for one in days if int(one) // 100 == number], list(range(8)))
        self.assertGreater(seen, 0)

    def test_second_writer_is_unavailable_at_once(self):
        with self.made().writer(), self.assertRaises(cairn.Unavailable):
            cairn.open_collection(self.where, "r+").writer()

    def test_killed_writer_leaves_the_commits_that_it_made(self):
        self.made().close()
        said = self.run_alone("""
            import os, signal, sys, cairn, numpy as np
            w = cairn.open_collection(sys.argv[1], "r+").writer()
            for day in range(3):
                w["/day/temp"].append(np.full(180, day, "<f4"))
                w["/day/rain"].append(np.full(180, day, "<f4"))
                w.add(f"/new{day}", [day])
                print(w.commit().number, flush=True)
            w["/day/temp"].append(np.full(180, 99, "<f4"))
            w.add("/half", [1])
            os.kill(os.getpid(), signal.SIGKILL)
        """, killed=True)
        self.assertEqual(said.split(), ["2", "3", "4"])
        found = cairn.open_collection(self.where, "r+")
        for _ in range(2):
            self.assertEqual(found.members(), ["/day/rain", "/day/temp", "/new0", "/new1", "/new2"])
            self.assertEqual([one.shape[0] for one in found.values()], [4, 4, 1, 1, 1])
            self.assertTrue(all(one.verify().ok for one in found.values()))
            with found.writer():  # completes what the killed one had committed
                pass
        self.assertEqual(self.files(), ["/day/rain.b2nd", "/day/temp.b2nd", "/embed.b2e", "/new0.b2nd", "/new1.b2nd", "/new2.b2nd"])


class RecoveryTest(CollectionTest):
    def test_lost_ledger_is_made_again(self):
        self.made().close()
        os.remove(os.path.join(self.where, "embed.b2e"))
        with self.assertRaises(cairn.NotFound):
            cairn.open_collection(self.where)
        done = cairn.recover_collection(self.where)
        self.assertEqual(done, cairn.CollectionRecovery(True, ["/day/rain", "/day/temp"], [], []))
        self.assert_same(cairn.open_collection(self.where)["/day/temp"][0], DAY)
        self.assertEqual(cairn.recover_collection(self.where), cairn.CollectionRecovery(False, [], [], []))

    def test_members_from_different_backups_are_listed_as_they_are(self):
        made = self.made()
        made.backup(self.path("backup.b2d"))
        with made.writer() as writer:
            for name in made.members():
                writer[name].append(DAY)
        with self.assertRaisesRegex(cairn.Unavailable, "is being read"):
            os.rename(os.path.join(self.where, "day/rain.b2nd"), self.path("rain.b2nd"))
            cairn.recover_collection(self.where)
        made.close()
        del made, writer
        gc.collect()
        shutil.copy(self.path("backup.b2d/day/temp.b2nd"), os.path.join(self.where, "day/temp.b2nd"))
        self.assertEqual(cairn.recover_collection(self.where), cairn.CollectionRecovery(False, ["/day/temp"], ["/day/rain"], []))
        found = cairn.open_collection(self.where)
        self.assertEqual((found.members(), found["/day/temp"].shape), (["/day/temp"], (1, 180)))


@needs_blosc2
class TreeStoreTest(CollectionTest):
    def test_tree_store_reads_what_close_leaves(self):
        made = self.made()
        with made.writer() as writer:
            writer["/day/temp"][0, :3] = [5, 6, 7]
            writer["/day/temp"].append(DAY)
            writer.add("/top", np.arange(5))
            writer.attributes()["title"] = "weather"
            writer.attributes("/day")["hours"] = 24
        with blosc2.TreeStore(self.where, mode="r") as store:
            self.assertEqual(store.vlmeta["title"], "weather")
            self.assertEqual(store.vlmeta[:]["title"], "weather")
            self.assertEqual(store["/day"].vlmeta["hours"], 24)
            self.assertEqual(sorted(store.keys()), ["/day", "/day/rain", "/day/temp", "/top"])
            for name, member in made.items():
                self.assert_same(store[name][:], member[...])

    def test_array_that_a_tree_store_adds_disturbs_nothing(self):
        made = self.made()
        with blosc2.TreeStore(self.where, mode="a") as store:
            store["/theirs"] = np.arange(10_000)
        self.assertEqual(cairn.open_collection(self.where).members(), ["/day/rain", "/day/temp"])
        with made.writer() as writer:
            writer["/day/temp"].append(DAY)
        with blosc2.TreeStore(self.where, mode="r") as store:
            self.assertEqual(store["/theirs"][9_999], 9_999)
            self.assertEqual(store["/day/temp"].shape, (2, 180))


inherited = None  # what children read


def _shape_of(name):
    return inherited[name].shape


if __name__ == "__main__":
    unittest.main()
