"""Deliveries on their way: queues, attempts, retries, and what came of them."""
