"""What a scrape says."""

from api.served_api import NOW, Api, topic
from prometheus_client.parser import text_string_to_metric_families

Labels = tuple[tuple[str, str], ...]


def scrape(api: Api) -> dict[str, dict[Labels, float]]:
    """Samples by name and sorted labels."""
    answer = api.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    samples: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(answer.text):
        assert family.documentation
        for sample in family.samples:
            labels = tuple(sorted(sample.labels.items()))
            assert labels not in samples.setdefault(sample.name, {}), "one sample per series"
            samples[sample.name][labels] = sample.value
    return samples


def labels(**named: str) -> Labels:
    return tuple(sorted(named.items()))


def fill(api: Api) -> Api:
    bad = {"status": "STOP", "lag": 60, "log_end": 160}
    young = {"complete": 0.9, "lag": None, "log_end": -1}
    incident = {"id": "i", "opened_at": NOW - 90_000}
    topics = {"orders": topic({}, bad, young)}
    api.put("billing", status="ERR", total_lag=60, topics=topics, incident=incident)
    return api
