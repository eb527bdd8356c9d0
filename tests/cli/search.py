"""How long random searches continue, as tests/support/search.h has it for C++."""

import os
import random


def runs(count):
    """The share of `count` that CAIRN_SEARCH_PERCENT says, at least one run."""
    return max(1, count * int(os.environ.get("CAIRN_SEARCH_PERCENT", "100")) // 100)


def dices(count):
    """A seed and its dice for each run; CAIRN_SEARCH_SEED names a single seed to run alone."""
    only = os.environ.get("CAIRN_SEARCH_SEED")
    for seed in range(runs(count)) if only is None else [int(only)]:
        yield seed, random.Random(seed)
