"""The process's memory: given back after a replay, and seldom searched for garbage."""

import ctypes
import gc

# Python's own 700 is reached by every few groups; what a batch makes is no cycle, and is freed
# without a search.
OBJECTS_BETWEEN_SEARCHES = 50_000


def give_back() -> None:
    """To the operating system what is free, since a replay leaves holes that are larger than what
    was kept: where the C library can (glibc's malloc_trim); nothing elsewhere.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))


def search_seldom() -> None:
    """For garbage, and not among what is there already: modules and classes, which stay."""
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES, *gc.get_threshold()[1:])
