"""The topics' logs: where each begins and ends, who leads them, which there are."""
