"""A workload of real producers and consumers whose groups show every status."""
