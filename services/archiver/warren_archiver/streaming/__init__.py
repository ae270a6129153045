"""One streaming query per topic: from Kafka, batch by batch, into the tables."""
