"""The table of events recounted against the topics."""
