"""Memory that is free, given back: a replay leaves holes that are larger than what was kept."""

from __future__ import annotations

import ctypes


def give_back() -> None:
    """To the operating system, where the C library can (glibc's malloc_trim); nothing elsewhere."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))
