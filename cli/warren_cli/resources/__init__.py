"""What `warren get` lists and `warren describe` shows."""
