"""A package, so that its `warren up` ends with its last test."""
