"""The keys of Zarr: where a collection has their values. No test needs zarr-python."""

import itertools
import unittest
from unittest import mock

from support import PackageTest, cairn, np

if np is not None:
    from cairn.zarr.keys import Place, place_of
    from cairn.zarr.tables import PAGE, StagedTable, Table


class PlaceTest(PackageTest):
    def test_chunks_of_an_array_are_in_one_member(self):
        for key, node, rest in (
            ("c/0/1", "", "c/0/1"),
            ("c", "", "c"),
            ("day/temp/c/0/12", "day/temp", "c/0/12"),
            ("day/temp/c", "day/temp", "c"),
            ("day/temp/0.12", "day/temp", "0.12"),
            ("day/temp/c.0.12", "day/temp", "c.0.12"),
            ("day/temp/0/12", "day/temp", "0/12"),
            ("pyramid/0/c/3/4", "pyramid/0", "c/3/4"),
            ("pyramid/0/3.4", "pyramid/0", "3.4"),
            ("day/notes.txt", "day", "notes.txt"),
            ("notes.txt", "", "notes.txt"),
            ("x/cc/0", "x/cc", "0"),
        ):
            self.assertEqual(place_of(key), Place(node, rest), key)
            self.assertFalse(place_of(key).is_document)

    def test_documents_are_those_of_their_node(self):
        for name in ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"):
            self.assertEqual(place_of(name), Place("", name))
            self.assertEqual(place_of("c/0/" + name), Place("c/0", name))
            self.assertTrue(place_of("c/0/" + name).is_document)

    def test_node_that_no_member_can_be_named_after_is_in_the_one_above(self):
        for bad in (".hidden", "..", "a.b2nd", "a.b2f", "a.b2e", "__vlmeta__", "a\\b", "a\nb", "", "x" * 250):
            self.assertEqual(place_of(f"day/{bad}/zarr.json"), Place("day", f"{bad}/zarr.json"), bad)
            self.assertEqual(place_of(f"{bad}/c/0/0"), Place("", f"{bad}/c/0/0"), bad)
        deep = "/".join(["x" * 99] * 12)
        self.assertEqual(place_of(deep + "/zarr.json").node, "/".join(["x" * 99] * 10))

    def test_no_two_keys_have_the_same_place(self):
        parts = ("c", "0", "1", "zarr.json", ".x", "a", "0.1")
        keys = ["/".join(one) for count in range(1, 5) for one in itertools.product(parts, repeat=count)]
        self.assertEqual(len({place_of(key) for key in keys}), len(keys))
        for key in keys:
            place = place_of(key)
            self.assertEqual(f"{place.node}/{place.rest}" if place.node else place.rest, key)

    def test_key_that_is_no_text_is_refused(self):
        with self.assertRaisesRegex(cairn.InvalidType, "key: expected a str, got 5"):
            place_of(5)
        with self.assertRaisesRegex(cairn.InvalidArgument, "key: .* has a character that no name can have"):
            place_of("a\udc80")


class Member:
    """Stands for a member in memory: a list of chunks, which is read and written."""

    def __init__(self):
        self.chunks = []
        self.writes = 0

    def append(self, content):
        self.chunks.append(bytes(content))
        self.writes += 1

    def update_chunk(self, nchunk, content):
        self.chunks[nchunk] = bytes(content)
        self.writes += 1

    def info(self):
        return {"nchunks": len(self.chunks)}

    def read_chunk(self, nchunk):
        return self.chunks[nchunk]


def commit(staged):
    staged.write_pages()
    staged.merge()


class TableTest(PackageTest):
    def values(self, table, member):
        return {key: member.chunks[slot] if slot > 0 else b"" for key, slot in table.slots.items()}

    def test_new_key_writes_its_chunk_and_one_page(self):
        member, table = Member(), Table("x")
        for number in range(5 * PAGE):
            staged = StagedTable(table, member)
            member.writes = 0
            staged.set(f"c/{number}", np.frombuffer(b"value", np.uint8))
            commit(staged)
            # A new page is appended and then set, and the one before is set as well.
            self.assertLessEqual(member.writes, 4 if number % (PAGE - 1) == 0 else 2)
        staged = StagedTable(table, member)
        member.writes = 0
        staged.set("c/700", np.frombuffer(b"other", np.uint8))
        commit(staged)
        self.assertEqual(member.writes, 1)

    def test_random_changes_read_back_through_two_tables_that_take_turns(self):
        random = np.random.default_rng(44)
        member, tables, known = Member(), (Table("x"), Table("x")), {}
        most = 0
        for turn in range(300):
            table = tables[int(random.integers(2))]
            table.update(member)
            staged = StagedTable(table, member)
            for _ in range(int(random.integers(1, 20))):
                key = f"c/{random.integers(700)}"
                if random.integers(3):
                    value = random.bytes(int(random.integers(0, 4)))
                    staged.set(key, np.frombuffer(value, np.uint8))
                    known[key] = value
                else:
                    staged.delete(key)
                    known.pop(key, None)
                self.assertEqual(staged.find(key) is not None, key in known)
            self.assertEqual(sorted(staged.keys()), sorted(known))
            self.assertEqual(staged.has_keys(), bool(known))
            commit(staged)
            most = max(most, len(known))
            self.assertEqual(self.values(table, member), known, turn)
        self.assertLess(len(member.chunks), most + 20 + len(table.pages), "chunks of deleted keys are used again")

    def test_chunk_of_a_deleted_key_is_used_in_the_same_commit(self):
        member, table = Member(), Table("x")
        staged = StagedTable(table, member)
        for number in range(PAGE - 1):  # fills the page
            staged.set(f"c/{number}", np.frombuffer(b"value", np.uint8))
        commit(staged)
        staged = StagedTable(table, member)
        staged.delete("c/7")
        staged.set("new", np.frombuffer(b"other", np.uint8))
        commit(staged)
        self.assertEqual((table.slots["new"], len(member.chunks)), (8, PAGE))

    def test_chunks_are_appended_with_a_change_of_the_last_page(self):
        for count in (1, PAGE - 2, PAGE - 1, PAGE, 2 * (PAGE - 1), 600):
            member, table = Member(), Table("x")
            staged = StagedTable(table, member)
            for number in range(count):
                staged.set(f"c/{number}", np.frombuffer(b"value", np.uint8))
            commit(staged)
            last, updated = (len(member.chunks) - 1) // PAGE * PAGE, []
            staged = StagedTable(table, mock.Mock(wraps=member, update_chunk=lambda number, content: updated.append(number)))
            staged.set("c/7000", np.frombuffer(b"value", np.uint8))
            staged.write_pages()
            self.assertIn(last, updated, count)

    def test_damaged_page_is_told_with_its_place(self):
        for page in (b"{}", b"[1]", b'["a","b"]', b'[["a","b"]]', b"\xff", b"[" * 100_000):
            member = Member()
            member.chunks = [page, b"value"]
            with self.assertRaisesRegex(cairn.DataLoss, "^a.b2d/x/c: chunk 0: is no page of"):
                Table("a.b2d/x/c").update(member)


if __name__ == "__main__":
    unittest.main()
