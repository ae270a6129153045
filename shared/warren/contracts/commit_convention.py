"""What consumer groups mean by the offsets that they commit."""

from typing import Literal

# The offset that is read next, as Kafka's own clients commit it, or the last one processed.
CommitConvention = Literal["next", "last_processed"]
