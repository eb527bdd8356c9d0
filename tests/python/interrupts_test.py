"""Ctrl-C ends every wait, for others and for object stores, and what waited goes on to work."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import unittest

from support import PackageTest, cairn, np

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
sys.path.append(os.path.join(SOURCE, "tests", "support"))
from range_server import RangeServer  # noqa: E402

HAS_STORES = cairn is not None and importlib.util.find_spec("cairn._s3") is not None
LONG = 3600  # seconds: a wait that goes on until then fails the test by the harness's limit


class SignalTest(PackageTest):
    def is_interrupted(self, wait):
        ctrl_c = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        ctrl_c.start()
        with self.assertRaises(KeyboardInterrupt):
            wait()
        ctrl_c.join()


class EndTest(PackageTest):
    def test_program_ends_while_its_threads_read(self):
        cairn.asarray(np.zeros(1_000_000), self.path()).close()
        program = """
            import sys, threading, time, cairn
            def read():
                while True:
                    frame[:]
            frame = cairn.open(sys.argv[1])
            for _ in range(4):
                threading.Thread(target=read, daemon=True).start()
            time.sleep(0.2)
        """
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program), self.path()], capture_output=True, text=True, timeout=LONG
        )
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))


class LocalTest(SignalTest):
    def test_waits_for_a_commit_end(self):
        frame = cairn.asarray(np.arange(10), self.path())
        log = cairn.Log.create(self.path("a.log"), {"value": "f4"})
        self.is_interrupted(lambda: frame.refresh(wait=LONG))
        self.is_interrupted(lambda: log.refresh(wait=LONG))
        self.is_interrupted(lambda: list(frame.follow(poll=LONG)))
        self.is_interrupted(lambda: list(log.follow()))

    def test_waits_for_a_writer_end(self):
        frame = cairn.asarray(np.arange(10), self.path())
        log = cairn.Log.create(self.path("a.log"), {"value": "f4"})
        kept = cairn.open(self.path(), "r+", wait=LONG)
        kept[0] = 0  # it keeps its writer for the next edit
        with frame.writer() as one, log.writer() as other:
            self.is_interrupted(lambda: kept.__setitem__(0, 1))
            self.is_interrupted(lambda: cairn.open(self.path(), "r+", wait=LONG).append([1]))
            self.is_interrupted(lambda: cairn.Log.open(self.path("a.log"), wait=LONG).append({"value": [2.0]}))
            self.is_interrupted(lambda: cairn.open(self.path(), "r+").writer(wait=LONG))
            self.is_interrupted(lambda: cairn.open(self.path(), "r+").compact(wait=LONG))
            self.is_interrupted(lambda: cairn.Log.open(self.path("a.log")).writer(wait=LONG))
            one.append([10])
            other.append({"value": [1.0]})
        self.assertEqual((len(frame), len(log)), (11, 1))


@unittest.skipUnless(HAS_STORES, "no module cairn._s3")
class StoreTest(SignalTest):
    def setUp(self):
        super().setUp()
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        self.silent = f"http://127.0.0.1:{silent.getsockname()[1]}/a"

    def test_waits_for_a_server_that_does_not_answer_end(self):
        self.is_interrupted(lambda: cairn.open(self.silent))
        self.is_interrupted(lambda: cairn.Log.open(self.silent))
        self.is_interrupted(lambda: cairn.open(self.silent, threads=2))

    def test_requests_after_that_are_made(self):
        server = RangeServer(self.folder)
        self.addCleanup(server.close)
        items = np.arange(10_000)
        cairn.asarray(items, self.path(), chunks=100)
        frame = cairn.open(f"{server.url}/a.b2nd")
        self.is_interrupted(lambda: cairn.open(self.silent))
        self.assert_same(frame[:], items)

    def test_signal_whose_handler_returns_ends_nothing(self):
        server = RangeServer(self.folder)
        self.addCleanup(server.close)
        cairn.asarray(np.arange(10), self.path())
        seen = []
        old = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        self.addCleanup(signal.signal, signal.SIGINT, old)
        ctrl_c = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        ctrl_c.start()
        frame = cairn.open(self.path())
        self.assertFalse(frame.refresh(wait=1.0))
        self.assertEqual(len(cairn.open(f"{server.url}/a.b2nd")), 10)
        ctrl_c.join()
        self.assertEqual(seen, [1])


if __name__ == "__main__":
    unittest.main()
