"""What is put off: silences and mute windows, and who looks after which incident."""
