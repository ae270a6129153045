"""The archiver: Warren's topics as Delta tables, and what is computed from them."""
