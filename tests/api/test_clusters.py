"""How it stands with the clusters: `/v3/kafka/<cluster>` and its series."""

import socket
from typing import Any

import pytest
from api.served_api import NOW, Api
from prometheus_client.parser import text_string_to_metric_families
from warren.contracts import ClusterEvent, group_key
from warren.errors import ContractViolation
from warren_api.model.cluster import SILENT_AFTER_MS


def say(api: Api, collector: str, state: str, cluster: str = "demo", **fields: Any) -> None:
    event = ClusterEvent.model_validate(
        {
            "cluster": cluster,
            "collector": collector,
            "observed_at": NOW - 1000,
            "state": state,
            "since": NOW - 5000,
            "sources": ["offsets_topic"],
            **fields,
        }
    )
    api.model.apply_cluster(group_key(cluster, collector), event.to_bytes())


def state_of(api: Api, cluster: str = "demo") -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/v3/kafka/{cluster}").json()["state"]
    return found


def test_burrows_fields_come_as_burrow_writes_them(api: Api) -> None:
    answer = api.get("/v3/kafka/demo")
    assert answer.status_code == 200
    assert answer.text == (
        '{"error":false,"message":"cluster module detail returned",'
        '"module":{"class-name":"kafka","servers":["broker:9092"],'
        '"client-profile":{"name":"demo","client-id":"warren","kafka-version":"","tls":null,'
        '"sasl":null},"topic-refresh":30,"offset-refresh":5},'
        f'"request":{{"url":"/v3/kafka/demo","host":"{socket.gethostname()}"}},'
        '"state":{"state":"unknown","since":null,"problem":"","groups":0,"positions":0,'
        '"backlog":0,"log_ends_at":null,"collectors":[]}}'
    )


def test_collectors_are_summed_up_and_the_worst_counts(api: Api) -> None:
    figures = {"groups": 3, "positions": 40, "backlog": 5, "log_ends_at": NOW - 2000}
    say(api, "a", "ok", **figures)
    say(api, "b", "unreachable", problem="no broker answers", **figures)
    say(api, "c", "rebuilding", cluster="another")
    state = state_of(api)
    assert (state["state"], state["problem"]) == ("unreachable", "no broker answers")
    assert (state["groups"], state["positions"], state["backlog"]) == (6, 80, 10)
    assert state["log_ends_at"] == NOW - 2000
    assert [each["collector"] for each in state["collectors"]] == ["b", "a"]
    assert state_of(api, "another")["state"] == "rebuilding"
    assert api.get("/v3/kafka").json()["clusters"] == ["another", "demo"]


def test_a_collector_that_stopped_or_fell_silent_does_not_count(api: Api) -> None:
    say(api, "a", "ok")
    say(api, "killed", "unreachable", observed_at=NOW - SILENT_AFTER_MS - 1)
    assert state_of(api)["state"] == "ok"
    api.model.apply_cluster(group_key("demo", "a"), None)
    assert state_of(api)["state"] == "unknown"


def test_a_record_that_names_another_collector_is_refused(api: Api) -> None:
    event = ClusterEvent(
        cluster="demo", collector="a", observed_at=NOW, state="ok", since=NOW
    ).to_bytes()
    with pytest.raises(ContractViolation):
        api.model.apply_cluster(group_key("demo", "b"), event)


def test_series(api: Api) -> None:
    say(api, "a", "refused")
    say(api, "b", "ok", cluster="another")
    families = text_string_to_metric_families(api.get("/metrics").text)
    current = {
        (sample.labels["cluster"], sample.labels["state"])
        for family in families
        for sample in family.samples
        if sample.name == "warren_cluster_state" and sample.value == 1
    }
    assert current == {("demo", "refused"), ("another", "ok")}


@pytest.mark.parametrize("state", ["unreachable", "refused", "failing"])
def test_trouble_with_a_cluster_is_a_doubt_everywhere(api: Api, state: str) -> None:
    say(api, "a", state, problem="no broker answers (see clusters.demo)", since=NOW - 60_000)
    (cluster,) = api.get("/api/v1/clusters").json()["clusters"]
    assert (cluster["state"], cluster["state_since"]) == (state, NOW - 60_000)
    assert cluster["problem"] == "no broker answers (see clusters.demo)"
    doubt = f"Cluster demo is {state} for 1m: no broker answers (see clusters.demo)."
    assert api.get("/api/v1/groups").json()["doubts"] == [doubt]
    assert doubt in api.get("/").text


def test_a_clock_that_is_ahead_hides_no_silence(api: Api) -> None:
    """One record of the year 9999 is enough, of a group as of a collector."""
    api.put("one", evaluated_at=NOW - 300_000)
    api.put("two", evaluated_at=NOW + 600_000)
    everything = ["A group was last judged 5m ago: check the collector and the evaluator."]
    assert api.get("/api/v1/groups").json()["doubts"] == everything
    say(api, "a", "ok", observed_at=NOW - 300_000)
    say(api, "b", "ok", observed_at=NOW + 300_000)
    assert state_of(api)["state"] == "unknown"
    api.model.apply_cluster(group_key("demo", "a"), None)
    assert api.get("/api/v1/groups").json()["doubts"] == [
        "A collector of cluster demo was last heard of by a clock that is 5m ahead."
    ]


@pytest.mark.parametrize(
    "path",
    [
        *("groups", "topics", "incidents", "incidents?open=true", "notifications", "events"),
        *("groups/dmo/billing", "topics/dmo/orders", "groups/dmo/billing/history"),
    ],
)
def test_a_cluster_that_nobody_knows_is_no_empty_list(api: Api, path: str) -> None:
    query = "" if "/" in path else f"{'&' if '?' in path else '?'}cluster=dmo"
    answer = api.get(f"/api/v1/{path}{query}")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "Warren knows no cluster dmo. Did you mean demo?"
