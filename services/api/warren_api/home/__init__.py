"""Warren's own cluster: what is read from it, and the one thing that is written to it."""
