"""`warren-archiver` with a program of the test's own as its passes, more often than settings may
say."""

import sys
from pathlib import Path

from warren.errors import SettingsError
from warren.log import configure
from warren.settings_file import load_settings
from warren_archiver.passes.parent import run_passes

if __name__ == "__main__":
    config = Path(sys.argv[1])
    settings = load_settings(config)
    archiver = settings.archiver.model_copy(update={"every": float(sys.argv[2])})
    settings = settings.model_copy(update={"archiver": archiver})
    configure(settings.log, service="archiver")
    try:
        run_passes(settings, config, [sys.executable, *sys.argv[3:]])
    except SettingsError as error:
        sys.exit(f"wrong setting: {error}")
    unwanted = {"pyspark", "py4j", "confluent_kafka", "duckdb", "numpy"} & sys.modules.keys()
    sys.exit(f"imported: {unwanted}" if unwanted else 0)
