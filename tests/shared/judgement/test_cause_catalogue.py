"""The catalogue: causes register themselves, and only what is known of all can be told."""

import pytest
from warren.contracts import Cause
from warren_core.judgement.causes.catalogue import CATALOGUE, Found, cause, ranked
from warren_core.judgement.facts import Facts


def test_every_cause_has_its_words() -> None:
    assert {known.name for known in (*ranked("root"), *ranked("consequence"))} == set(CATALOGUE)
    assert "unknown" not in CATALOGUE  # what is said where the facts speak for nothing
    for known in CATALOGUE.values():
        assert 2 <= len(known.short.split()) <= 7
        assert known.when


def test_events_of_before_have_no_words_for_lists() -> None:
    old = Cause.model_validate_json('{"name": "late", "sentence": "900 behind"}')
    assert (old.short, old.brief) == (None, "900 behind")
    assert "short" not in old.model_dump_json()
    new = Cause(name="late", sentence="900 behind", short="Keeps pace")
    assert new.brief == "Keeps pace"


def no_members(_: Facts) -> Found | None:
    return None


def another(_: Facts) -> Found | None:
    return None


@pytest.mark.parametrize(
    ("find", "rank"), [(no_members, 999), (another, CATALOGUE["no_members"].rank)]
)
def test_names_and_ranks_are_taken_once(find: object, rank: int) -> None:
    """Else which of two is told would depend on the order of imports."""
    with pytest.raises(ValueError, match="is taken"):
        cause("root", rank, "some words", "never")(find)  # type: ignore[arg-type]
