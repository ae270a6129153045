"""Silver: typed tables of what happened, and the SQL that makes them of events."""
