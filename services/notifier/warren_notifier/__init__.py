"""Tells people and machines when a consumer group gets into trouble, and when it is over."""
