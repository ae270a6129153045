"""What people ask the notifiers for, on the topics that they follow."""

from __future__ import annotations

from warren.contracts import Acknowledgement, NotificationTest, Silence
from warren.contracts.topics import ACKNOWLEDGEMENTS, NOTIFICATION_TESTS, SILENCES
from warren.settings import HomeSettings

from warren_api.home.writer import HomeWriter


class AskedOnTopics:
    """Each call returns when the broker has it. All raise PublishFailed."""

    def __init__(self, home: HomeSettings) -> None:
        self._writer = HomeWriter(home)

    def silence(self, silence: Silence) -> None:
        self._writer.write(SILENCES, silence.id.encode(), silence.to_bytes())

    def acknowledge(self, acknowledgement: Acknowledgement) -> None:
        key = acknowledgement.incident_id.encode()
        self._writer.write(ACKNOWLEDGEMENTS, key, acknowledgement.to_bytes())

    def test(self, test: NotificationTest) -> None:
        self._writer.write(NOTIFICATION_TESTS, test.id.encode(), test.to_bytes())

    def withdraw(self, incident_id: str) -> None:
        self._writer.write(ACKNOWLEDGEMENTS, incident_id.encode(), None)
