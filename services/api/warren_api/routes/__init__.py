"""HTTP routes, one module per interface."""
