"""What groups are: protocol, state, members, assignments; from records and from coordinators."""
