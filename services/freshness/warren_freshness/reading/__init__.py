"""Reading of the records at positions: fetch requests to the partitions' leaders."""
