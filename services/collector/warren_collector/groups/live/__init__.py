"""What groups are right now, asked for beside what records tell of them."""
