"""Where the groups stand, as the newest offset events say."""
