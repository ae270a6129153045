"""`[clusters.<name>]`: a monitored cluster; `[filters]`: what is watched on all of them."""

from collections.abc import Mapping
from typing import Self, get_args

from pydantic import Field, field_validator, model_validator

from warren.contracts.offset_event import SourceName
from warren.installation import COLLECTORS_ANYWHERE
from warren.section import Section
from warren.settings.connection import KafkaConnection
from warren.settings.expressions import Expressions

WARREN_GROUPS = "^warren-"
"""In groups_deny it also stands for this Warren's own groups, whatever their names."""


class FilterSettings(Section):
    """Which groups and topics are watched on every cluster; a cluster's own lists narrow it.

    Regular expressions, searched for anywhere in the name. Changes of these lists are taken up by
    running collectors.
    """

    groups_allow: Expressions = Field(
        default_factory=list, description="Only groups that match one (regular expressions)"
    )
    groups_deny: Expressions = Field(
        default_factory=list, description="Never groups that match one (regular expressions)"
    )
    topics_allow: Expressions = Field(
        default_factory=list, description="Only topics that match one (regular expressions)"
    )
    topics_deny: Expressions = Field(
        default_factory=list, description="Never topics that match one (regular expressions)"
    )


class ClusterSettings(FilterSettings, KafkaConnection):
    """A monitored cluster; its table's name, `[clusters.<name>]`, is the cluster's name."""

    source: SourceName | list[SourceName] = Field(
        default="offsets_topic",
        description="Where committed offsets are read from, or a list of several: offsets_topic, "
        "admin_api, zookeeper",
    )
    zookeeper: str = Field(
        default="",
        description="ZooKeeper for the source of that name, host:port[,host:port][/chroot]",
    )
    offsets_topic: str = Field(
        default="__consumer_offsets", description="Topic that holds the committed offsets"
    )
    groups_deny: Expressions = Field(
        default=[WARREN_GROUPS, COLLECTORS_ANYWHERE],
        description="Never groups that match one (regular expressions). `^warren-` "
        "also stands for the groups of this Warren, whatever its name",
    )

    @property
    def sources(self) -> list[SourceName]:
        """All of them, each once."""
        return [self.source] if isinstance(self.source, str) else self.source

    @field_validator("source", mode="before")
    @classmethod
    def _known_sources(cls, value: object) -> object:
        names = value if isinstance(value, list) else [value]
        known = get_args(SourceName)
        for name in names:
            if name not in known:
                raise ValueError(f"no source is called {name!r}; there are {', '.join(known)}")
        if not names or len(set(names)) != len(names):
            raise ValueError("name each source once")
        return value

    @model_validator(mode="after")
    def _zookeeper_is_named(self) -> Self:
        if "zookeeper" in self.sources and not self.zookeeper:
            raise ValueError("source zookeeper needs the setting zookeeper, host:port")
        return self


def shares_offsets_topic(name: str, clusters: Mapping[str, ClusterSettings]) -> bool:
    """Whether another cluster of the settings reads the same offsets topic of the same brokers."""

    def read(each: ClusterSettings) -> set[tuple[str, str]]:
        brokers = each.bootstrap.split(",") if "offsets_topic" in each.sources else []
        return {(server.strip(), each.offsets_topic) for server in brokers}

    own = read(clusters[name])
    return any(own & read(each) for other, each in clusters.items() if other != name)
