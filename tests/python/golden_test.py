"""The golden files read through the Python package as through the C++ API."""

import json
import os
import unittest

from support import PackageTest, cairn

try:
    import xxhash
except ImportError:
    xxhash = None

FOLDER = os.environ.get("CAIRN_VECTORS") or os.path.join(os.path.dirname(__file__), os.pardir, "vectors")


def frames(*expected):
    with open(os.path.join(FOLDER, "manifest.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            # The package opens frames, from their first byte on.
            if entry["kind"] != "chunk" and not entry.get("offset") and entry.get("expect", "ok") in expected:
                yield entry, os.path.join(FOLDER, entry["path"])


def read(path):
    """The hash of all that it holds."""
    hasher = xxhash.xxh3_128()
    with cairn.open(path) as f:
        for content in (*f.meta.raw.values(), *f.vlmeta.raw.values()):
            bytes(content)
        for n in range(f.info.nchunks):
            hasher.update(f.read_chunk(n))
    return hasher.hexdigest()


@unittest.skipIf(xxhash is None, "no xxhash")
class GoldenTest(PackageTest):
    def test_frames_read_as_they_were_written(self):
        count = 0
        for entry, path in frames("ok"):
            with self.subTest(path=entry["path"]):
                try:
                    got = read(path)
                except cairn.Unimplemented:
                    self.assertTrue((entry.get("codec") or "").startswith("zfp"), "of a codec that every build has")
                    continue
                content = entry.get("content_xxh128") or entry.get("content_xxh128_uninit_as_zero")
                if content and not entry.get("ambiguous_bitshuffle"):
                    self.assertEqual(got, content)
                    count += 1
        self.assertGreater(count, 150)

    def test_what_is_not_supported_says_so(self):
        for entry, path in frames("unsupported"):
            with self.subTest(path=entry["path"]), self.assertRaises(cairn.Unimplemented):
                read(path)

    def test_damage_is_an_error_or_changes_nothing(self):
        for entry, path in frames("error"):
            with self.subTest(path=entry["path"]):
                content = entry.get("content_xxh128")
                if entry.get("tolerable") == "same-content":
                    content = entry["base_content_xxh128"]
                try:
                    got = read(path)
                except cairn.Error:
                    continue
                self.assertEqual(got, content)


if __name__ == "__main__":
    unittest.main()
