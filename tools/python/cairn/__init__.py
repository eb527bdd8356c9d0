"""Cairn: a memory-mapped, crash-safe store of compressed arrays in Blosc2 frames.

    import cairn, numpy as np

    f = cairn.asarray(np.arange(1_000_000.0), "a.b2nd", codec="zstd")
    f[10:20], f[::7], f[-1], f[[5, 3]]        # decompresses only the blocks that hold them
    f.append(np.ones(100))                    # one durable commit
    with f.writer() as w:                     # several edits, one commit
        w[5:9] = 0
        w.append(np.arange(3.0))
        w.vlmeta["unit"] = "kelvin"

C-Blosc2 and python-blosc2 read these files, and the package reads theirs: arrays are their NDArray,
and plain frames (`shape=None`) their SChunk. These libraries see a commit after the next checkpoint.
`Writer.close` makes one if it is cheap, and `Writer.checkpoint` always does.

open       opens a frame, or makes one
create     makes a frame: an array of zeros, or a plain frame
asarray    makes a frame of an array
from_zarr  makes a frame of an array of another format; also from_hdf5 and from_npy
to_zarr    writes a frame in another format; also to_hdf5 and to_npy
Frame      reads like a NumPy array; append, writer, refresh, history, follow, verify
Writer     stages edits and commits them all at once
Snapshot   is one state of a frame, which never changes
open_collection  opens or makes a directory of frames that change together: Collection
recover_collection  makes the list of its members and their files agree again
ZarrStore  is a store of zarr-python in such a collection, with transactions
Blosc2Codec  is a codec of zarr-python, whose chunks are those of Blosc2
Limits     bounds what a file that nobody trusts may cost
Log        holds records with times: append, query, aggregate, follow
Error      is the class of all exceptions: DataLoss, Unavailable, NotFound, ... (see cairn.errors)

Calls that touch data let other threads run. Threads may share a `Frame` and a `Writer`.
"""

from typing import Any as _Any

from ._engine import VERSION as __version__
from ._engine import CommitTimer
from .collection import Collection, CollectionRecovery, CollectionSnapshot, open_collection, recover_collection
from .collection_writer import CollectionWriter, MemberWriter
from .errors import (
    Aborted,
    AlreadyExists,
    Cancelled,
    DataLoss,
    DeadlineExceeded,
    Error,
    FailedPrecondition,
    InvalidArgument,
    InvalidType,
    NoSuchField,
    NoSuchLayer,
    NoSuchMember,
    NotFound,
    OutOfRange,
    PermissionDenied,
    ReadOnly,
    ResourceExhausted,
    TooLarge,
    Unavailable,
    Unimplemented,
)
from .follow import Follower
from .frame import Frame
from .hdf5_files import from_hdf5, to_hdf5
from .info import CodedColumn, Commit, Finding, Generation, Info, Report
from .logs.aggregates import Aggregates, FieldStatistics
from .logs.follow import LogFollower
from .logs.info import LogInfo, Retention, Rotation, UpsertReport
from .logs.log import Log
from .logs.plot import Plot
from .logs.readable import LogSnapshot
from .logs.records import Records
from .logs.scan import Scan
from .logs.writer import LogWriter
from .npy_files import from_npy, to_npy
from .opening import asarray, create, open
from .options import Limits
from .readable import Snapshot
from .writer import Writer
from .zarr_files import from_zarr, to_zarr

__all__ = [
    "Aborted",
    "Aggregates",
    "AlreadyExists",
    "Cancelled",
    "CodedColumn",
    "Collection",
    "CollectionRecovery",
    "CollectionSnapshot",
    "CollectionWriter",
    "Commit",
    "CommitTimer",
    "DataLoss",
    "DeadlineExceeded",
    "Error",
    "FailedPrecondition",
    "FieldStatistics",
    "Finding",
    "Follower",
    "Frame",
    "Generation",
    "Info",
    "InvalidArgument",
    "InvalidType",
    "Limits",
    "Log",
    "LogFollower",
    "LogInfo",
    "LogSnapshot",
    "LogWriter",
    "MemberWriter",
    "NoSuchField",
    "NoSuchLayer",
    "NoSuchMember",
    "NotFound",
    "OutOfRange",
    "PermissionDenied",
    "Plot",
    "ReadOnly",
    "Records",
    "Report",
    "ResourceExhausted",
    "Retention",
    "Rotation",
    "Scan",
    "Snapshot",
    "TooLarge",
    "Unavailable",
    "Unimplemented",
    "UpsertReport",
    "Writer",
    "__version__",
    "asarray",
    "create",
    "from_hdf5",
    "from_npy",
    "from_zarr",
    "open",
    "open_collection",
    "recover_collection",
    "to_hdf5",
    "to_npy",
    "to_zarr",
]


def __getattr__(name: str) -> _Any:
    if name == "ZarrStore":  # not before it is wanted, for it needs the package zarr
        from .zarr.store import ZarrStore

        return ZarrStore
    if name == "Blosc2Codec":
        from .zarr.codec import Blosc2Codec

        return Blosc2Codec
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
