"""Our own API, `/api/v1`."""
