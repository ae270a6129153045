"""One streaming query for all topics, from Kafka into the table of events."""
