"""Kinds of channels: each is a module, called like the `type`, with its settings and sender."""
