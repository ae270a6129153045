"""Partitions simulated with the truth known, rules that judge them, and how well they did."""
