"""Zarr in Blosc2: a store of zarr-python in a collection, and a codec of its chunks."""
