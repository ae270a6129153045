"""Who has which mail already: a server may take it for some recipients and put off others."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

MAILS = 1_000  # remembered at most; whoever is forgotten may get a mail twice


class MailRecipients:
    """Recipients by `Message-ID`, of mails that have not reached all of theirs."""

    def __init__(self, mails: int = MAILS) -> None:
        self._mails = mails
        self._reached: OrderedDict[str, frozenset[str]] = OrderedDict()

    def of(self, message_id: str) -> frozenset[str]:
        return self._reached.get(message_id, frozenset())

    def left(self, message_id: str, recipients: Sequence[str]) -> list[str]:
        """Those who do not have it, in their order."""
        reached = self.of(message_id)
        return [recipient for recipient in recipients if recipient not in reached]

    def add(self, message_id: str, recipients: Iterable[str]) -> None:
        """These have it, others are still waiting for it."""
        self._reached[message_id] = self.of(message_id).union(recipients)
        self._reached.move_to_end(message_id)
        while len(self._reached) > self._mails:
            self._reached.popitem(last=False)

    def forget(self, message_id: str) -> None:
        self._reached.pop(message_id, None)
