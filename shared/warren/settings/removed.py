"""Settings that are gone, and what is instead: an upgrade says so by their names."""

from __future__ import annotations

from fnmatch import fnmatchcase

REMOVED = {
    "api.push": "OTEL_EXPORTER_OTLP_ENDPOINT pushes by OTLP; others scrape /metrics",
}
"""By their dotted names, `*` for any. All went after version 0.1.0."""


def removal(name: str) -> str | None:
    """What to say of a setting that was removed; None if it was not."""
    for gone, instead in REMOVED.items():
        if fnmatchcase(name, gone) or fnmatchcase(name, f"{gone}.*"):
            return f"this setting was removed after version 0.1.0: {instead}"
    return None
