"""How much memory an opened frame keeps, and how much a file may cost."""

import itertools
import pickle
import unittest

from support import PackageTest, cairn, np


class OpeningTest(PackageTest):
    def test_cache_memory_keeps_what_was_read_twice(self):
        items = np.arange(1000, dtype="<i4")
        plain, array = self.path("plain"), self.path("array")
        cairn.create(plain, None, "<i4", chunksize=2000, blocksize=400).append(items)
        cairn.asarray(items, array, chunks=(500,), blocks=(100,))
        reads = ((plain, lambda opened: opened[510:520].tolist()), (plain, lambda opened: opened[511]), (array, lambda opened: opened.read_chunk(1)))
        makers = (cairn.open, lambda *given, **named: pickle.loads(pickle.dumps(cairn.open(*given, **named))))
        for memory, (path, read), make in itertools.product((8 << 20, 1 << 16, 100, 0), reads, makers):
            with self.subTest(memory=memory, path=path), open(path, "r+b") as file:
                content = file.read()
                chunk = cairn.open(path).chunk(1)
                opened = make(path, dtype="<i4", verify="never", cache_memory=memory)
                found = [read(opened) for _ in range(3)]
                self.assertEqual(found, [found[0]] * 3)
                file.seek(content.index(chunk) + 32)  # past the header of the chunk
                file.write(bytes(len(chunk) - 32))
                file.flush()
                if memory > 100:
                    self.assertEqual(read(opened), found[0])
                else:
                    with self.assertRaises(cairn.DataLoss):
                        read(opened)
                file.seek(0)
                file.write(content)

    def test_limits_bound_what_a_file_may_cost(self):
        path = self.path()
        frame = cairn.asarray(np.arange(10_000.0), path, chunks=(1000,), blocks=(500,))
        frame.vlmeta["long"] = "x" * 10_000
        reads = {
            "max_chunk_nbytes": lambda opened: opened[:], "max_metadata_nbytes": lambda opened: opened.vlmeta["long"],
            "max_nchunks": lambda opened: opened[:], "max_decode_memory": lambda opened: opened[3:5],
        }  # fmt: skip
        self.assertEqual(tuple(reads), cairn.Limits._fields)
        for name, read in reads.items():
            with self.subTest(limit=name):
                read(cairn.open(path))
                read(cairn.open(path, limits=cairn.Limits(**{name: 100_000})))
                with self.assertRaises(cairn.ResourceExhausted):
                    read(cairn.open(path, limits=cairn.Limits(**{name: 5})))
                with self.assertRaises(cairn.ResourceExhausted):
                    read(cairn.open(frame.to_bytes(), limits=cairn.Limits(**{name: 5})))
        with self.assertRaises(cairn.ResourceExhausted):
            cairn.Log.open(path, limits=cairn.Limits(max_nchunks=5))[:]
        log = cairn.Log.open(path, limits=cairn.Limits(max_decode_memory=5))
        for again in (log, pickle.loads(pickle.dumps(log))):
            with self.assertRaises(cairn.ResourceExhausted):
                again[3:5]

    def test_wrong_limits_are_told(self):
        path = self.path()
        cairn.create(path)
        for call, words in (
            (lambda: cairn.open(path, limits=5), "limits: expected a cairn.Limits, got 5"),
            (lambda: cairn.open(path, limits=cairn.Limits(max_nchunks="x")), "max_nchunks: expected an int, got 'x'"),
            (lambda: cairn.open(path, limits=cairn.Limits(max_nchunks=-1)), "max_nchunks: expected 0 to"),
            (lambda: cairn.open(path, cache_memory=-1), "cache_memory: expected 0 to"),
            (lambda: cairn.open(path, cache_memory="x"), "cache_memory: expected an int, got 'x'"),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(cairn.InvalidArgument, words):
                call()


if __name__ == "__main__":
    unittest.main()
