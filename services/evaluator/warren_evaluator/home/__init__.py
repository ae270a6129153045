"""The home cluster: how the worker connects to it, and what it must find there."""
