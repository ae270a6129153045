"""Silver and gold made of the events."""
