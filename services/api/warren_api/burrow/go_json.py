"""JSON as Go's encoding/json writes it, so that Burrow's clients see the same bytes.

Compact, not sorted; `<`, `>`, `&`, U+2028 and U+2029 escaped (Go, encoding/json, HTMLEscape);
float32 with the fewest digits that still mean the same float32.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

# Inside JSON these characters occur in strings only.
_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def go_json(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate cannot be UTF-8; Go writes the replacement character for it.
    return text.translate(_ESCAPES).encode("utf-8", "replace")


@lru_cache(maxsize=4096)
def float32(value: float) -> float | int:
    """A number that prints as Go prints the nearest float32: 1 as `1`, 1/3 as `0.33333334`."""
    (nearest,) = struct.unpack("f", struct.pack("f", value))
    if nearest.is_integer():
        return int(nearest)
    # Nine significant digits tell any two float32 apart (IEEE 754).
    candidates = (float(f"{nearest:.{digits}g}") for digits in range(1, 10))
    return next(
        number for number in candidates if struct.pack("f", number) == struct.pack("f", nearest)
    )
