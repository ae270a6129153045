"""A service with a step that never ends: `hanging_service.py collector|freshness|notifier|api`."""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
from typing import Any

STEPS = {
    "collector": ("warren_collector.cluster.tick", "Ticker", "tick"),
    "freshness": ("warren_freshness.passes.cluster_measurer", "ClusterMeasurer", "measure"),
    "notifier": ("warren_notifier.dispatcher", "Dispatcher", "accept"),
    "api": ("warren_api.home.feed", "Feed", "_apply"),
}


def hang(*_: Any) -> None:
    threading.Event().wait()


async def hang_in_loop(*_: Any) -> None:
    await asyncio.Event().wait()


if __name__ == "__main__":
    service = sys.argv.pop(1)
    module, name, step = STEPS[service]
    hanging = getattr(importlib.import_module(module), name)
    is_async = asyncio.iscoroutinefunction(getattr(hanging, step))
    setattr(hanging, step, hang_in_loop if is_async else hang)
    importlib.import_module(f"warren_{service}.__main__").main()
