"""Cairn's codecs for numbers in python-blosc2: to import this module registers pco, bitpack and auto.

    import blosc2, blosc2_pco
    a = blosc2.asarray(values, urlpath="a.b2nd", cparams=blosc2_pco.cparams(values.dtype))

Frames of Cairn with these codecs are read, changed and appended to as all others are. The codecs are
native, so any number of threads use them.
"""

import ctypes
import os

import blosc2
import numpy as np

# The ids, of those that Blosc2 leaves to programs.
CODEC = 227  # pco
BITPACK = 228
AUTO = 229
# What the items are, which the encoder learns by the parameter of the codec. 0 has it try.
_KINDS = {"b": 1, "u": 1, "i": 2, "m": 2, "M": 2, "f": 3}
_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libblosc2_pco.so")

# C-Blosc2 loads libblosc2_pco.so when it needs a codec, and finds the one that is loaded already. By
# the name it finds the library, and by the id this finds the codec.
_loaded = ctypes.CDLL(_LIBRARY)
for _id in (CODEC, BITPACK, AUTO):
    blosc2.register_codec("pco", _id)


def print_libpath():
    """Prints the path of the library. C-Blosc2 asks for it in programs that cannot find the library."""
    print(_LIBRARY, end="")


def cparams(dtype, **others):
    """Returns the blosc2.CParams that code items of a dtype by pco, with any `others` of its fields.

    `codec=blosc2_pco.BITPACK` or `AUTO` codes them by that codec. `AUTO` takes items of any size.
    """
    dtype = np.dtype(dtype)
    if dtype.itemsize not in (1, 2, 4, 8) and others.get("codec") != AUTO:
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
