"""Cairn: a memory-mapped, crash-safe store of compressed arrays in Blosc2 frames.

    import cairn, numpy as np

    f = cairn.asarray(np.arange(1_000_000.0), "a.b2nd", codec="zstd")
    f[10:20], f[::7], f[-1], f[[5, 3]]        # reads what it needs, and no more
    f.append(np.ones(100))                    # one durable commit
    with f.writer() as w:                     # several edits, one commit
        w[5:9] = 0
        w.append(np.arange(3.0))
        w.vlmeta["unit"] = "kelvin"

Files are those of C-Blosc2 and python-blosc2, both ways: arrays are their NDArray, plain frames
(`shape=None`) their SChunk. Others see a commit after the next checkpoint, which `Writer.close`
writes unless it is dear; `Writer.checkpoint` always does.

open       opens a frame, or makes one
create     makes a frame: an array of zeros, or a plain frame
asarray    makes a frame of an array
Frame      reads like a NumPy array; append, writer, refresh, history, follow, verify
Writer     stages edits and commits them all at once
Snapshot   one state of a frame, which never changes
Log        records with times: append, query, aggregate, follow
Error      of all exceptions: DataLoss, Unavailable, NotFound, ... (see cairn.errors)

Calls that touch data let other threads run. A `Frame` and a `Writer` may be shared by threads.
"""

from ._engine import VERSION as __version__
from ._engine import CommitTimer
from .aggregates import Aggregates, FieldStatistics
from .errors import (
    AlreadyExists,
    Cancelled,
    DataLoss,
    Error,
    FailedPrecondition,
    InvalidArgument,
    InvalidType,
    NoSuchField,
    NoSuchLayer,
    NotFound,
    OutOfRange,
    PermissionDenied,
    ReadOnly,
    ResourceExhausted,
    TooLarge,
    Unavailable,
    Unimplemented,
)
from .follow import Follower, LogFollower
from .frame import Frame
from .info import Finding, Generation, Info, Report
from .log import Log
from .log_info import LogInfo, Retention, Rotation
from .log_readable import LogSnapshot
from .log_writer import LogWriter
from .opening import asarray, create, open
from .options import Limits
from .readable import Snapshot
from .records import Records
from .writer import Writer

__all__ = [
    "Aggregates",
    "AlreadyExists",
    "Cancelled",
    "CommitTimer",
    "DataLoss",
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
    "NoSuchField",
    "NoSuchLayer",
    "NotFound",
    "OutOfRange",
    "PermissionDenied",
    "ReadOnly",
    "Records",
    "Report",
    "ResourceExhausted",
    "Retention",
    "Rotation",
    "Snapshot",
    "TooLarge",
    "Unavailable",
    "Unimplemented",
    "Writer",
    "__version__",
    "asarray",
    "create",
    "open",
]
