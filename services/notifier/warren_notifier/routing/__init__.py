"""Which deliveries a change of a group's status leads to: pure decisions."""
