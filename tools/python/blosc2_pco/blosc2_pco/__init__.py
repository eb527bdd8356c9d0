"""Cairn's codec for numbers, pco, in python-blosc2: to import this module registers the codec.

    import blosc2, blosc2_pco
    a = blosc2.asarray(values, urlpath="a.b2nd", cparams=blosc2_pco.cparams(values.dtype))

Frames of Cairn with this codec are read, changed and appended to as all others are. The codec is
native, so any number of threads use it.
"""

import ctypes
import os

import blosc2
import numpy as np

CODEC = 227  # the id, one of those that Blosc2 leaves to programs
# What the items are, which the encoder learns by the parameter of the codec. 0 has it try.
_KINDS = {"b": 1, "u": 1, "i": 2, "m": 2, "M": 2, "f": 3}
_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libblosc2_pco.so")

# C-Blosc2 loads libblosc2_pco.so when it needs the codec, and finds the one that is loaded already.
_loaded = ctypes.CDLL(_LIBRARY)
blosc2.register_codec("pco", CODEC)


def print_libpath():
    """Prints the path of the library. C-Blosc2 asks for it in programs that cannot find the library."""
    print(_LIBRARY, end="")


def cparams(dtype, **others):
    """Returns the blosc2.CParams that code items of a dtype by pco, with any `others` of its fields."""
    dtype = np.dtype(dtype)
    if dtype.itemsize not in (1, 2, 4, 8):
        raise TypeError(f"pco: expected items of 1, 2, 4 or 8 bytes, got {dtype}")
    fields = {
        "codec": CODEC,
        "codec_meta": _KINDS.get(dtype.kind, 0) if dtype.isnative else 0,
        "typesize": dtype.itemsize,
        # Others would take the numbers apart.
        "filters": [blosc2.Filter.NOFILTER],
        "filters_meta": [0],
        "splitmode": blosc2.SplitMode.NEVER_SPLIT,
    }
    return blosc2.CParams(**{**fields, **others})
