"""Budgets only fall, and rules are worth something."""

import pytest
from warren_docs.budgets import complaints, lowered, size, worthless

BEFORE = """
[tool.warren.budgets.statements]
cli = 10
tests = 5
[tool.warren.budgets.nodes]
[tool.warren.budgets.rows]
[tool.warren.budgets.suite]
brokers = 8
[tool.warren.budgets.raised]
"""
NOTHING = {"nodes": {}, "rows": {}, "suite": {}}


@pytest.mark.parametrize(
    ("now", "stands", "said"),
    [
        (BEFORE, {"cli": 10, "tests": 5}, []),
        (BEFORE, {"cli": 11, "tests": 5}, ["cli: 11 statements, the budget is 10"]),
        (BEFORE, {"new": 1}, ["new: 1 statements, the budget is 0"]),
        (BEFORE.replace("cli = 10", "cli = 9\nnew = 1"), {"new": 1}, ["new: the budget of state"]),
        (
            BEFORE.replace("cli = 10", "cli = 9\nnew = 1")
            + '"statements of new" = "2026-11-29: split off"\n',
            {"new": 1},
            [],
        ),
        (
            BEFORE.replace("cli = 10", "cli = 12") + '"statements of cli" = "2026-11-29: why"\n',
            {"cli": 12},
            ["product: the sum of statements rose"],
        ),
    ],
)
def test_what_is_complained_of(now: str, stands: dict[str, int], said: list[str]) -> None:
    found = complaints({"statements": stands, **NOTHING}, now, BEFORE)
    assert [line[: len(begin)] for line, begin in zip(found, said, strict=True)] == said


def test_lowered_budgets_are_what_stands() -> None:
    less = lowered(BEFORE, {"statements": {"cli": 7, "tests": 6}, **NOTHING})
    assert complaints({"statements": {"cli": 7, "tests": 5}, **NOTHING}, less, BEFORE) == []
    assert complaints({"statements": {"cli": 8, "tests": 6}, **NOTHING}, less, BEFORE) != []


def test_neither_format_nor_docstrings_count() -> None:
    plain = "def f(a, b):\n    return a + b\n"
    other = '"""Of a module."""\ndef f(\n    a,\n    b,\n):\n    "Add."\n    return a + b\n'
    assert size(plain) == size(other)


def test_a_rule_is_measured_and_worth_something() -> None:
    page = "| a | 0.4 | -2.0 |\n| b c | 0.0 | 0.5 |\n| old | 3.0 | 3.0 |\n"
    assert worthless(page, ["a", "b c", "new"]) == [
        "rule new: not measured yet, run `make plots`",
        "rule old: measured, but gone: run `make plots`",
        "rule a: worth less than 0.5 points of F1 in both halves",
    ]
