"""The routes of Burrow's API."""
