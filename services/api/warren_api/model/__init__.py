"""What is known: the newest of every group, topic and cluster, in memory."""
