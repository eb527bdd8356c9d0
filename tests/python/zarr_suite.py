"""zarr-python's own tests of stores, over a store in a collection; pytest runs it."""

import asyncio
import os

import pytest
from zarr.core.buffer import cpu, default_buffer_prototype
from zarr.testing.store import StoreTests

import cairn


def other(store):
    """Another store of the same path, so what a test does is not done by the store that it tests."""
    return cairn.ZarrStore(store._session.path)


class TestZarrStore(StoreTests):
    store_cls = cairn.ZarrStore
    buffer_cls = cpu.Buffer

    @pytest.fixture
    def store_kwargs(self, tmp_path):
        cairn.open_collection(tmp_path / "a.b2d", "a")  # also for stores that are read-only
        return {"path": str(tmp_path / "a.b2d")}

    async def set(self, store, key, value):
        await asyncio.to_thread(other(store).set_sync, key, value)

    async def get(self, store, key):
        return other(store).get_sync(key, prototype=default_buffer_prototype())

    def test_store_repr(self, store):
        assert repr(store) == f"ZarrStore({store._session.path!r})"
        assert str(store) == f"cairn://{store._session.path}"

    def test_store_supports_writes(self, store):
        assert store.supports_writes

    def test_store_supports_listing(self, store):
        assert store.supports_listing

    def test_store_keeps_few_files(self, store):
        for number in range(300):
            store.set_sync(f"x/c/{number}", self.buffer_cls.from_bytes(b"1"))
        assert sum(len(files) for _, _, files in os.walk(store._session.path)) == 2
