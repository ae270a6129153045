"""`[evaluator]`: the Faust worker."""

from __future__ import annotations

from pydantic import Field

from warren.section import Section


class EvaluatorSettings(Section):
    """The Faust worker."""

    app_id: str = Field(
        default="",
        description="Faust application and consumer group, with which the changelog's name begins; "
        "empty: `<instance>-evaluator`",
    )
    data_dir: str = Field(default=".warren/evaluator", description="Faust's working directory")
    metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of /metrics and /ready; 0 for none"
    )
