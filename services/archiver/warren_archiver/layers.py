"""All tables of the lake: `root/<layer>/<table>`."""

from warren_archiver.gold.catalogue import TABLES as GOLD, VIEWS
from warren_archiver.lake.catalogue import TABLES as BRONZE
from warren_archiver.lake.table import Table
from warren_archiver.replay_catalogue import TABLES as REPLAYED
from warren_archiver.silver.catalogue import TABLES as SILVER

LAYERS: dict[str, tuple[Table, ...]] = {
    "bronze": BRONZE,
    "silver": SILVER,
    "gold": GOLD,
    "replay": REPLAYED,
}
DESCRIBED = LAYERS | {"views": VIEWS}
"""With what has no files."""


def name_of(layer: str, table: Table) -> str:
    """By which a table is known in a schema that has those of all layers."""
    return f"replay_{table.name}" if layer == "replay" else table.name
