"""From Kafka into the table of events, each record once."""
