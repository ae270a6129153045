"""What a notifier remembers, in memory: accounts by partition.

Everything here can be rebuilt from `warren.notifier-state`; nothing here writes to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import structlog
from warren.contracts import NotifierState
from warren.errors import ContractViolation

from warren_notifier.routing.change import Subject
from warren_notifier.state.subject_state import Account, Entry

log = structlog.get_logger(__name__)


class _Partition:
    def __init__(self, committed: int) -> None:
        self.committed = committed
        self.accounts: dict[Subject, Account] = {}


class Ledger:
    """Accounts of the partitions that this notifier serves."""

    def __init__(self) -> None:
        self._partitions: dict[int, _Partition] = {}

    @property
    def partitions(self) -> set[int]:
        return set(self._partitions)

    def take_up(
        self, partition: int, states: Iterable[NotifierState], end: int, committed: int
    ) -> list[Account]:
        """Begins to serve a partition, and gives its accounts.

        `end`: the log end of the events; an account that has seen more is of a topic that was
        deleted since, so that offsets have begun anew. `committed`: the group's position.
        """
        self._partitions[partition] = served = _Partition(committed)
        for state in states:
            try:
                account = Account.restored(partition, state)
            except ContractViolation as violation:  # of an incompatible version's making
                log.error("state refused", partition=partition, reason=violation.reason)
                continue
            if account.offset >= end:
                account.offset = -1
            served.accounts[account.subject] = account
        return list(served.accounts.values())

    def drop(self, partition: int) -> None:
        """Stops serving a partition."""
        self._partitions.pop(partition, None)

    def account(self, partition: int, subject: Subject) -> Account:
        """The subject's account, a new one if need be."""
        accounts = self._partitions[partition].accounts
        return accounts.setdefault(subject, Account(partition, subject))

    def holds(self, entry: Entry) -> bool:
        """Whether a delivery is still pending here: its partition may have been dropped since."""
        served = self._partitions.get(entry.partition)
        account = served.accounts.get(entry.subject) if served else None
        return account is not None and account.holds(entry)

    def accounts(self) -> Iterator[Account]:
        """All of them; changes during the iteration do no harm."""
        for served in list(self._partitions.values()):
            yield from list(served.accounts.values())

    def committed(self, partition: int, offset: int) -> None:
        """Notes the group's position: events below it will not be read again."""
        if partition in self._partitions:
            self._partitions[partition].committed = offset

    def forget_if_settled(self, account: Account) -> bool:
        """Whether nothing of an account is needed any more; it is then no longer in the ledger.

        An empty account is needed to recognise replays, as long as its event may be read again.
        """
        served = self._partitions.get(account.partition)
        if served is None or not account.empty or account.offset >= served.committed:
            return False
        served.accounts.pop(account.subject, None)
        return True
