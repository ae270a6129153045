import json

import pytest
from hypothesis import given, strategies as st
from warren_api.burrow.answers import float32, go_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.0, "0"),
        (0.7, "0.7"),
        (1 / 3, "0.33333334"),
        (2 / 3, "0.6666667"),
        (0.1, "0.1"),
        (11 / 12, "0.9166667"),
        (1 / 7, "0.14285715"),
    ],
)
def test_shares_print_as_go_prints_a_float32(value: float, text: str) -> None:
    assert json.dumps(float32(value)) == text


@given(st.floats(0, 1, width=32))
def test_the_printed_number_means_the_same_float32(value: float) -> None:
    printed = float(float32(value))
    assert float32(printed) == float32(value)
    assert len(f"{printed:.9g}") <= len(f"{value:.9g}") or printed == value


def test_compact_in_the_order_given_and_escaped_for_html() -> None:
    body = {"b": "<a href='x'>&", "a": "grün\u2028\u2029", "list": [], "none": None, "yes": True}
    assert go_json(body) == (
        b'{"b":"\\u003ca href=\'x\'\\u003e\\u0026","a":"gr\xc3\xbcn\\u2028\\u2029",'
        b'"list":[],"none":null,"yes":true}'
    )


@given(st.dictionaries(st.text(), st.text()))
def test_any_text_survives(body: dict[str, str]) -> None:
    assert json.loads(go_json(body)) == body


def test_a_lone_surrogate_does_not_break_the_answer() -> None:
    assert json.loads(go_json({"group": "a\udcff"})) == {"group": "a?"}
