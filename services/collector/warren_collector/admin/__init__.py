"""What brokers say about groups when they are asked: the requests of Kafka's Admin API."""
