"""Ways to reach people and machines."""
