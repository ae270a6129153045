"""How much /metrics serves: what the settings say, and less by default where there is very much."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

import structlog
from warren.metrics import api as metrics
from warren.metrics.family import ORIGINS, Detail, Family, Origin
from warren.settings import ApiSettings

log = structlog.get_logger(__name__)

_AGAIN_BELOW = 0.5  # of the limit: series do not come and go with a few partitions
_ALL = frozenset(ORIGINS)
_OURS: frozenset[Origin] = frozenset(("warren",))


class Extent(NamedTuple):
    """How fine series of groups are, and whose names they have."""

    detail: Detail
    origins: Set[Origin]

    def has(self, family: Family) -> bool:
        return family.origin in self.origins and family.is_within(self.detail)


class Extents:
    """The extent by what there is. Used by many threads: two that decide at once decide alike."""

    def __init__(self, api: ApiSettings, *, is_told: bool = True) -> None:
        """`is_told`: whether the log and a metric say when series are left out."""
        self._api = api
        self._is_reduced = False
        self._is_told = is_told
        if is_told:
            metrics.API_METRICS_REDUCED.set(0)

    def of(self, partitions: int) -> Extent:
        """`partitions`: of all groups together. Says so once when series are left out."""
        limit = self._api.metrics_partitions
        reduced = partitions > (limit * _AGAIN_BELOW if self._is_reduced else limit)
        if reduced != self._is_reduced:
            self._is_reduced = reduced
            if self._is_told:
                self._tell(partitions)
        chosen = self._api.metrics_origins
        return Extent(
            self._api.metrics_detail or ("topic" if reduced else "partition"),
            (_OURS if reduced else _ALL) if chosen is None else frozenset(chosen),
        )

    def _tell(self, partitions: int) -> None:
        if self._api.metrics_detail and self._api.metrics_origins is not None:
            return  # nothing is by default
        metrics.API_METRICS_REDUCED.set(int(self._is_reduced))
        log.warning(
            "/metrics leaves series out by default: they would be very many"
            if self._is_reduced
            else "/metrics has all series again",
            partitions=partitions,
            limit=self._api.metrics_partitions,
            settings="api.metrics_detail, api.metrics_origins, api.metrics_partitions",
        )
