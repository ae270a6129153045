"""Every table recounted against its topic."""
