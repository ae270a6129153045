"""The commands that are filters, without the command: JSON in, JSON out."""
