"""An evaluator worker whose seek to the committed offsets takes long, as on a busy broker.

That is when Faust's own recovery loses events: see `warren_evaluator.tables.SafeRecovery`.
"""

from __future__ import annotations

import asyncio

from faust.transport.consumer import Consumer
from warren_evaluator.__main__ import main

SECONDS = 2.5
_seek = Consumer.perform_seek


async def _seek_slowly(consumer: Consumer) -> None:
    await asyncio.sleep(SECONDS)
    await _seek(consumer)


if __name__ == "__main__":
    Consumer.perform_seek = _seek_slowly
    main()
