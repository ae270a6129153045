"""Judgement of offset events: what is remembered of a group, and what is said of it. Pure."""
