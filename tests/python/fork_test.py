"""Frames and logs in forked processes, which is how multiprocessing makes them on Linux."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import unittest

from support import PackageTest, cairn, np

CHUNK, CHUNKS = 4096, 32

frame = expected = None  # what children inherit


def matches(number):
    """As a worker of a data loader reads a batch."""
    return frame[number * CHUNK : (number + 1) * CHUNK].tobytes() == expected[number].tobytes()


@unittest.skipUnless("fork" in multiprocessing.get_all_start_methods(), "no fork")
class ForkTest(PackageTest):
    def setUp(self):
        super().setUp()
        global frame, expected
        expected = np.random.default_rng(1).integers(0, 256, (CHUNKS, CHUNK), "u1")
        frame = cairn.create(self.path(), None, "u1", chunksize=CHUNK, filters=(), codec="lz4")
        frame.append(expected.reshape(-1))
        frame[:]  # every chunk is checked once here

    def tearDown(self):
        global frame
        frame = None
        super().tearDown()

    def update_all(self, through, seed):
        """In commits that each use the space of the ones before again."""
        items = np.random.default_rng(seed).integers(0, 256, (CHUNKS, CHUNK), "u1")
        for number in range(CHUNKS):
            with through.writer() as writer:
                writer.update_chunk(number, items[number])
        return items

    def test_pool_reads_what_its_parent_had_opened_while_that_one_commits(self):
        with multiprocessing.get_context("fork").Pool(3) as pool:
            for epoch in range(3):
                self.assertEqual(pool.map(matches, range(CHUNKS)), [True] * CHUNKS, epoch)
                self.update_all(frame, epoch + 10)
                frame.refresh()
            self.assertEqual(pool.map(matches, range(CHUNKS)), [True] * CHUNKS)

    def test_workers_of_each_epoch_read_the_state_of_their_fork(self):
        global expected
        for epoch in range(3):
            with multiprocessing.get_context("fork").Pool(2) as pool:
                batches = pool.imap(matches, range(CHUNKS))
                newest = self.update_all(cairn.open(self.path(), "r+"), epoch + 20)
                self.assertEqual(list(batches), [True] * CHUNKS, epoch)
            frame.refresh()
            expected = newest

    def run_alone(self, script):
        # From CPython 3.12 on it warns that NumPy's threads are there at the fork.
        done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script), self.path()],
                              capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_child_reads_on_when_its_parent_has_ended(self):
        answer = self.run_alone("""
            import cairn, os, sys
            frame = cairn.open(sys.argv[1])
            before = frame[:].tobytes()
            ended, ends = os.pipe()
            if os.fork():
                os._exit(0)  # the parent
            os.close(ends)
            os.read(ended, 1)
            other = cairn.open(sys.argv[1], "r+")
            for number in range(64):
                with other.writer() as writer:
                    writer.update_chunk(number % 32, os.urandom(4096))
            print(frame[:].tobytes() == before, frame.verify().ok)
            frame.refresh()
            print(frame[:].tobytes() == other[:].tobytes())
        """)
        self.assertEqual(answer.split(), ["True", "True", "True"])

    def test_writers_of_a_parent_are_errors_in_a_child_that_may_drop_them(self):
        answer = self.run_alone("""
            import cairn, os, sys
            import numpy as np
            record = np.zeros(1, [("time", "<M8[us]"), ("x", "<i4")])
            log = cairn.Log.create(sys.argv[1] + ".log", record.dtype)
            writer = log.writer(commit_interval=3600.0)
            writer.append(record)
            frame = cairn.open(sys.argv[1], "r+")
            with frame.writer() as edits:
                edits.append([1])
                child = os.fork()
                if child == 0:
                    for call in (lambda: writer.append(record), writer.commit, lambda: edits.append([2]), edits.commit):
                        try:
                            call()
                            os._exit(1)
                        except cairn.FailedPrecondition:
                            pass
                    del writer, edits, call
                    os._exit(7)
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            writer.append(record)
            writer.close()
            log.refresh()
            print(len(log))
        """)
        self.assertEqual(answer.split(), ["7", "2"])

    def test_workers_keep_nobody_from_writing_when_their_parent_is_killed(self):
        answer = self.run_alone("""
            import cairn, multiprocessing, os, signal, sys
            alive, tells = os.pipe()
            ended, ends = os.pipe()
            def work():
                os.write(tells, b"x")
                os.read(ended, 1)
            parent = os.fork()
            if parent == 0:
                os.close(ends)
                frame = cairn.open(sys.argv[1], "r+")
                writer = frame.writer()
                writer.append([1])
                multiprocessing.get_context("fork").Process(target=work).start()
                signal.pause()
            os.read(alive, 1)
            os.kill(parent, signal.SIGKILL)
            os.waitpid(parent, 0)
            before = len(cairn.open(sys.argv[1]))
            with cairn.open(sys.argv[1], "r+").writer() as writer:
                writer.append([2])
            print(len(cairn.open(sys.argv[1])) - before)
        """)
        self.assertEqual(answer.split(), ["1"])

    def test_child_follows_a_log_that_its_parent_had_opened(self):
        answer = self.run_alone("""
            import cairn, os, sys
            import numpy as np
            records = np.zeros(150, [("time", "<M8[us]"), ("x", "<i4")])
            log = cairn.Log.create(sys.argv[1] + ".log", records.dtype)
            log.append(records[:100])
            log.refresh()
            done, ends = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(ends)
                os.read(done, 1)
                before = len(log)
                log.refresh()
                print(before, len(log), flush=True)
                os._exit(0)
            log.append(records[100:])
            os.close(ends)
            os.waitpid(child, 0)
        """)
        self.assertEqual(answer.split(), ["100", "150"])
