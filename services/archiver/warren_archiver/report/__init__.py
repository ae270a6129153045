"""What groups were, computed from the archived evaluations, and how it is shown."""
