"""Burrow's configuration as Warren's settings: a pure mapping from tables to tables.

Facts from linkedin/Burrow 1.9.5: main.go and the Configure functions of core/internal.
"""

from __future__ import annotations

from warren_cli.burrow_config.importing import Imported, import_burrow
from warren_cli.burrow_config.table import Remark

__all__ = ["Imported", "Remark", "import_burrow"]
