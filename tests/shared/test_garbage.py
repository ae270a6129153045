import gc
import weakref
from collections.abc import Iterator

import pytest
from warren import garbage


class Node:
    """Refers to itself, as what is in a cycle does."""

    def __init__(self) -> None:
        self.self = self


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_what_lives_is_not_looked_at_again_and_what_does_not_is_freed() -> None:
    living, dead = Node(), weakref.ref(Node())
    garbage.settle()
    assert dead() is None
    assert gc.get_freeze_count() > 0
    frozen = weakref.ref(living)
    del living
    gc.collect()
    assert frozen() is not None
    garbage.settle()
    assert frozen() is None


def test_collections_are_seldom() -> None:
    garbage.collect_seldom()
    assert gc.get_threshold() == (50_000, 2, 1_000)
    garbage.collect_seldom(5_000)
    assert gc.get_threshold() == (5_000, 2, 10_000)
