"""What brokers (and ZooKeeper) say about groups when they are asked: the requests and answers."""
