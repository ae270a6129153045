"""Silences in memory: what holds of whom, however many there are."""

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st
from notifier.asked import put, silence
from notifier.builders import MINUTE, OPENED_AT
from warren.errors import ContractViolation
from warren.patterns import exactly, literal_prefix, searcher
from warren.silences import Silences

names = st.text("ab.-_é", max_size=6)
PIECES = ("^", "a", "b", r"\.", ".", "a*", "b+", "a?", "b{2}", "(a)", "$", "-", "é")
patterns = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@given(patterns, names)
def test_what_a_pattern_begins_with_changes_nothing(pattern: str, name: str) -> None:
    try:
        plain = re2.search(pattern, name) is not None
    except re2.error:
        return
    assert searcher(pattern)(name) == plain


@given(names)
def test_a_name_is_all_that_its_own_pattern_begins_with(name: str) -> None:
    assert literal_prefix(exactly(name)) == name


def test_the_one_that_ends_last_counts_and_one_that_is_ended_no_longer() -> None:
    silences = put(Silences(), silence("short"), silence("long", ends_at=OPENED_AT + 99 * MINUTE))

    def of(group: str, minutes: int = 0) -> str | None:
        found = silences.in_force(OPENED_AT + minutes * MINUTE).of("prod", group)
        return None if found is None else found.id

    assert of("billing") == "long"
    put(silences, silence("long", ends_at=OPENED_AT))
    assert of("billing") == "short"
    assert of("billing", 60) is None
    put(silences, silence("short", group="^other"))
    assert of("billing") is None
    assert of("other") == "short"
    put(silences, silence("later", begins_at=OPENED_AT + MINUTE))
    assert (of("billing"), of("billing", 1)) == (None, "later")
    silences.apply(b"later", None)
    assert of("billing", 1) is None
    silences.keep_only({"long"}, set())
    assert of("other") is None


def test_a_group_is_looked_for_among_thousands_once() -> None:
    """A storm of groups is asked for each second, in the loop that tells of them."""
    asked: list[str] = []
    silences = put(Silences(), *(silence(f"s{n}", group=f"team{n}-") for n in range(50)))
    for id_, compiled in silences._silences.items():

        def matches(*_group: str, id_: str = id_) -> bool:
            asked.append(id_)
            return False

        silences._silences[id_] = compiled._replace(matches=matches)
    for _ in range(3):
        assert silences.in_force(OPENED_AT).of("prod", "billing") is None
    assert len(asked) == 50


def test_a_record_has_no_larger_expression_than_one_that_is_asked_for() -> None:
    with pytest.raises(ContractViolation, match="too large"):
        put(Silences(), silence("large", group="((a|.){1,50}){18}z"))


def test_a_group_is_looked_for_without_keeping_others_from_asking() -> None:
    """Reading a record of the topic matches nothing, however many groups were asked for."""
    silences = put(Silences(), silence("first"))
    for number in range(900):
        silences.matching("prod", f"{'a' * 240}{number}")
    matched: list[str] = []
    put(silences, silence("second", group="."))
    compiled = silences._silences["second"]

    def matches(_cluster: str, group: str) -> bool:
        matched.append(group)
        return True

    silences._silences["second"] = compiled._replace(matches=matches)
    assert [each.id for each in silences.matching("prod", f"{'a' * 240}7")] == ["first", "second"]
    assert matched == [f"{'a' * 240}7"]
