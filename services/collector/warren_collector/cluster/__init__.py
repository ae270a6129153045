"""One monitored cluster: its sources opened, each tick's events published, how it stands told."""
