"""What to do first about a group: about the root, as its owner says, about what is lost, or where
to look. Pure.
"""

from collections.abc import Iterable

from warren.contracts import StatusChange
from warren.loss_words import loss_step
from warren.words import shell_word, visible

from warren_notifier.channels.links import is_web_link


def first_step(changes: Iterable[StatusChange]) -> str:
    """`changes`: of the group's open conditions, the root first; at least one."""
    changes = list(changes)
    causes = [change.cause for change in changes if change.cause is not None]
    found = [cause.action for cause in causes if cause.is_known and cause.action]
    breaches = (breach for change in changes for breach in change.objectives or ())
    found += [runbook for runbook in runbooks(changes) if not is_web_link(runbook)]
    found += filter(None, [loss_step(breaches)])
    found += [cause.action for cause in causes if cause.action]
    group = shell_word(f"{changes[0].cluster}/{changes[0].group}")
    return visible([*found, f"Look at it: warren describe group {group}"][0])


def runbooks(changes: Iterable[StatusChange]) -> list[str]:
    """As objectives name them, then as [[groups]] do."""
    changes = list(changes)
    of_objectives = (breach.runbook for change in changes for breach in change.objectives or ())
    said = [*of_objectives, *(change.runbook for change in changes)]
    return [runbook for runbook in said if runbook]
