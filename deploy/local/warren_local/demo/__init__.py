"""A workload of real producers and consumers in which each consumer group shows one status."""
