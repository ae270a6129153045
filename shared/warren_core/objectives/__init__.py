"""Objectives: what is asked of groups in time and records, and whether they keep it. Pure."""
