"""The home cluster's topics: offset events in, freshness and dead letters out."""
