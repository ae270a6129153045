"""What the offsets topic's records tell of groups."""
