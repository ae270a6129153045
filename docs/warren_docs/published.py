"""What a release has beside its packages: OpenAPI, AsyncAPI, a JSON schema of each event."""

import json
import sys
from pathlib import Path

from warren.clock import SystemClock
from warren.contracts.topics import CATALOGUE
from warren.entry import own_version
from warren.settings import Settings
from warren_api.context import ApiContext
from warren_api.home.cluster import HomeWriter
from warren_api.http.access import Access
from warren_api.model.archive import Archive
from warren_api.model.cluster import FeedState
from warren_api.model.read_model import ReadModel
from warren_api.server import create_app


def main(into: Path) -> None:
    """Write `openapi.json`, `asyncapi.json` and `schemas/TOPIC.json`; the bill of materials loses
    what differs each time, so that two builds of a release are the same.
    """
    settings = Settings()
    feed = FeedState(ready=False, problem=None)
    write = HomeWriter(settings.home).write
    context = ApiContext(
        settings, ReadModel(), lambda: feed, SystemClock(), write, Archive(settings.archiver)
    )
    app = create_app(context, Access(settings.api, is_loopback=True))
    schemas = into / "schemas"
    schemas.mkdir(parents=True, exist_ok=True)
    written = {into / "openapi.json": app.openapi()}
    channels = {}
    for topic in CATALOGUE:
        written[schemas / f"{topic.name}.json"] = topic.event.model_json_schema()
        payload = {"$ref": f"schemas/{topic.name}.json"}
        event = {"contentType": topic.event.content_type, "payload": payload}
        channels[topic.name] = {"address": f"warren.{topic.name}", "messages": {"event": event}}
    about = {"title": "Warren", "version": own_version()}
    asyncapi = {"asyncapi": "3.0.0", "info": about, "channels": channels}
    written[into / "asyncapi.json"] = asyncapi
    for bill in into.glob("*.cdx.json"):
        written[bill] = json.loads(bill.read_text())
        del written[bill]["serialNumber"], written[bill]["metadata"]["timestamp"]
    for file, document in written.items():
        file.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
