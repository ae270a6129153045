"""What a monitored cluster says of its topics: leaders, ids, rights, retention."""
