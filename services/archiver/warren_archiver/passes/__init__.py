"""Passes on a schedule: a small process without Spark starts one that archives what is new and
ends. Nothing of Spark is imported here."""
