"""What is remembered about each subject, and of which partitions."""
