"""What `/metrics` serves, sent to receivers that do not scrape."""
