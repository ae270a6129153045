"""One monitored cluster's passes: what is known, what has to be read, when."""
