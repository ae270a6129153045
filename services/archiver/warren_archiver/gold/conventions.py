"""What gold tables and those who read them agree on. No Spark."""

ERROR = 0.01
"""Of a sketch: by how much its percentiles may be off."""
GROWTH = (1 + ERROR) / (1 - ERROR)
"""Of its buckets."""
SHORT_MS = 300_000
"""What was over so soon needed nobody."""
AGAIN_MS = 900_000
"""What begins so soon after the one before has flapped."""
GAP_HEARTBEATS = 3
"""A status holds for at most so many: a silent group is judged once in each; two may be late."""
HOUR_MS = 3_600_000


def longest_ms(heartbeat: float) -> int:
    """For how long a status holds, an hour at most. `heartbeat` in seconds."""
    return min(round(heartbeat * GAP_HEARTBEATS * 1000), HOUR_MS)
