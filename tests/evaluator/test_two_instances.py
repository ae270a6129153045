"""Two Warrens at home on one cluster, told apart by `[home] instance` and nothing else."""

from pathlib import Path
from typing import Any

import pytest
from support.evaluator_process import Home
from support.group_lives import a_life, assert_as_expected, fold, interleaved, lives
from warren.contracts import split_group_key

pytestmark = pytest.mark.heavy


class Instance(Home):
    """A home cluster on which this Warren has a name; all other names follow from it."""

    @property
    def app_id(self) -> str:
        return f"{self.name}-evaluator"

    def environment(self, port: int) -> dict[str, str]:
        environment = super().environment(port)
        for explicit in ("WARREN_HOME__TOPIC_PREFIX", "WARREN_EVALUATOR__APP_ID"):
            del environment[explicit]
        return environment | {"WARREN_HOME__INSTANCE": self.name}


def test_neither_judges_nor_remembers_what_is_the_others(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    homes = []
    for name in ("a", "b"):
        directory = tmp_path / name
        directory.mkdir()
        homes.append(Instance(broker.bootstrap, f"{unique}-{name}", directory))
    # The same groups, as two Warrens see them that watch one cluster; and one that only b has seen.
    seen = [lives(), lives() | {"of-b": a_life("of-b", seed=1)}]
    with homes[0].worker() as one, homes[1].worker() as two:
        for worker in (one, two):
            worker.start()
        for worker in (one, two):
            worker.await_ready()
        for home, groups in zip(homes, seen, strict=True):
            sender = home.events()
            sender.send(*interleaved(groups))
            sender.flush()
        for home, groups in zip(homes, seen, strict=True):
            home.await_caught_up()
            assert_as_expected(home, {group: fold(life) for group, life in groups.items()})
            remembered = {split_group_key(r.key())[1] for r in home.changelog() if r.value()}
            assert remembered <= set(groups)
