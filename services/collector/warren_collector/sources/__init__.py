"""Where committed offsets come from."""
