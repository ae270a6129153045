"""`[filters]`: which groups and topics are watched, on every cluster."""

from __future__ import annotations

from pydantic import Field

from warren.section import Section
from warren.settings.expressions import Expressions


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
