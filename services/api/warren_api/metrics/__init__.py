"""`/metrics`: all series, under the names that people have rules and panels for."""
