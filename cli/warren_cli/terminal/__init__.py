"""The terminal: its width, its signals, its foreground."""
