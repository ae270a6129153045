"""An event as the stream and the webhooks send it, for the OpenAPI description."""

from __future__ import annotations

import json
from typing import Any

CLOUD_EVENT: dict[str, Any] = {
    "specversion": "1.0",
    "id": "0c1f6a6e-5a0b-5c57-9d2e-8f64d0a1c9be",
    "source": "/warren/clusters/prod",
    "type": "warren.group.status.changed",
    "subject": "billing",
    "time": "2026-11-21T06:55:48.123Z",
    "datacontenttype": "application/json",
    "data": {
        "cluster": "prod",
        "group": "billing",
        "status": "ERR",
        "previous": "OK",
        "reason": "no_commit",
        "explanation": "orders/1: no commit for 4m 12s, usual pause 5s; 2,101 records behind",
        "incident_id": "4f9c2f0e-6a53-5b0f-8f0e-0b9c2f1d7a11",
        "opened_at": 1_795_244_148_123,
        "total_lag": 1042,
        "max_lag": {"topic": "orders", "partition": 1, "lag": 1003},
        "partition_counts": {"STOP": 1, "OK": 1},
        "partitions": [],
        "partitions_omitted": 0,
    },
}
EVENTS = f"""retry: 2000
id: 0:118,3:41

id: 0:118,3:42
event: warren.group.status.changed
data: {json.dumps(CLOUD_EVENT, separators=(",", ":"))}

"""
