"""Append times of records that were read before: in memory, and in Redis for all instances."""
