"""Kafka's bytes: requests and responses of single brokers, record batches, coordinators' records.

The only package that imports aiokafka, whose privates it builds on, beside Faust's corrections.
"""
