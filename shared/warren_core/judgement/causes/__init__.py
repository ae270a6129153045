"""Causes: why a group is not OK. Each module of this package registers its own."""

from warren_core.judgement.causes import members, offsets, pace

__all__ = ["members", "offsets", "pace"]
