"""What the archiver does, one module each."""
