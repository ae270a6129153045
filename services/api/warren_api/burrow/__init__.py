"""Burrow's API, as Burrow 1.9.5 answers."""
