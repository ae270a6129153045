"""`warren.notification-tests`: somebody wants to see that a route reaches its channels."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from warren.contracts.event import Event, Milliseconds
from warren.contracts.silence import Person

TEST_CLUSTER = "warren-notify-test"
"""The cluster that tests of notifications are about; no cluster that is watched is called so."""


class NotificationTest(Event):
    """A notifier tells the route's channels of an incident that there is not, and of its end."""

    topic_name: ClassVar[str] = "notification-tests"

    v: Literal[1] = 1
    id: str = Field(min_length=1, max_length=100, description="The record's key")
    route: str = Field(min_length=1, max_length=300)
    by: Person = Field(description="Who wants to know")
    at: Milliseconds

    @property
    def incident_id(self) -> str:
        """Of what is told, on `warren.notifications` too."""
        return f"test-{self.id}"
