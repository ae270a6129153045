"""Committed offsets, the newest of each position, whichever source they are from."""
