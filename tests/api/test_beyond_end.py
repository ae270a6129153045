"""A committed offset beyond the log end: ERR by us, OK in what bears Burrow's name."""

from typing import Any

import pytest
from api.served_api import CAUGHT_UP, Api, late, topic

WHY = "committed offset 1,000,000 is beyond the log end 17"


def beyond(**more: Any) -> dict[str, Any]:
    return {
        "status": "BEYOND_END",
        "committed": 1_000_000,
        "log_end": 17,
        "reason": "beyond_log_end",
        "explanation": WHY,
        **more,
    }


def columns(*partitions: dict[str, Any]) -> dict[str, Any]:
    why = {name: [row.get(name) for row in partitions] for name in ("reason", "explanation")}
    plain = [{k: v for k, v in row.items() if k not in why} for row in partitions]
    return topic(*plain) | why


@pytest.fixture
def told(api: Api) -> Api:
    api.put(
        "g",
        status="ERR",
        reason="beyond_log_end",
        explanation=f"orders/1 BEYOND_END: {WHY}",
        topics={"orders": columns({}, beyond())},
    )
    api.measure("g", CAUGHT_UP, late(None, reason="beyond_end", bound_ms=None))
    return api


def test_burrow_takes_no_lag_for_ok(told: Api) -> None:
    status = told.get("/v3/kafka/demo/consumer/g/status").json()["status"]
    assert (status["status"], status["partitions"], status["totallag"]) == ("OK", [], 0)
    lag = told.get("/v3/kafka/demo/consumer/g/lag").json()["status"]
    assert [p["status"] for p in lag["partitions"]] == ["OK", "OK"]


def test_burrow_keeps_what_else_is_bad(api: Api) -> None:
    bad = {"status": "WARN", "lag": 9, "reason": "lag_not_shrinking"}
    api.put("g", status="ERR", topics={"orders": columns(bad, beyond())})
    api.put("h", status="ERR", topics={"orders": columns(bad | {"status": "STOP"}, beyond())})
    found = [api.get(f"/v3/kafka/demo/consumer/{g}/status").json()["status"] for g in "gh"]
    assert [one["status"] for one in found] == ["WARN", "ERR"]
    assert [[p["status"] for p in one["partitions"]] for one in found] == [["WARN"], ["STOP"]]
