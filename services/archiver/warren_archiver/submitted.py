"""Whose process this is."""

from collections.abc import Mapping


def is_submitted(environ: Mapping[str, str]) -> bool:
    """Whether spark-submit started this process: it has a JVM then, and says where."""
    return "PYSPARK_GATEWAY_PORT" in environ
