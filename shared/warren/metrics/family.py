"""What a family of series is: name, labels, whose names they are, how fine it is."""

from dataclasses import dataclass
from typing import Literal, get_args

#: Bucket bounds that several histograms share, seconds.
DURATIONS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
#: Whose names and labels a family has: ours, or those of a tool whose dashboards keep working.
Origin = Literal["warren", "burrow", "kafka_lag_exporter", "tesla"]
ORIGINS: tuple[Origin, ...] = get_args(Origin)
#: How fine series are: one per group, one per topic of a group, one per partition.
Detail = Literal["group", "topic", "partition"]
#: Coarsest first.
DETAILS: tuple[Detail, ...] = ("group", "topic", "partition")


@dataclass(frozen=True, slots=True)
class Family:
    """A gauge whose samples are made at scrape time from state that is there anyway.

    `type` is untyped where the name that others chose contradicts the type by Prometheus' rules.
    """

    name: str
    documentation: str
    labels: tuple[str, ...]
    origin: Origin = "warren"
    type: Literal["gauge", "untyped"] = "gauge"

    @property
    def detail(self) -> Detail:
        """The finest thing that a series of the family is about."""
        if "partition" in self.labels:
            return "partition"
        return "topic" if "topic" in self.labels else "group"

    def is_within(self, detail: Detail) -> bool:
        """Whether it is served where series may be as fine as `detail`."""
        return DETAILS.index(self.detail) <= DETAILS.index(detail)
