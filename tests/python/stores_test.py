"""Stores of python-blosc2, which are read as collections, and collections that are packed like them."""

import dataclasses
import os
import struct
import unittest
import warnings
import zipfile

from support import PackageTest, blosc2, cairn, needs_blosc2, np


class StoresTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.values = {
            "/day/temp": np.arange(60_000, dtype="f4").reshape(300, 200),
            "/day/small": np.arange(10, dtype="i8"),
            "/top": np.linspace(0, 1, 5_000),
        }

    def collection(self):
        """A collection with these values."""
        made = cairn.open_collection(self.path("ours.b2d"), "a")
        with made.writer() as writer:
            for name, value in self.values.items():
                writer.add(name, value)
            writer.attributes("/day")["hours"] = 24
        return made

    def check(self, found):
        self.assertEqual(found.members(), sorted(self.values))
        for name, value in self.values.items():
            self.assert_same(found[name][...], value)
        self.assertEqual(found.attributes("/day")["hours"], 24)
        self.assertTrue(found.verify().ok)


class PackedTest(StoresTest):
    def packed(self):
        path = self.path("packed.b2z")
        self.collection().backup(path)
        return path

    def test_collection_is_packed_and_unpacked(self):
        found = cairn.open_collection(self.packed())
        self.check(found)
        self.assertFalse(found.has_ledger)
        self.assertFalse(found.refresh())
        found.backup(self.path("again.b2d"))
        again = cairn.open_collection(self.path("again.b2d"), "r+")
        self.check(again)
        with again.writer() as writer:
            writer["/top"].append(np.ones(3))
        self.assertEqual(again["/top"].shape, (5_003,))

    def test_what_other_programs_unpack_is_a_collection(self):
        with zipfile.ZipFile(self.packed()) as archive:
            self.assertIsNone(archive.testzip())
            archive.extractall(self.path("unpacked"))
        unpacked = cairn.open_collection(self.path("unpacked"), "r+")
        self.check(unpacked)
        self.assertTrue(unpacked.has_ledger)

    def test_copies_are_open_to_nobody_else(self):
        made = self.collection()
        mode_of = lambda name: os.stat(self.path(name)).st_mode & 0o777
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        made.backup(self.path("open.b2z"))
        self.assertEqual(mode_of("open.b2z"), 0o644)
        os.chmod(self.path("ours.b2d/top.b2nd"), 0o600)
        made.backup(self.path("member.b2z"))
        made.backup(self.path("member.b2d"))
        os.chmod(self.path("ours.b2d/top.b2nd"), 0o644)
        os.chmod(self.path("ours.b2d"), 0o700)
        made.backup(self.path("folder.b2z"))
        made.backup(self.path("folder.b2d"))
        for name in ("member.b2z", "member.b2d/top.b2nd", "folder.b2z", "folder.b2d/top.b2nd"):
            self.assertEqual(mode_of(name) & 0o077, 0, name)
        os.chmod(self.path("open.b2z"), 0o600)
        cairn.open_collection(self.path("open.b2z")).backup(self.path("again.b2d"))
        for name in ("again.b2d", "again.b2d/embed.b2e", "again.b2d/top.b2nd"):
            self.assertEqual(mode_of(name) & 0o077, 0, name)
        for lost in (True, False):
            os.chmod(self.path("again.b2d/embed.b2e"), 0o600)
            if lost:
                os.remove(self.path("again.b2d/embed.b2e"))
            else:
                os.truncate(self.path("again.b2d/embed.b2e"), 50)
            self.assertTrue(cairn.recover_collection(self.path("again.b2d")).ledger_lost)
            self.assertEqual(mode_of("again.b2d/embed.b2e") & 0o077, 0)

    def test_existing_file_stays(self):
        path = self.packed()
        with self.assertRaises(cairn.AlreadyExists):
            self.collection().backup(path)
        self.check(cairn.open_collection(path))
        self.assertEqual(sorted(os.listdir(os.path.dirname(path))), ["ours.b2d", "packed.b2z"])

    def test_pickles_and_cannot_be_changed(self):
        path = self.packed()
        for mode in ("r+", "a", "w"):
            with self.assertRaisesRegex(cairn.FailedPrecondition, "only read"):
                cairn.open_collection(path, mode)
        with self.assertRaises(cairn.NotFound):
            cairn.open_collection(path)["/day/wind"]

    def test_damage_is_found(self):
        path = self.packed()
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo("top.b2nd")
        with open(path, "r+b") as file:
            file.seek(entry.header_offset + 30 + len(entry.filename) + 20 + entry.file_size // 2)
            file.write(b"damage")
        report = cairn.open_collection(path).verify()
        self.assertFalse(report.ok)
        self.assertTrue(all(found.section.startswith("/top") for found in report.findings), report.findings)
        self.assertIn("checksum of the zip file", " ".join(found.reason for found in report.findings))

    def test_damage_of_what_is_no_member_is_found(self):
        path = self.packed()
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo("embed.b2e")
        with open(path, "r+b") as file:
            file.seek(entry.header_offset + 30 + len(entry.filename) + 20 + entry.file_size - 3)
            file.write(b"x")
        self.assertEqual([one.section for one in cairn.open_collection(path).verify().findings], ["embed.b2e: zip entry"])

    def test_compressed_entries_are_told(self):
        path = self.path("small.b2z")
        with zipfile.ZipFile(self.packed()) as archive, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as smaller:
            for name in archive.namelist():
                plain = name != "top.b2nd"
                smaller.writestr(name, archive.read(name), zipfile.ZIP_STORED if plain else zipfile.ZIP_DEFLATED)
        found = cairn.open_collection(path)
        self.assert_same(found["/day/temp"][...], self.values["/day/temp"])
        with self.assertRaisesRegex(cairn.Unimplemented, "compressed or encrypted"):
            found["/top"]
        with self.assertRaises(cairn.Unimplemented):
            found.backup(self.path("half.b2d"))
        report = found.verify()
        self.assertEqual([one.section for one in report.findings], ["/top"], "all others are checked")
        self.assertFalse(os.path.exists(self.path("half.b2d")))

    def test_last_of_two_entries_of_a_name_counts(self):
        path = self.packed()
        with zipfile.ZipFile(path) as archive:
            other = archive.read("day/small.b2nd")
        with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            archive.writestr("top.b2nd", other)
        self.assert_same(cairn.open_collection(path)["/top"][...], self.values["/day/small"])

    def test_damaged_name_hides_no_member(self):
        path = self.packed()
        with open(path, "rb") as file:
            data = bytearray(file.read())
        data[data.rindex(b"top.b2nd") + 5] ^= 1
        with open(path, "wb") as file:
            file.write(data)
        with self.assertRaisesRegex(cairn.DataLoss, "not that of the directory"):
            cairn.open_collection(path)

    def test_names_that_lead_elsewhere_lead_nowhere(self):
        path = self.path("hostile.b2z")
        with zipfile.ZipFile(self.packed()) as archive, zipfile.ZipFile(path, "w") as hostile:
            for name in ("../outside.b2nd", "/root.b2nd", "a/../../b.b2nd"):
                hostile.writestr(name, archive.read("top.b2nd"))
        for target in ("copy.b2d", "copy.b2z"):
            with self.assertRaises(cairn.InvalidArgument):
                cairn.open_collection(path).backup(self.path(target))
        self.assertEqual(sorted(os.listdir(self.path("."))), ["hostile.b2z", "ours.b2d", "packed.b2z"])

    def test_entries_that_share_bytes_are_refused(self):
        path = self.packed()
        with open(path, "rb") as file:
            data = bytearray(file.read())
        with zipfile.ZipFile(path) as archive:
            first, second = archive.infolist()[:2]
        at = data.rindex(b"PK\x01\x02", 0, data.rindex(second.filename.encode()))
        data[at + 42 : at + 46] = struct.pack("<I", first.header_offset)
        with open(path, "wb") as file:
            file.write(data)
        with self.assertRaisesRegex(cairn.DataLoss, "reach into"):
            cairn.open_collection(path)


@needs_blosc2
class TheirsTest(StoresTest):
    def written(self, path, threshold):
        with blosc2.TreeStore(path, mode="w", threshold=threshold) as store:
            for name, value in self.values.items():
                store[name] = value
            store["/day"].vlmeta["hours"] = 24
        return path

    def test_directories_and_packed_stores_are_read(self):
        for name in ("theirs.b2d", "theirs.b2z"):
            for threshold in (0, 1_000, None):  # in files, small ones in the store of values, all there
                with self.subTest(name, threshold=threshold):
                    path = self.written(self.path(f"{threshold}-{name}"), threshold)
                    found = cairn.open_collection(path)
                    self.check(found)
                    found.backup(path + ".copy.b2d")
                    copy = cairn.open_collection(path + ".copy.b2d", "r+")
                    self.check(copy)
                    with copy.writer() as writer:
                        writer["/day/small"].append(np.arange(2))
                    self.assertEqual(copy["/day/small"].shape, (12,))

    def test_packed_collections_are_read_by_them(self):
        self.collection().backup(self.path("ours.b2z"))
        with blosc2.TreeStore(self.path("ours.b2z"), mode="r") as store:
            self.assertEqual(sorted(store.keys()), ["/day", "/day/small", "/day/temp", "/top"])
            for name, value in self.values.items():
                self.assert_same(store[name][:], value)
            self.assertEqual(store["/day"].vlmeta["hours"], 24)

    def test_embed_store_is_read(self):
        path = self.path("values.b2e")
        noise = np.random.default_rng(1).normal(size=200_000)
        with blosc2.EmbedStore(path, mode="w") as store:
            store["/x/y"] = noise
            store["/bytes"] = blosc2.SChunk(data=b"some bytes" * 100, cparams={"typesize": 1})
        found = cairn.open_collection(path)
        self.assertEqual(found.members(), ["/bytes", "/x/y"])
        self.assert_same(found["/x/y"][...], noise)
        self.assert_same(found["/x/y"][70_000:70_003], noise[70_000:70_003])
        self.assertEqual(bytes(found["/bytes"][...]), b"some bytes" * 100)
        found.backup(self.path("values.b2d"))
        self.assertEqual(cairn.open_collection(self.path("values.b2d"))["/x/y"].shape, (200_000,))

    def test_store_that_changes_is_seen_after_a_refresh(self):
        path = self.written(self.path("theirs.b2z"), 0)
        found = cairn.open_collection(path)
        self.assertFalse(found.refresh())
        with blosc2.TreeStore(path, mode="a") as store:
            store["/new"] = np.arange(7)
        with self.assertRaisesRegex(cairn.FailedPrecondition, "another file has taken the place"):
            found["/top"]
        self.assertTrue(found.refresh())
        self.assert_same(found["/new"][...], np.arange(7))

    @unittest.skipUnless(hasattr(blosc2, "CTable"), "python-blosc2 has no CTable")
    def test_columns_of_a_table_are_members(self):
        row = dataclasses.make_dataclass("Row", [
            ("n", int, blosc2.field(blosc2.int64())),
            ("x", float, blosc2.field(blosc2.float64())),
        ])  # fmt: skip
        for name in ("table.b2d", "table.b2z"):
            with blosc2.CTable(row, new_data=[(i, i / 2) for i in range(1_000)], urlpath=self.path(name), mode="w"):
                pass
            found = cairn.open_collection(self.path(name))
            self.assertEqual(found.members("/_cols/"), ["/_cols/n", "/_cols/x"])
            self.assert_same(found["/_cols/n"][...], np.arange(1_000))
            self.assert_same(found["/_cols/x"][...], np.arange(1_000) / 2)

    def test_batches_keep_their_names(self):
        path = self.path("theirs.b2d")
        with blosc2.TreeStore(path, mode="w") as store:
            batches = blosc2.BatchArray()
            batches.append([1, 2, 3])
            store["/b"] = batches
            self.assertTrue(os.path.exists(os.path.join(path, "b.b2b")))
        for name in ("copy.b2d", "copy.b2z"):
            cairn.open_collection(path).backup(self.path(name))
            with blosc2.TreeStore(self.path(name), mode="r") as store:
                self.assertEqual(list(store["/b"][0]), [1, 2, 3])
        self.assertTrue(os.path.exists(self.path("copy.b2d/b.b2b")))
        os.remove(self.path("copy.b2d/embed.b2e"))
        self.assertEqual(cairn.recover_collection(self.path("copy.b2d")).adopted, ["/b"])


if __name__ == "__main__":
    unittest.main()
