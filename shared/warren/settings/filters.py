"""`[filters]`: which groups and topics are watched, on every cluster."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from warren.section import Pattern, Section


def _compilable(expressions: list[str]) -> list[str]:
    for expression in expressions:
        try:
            re.compile(expression)
        except re.error as error:
            raise ValueError(f"{expression!r} is not valid: {error}") from None
    return expressions


Expressions = Annotated[list[Pattern], AfterValidator(_compilable)]


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
