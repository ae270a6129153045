"""Garbage collection: services hold millions of objects that stay, and reference counts free what
an event, a pass or a request makes. Looking for cycles among all of them finds next to nothing.

Left to its defaults it is a third to a half of a collector's, a pass's or a list's work, and stops
a notifier with 5,000 open incidents for a third of a second each half minute.
"""

import ctypes
import gc

OBJECTS = 50_000
"""That are made and not freed until the youngest are looked through, in some 10 ms."""
PASSES = 2  # and then those that outlived so many looks, in some 40 ms
ALL = 100_000_000
"""Until all are looked through, which takes seconds."""


def collect_seldom(objects: int = OBJECTS) -> None:
    """For the whole process, from now on. `objects`: fewer where much garbage is in cycles."""
    gc.set_threshold(objects, PASSES, ALL // (objects * PASSES))


def settle() -> None:
    """What is alive now is not looked at again until the next call; what is not, is freed.

    To be called when state is rebuilt, and when it is given up: it may be in cycles.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """To the operating system what is free, since a replay leaves holes that are larger than what
    was kept: where the C library can (glibc's malloc_trim); nothing elsewhere.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))
