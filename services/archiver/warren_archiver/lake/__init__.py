"""The Delta tables: where they are, their columns, and how records become rows."""
