"""The screens of `warren up`."""
