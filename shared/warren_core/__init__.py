"""Hold what Warren is: from offset events to verdicts, causes and objectives.

Pure: no client is imported, "now" is the event's. The same events give the same verdicts, live,
replayed or in Spark.
"""
