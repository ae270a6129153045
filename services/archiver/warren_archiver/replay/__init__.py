"""What-if: archived events judged by other settings, and what would have been told then."""
