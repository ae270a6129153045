"""`python -m warren.dashboards [--check] [DIRECTORY]`: writes deploy/grafana/."""

from __future__ import annotations

import sys
from pathlib import Path

from warren.dashboards import catalogue
from warren.reference.__main__ import main

if __name__ == "__main__":
    sys.exit(main([catalogue], Path("deploy/grafana")))
