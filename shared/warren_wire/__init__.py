"""Kafka's requests, responses and record batches, sent to one broker or decoded.

The only package that imports aiokafka, whose privates it builds on, beside Faust's corrections.
"""
