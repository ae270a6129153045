"""Settings: one `warren.toml`, overridden by `WARREN_…` environment variables.

`WARREN_API__PORT` is `[api] port`; `WARREN_HOME__KAFKA__SASL_PASSWORD` is
`[home.kafka] "sasl.password"`. A secret may also be named by a file: `…_FILE`.
"""

from __future__ import annotations

from collections import Counter

from pydantic import Field, field_validator

from warren.contracts import CLUSTER_NAME, TEST_CLUSTER
from warren.section import Section
from warren.settings.api import ApiSettings, ApiToken, OidcSettings, Role, SavedFilter
from warren.settings.clusters import (
    WARREN_GROUPS,
    ClusterSettings,
    FilterSettings,
    shares_offsets_topic,
)
from warren.settings.connection import HomeSettings, KafkaConnection, named_servers
from warren.settings.evaluation import EvaluationOverride, EvaluationSettings, PolicyName
from warren.settings.file_secret import FileSecret
from warren.settings.groups import GroupSettings
from warren.settings.notifier import NotifierSettings
from warren.settings.objectives import RETENTION, ObjectiveSettings
from warren.settings.secrets import secret_values
from warren.settings.services import (
    ArchiverSettings,
    CollectorSettings,
    EvaluatorSettings,
    FreshnessSettings,
    LocalSettings,
    LogSettings,
    ProbeSettings,
    RedisSettings,
    StandstillSettings,
)


class Settings(Section):
    """All of warren.toml."""

    home: HomeSettings = Field(default_factory=HomeSettings)
    clusters: dict[str, ClusterSettings] = Field(default_factory=dict)
    filters: FilterSettings = Field(default_factory=FilterSettings)
    redis: RedisSettings = Field(default_factory=RedisSettings)
    collector: CollectorSettings = Field(default_factory=CollectorSettings)
    evaluation: EvaluationSettings = Field(default_factory=EvaluationSettings)
    objectives: list[ObjectiveSettings] = Field(
        default_factory=list, description="What is asked of groups"
    )
    groups: list[GroupSettings] = Field(
        default_factory=list, description="Whose groups are, and what else is told of them"
    )
    evaluator: EvaluatorSettings = Field(default_factory=EvaluatorSettings)
    freshness: FreshnessSettings = Field(default_factory=FreshnessSettings)
    notifier: NotifierSettings = Field(default_factory=NotifierSettings)
    archiver: ArchiverSettings = Field(default_factory=ArchiverSettings)
    api: ApiSettings = Field(default_factory=ApiSettings)
    probe: ProbeSettings = Field(default_factory=ProbeSettings)
    local: LocalSettings = Field(default_factory=LocalSettings)
    log: LogSettings = Field(default_factory=LogSettings)
    standstill: StandstillSettings = Field(default_factory=StandstillSettings)

    def of_service(self, service: str, host: str) -> Settings:
        """The same with connections that brokers know by instance, service and host."""
        client = self.home.installation.client(service, host)
        clusters = {name: each.of_client(client) for name, each in self.clusters.items()}
        return self.model_copy(
            update={"home": self.home.of_client(client), "clusters": clusters},
        )

    @field_validator("objectives")
    @classmethod
    def _objective_names(cls, value: list[ObjectiveSettings]) -> list[ObjectiveSettings]:
        twice = [name for name, n in Counter(each.name for each in value).items() if n > 1]
        if twice:
            raise ValueError(f"two objectives are named {twice[0]!r}")
        return value

    @field_validator("clusters")
    @classmethod
    def _cluster_names(cls, value: dict[str, ClusterSettings]) -> dict[str, ClusterSettings]:
        for name in value:
            if not CLUSTER_NAME.fullmatch(name):
                raise ValueError(f"cluster name {name!r}: only letters, digits, . _ - are allowed")
            if name == TEST_CLUSTER:
                raise ValueError(f"cluster name {name!r} is that of `warren notify test`")
        return value


__all__ = [
    "RETENTION",
    "WARREN_GROUPS",
    "ApiSettings",
    "ApiToken",
    "ArchiverSettings",
    "ClusterSettings",
    "CollectorSettings",
    "EvaluationOverride",
    "EvaluationSettings",
    "EvaluatorSettings",
    "FileSecret",
    "FilterSettings",
    "FreshnessSettings",
    "GroupSettings",
    "HomeSettings",
    "KafkaConnection",
    "LocalSettings",
    "LogSettings",
    "NotifierSettings",
    "ObjectiveSettings",
    "OidcSettings",
    "PolicyName",
    "ProbeSettings",
    "RedisSettings",
    "Role",
    "SavedFilter",
    "Settings",
    "StandstillSettings",
    "named_servers",
    "secret_values",
    "shares_offsets_topic",
]
