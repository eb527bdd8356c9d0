"""xarray's datasets in frames.

    import xarray as xr
    import cairn.xarray                       # gives datasets and arrays the accessor `cairn`

    ds.cairn.save("weather.b2d")              # a collection with a member for each variable
    ds.cairn.save("weather")                  # a directory with a frame for each variable
    ds.cairn.save("s3://bucket/weather.b2d")  # a collection in an object store
    ds["temp"].cairn.save("temp.b2nd")        # one frame, with the coordinates in its metadata
    day.cairn.save("weather.b2d", append_dim="time")    # one commit

    xr.open_dataset("weather.b2d", engine="cairn", chunks="auto")

`xarray.open_dataset` finds the engine by itself where the package is installed; `import
cairn.xarray` registers it elsewhere. It opens every array that a Blosc2 library wrote, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union

import xarray
from xarray.backends import BackendArray, BackendEntrypoint, plugins
from xarray.backends.common import BACKEND_ENTRYPOINTS, AbstractDataStore
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing
from xarray.core.utils import Frozen, FrozenDict

from . import datasets
from .dataset_encoding import Storage
from .dataset_writer import append, create, save_in_store
from .errors import AlreadyExists, InvalidArgument
from .options import Limits
from .paths import Path, is_uri, name_of

__all__ = ["Backend", "Accessor"]


class _Lazy(BackendArray):
    """Reads what an index of xarray selects."""

    def __init__(self, part: datasets.Part):
        self._part = part
        self.shape = part.shape
        self.dtype = part.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER_1VECTOR, self._part.__getitem__
        )


class _Store(AbstractDataStore):
    """What a frame or a directory of frames holds, as xarray's decoders take it."""

    def __init__(self, stored: datasets.Stored):
        self._stored = stored

    def get_variables(self) -> Frozen[Any, xarray.Variable]:
        return FrozenDict((name, as_xarray(one)) for name, one in self._stored.variables.items())

    def get_attrs(self) -> Frozen[Any, Any]:
        return FrozenDict(self._stored.attrs)

    def get_dimensions(self) -> Frozen[Any, int]:
        return FrozenDict(self._stored.sizes)

    def get_encoding(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        self._stored.close()


def as_xarray(variable: datasets.Variable) -> xarray.Variable:
    """Returns a stored variable as xarray has it before it decodes times, masks and scales."""
    if not isinstance(variable.data, datasets.Part):
        return xarray.Variable(variable.dims, variable.data, variable.attrs)
    chunks = variable.data.frame.chunks
    encoding = {"chunks": chunks, "preferred_chunks": dict(zip(variable.dims, chunks))}
    lazy = indexing.LazilyIndexedArray(_Lazy(variable.data))
    return xarray.Variable(variable.dims, lazy, variable.attrs, encoding)


class Backend(BackendEntrypoint):
    """Opens frames and directories of frames for `xarray.open_dataset(path, engine="cairn")`."""

    description = "Open arrays and datasets in Blosc2 frames (.b2nd) with Cairn"
    url = "https://docs.xarray.dev/en/stable/internals/how-to-add-new-backend.html"

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: Union[str, Iterable[str], None] = None,
        mask_and_scale: bool = True,
        decode_times: Any = True,
        concat_characters: bool = True,
        decode_coords: Any = True,
        use_cftime: Optional[bool] = None,
        decode_timedelta: Any = None,
        generation: Optional[int] = None,
        durable_only: bool = False,
        threads: int = 1,
        verify: str = "first",
        limits: Limits = Limits(),
        group: str = "/",
    ) -> xarray.Dataset:
        """Opens a frame, a directory of frames, or a group of a collection.

        The five arguments before `group` are those of `cairn.open`.
        """
        opened_with = {
            "generation": generation,
            "durable_only": durable_only,
            "threads": threads,
            "verify": verify,
            "limits": limits,
        }
        dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
        store = _Store(datasets.read(name_of(filename_or_obj), opened_with, dropped, group))
        dataset = StoreBackendEntrypoint().open_dataset(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )
        dataset.set_close(store.close)
        return dataset

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Returns True for `.b2nd`, for directories of such frames, and for collections, also packed ones (`.b2z`)."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        name = os.fspath(filename_or_obj)
        return name.endswith((datasets.SUFFIX, datasets.PACKED)) or datasets.is_directory_of_frames(name) or datasets.is_collection(name)


@xarray.register_dataset_accessor("cairn")  # type: ignore[no-untyped-call, unused-ignore]
@xarray.register_dataarray_accessor("cairn")  # type: ignore[no-untyped-call, unused-ignore]
class Accessor:
    """What datasets and arrays of xarray can do with frames: `ds.cairn.save(path)`."""

    def __init__(self, saved: Union[xarray.Dataset, xarray.DataArray]):
        self._saved = saved

    def save(
        self,
        path: Path,
        *,
        append_dim: Optional[str] = None,
        overwrite: bool = False,
        encoding: Optional[Mapping[str, Mapping[str, Any]]] = None,
        wait: float = 0.0,
        threads: int = 1,
        **storage: Any,
    ) -> None:
        """Saves the dataset or the array. It appears when it is complete.

        path
            A directory, which gets a frame for each variable and coordinate. If the path ends with
            ".b2d", also in an object store, it becomes a collection, in which one commit changes all of them.
            If it ends with ".b2nd", or is any other URI of an object store, it becomes one frame: it holds
            one variable, and the coordinates are in its metadata, which each append writes again.
        append_dim
            The dimension along which the data are added to what is there. If there is nothing, it
            is made, with chunks, and units of times, for a dataset that grows. Readers see all
            variables of an append or none. Coordinates along the other dimensions have to be those
            that are there. A variable without the dimension replaces the one that is there, if it
            differs. Attributes of the dataset are updated, and those of variables stay.
        overwrite
            Replaces what is there. Otherwise it raises `AlreadyExists`.
        encoding
            For each variable how it is encoded, as `Dataset.to_netcdf` takes it (dtype, scale_factor,
            add_offset, _FillValue, units, calendar), and how it is stored: chunks, blocks, codec,
            clevel, codec_meta, filters, chunksize, blocksize and use_dict, as `cairn.create` takes
            them. An append keeps what is there.
        wait
            The number of seconds to wait for another process that appends. If it replaces a dataset
            it waits at least one second. In a collection in an object store nobody waits: what collides with
            the commit of another process is done again on top of it, for this long. After it, the call
            raises `Unavailable`.
        threads
            The number of threads that compress the blocks of a variable. Variables of up to 1 MiB are
            written by eight threads, since they wait for the disk.
        storage
            How variables are stored that `encoding` does not name. `chunks` and `blocks` may be dicts
            by dimension: {"time": 24}; a dimension that is not named is whole.
        """
        if isinstance(self._saved, xarray.DataArray):
            name = self._saved.name
            dataset = self._saved.to_dataset(name=_name_for(path) if name is None else name)
        else:
            dataset = self._saved
        if append_dim is not None and overwrite:
            raise InvalidArgument("save: append_dim adds to what is there, and overwrite=True replaces it: pass one of them")
        target = name_of(path)
        how = Storage(storage, dict(encoding or {}), wait, threads)
        if not is_uri(target):
            target = os.path.realpath(target)  # a link goes on to lead to it
        elif datasets.is_collection(target):
            return save_in_store(dataset, target.rstrip("/"), append_dim, overwrite, how, as_xarray)
        if append_dim is None or not _is_there(target):
            try:
                return create(dataset, target, append_dim, overwrite, how)
            except AlreadyExists:  # perhaps another process has just made it
                if append_dim is None:
                    raise
        append(dataset, target, append_dim, how, as_xarray)


def _name_for(path: Path) -> str:
    return os.path.basename(os.fsdecode(path)).removesuffix(datasets.SUFFIX)


def _is_there(path: str) -> bool:
    if not is_uri(path):
        return os.path.lexists(path)
    from .opening import _is_there as is_frame

    return is_frame(path)


def _register() -> None:
    """Registers the engine, also with xarray that has already listed its engines."""
    known: dict[str, Any] = BACKEND_ENTRYPOINTS
    # Until 2023.02 xarray has classes there, and later pairs of the name of a module and a class.
    has_pairs = any(isinstance(one, tuple) for one in known.values())
    known.setdefault("cairn", ("cairn.xarray", Backend) if has_pairs else Backend)
    plugins.list_engines.cache_clear()


_register()
