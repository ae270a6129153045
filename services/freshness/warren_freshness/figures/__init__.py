"""From what was read to the published figures: pure."""
